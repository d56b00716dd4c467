"""Removes secrets from providers' texts, which may repeat the key of a request in an error or within a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from showandtell.core.events.types import ProviderFault, StepEnd, StreamEvent
from showandtell.errors import ProviderError

#: Headers whose values are not secret. The values of all others are hidden.
PUBLIC_HEADERS = frozenset({"accept", "accept-encoding", "content-length", "content-type", "host", "user-agent"})
PUBLIC_PREFIXES = ("anthropic-", "openai-", "x-amz-date", "x-amz-content-", "x-goog-user-project", "x-goog-upload")
SIGNATURE_PARTS = re.compile(r"Credential=([^/,]+)|Signature=(\w+)")
#: Minimum length of a secret. Hiding shorter values would damage other text.
MIN_SECRET = 8
#: Maximum length of a provider's text in characters.
MAX_TEXT = 2000
HIDDEN = "[hidden]"


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets in headers, longest first: values and their parts, also as JSON and URLs escape them."""
    found: set[str] = set()
    for name, value in headers.items():
        if name.lower() not in PUBLIC_HEADERS and not name.lower().startswith(PUBLIC_PREFIXES):
            # In a signature only the key's id and the digest are secret, not the text around them.
            signed = [part for parts in SIGNATURE_PARTS.findall(value) for part in parts]
            values = signed or {value, *value.split()}
            found |= {form for part in values for form in (part, part.replace("/", "\\/"), quote(part, safe=""))}
    return tuple(sorted((secret for secret in found if len(secret) >= MIN_SECRET), key=len, reverse=True))


def conceal(text: str, secrets: Sequence[str]) -> str:
    """A provider's text without secrets, shortened to `MAX_TEXT`."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def conceal_error(error: ProviderError, secrets: Sequence[str]) -> ProviderError:
    """The error without secrets in its text; the same object if it has none."""
    text = conceal(error.text, secrets)
    if text == error.text:
        return error
    hidden = type(error)(
        text, error.status, path=error.path, retry_after=error.retry_after, should_retry=error.should_retry
    )
    hidden.__cause__ = error.__cause__
    return hidden


def conceal_end(batch: Sequence[StreamEvent], secrets: Sequence[str]) -> Sequence[StreamEvent]:
    """A batch without secrets in its last event, the only one that can be an error or an end."""
    match batch:
        case [*_, ProviderFault(text=text) as last]:
            return [*batch[:-1], replace(last, text=conceal(text, secrets))]
        case [*_, StepEnd(detail=detail) as last] if detail:
            return [*batch[:-1], replace(last, detail=conceal(detail, secrets))]
        case _:
            return batch
