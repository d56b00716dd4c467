"""One exchange with a provider: sends a request in chunks and yields the response as batches of events."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from showandtell.core.capabilities.cells import Api, Target
from showandtell.core.events.types import StepEnd, StreamEvent, Usage
from showandtell.core.wire.http import Authorize, HttpResponse, Send
from showandtell.core.wire.parsers import FRAMES, JSON_TYPE, PARSERS
from showandtell.core.wire.request import Request
from showandtell.core.wire.stream import MAX_RESPONSE, StreamParser
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.providers.refusals import MAX_ERROR_BODY, Explain, parse_error, provider_error, unexplained
from showandtell.providers.secrets import conceal_end, conceal_error, secrets_in


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request with its URL and headers. Headers are never printed, since they contain keys."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    request: Request = field(repr=False)
    method: str = "POST"

    @property
    def size(self) -> int:
        """The exact content-length."""
        return self.request.size

    def body(self) -> AsyncIterator[bytes]:
        """The chunks of the body; from the start for each try."""
        return self.request.body()


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
        outgoing = await self.address(request)
        secrets = secrets_in(outgoing.headers)
        try:
            async with aclosing(self.receive(outgoing, request.target)) as batches:
                async for batch in batches:
                    yield conceal_end(batch, secrets)
        except ProviderError as error:
            redacted = conceal_error(error, secrets)
        else:
            return
        # Raised outside of `except`, so that its context isn't the original error, which may show a key.
        raise redacted

    async def receive(self, outgoing: Outgoing, target: Target) -> AsyncGenerator[Sequence[StreamEvent]]:
        """The events of one response, with the provider's error texts as they are."""
        try:
            async with self.send(outgoing) as response, aclosing(read(response, target, self.explain)) as batches:
                async for batch in batches:
                    yield batch
        except OSError as error:
            message = self.explain(0, f"{target.name} can't be reached: {error_text(error)}")
            raise ProviderUnavailable(message) from error

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
    response: HttpResponse, target: Target, explain: Explain = unexplained
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The events of a response in batches. If the connection breaks, the last event reports that it was cut."""
    try:
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status >= 400:
            raise provider_error(response, await read_prefix(response.body, MAX_ERROR_BODY), explain)
        if media_type == JSON_TYPE:
            # Nothing of an unstreamed response is yielded before its end, so a broken one can be retried.
            data = await read_limited(response.body, MAX_RESPONSE)
            yield PARSERS[target.api].parse_full(data) if data else [StepEnd("cut", Usage())]
        elif media_type in FRAMES:
            async with aclosing(stream(response.body, target.api, media_type)) as batches:
                async for batch in batches:
                    yield batch
        else:
            error = parse_error(await read_prefix(response.body, MAX_ERROR_BODY))
            message = f"answered {response.status} with {media_type}, which no API uses: {error.message}"
            raise BadAnswer(f"{target.name} {message}")
    finally:
        await close_body(response)


async def close_body(response: HttpResponse) -> None:
    """Close a partly read body now, not when it is garbage-collected."""
    close: Callable[[], Awaitable[None]] | None = getattr(response.body, "aclose", None)
    if close is not None:
        await close()


async def stream(body: AsyncIterator[bytes], api: Api, media_type: str) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The events of a streamed response."""
    parser = StreamParser(PARSERS[api].new_reader(), FRAMES[media_type]())
    try:
        async for chunk in body:
            if batch := parser.feed(chunk):  # most reads of a slow host complete no event
                yield batch
            if parser.done:
                break
    except OSError:
        pass
    yield parser.finish()


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
