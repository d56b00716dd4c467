"""One exchange with a provider: sends a request in chunks and yields the response as batches of events."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Container, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import pybase64

from showandtell.core.capabilities.cells import Api, Target
from showandtell.core.events.types import StepEnd, StreamEvent, Usage
from showandtell.core.wire import sse
from showandtell.core.wire.http import Authorize, HttpResponse, Send
from showandtell.core.wire.own_calls import declared_names
from showandtell.core.wire.parsers import JSON_TYPE, parser_of, splitter_of
from showandtell.core.wire.renderers import renderer_of
from showandtell.core.wire.request import Request
from showandtell.core.wire.stream import MAX_RESPONSE, FrameSplitter, StreamParser
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.providers.bodies import read_body
from showandtell.providers.refusals import MAX_ERROR_BODY, Explain, parse_error, provider_error, unexplained
from showandtell.providers.secrets import conceal, conceal_end, conceal_error, secrets_in

#: How server-sent events start: a byte order mark, then a field or a comment.
SSE_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
#: Types that hosts and gateways give to streams and to complete responses alike.
LOOSE_TYPES = frozenset({JSON_TYPE, "text/plain", "text/event-stream", ""})
#: Bytes that tell one from the other, and the most that are read for them.
MIN_START, MAX_START = 8, 1024


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request with its URL and headers. Headers are never printed, since they contain keys."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    request: Request = field(repr=False)
    method: str = "POST"
    bodies: list[AsyncGenerator[bytes]] = field(default_factory=list[AsyncGenerator[bytes]], repr=False, compare=False)

    @property
    def size(self) -> int:
        """The exact content-length."""
        return self.request.size

    def body(self) -> AsyncIterator[bytes]:
        """The chunks of the body; from the start for each try."""
        self.bodies.append(read_body(self.request.segments, self.request.blobs, pybase64.b64encode))
        return self.bodies[-1]

    async def close(self) -> None:
        """Close the files of bodies that were left unread, because the connection failed."""
        for body in self.bodies:
            with contextlib.suppress(RuntimeError):  # somebody is reading it
                await body.aclose()


@dataclass(frozen=True, slots=True)
class Exchange:
    """How to reach a host: the function that sends, the base URL, and the headers.

    `authorize` makes headers for each request. `explain` makes some of the host's error texts clearer.
    """

    send: Send = field(repr=False)
    base: str
    headers: Mapping[str, str] = field(repr=False)
    authorize: Authorize | None = field(default=None, repr=False)
    explain: Explain = unexplained

    async def ask(self, request: Request) -> AsyncGenerator[Sequence[StreamEvent]]:
        """Send once and yield the response's events in batches. Raises `ProviderError`.

        Keys of the request are removed from the provider's error texts.
        """
        outgoing, target = await self.address(request), request.target
        secrets, names = secrets_in(outgoing.headers), declared_names(request.options, request.head)
        try:
            async with (
                self.send(outgoing) as response,
                closing_body(response),
                aclosing(await read(response, target, self.explain, names)) as batches,
            ):
                async for batch in batches:
                    yield conceal_end(batch, secrets)
        except OSError as error:
            problem = "timed out" if isinstance(error, TimeoutError) else "can't be reached"
            message = self.explain(0, f"{target.name} {problem}: {error_text(error)}")
            redacted = ProviderUnavailable(conceal(message, secrets))
            redacted.__cause__ = error
        except ProviderError as error:
            redacted = conceal_error(error, secrets)
        else:
            return
        finally:
            await outgoing.close()
        # Raised outside of `except`, so that its context isn't the original error, which may show a key.
        raise redacted

    async def address(self, request: Request) -> Outgoing:
        """The request with its URL and all headers."""
        url = request.api.url(request.target, self.base, stream=request.options.stream)
        headers = {**self.headers, "content-type": "application/json", "content-length": str(request.size)}
        outgoing = Outgoing(url, headers, request)
        if self.authorize is None:
            return outgoing
        return Outgoing(url, {**headers, **await self.authorize(outgoing)}, request)


def error_text(error: OSError) -> str:
    """The text of a connection error, else its class."""
    return error.strerror or type(error).__name__


async def read(
    response: HttpResponse, target: Target, explain: Explain = unexplained, declared: Container[str] | None = None
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """Start to read a response, and return its events in batches.

    If the connection breaks after the first one, the last one reports the cut. Some types say too little, so the first
    bytes decide how the body is read. `declared` are the names of the request's tools.

    Raises `OSError` if the connection breaks or times out before the first event.
    """
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status >= 400:
        data = await read_prefix(response.body, MAX_ERROR_BODY)
        raise provider_error(response, data, explain, messages_key=renderer_of(target.api).MESSAGES_KEY)
    start = await read_start(response.body)
    if splitter := find_splitter(media_type, start, target.api):
        return stream(start, response.body, StreamParser(parser_of(target.api).new_reader(), splitter(), declared))
    if media_type == JSON_TYPE or is_json(media_type, start):
        return complete(start, response.body, target.api, declared)
    error = parse_error(start + await read_prefix(response.body, MAX_ERROR_BODY - len(start)))
    message = f"answered {response.status} with {media_type}, which no API uses: {error.message}"
    raise BadAnswer(f"{target.name} {message}")


@contextlib.asynccontextmanager
async def closing_body(response: HttpResponse) -> AsyncGenerator[None]:
    """Close the body at the end of the context."""
    try:
        yield
    finally:
        await close_body(response)


async def close_body(response: HttpResponse) -> None:
    """Close a partly read body now, not when it is garbage-collected."""
    close: Callable[[], Awaitable[None]] | None = getattr(response.body, "aclose", None)
    if close is not None:
        await close()


def find_splitter(media_type: str, start: bytes, api: Api) -> Callable[[], FrameSplitter] | None:
    """The splitter of a stream, by the first bytes of the body and by its type; None if it isn't a stream."""
    if media_type in LOOSE_TYPES and SSE_START.match(start):
        return sse.Splitter
    return None if is_json(media_type, start) else splitter_of(api, media_type)


