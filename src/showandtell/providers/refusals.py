"""Error answers of any house as one `ProviderError`: its own words, the place they mean, and how long to wait."""

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

from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.stream import UNREADABLE
from showandtell.errors import ProviderError

#: The most bytes that are read of an error answer.
MAX_ERROR = 64 * 1024
#: The place that an error begins with (`tools.0.name: ...`), or names anywhere: `messages.2.content.0.image`,
#: `'input[3].output[0].file_data'`, `#/messages/2/content/0`, `contents[0].parts[1]`.
PLACE = re.compile(r"^[a-z_]+(?:\.\w+)*(?=: )|\b(?:messages|input|contents)(?:[./\[]\w+\]?)+")
TITLE = re.compile(r"<title[^<>]*>([^<]{1,300})", re.IGNORECASE)

#: From a status (0 where there was none) and the host's own words to plainer or fuller ones.
Explain: TypeAlias = Callable[[int, str], str]


def leave_words(_: int, words: str) -> str:
    """Explain nothing."""
    return words


class _Detail(msgspec.Struct, frozen=True):
    """One of Google's details; `retryDelay` is "34s"."""

    retryDelay: str = ""  # noqa: N815 - Google's spelling


class _Error(msgspec.Struct, frozen=True):
    message: str
    param: str | None = None
    code: str | int | None = None
    type: str | None = None
    details: list[_Detail] | None = None


class _Refusal(msgspec.Struct, frozen=True):
    """An error answer of any house: `error` as an object or as words, or a `message` alone (AWS, Mistral)."""

    error: _Error | str | None = None
    message: str = ""
    Message: str = ""


_refusal = msgspec.json.Decoder(_Refusal)


def refused(answer: HttpResponse, data: bytes, explain: Explain = leave_words) -> ProviderError:
    """An error answer in the provider's own words, with the place they mean and how long to wait."""
    told = told_by(data)
    place = PLACE.search(told.message)
    path = told.param or (place.group() if place else None)
    words = explain(answer.status, with_code(told) or phrase(answer.status))
    return ProviderError(words, answer.status, path=path, retry_after=wait_of(answer.headers, told, time.time()))


def phrase(status: int) -> str:
    """What a status means, for an answer without words."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "an answer without words"


def with_code(told: _Error) -> str:
    """An error's words with its code, where that says more than they do: "insufficient_quota"."""
    said = not isinstance(told.code, str) or told.code in told.message
    return told.message if said else f"{told.message} ({told.code})"


def told_by(data: bytes) -> _Error:
    """What an error body says; the title of a page, or the beginning of its text, where it is of no known form."""
    for body in (data, data.strip()[1:-1]):  # Google wraps the error of a stream in a list
        try:
            found = _refusal.decode(body)
        except UNREADABLE:
            continue
        match found.error:
            case _Error(message=words) if words:
                return found.error
            case str() as words if words:
                return _Error(words)
            case _ if words := found.message or found.Message:
                return _Error(words)
            case _:
                pass
    text = data.decode(errors="replace")
    title = TITLE.search(text)
    return _Error(" ".join((title.group(1) if title else text[:500]).split()))


def wait_of(headers: Mapping[str, str], told: _Error, now: float) -> float | None:
    """The seconds that an answer asks to wait: a header in milliseconds or seconds, a date, or Google's detail."""
    asked = [
        (headers.get("retry-after-ms", ""), 0.001),
        (headers.get("retry-after", ""), 1.0),
        (headers.get("llm_provider-retry-after", ""), 1.0),  # LiteLLM's proxy passes it on under this name
        *((one.retryDelay.removesuffix("s"), 1.0) for one in told.details or ()),
    ]
    for text, unit in asked:
        with contextlib.suppress(ValueError):
            seconds = float(text) * unit
            if math.isfinite(seconds) and seconds >= 0:
                return seconds
    return until(headers.get("retry-after", ""), now)


def until(header: str, now: float) -> float | None:
    """The seconds up to an HTTP date; None where it is none."""
    try:
        date: datetime = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
