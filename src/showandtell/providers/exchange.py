"""One exchange with a provider: a request goes out in pieces, its answer comes in as batches of events."""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias

import msgspec

from showandtell.capabilities.cells import Api
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.events.types import StreamEvent
from showandtell.providers.aws import explain_skew
from showandtell.providers.http import Answer, HttpRequest, Send
from showandtell.wire.answers import ANSWERS, FRAMES, WHOLE
from showandtell.wire.body import Request
from showandtell.wire.stream import LARGEST_ANSWER, UNREADABLE

#: The most bytes that are read of an error answer.
MAX_ERROR = 64 * 1024
#: The place that an error begins with (`tools.0.name: ...`), or names anywhere: `messages.2.content.0.image`,
#: `'input[3].output[0].file_data'`, `#/messages/2/content/0`, `contents[0].parts[1]`.
PLACE = re.compile(r"^[a-z_]+(?:\.\w+)*(?=: )|\b(?:messages|input|contents)(?:[./\[]\w+\]?)+")
TITLE = re.compile(r"<title[^>]*>([^<]{1,300})", re.IGNORECASE)

#: Headers of one very request: a token that is renewed, a signature over its body.
Authorise: TypeAlias = Callable[[HttpRequest], Awaitable[Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A wire request with its address and headers, which are never printed: they hold keys."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    request: Request = field(repr=False)
    method: str = "POST"

    @property
    def size(self) -> int:
        """The exact content-length."""
        return self.request.size

    def body(self) -> AsyncIterator[bytes]:
        """The bytes, anew for each try."""
        return self.request.body()


@dataclass(frozen=True, slots=True)
class Exchange:
    """How a host is reached: the way to send, its base URL, its headers, and those that each request needs anew."""

    send: Send = field(repr=False)
    base: str
    headers: Mapping[str, str] = field(repr=False)
    authorise: Authorise | None = field(default=None, repr=False)

    async def ask(self, request: Request) -> AsyncGenerator[Sequence[StreamEvent]]:
        """Send once, and give the answer's events batch by batch. Raises `ProviderError`."""
        name = request.target.name
        try:
            outgoing = await self.address(request)
            async with self.send(outgoing) as answer, aclosing(read(answer, request.target.api, name)) as batches:
                async for batch in batches:
                    yield batch
        except OSError as error:
            raise ProviderUnavailable(f"{name} can't be reached: {words_of(error)}") from error

    async def address(self, request: Request) -> Outgoing:
        """The request with its URL and all its headers."""
        url = request.api.url(request.target, self.base, stream=request.options.stream)
        headers = {**self.headers, "content-type": "application/json", "content-length": str(request.size)}
        outgoing = Outgoing(url, headers, request)
        if self.authorise is None:
            return outgoing
        return Outgoing(url, {**headers, **await self.authorise(outgoing)}, request)


def words_of(error: OSError) -> str:
    """What a connection's error says in the transport's or the system's own words; its class where it has none."""
    return error.strerror or type(error).__name__


async def read(answer: Answer, api: Api, name: str) -> AsyncGenerator[Sequence[StreamEvent]]:
    """An answer's events batch by batch, up to its end; where the connection breaks, the parser says it was cut."""
    try:
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if answer.status >= 400:
            raise refused(answer, await beginning(answer.body, MAX_ERROR))
        if media_type == WHOLE:
            yield ANSWERS[api].whole(await beginning(answer.body, LARGEST_ANSWER))
        elif media_type in FRAMES:
            async with aclosing(stream(answer.body, api, media_type)) as batches:
                async for batch in batches:
                    yield batch
        else:
            told = told_by(await beginning(answer.body, MAX_ERROR))
            raise BadAnswer(f"{name} answered {answer.status} with {media_type}, which is no api's: {told.message}")
    finally:
        # A body that is left before its end is closed here and now, not when it is collected.
        close: Callable[[], Awaitable[None]] | None = getattr(answer.body, "aclose", None)
        if close is not None:
            await close()


async def stream(body: AsyncIterator[bytes], api: Api, media_type: str) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The events of a streamed answer."""
    parser = ANSWERS[api].stream(FRAMES[media_type]())
    try:
        async for data in body:
            yield parser.feed(data)
            if parser.done:
                break
    except OSError:
        pass
    yield parser.finish()


async def beginning(body: AsyncIterator[bytes], most: int) -> bytes:
    """The first bytes of an answer that is not streamed, which may have no end or break off."""
    data = bytearray()
    try:
        async for piece in body:
            data += piece
            if len(data) >= most:
                break
    except OSError:
        pass
    return bytes(data[:most])


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


def refused(answer: Answer, data: bytes) -> ProviderError:
    """An error answer in the provider's own words, with the place they mean and how long to wait."""
    told = told_by(data)
    place = PLACE.search(told.message)
    path = told.param or (place.group() if place else None)
    words = explain_skew(told.message) or with_code(told)
    return ProviderError(words, answer.status, path=path, retry_after=wait_of(answer.headers, told, time.time()))


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
