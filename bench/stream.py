"""A streamed answer of 2,000 deltas, from the provider's bytes to typed events.

CPU microseconds for each of the provider's events, in reads of 16 KiB, as a busy host sends them, and of 150 bytes, as
a slow one does; the bytes come from memory. The floor splits the bytes at blank lines, decodes each event's JSON with
msgspec and collects the text. `parsing` is our parser alone; `Agent` is a whole run with a reader who takes each event.
The API's own SDK and pydantic-ai read the same bytes through their HTTP client's transport, or botocore's.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from answers import ASKED, SPEAK, WORD, Stream, stream
from figures import FLOOR, Figure, rounds, save
from processes import install, peer
from sample_files import MIB
from sending import MODELS, PACKAGES
from showandtell import Agent
from showandtell.core.capabilities.cells import Api
from showandtell.core.wire.parsers import FRAMES, PARSERS
from showandtell.core.wire.stream import StreamParser
from showandtell.events import TextDelta
from showandtell.testing import FakeConnection, HttpResponse

READS = {"16 KiB": 16 * 1024, "150 bytes": 150}
GOALS = {"16 KiB": 1.3, "150 bytes": 2.0}
BEFORE = {"16 KiB": "1.4 times", "150 bytes": "3.8 times"}
#: Deltas of a stream whose time is taken, and of one whose memory is.
COUNT, MANY = 2000, 20_000
ROUNDS = 7
GOOGLE = ("google-genai==3.4.0",)
SDKS: dict[Api, tuple[str, str, tuple[str, ...]]] = {
    "anthropic-messages": ("anthropic", "send_files", PACKAGES),
    "openai-chat": ("openai-chat", "send_files", PACKAGES),
    "openai-responses": ("openai-responses", "send_files", PACKAGES),
    "gemini": ("google-genai", "send_google", GOOGLE),
    "bedrock-converse": ("boto3", "send_files", PACKAGES),
}
#: Where the text of an event is.
TEXTS: dict[Api, Callable[[Any], str | None]] = {
    "anthropic-messages": lambda event: event["delta"].get("text") if "delta" in event else None,
    "openai-chat": lambda event: event["choices"][0]["delta"].get("content") if event["choices"] else None,
    "openai-responses": lambda event: event.get("delta"),
    "gemini": lambda event: event["candidates"][0]["content"]["parts"][0]["text"],
    "bedrock-converse": lambda event: event["delta"]["text"] if "delta" in event else None,
}
DECODER = msgspec.json.Decoder()


def bare(output: Stream) -> float:
    """The floor."""
    start, rest, texts, text_of = process_time(), b"", list[str](), TEXTS[output.api]
    split = frames if output.api == "bedrock-converse" else lines
    for data in output.reads():
        found, rest = split(rest + data)
        texts += filter(None, [text_of(DECODER.decode(text)) for text in found])
    assert len("".join(texts)) == COUNT * len(WORD)
    return process_time() - start


def lines(data: bytes) -> tuple[list[bytes], bytes]:
    """The data of whole server-sent events, and the rest."""
    *blocks, rest = data.split(b"\r\n\r\n" if b"\r" in data else b"\n\n")
    found = [block[block.find(b"data: ") + 6 :] for block in blocks]
    return [text for text in found if text != b"[DONE]"], rest


def frames(data: bytes) -> tuple[list[bytes], bytes]:
    """The payloads of whole frames of AWS's event stream, and the rest. No checksum is checked."""
    found, at = list[bytes](), 0
    while len(data) - at >= 12 and len(data) - at >= (size := int.from_bytes(data[at : at + 4], "big")):
        head = int.from_bytes(data[at + 4 : at + 8], "big")
        found.append(data[at + 12 + head : at + size - 4])
        at += size
    return found, data[at:]


def parse(output: Stream) -> float:
    """CPU seconds of our parser alone."""
    parser = StreamParser(PARSERS[output.api].new_reader(), FRAMES[output.headers["content-type"]]())
    start = process_time()
    count = sum(len(parser.feed(data)) for data in output.reads())
    seconds = process_time() - start
    assert count > output.events - 10
    return seconds


