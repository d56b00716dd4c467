"""One exchange with a provider: a request goes out in pieces, its answer comes in as batches of events."""

from __future__ import annotations

import math
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import msgspec

from showandtell.capabilities.cells import Api
from showandtell.errors import ProviderError, ProviderUnavailable
from showandtell.events.types import StreamEvent
from showandtell.providers.http import Answer, Send
from showandtell.wire import parse_anthropic, parse_openai_chat
from showandtell.wire.body import Request
from showandtell.wire.stream import UNREADABLE

#: The most bytes that are read of an error answer.
MAX_ERROR = 64 * 1024
#: The place that Anthropic's words begin with: `messages.2.content.0.image.source: ...`.
PLACE = re.compile(r"[a-z_]+(?:\.\w+)*(?=: )")


class Parser(Protocol):
    """The bytes of one read give one batch."""

    @property
    def done(self) -> bool:
        """Whether nothing that may still come counts."""
        ...

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """More bytes."""
        ...

    def finish(self) -> Sequence[StreamEvent]:
        """There are no more bytes."""
        ...


PARSERS: dict[Api, Callable[[], Parser]] = {
    "anthropic-messages": parse_anthropic.Parser,
    "openai-chat": parse_openai_chat.Parser,
}


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A wire request with its address and headers."""

    url: str
    headers: Mapping[str, str]
    request: Request

    @property
    def size(self) -> int:
        """The exact content-length."""
        return self.request.size

    def body(self) -> AsyncIterator[bytes]:
        """The bytes, anew for each try."""
        return self.request.body()


@dataclass(frozen=True, slots=True)
class Exchange:
    """How a host is reached: the way to send, its base URL and headers."""

    send: Send
    base: str
    headers: Mapping[str, str]

    async def ask(self, request: Request) -> AsyncGenerator[Sequence[StreamEvent]]:
        """Send, and give the answer's events batch by batch. Raises `ProviderError`."""
        url = request.api.url(request.target, self.base, stream=request.options.stream)
        headers = {**self.headers, "content-type": "application/json", "content-length": str(request.size)}
        parse = PARSERS.get(request.target.api)
        if parse is None:
            raise ProviderUnavailable(f"answers of {request.target.api} can't be read yet: use render() with its SDK")
        try:
            async with self.send(Outgoing(url, headers, request)) as answer, aclosing(read(answer, parse())) as batches:
                async for batch in batches:
                    yield batch
        except OSError as error:
            words = f"{request.target.name} can't be reached: {type(error).__name__}"
            raise ProviderUnavailable(words) from error


async def read(answer: Answer, parser: Parser) -> AsyncGenerator[Sequence[StreamEvent]]:
    """An answer's events batch by batch, up to its end; where the connection breaks, the parser says it was cut."""
    try:
        if answer.status >= 400:
            raise refused(answer, await beginning(answer.body))
        async for data in answer.body:
            yield parser.feed(data)
            if parser.done:
                break
    except OSError:
        pass
    finally:
        # A body that is left before its end is closed here and now, not when it is collected.
        close: Callable[[], Awaitable[None]] | None = getattr(answer.body, "aclose", None)
        if close is not None:
            await close()
    yield parser.finish()


async def beginning(body: AsyncIterator[bytes]) -> bytes:
    """The first bytes of an error answer, which may have no end or break off."""
    data = b""
    try:
        async for piece in body:
            data += piece
            if len(data) >= MAX_ERROR:
                break
    except OSError:
        pass
    return data[:MAX_ERROR]


class _Error(msgspec.Struct, frozen=True):
    message: str
    param: str | None = None


class _Refusal(msgspec.Struct, frozen=True):
    """An error answer of any house: `error` as an object or as words, or a `message` alone."""

    error: _Error | str | None = None
    message: str = ""


_refusal = msgspec.json.Decoder(_Refusal)


def refused(answer: Answer, data: bytes) -> ProviderError:
    """An error answer in the provider's own words, with the place they mean and how long to wait."""
    told = told_by(data)
    place = PLACE.match(told.message)
    path = told.param or (place.group() if place else None)
    wait = wait_of(answer.headers.get("retry-after", ""), time.time())
    return ProviderError(told.message, answer.status, path=path, retry_after=wait)


def told_by(data: bytes) -> _Error:
    """What an error body says; the beginning of its text where it is of no known form."""
    try:
        body = _refusal.decode(data)
    except UNREADABLE:
        body = _Refusal()
    match body.error:
        case _Error(message=words) if words:
            return body.error
        case str() as words if words:
            return _Error(words)
        case _:
            return _Error(body.message or data.decode(errors="replace")[:500])


def wait_of(header: str, now: float) -> float | None:
    """The seconds that a `retry-after` header asks for, be it a number or an HTTP date; None where it says neither."""
    try:
        seconds = float(header)
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    except ValueError:
        pass
    try:
        date: datetime = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