def is_json(media_type: str, start: bytes) -> bool:
    """Whether a body is a complete response, whichever of the usual types it has."""
    return media_type in LOOSE_TYPES and start.lstrip()[:1] in (b"{", b"[")


async def read_start(body: AsyncIterator[bytes]) -> bytes:
    """The first bytes of a body, at least 8 after any white space. Raises `OSError`."""
    start = b""
    async for chunk in body:
        start += chunk
        if len(start.lstrip()) >= MIN_START or len(start) >= MAX_START:
            break
    return start


async def stream(
    start: bytes, body: AsyncIterator[bytes], parser: StreamParser
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The events of a streamed response of which `start` was read already.

    Raises `OSError` if the connection breaks before the first event.
    """
    has_begun = False
    try:
        if batch := parser.feed(start):
            has_begun = True
            yield batch
        if not parser.done:
            async for chunk in body:
                if batch := parser.feed(chunk):  # most reads of a slow host complete no event
                    has_begun = True
                    yield batch
                if parser.done:
                    break
    except OSError:
        if not has_begun:
            raise
    yield parser.finish()


async def complete(
    start: bytes, body: AsyncIterator[bytes], api: Api, declared: Container[str] | None
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The events of a response that isn't streamed. A broken one can be retried, since nothing comes before its end."""
    data = start + await read_limited(body, MAX_RESPONSE - len(start))
    yield parser_of(api).parse_full(data, declared) if data else [StepEnd("cut", Usage())]


async def read_limited(body: AsyncIterator[bytes], limit: int) -> bytes:
    """The bytes of a body, up to a limit. Raises `OSError`."""
    data = bytearray()
    async for chunk in body:
        data += chunk
        if len(data) >= limit:
            break
    return bytes(data[:limit])


async def read_prefix(body: AsyncIterator[bytes], limit: int) -> bytes:
    """The bytes of a body, up to a limit or to the point where the connection breaks."""
    data = bytearray()
    with contextlib.suppress(OSError):
        async for chunk in body:
            data += chunk
            if len(data) >= limit:
                break
    return bytes(data[:limit])