def agent_of(output: Stream) -> Agent:
    """An agent whose provider answers with this."""

    @asynccontextmanager
    async def send(_: object) -> AsyncIterator[HttpResponse]:
        yield HttpResponse(200, output.headers, output.come())

    return Agent(MODELS[output.api], connection=FakeConnection(send=send))


def run(output: Stream) -> float:
    """CPU seconds of a run whose reader takes each event."""

    async def watch() -> float:
        agent, count = agent_of(output), 0
        start = process_time()
        running = agent.run(ASKED)
        async for _ in running:
            count += 1
        seconds = process_time() - start
        assert running.status == "complete", running.reason
        assert count > output.events - 10
        return seconds

    return asyncio.run(watch())


def times(api: Api, reads: str, folder: Path) -> Iterator[Figure]:
    """Microseconds an event."""
    output = stream(api, READS[reads], [WORD] * COUNT)
    path = folder / api
    path.write_bytes(output.data)
    way, env, packages = SDKS[api]
    arguments = (str(path), str(READS[reads]), output.headers["content-type"], str(output.events))

    def scaled(seconds: Callable[[Stream], float]) -> Callable[[], float]:
        return lambda: seconds(output) / output.events * 1e6

    with ExitStack() as stack:
        sdk = stack.enter_context(peer(install(env, *packages), "read_stream", way, *arguments))
        theirs = stack.enter_context(
            peer(install("send_files", *PACKAGES), "read_stream", f"pydantic-ai/{api}", *arguments)
        )
        costs = rounds(
            ROUNDS,
            floor=scaled(bare),
            parse=scaled(parse),
            run=scaled(run),
            sdk=lambda: sdk() * 1000 / output.events,
            pydantic_ai=lambda: theirs() * 1000 / output.events,
        )
    peers = {f"{way} {sdk.version}": costs["sdk"], f"pydantic-ai {theirs.version}": costs["pydantic_ai"]}
    beside = {FLOOR: costs["floor"], **peers}
    work, goal, before = f"an event of {api}, reads of {reads}", GOALS[reads], BEFORE[reads]
    yield Figure(f"{work}, parsing", "µs", costs["parse"], {FLOOR: costs["floor"]}, "floor", goal, before, inner=True)
    yield Figure(f"{work}, `Agent`", "µs", costs["run"], beside, of="floor")


def held(api: Api, deltas: int) -> float:
    """The most KiB that a run holds between two deltas, beyond the text so far."""

    async def watch() -> int:
        length = peak = count = 0
        agent = agent_of(stream(api, READS["150 bytes"], [WORD] * deltas))
        tracemalloc.start()
        async for event in agent.run(ASKED):
            if isinstance(event, TextDelta):
                length, count = length + len(event.text), count + 1
                peak = peak if count % 1000 else max(peak, tracemalloc.get_traced_memory()[0] - length)
        tracemalloc.stop()
        return peak

    return asyncio.run(watch()) / 1024


def growth(api: Api) -> Iterator[Figure]:
    """What twice the deltas hold, and what twice the text costs."""
    more = [held(api, MANY) - held(api, MANY // 2)]
    yield Figure(f"{api}, held by {MANY:,} deltas more than by half of them, beside the text", "KiB", more, goal=64)
    word = WORD * 100
    half, whole = (stream(api, READS["16 KiB"], [word] * (size * MIB // len(word))) for size in (10, 20))
    costs = rounds(5, half=lambda: run(half), whole=lambda: run(whole))
    twice = [large / small for small, large in zip(costs["half"], costs["whole"], strict=True)]
    yield Figure(f"{api}, an answer of 20 MiB ÷ one of 10", "times", twice)


def main() -> None:
    """Print the table."""
    gc.freeze()  # keep the garbage collector from scanning imported modules
    with tempfile.TemporaryDirectory() as folder:
        figures = [item for api in SPEAK for reads in READS for item in times(api, reads, Path(folder))]
    save(__doc__ or "", [*figures, *growth("anthropic-messages"), *growth("openai-responses")])


if __name__ == "__main__":
    main()
