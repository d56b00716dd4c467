"""What must not be told: a provider may repeat the key that it was given, in an error or in the midst of a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from showandtell.core.events.types import ProviderFault, StepEnd, StreamEvent
from showandtell.errors import ProviderError

#: Headers whose values are no secret; all others are hidden wherever they come back.
OPEN = frozenset({"accept", "accept-encoding", "content-length", "content-type", "host", "user-agent"})
NAMED = ("anthropic-", "openai-", "x-amz-date", "x-amz-content-", "x-goog-user-project", "x-goog-upload")
SIGNED = re.compile(r"Credential=([^/,]+)|Signature=(\w+)")
#: A shorter word is no key, and would hide words of the answer.
SHORTEST = 8
#: The most letters of a provider's words that are passed on.
MOST = 2000
HIDDEN = "[hidden]"


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """What headers hold that must not be told, longest first: values, their words, and how JSON and URLs spell them."""
    found: set[str] = set()
    for name, value in headers.items():
        if name.lower() not in OPEN and not name.lower().startswith(NAMED):
            # Of a signed request only the key's id and the signature are secret, not the words around them.
            signed = [one for found_in in SIGNED.findall(value) for one in found_in]
            words = signed or {value, *value.split()}
            found |= {one for word in words for one in (word, word.replace("/", "\\/"), quote(word, safe=""))}
    return tuple(sorted((one for one in found if len(one) >= SHORTEST), key=len, reverse=True))


def conceal(text: str, secrets: Sequence[str]) -> str:
    """A provider's words without what it must not have repeated, cut to what anybody reads."""
    for one in secrets:
        text = text.replace(one, HIDDEN)
    return text if len(text) <= MOST else text[: MOST - 1] + "…"


def conceal_error(error: ProviderError, secrets: Sequence[str]) -> ProviderError:
    """An error in concealed words; the same one where nothing had to be hidden."""
    text = conceal(error.text, secrets)
    if text == error.text:
        return error
    hidden = type(error)(text, error.status, path=error.path, retry_after=error.retry_after)
    hidden.__cause__ = error.__cause__
    return hidden


def conceal_end(batch: Sequence[StreamEvent], secrets: Sequence[str]) -> Sequence[StreamEvent]:
    """A batch whose last event, the only one that can be an error or an end, is told in concealed words."""
    match batch:
        case [*_, ProviderFault(text=text) as last]:
            return [*batch[:-1], replace(last, text=conceal(text, secrets))]
        case [*_, StepEnd(detail=detail) as last] if detail:
            return [*batch[:-1], replace(last, detail=conceal(detail, secrets))]
        case _:
            return batch
