"""One exchange with a provider: a request goes out in pieces, its answer comes in as batches of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from showandtell.capabilities.cells import Api
from showandtell.errors import ProviderError, ProviderUnavailable
from showandtell.events.types import StreamEvent
from showandtell.providers.http import Answer, Send
from showandtell.wire import parse_anthropic, parse_openai_chat
from showandtell.wire.body import Request

MAX_ERROR = 64 * 1024


class Parser(Protocol):
    """The bytes of one read give one batch."""

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

    async def ask(self, request: Request) -> AsyncIterator[Sequence[StreamEvent]]:
        """Send, and give the answer's events batch by batch. Raises `ProviderError`."""
        url = request.api.url(request.target, self.base, stream=request.options.stream)
        headers = {**self.headers, "content-type": "application/json", "content-length": str(request.size)}
        parse = PARSERS.get(request.target.api)
        if parse is None:
            raise ProviderUnavailable(f"answers of {request.target.api} can't be read yet: use render() with its SDK")
        try:
            async with self.send(Outgoing(url, headers, request)) as answer:
                async for batch in read(answer, parse()):
                    yield batch
        except OSError as error:
            words = f"{request.target.name} can't be reached: {type(error).__name__}"
            raise ProviderUnavailable(words) from error


async def read(answer: Answer, parser: Parser) -> AsyncIterator[Sequence[StreamEvent]]:
    """An answer's events batch by batch; where the connection breaks, the parser says that it was cut."""
    if answer.status >= 400:
        raise ProviderError(await error_text(answer), answer.status)
    try:
        async for data in answer.body:
            yield parser.feed(data)
    except OSError:
        pass
    yield parser.finish()


async def error_text(answer: Answer) -> str:
    """The provider's own words in an error answer, whichever house wrote it."""
    data = b""
    async for piece in answer.body:
        data = (data + piece)[:MAX_ERROR]
    try:
        body: Any = msgspec.json.decode(data)
        return str(body["error"]["message"])
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return data.decode(errors="replace")[:500]
