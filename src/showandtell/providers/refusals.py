"""Turns any provider's error response into a `ProviderError`: text, path in the request, and retry delay."""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TypeAlias

import msgspec

from showandtell.core.collect.surrogates import replace_lone_escapes
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.stream import DECODE_ERRORS
from showandtell.errors import ProviderError

#: Maximum number of bytes read of an error response.
MAX_ERROR_BODY = 64 * 1024
#: Maximum number of characters of another provider's text within an error.
MAX_RAW = 500
#: The path that an error starts with (`tools.0.name: ...`), or names anywhere: `messages.2.content.0.image`,
#: `'input[3].output[0].file_data'`, `#/messages/2/content/0`, `contents[0].parts[1]`.
PATH = r"^[a-z_]+(?:\.\w+)*(?=: )|\b(?:messages|input|contents|{key})(?:[./\[]\w+\]?)+"
#: The values of `x-should-retry`, as the SDKs of OpenAI and Anthropic read them.
SHOULD_RETRY = {"true": True, "false": False}
TITLE = re.compile(r"<title[^<>]*>([^<]{1,300})", re.IGNORECASE)

#: Makes a host's error text clearer, by its status (0 if there was no response).
Explain: TypeAlias = Callable[[int, str], str]


def unexplained(_: int, text: str) -> str:
    """The default `Explain`: returns the text as it is."""
    return text


class _Detail(msgspec.Struct, frozen=True):
    """One of Google's error details. `retryDelay` is like "34s"."""

    retryDelay: str = ""  # noqa: N815 - Google's spelling


class _Metadata(msgspec.Struct, frozen=True):
    """What OpenRouter adds to "Provider returned error": the text of the provider behind it."""

    raw: object = None


class _Error(msgspec.Struct, frozen=True):
    message: str
    param: str | None = None
    code: str | int | None = None
    type: str | None = None
    details: list[_Detail] | None = None
    metadata: _Metadata | None = None


class _Refusal(msgspec.Struct, frozen=True):
    """An error body of any provider: `error` as an object or as text, or a `message` alone (AWS, Mistral)."""

    error: _Error | str | None = None
    message: str = ""
    Message: str = ""


_refusal = msgspec.json.Decoder(_Refusal)


def provider_error(
    response: HttpResponse, data: bytes, explain: Explain = unexplained, *, messages_key: str = "messages"
) -> ProviderError:
    """An error response as an exception, with the provider's text, the path that it names, and the retry delay.

    `messages_key` is the body's key of the message list, with which paths begin.
    """
    error = parse_error(data)
    path = error.param or next(iter(paths_in(error.message, messages_key)), None)
    message = explain(response.status, format_error(error) or status_phrase(response.status))
    return ProviderError(
        message,
        response.status,
        path=path,
        retry_after=retry_after_of(response.headers, error, time.time()),
        should_retry=SHOULD_RETRY.get(response.headers.get("x-should-retry", "").strip().lower()),
    )


def paths_in(text: str, messages_key: str) -> list[str]:
    """The paths that an error's text names, in order."""
    return [match.group() for match in re.finditer(PATH.format(key=re.escape(messages_key)), text)]


def status_phrase(status: int) -> str:
    """The standard phrase of a status, for a response without a text."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "a response without a text"


def format_error(error: _Error) -> str:
    """An error's text, with its code (like "insufficient_quota") if the text doesn't contain it."""
    raw = error.metadata.raw if error.metadata else None
    message = f"{error.message}: {raw[:MAX_RAW]}" if isinstance(raw, str) and raw else error.message
    is_clear = not isinstance(error.code, str) or error.code in message
    return message if is_clear else f"{message} ({error.code})"


def parse_error(data: bytes) -> _Error:
    """Parse an error body. For an unknown format the message is the title of an HTML page, or the start of the text."""
    data = replace_lone_escapes(data)
    for body in (data, data.strip()[1:-1]):  # Google wraps the error of a stream in a list
        try:
            decoded = _refusal.decode(body)
        except DECODE_ERRORS:
            continue
        match decoded.error:
            case _Error(message=message) if message:
                return decoded.error
            case str() as message if message:
                return _Error(message)
            case _ if message := decoded.message or decoded.Message:
                return _Error(message)
            case _:
                pass
    text = data.decode(errors="replace")
    title = TITLE.search(text)
    return _Error(" ".join((title.group(1) if title else text[:500]).split()))


def retry_after_of(headers: Mapping[str, str], error: _Error, now: float) -> float | None:
    """The requested delay in seconds: from a header in milliseconds or seconds, a date, or Google's detail."""
    candidates = [
        (headers.get("retry-after-ms", ""), 0.001),
        (headers.get("retry-after", ""), 1.0),
        (headers.get("llm_provider-retry-after", ""), 1.0),  # LiteLLM's proxy passes it on under this name
        *((detail.retryDelay.removesuffix("s"), 1.0) for detail in error.details or ()),
    ]
    for text, unit in candidates:
        with contextlib.suppress(ValueError):
            seconds = float(text) * unit
            if math.isfinite(seconds) and seconds >= 0:
                return seconds
    return seconds_until(headers.get("retry-after", ""), now)


def seconds_until(header: str, now: float) -> float | None:
    """The seconds until an HTTP date; None for an invalid date."""
    try:
        date: datetime = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
