"""One exchange with a provider: a request goes out in pieces, its answer comes in as batches of events."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from showandtell.core.capabilities.cells import Api, Target
from showandtell.core.events.types import StepEnd, StreamEvent, Usage
from showandtell.core.wire.http import Authorise, HttpResponse, Send
from showandtell.core.wire.parsers import ANSWERS, FRAMES, WHOLE
from showandtell.core.wire.request import Request
from showandtell.core.wire.stream import LARGEST_ANSWER, StreamParser
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.providers.refusals import MAX_ERROR, Explain, leave_words, refused, told_by
from showandtell.providers.secrets import conceal_end, conceal_error, secrets_in


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
    """How a host is reached: the way to send, its base URL, its headers, and those that each request needs anew.

    `explain` says in plainer words what some of its errors mean.
    """

    send: Send = field(repr=False)
    base: str
    headers: Mapping[str, str] = field(repr=False)
    authorise: Authorise | None = field(default=None, repr=False)
    explain: Explain = leave_words

    async def ask(self, request: Request) -> AsyncGenerator[Sequence[StreamEvent]]:
        """Send once, and give the answer's events batch by batch. Raises `ProviderError`.

        Whatever the provider says of errors leaves here without the keys that it was sent.
        """
        outgoing = await self.address(request)
        secrets = secrets_in(outgoing.headers)
        try:
            async with aclosing(self.answers(outgoing, request.target)) as batches:
                async for batch in batches:
                    yield conceal_end(batch, secrets)
        except ProviderError as error:
            failed = conceal_error(error, secrets)
        else:
            return
        # Raised out here, it doesn't hold the one that may show a key as its context.
        raise failed

    async def answers(self, outgoing: Outgoing, target: Target) -> AsyncGenerator[Sequence[StreamEvent]]:
        """The events of one answer in the provider's own words."""
        try:
            async with self.send(outgoing) as answer, aclosing(read(answer, target, self.explain)) as batches:
                async for batch in batches:
                    yield batch
        except OSError as error:
            words = self.explain(0, f"{target.name} can't be reached: {words_of(error)}")
            raise ProviderUnavailable(words) from error

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


async def read(
    answer: HttpResponse, target: Target, explain: Explain = leave_words
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """An answer's events batch by batch, up to its end; where the connection breaks, the parser says it was cut."""
    try:
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if answer.status >= 400:
            raise refused(answer, await beginning(answer.body, MAX_ERROR), explain)
        if media_type == WHOLE:
            # Of a whole answer nothing was given before its end, so one that breaks off may be asked for again.
            data = await gather(answer.body, LARGEST_ANSWER)
            yield ANSWERS[target.api].whole(data) if data else [StepEnd("cut", Usage())]
        elif media_type in FRAMES:
            async with aclosing(stream(answer.body, target.api, media_type)) as batches:
                async for batch in batches:
                    yield batch
        else:
            told = told_by(await beginning(answer.body, MAX_ERROR))
            words = f"answered {answer.status} with {media_type}, which is no api's: {told.message}"
            raise BadAnswer(f"{target.name} {words}")
    finally:
        # A body that is left before its end is closed here and now, not when it is collected.
        close: Callable[[], Awaitable[None]] | None = getattr(answer.body, "aclose", None)
        if close is not None:
            await close()


async def stream(body: AsyncIterator[bytes], api: Api, media_type: str) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The events of a streamed answer."""
    parser = StreamParser(ANSWERS[api].reading(), FRAMES[media_type]())
    try:
        async for data in body:
            if batch := parser.feed(data):  # most reads of a slow host complete no event
                yield batch
            if parser.done:
                break
    except OSError:
        pass
    yield parser.finish()


async def gather(body: AsyncIterator[bytes], most: int) -> bytes:
    """The bytes of an answer that is not streamed, or the first of one without end. Raises `OSError`."""
    data = bytearray()
    async for piece in body:
        data += piece
        if len(data) >= most:
            break
    return bytes(data[:most])


async def beginning(body: AsyncIterator[bytes], most: int) -> bytes:
    """The first bytes of an error's answer, up to where it breaks off."""
    data = bytearray()
    with contextlib.suppress(OSError):
        async for piece in body:
            data += piece
            if len(data) >= most:
                break
    return bytes(data[:most])
