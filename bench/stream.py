"""Cost of a streamed answer, from the provider's bytes to typed events, and through the loop of `Agent`.

`parse` feeds a parser; `agent` is a whole run: rename, fold, loop, and a reader who takes each event. Both get the same
bytes in reads of 16 KiB and of 150 bytes, as a busy host and a slow one send them, from memory: no network is in the
figures. The providers' own SDKs read the same streams in the same way, as does pydantic-ai. Every figure is CPU time
divided by the number of the provider's events.
"""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product
from statistics import median
from time import process_time
from typing import Any, TypeAlias

from cases import MIB, MODELS, table, verdict
from showandtell import Agent
from showandtell.core.capabilities.cells import Api
from showandtell.core.events.types import TextDelta
from showandtell.core.wire.aws_eventstream import encode
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.parsers import FRAMES, PARSERS
from showandtell.core.wire.stream import StreamParser
from showandtell.testing import FakeConnection

GOALS = {"parse": 2.0, "agent": 6.0}
READS = (16 * 1024, 150)
#: Deltas of a stream whose time is taken, and of one whose memory is.
COUNT, MANY = 4000, 20_000
ROUNDS = 9
ASKED, WORD = "How was the quarter?", " quarterly"
SSE, FRAMED = "text/event-stream", "application/vnd.amazon.eventstream"
RESPONSE = {"id": "resp_68af4030592c81938ec0a5fbab4a3e9f", "object": "response", "created_at": 1755963440, "output": []}
MESSAGE = "msg_68af40337f8c8193a5d5d1b7d8b0a9e5"
CHUNK = {
    "id": "chatcmpl-C7kYq0mGQYwKbnIRiyRrYzHhJv1Yp",
    "object": "chat.completion.chunk",
    "created": 1755963440,
    "model": "gpt-5-mini-2025-08-07",
    "service_tier": "default",
    "system_fingerprint": None,
}
COUNTED = {
    "promptTokenCount": 1290,
    "candidatesTokenCount": 7,
    "totalTokenCount": 1297,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1290}],
}


def line(value: dict[str, object], *, named: bool = False, end: str = "\n") -> bytes:
    """A server-sent event, named by the type in it or not at all."""
    name = f"event: {value['type']}{end}" if named else ""
    return f"{name}data: {json.dumps(value, separators=(',', ':'))}{end}{end}".encode()


def frame(kind: str, **fields: object) -> bytes:
    """A frame of AWS's event stream, padded as Bedrock pads it."""
    return encode(kind, json.dumps({**fields, "p": "abcdefghijklm"}, separators=(",", ":")).encode())


def speak_anthropic(words: Sequence[str]) -> Iterator[bytes]:
    message = {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "content": []}
    usage = {"input_tokens": 1290, "output_tokens": 1}
    about = {"model": "claude-sonnet-4-5", "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield line({"type": "message_start", "message": {**message, **about}}, named=True)
    block = {"type": "text", "text": ""}
    yield line({"type": "content_block_start", "index": 0, "content_block": block}, named=True)
    for word in words:
        delta = {"type": "text_delta", "text": word}
        yield line({"type": "content_block_delta", "index": 0, "delta": delta}, named=True)
    yield line({"type": "content_block_stop", "index": 0}, named=True)
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield line({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 7}}, named=True)
    yield line({"type": "message_stop"}, named=True)


def speak_chat(words: Sequence[str]) -> Iterator[bytes]:
    for word in words:
        choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
        yield line({**CHUNK, "choices": [choice], "usage": None, "obfuscation": "Yx3k"})
    yield line({**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None})
    usage = {"prompt_tokens": 1290, "completion_tokens": 7, "total_tokens": 1297}
    yield line({**CHUNK, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def speak_responses(words: Sequence[str]) -> Iterator[bytes]:
    item = {"id": MESSAGE, "type": "message", "status": "in_progress", "content": [], "role": "assistant"}
    place = {"item_id": MESSAGE, "output_index": 0, "content_index": 0}
    yield line({"type": "response.created", "sequence_number": 0, "response": RESPONSE}, named=True)
    added = {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}
    yield line(added, named=True)
    for at, word in enumerate(words, 2):
        about = {"type": "response.output_text.delta", "sequence_number": at, **place}
        yield line({**about, "delta": word, "logprobs": [], "obfuscation": "Yx3kp"}, named=True)
    text = {"type": "output_text", "text": "".join(words), "annotations": [], "logprobs": []}
    yield line({**added, "type": "response.output_item.done", "item": {**item, "content": [text]}}, named=True)
    usage = {"input_tokens": 1290, "output_tokens": 7, "total_tokens": 1297}
    whole = {**RESPONSE, "status": "completed", "usage": usage}
    yield line({"type": "response.completed", "sequence_number": len(words) + 2, "response": whole}, named=True)


def speak_gemini(words: Sequence[str]) -> Iterator[bytes]:
    about = {"usageMetadata": COUNTED, "modelVersion": "gemini-3-flash-preview", "responseId": "sxqLaOCzKbWjz7IP"}
    for at, word in enumerate(words, 1):
        end = {"finishReason": "STOP"} if at == len(words) else {}
        candidate = {"content": {"parts": [{"text": word}], "role": "model"}, **end, "index": 0}
        yield line({"candidates": [candidate], **about}, end="\r\n")


def speak_converse(words: Sequence[str]) -> Iterator[bytes]:
    yield frame("messageStart", role="assistant")
    for word in words:
        yield frame("contentBlockDelta", contentBlockIndex=0, delta={"text": word})
    yield frame("contentBlockStop", contentBlockIndex=0)
    yield frame("messageStop", stopReason="end_turn")
    usage = {"inputTokens": 1290, "outputTokens": 7, "totalTokens": 1297}
    yield frame("metadata", usage=usage, metrics={"latencyMs": 900})


SPEAK: dict[Api, Callable[[Sequence[str]], Iterator[bytes]]] = {
    "anthropic-messages": speak_anthropic,
    "openai-chat": speak_chat,
    "openai-responses": speak_responses,
    "gemini": speak_gemini,
    "bedrock-converse": speak_converse,
}


@dataclass(frozen=True)
class Stream:
    """An answer of one api: its bytes, how many come with each read, how many events they are."""

    api: Api
    data: bytes
    events: int
    size: int

    @property
    def headers(self) -> dict[str, str]:
        """What the answer says of itself."""
        return {"content-type": FRAMED if self.api == "bedrock-converse" else SSE}

    def reads(self) -> Iterator[bytes]:
        """What each read gives."""
        return (self.data[at : at + self.size] for at in range(0, len(self.data), self.size))

    async def come(self) -> AsyncIterator[bytes]:
        """The same events, as an async iterator."""
        for data in self.reads():
            yield data


def stream(api: Api, size: int, words: Sequence[str]) -> Stream:
    """A stream of words."""
    frames = [*SPEAK[api](words)]
    return Stream(api, b"".join(frames), len(frames), size)


def parse(output: Stream) -> float:
    """CPU seconds of a parser alone."""
    parser = StreamParser(PARSERS[output.api].new_reader(), FRAMES[output.headers["content-type"]]())
    start = process_time()
    count = sum(len(parser.feed(data)) for data in output.reads())
    seconds = process_time() - start
    assert count > output.events - 10
    return seconds


def agent_of(output: Stream) -> Agent:
    """An agent whose provider says this."""

    @asynccontextmanager
    async def send(_: object) -> AsyncIterator[HttpResponse]:
        yield HttpResponse(200, output.headers, output.come())

    model = MODELS[output.api]
    return Agent(model, connection=FakeConnection(send=send))


async def watch(output: Stream) -> float:
    """CPU seconds of a run whose reader takes each event."""
    agent, count = agent_of(output), 0
    start = process_time()
    going = agent.run(ASKED)
    async for _ in going:
        count += 1
    seconds = process_time() - start
    assert going.status == "complete", going.reason
    assert count > output.events - 10
    return seconds


def run(output: Stream) -> float:
    """The same, without what an event loop costs to begin."""
    return asyncio.run(watch(output))


def by_anthropic(output: Stream) -> float:
    from anthropic import Anthropic

    client = Anthropic(api_key="none", http_client=in_memory(output))
    asked: Any = {"role": "user", "content": ASKED}
    return drain(output, lambda: client.messages.create(model="any", max_tokens=9, messages=[asked], stream=True))


def by_openai_chat(output: Stream) -> float:
    from openai import OpenAI

    client = OpenAI(api_key="none", http_client=in_memory(output))
    asked: Any = {"role": "user", "content": ASKED}
    return drain(output, lambda: client.chat.completions.create(model="gpt-5-mini", messages=[asked], stream=True))


def by_openai_responses(output: Stream) -> float:
    from openai import OpenAI

    client = OpenAI(api_key="none", http_client=in_memory(output))
    return drain(output, lambda: client.responses.create(model="gpt-5-mini", input=ASKED, stream=True))


def by_genai(output: Stream) -> float:
    from google import genai

    client = genai.Client(api_key="none", http_options=genai.types.HttpOptions(httpx_client=in_memory(output)))
    model = "gemini-3-flash-preview"
    return drain(output, lambda: client.models.generate_content_stream(model=model, contents=ASKED))


def by_boto(output: Stream) -> float:
    import boto3
    from botocore.awsrequest import AWSResponse

    class Raw:
        """A body as urllib3 gives it."""

        def stream(self, **_: object) -> Iterator[bytes]:
            return output.reads()

    session = boto3.Session(aws_access_key_id="none", aws_secret_access_key="none", region_name="us-east-1")  # noqa: S106 - no key
    client = session.client("bedrock-runtime")
    events = client.meta.events
    events.register(
        "before-send.bedrock-runtime.*", lambda request, **_: AWSResponse(request.url, 200, output.headers, Raw())
    )
    asked: Any = {"role": "user", "content": [{"text": ASKED}]}
    return drain(output, lambda: client.converse_stream(modelId="us.amazon.nova-pro-v1:0", messages=[asked])["stream"])


def by_pydantic_ai(output: Stream) -> float:
    import httpx2
    from anthropic import AsyncAnthropic
    from pydantic_ai import Agent as Peer
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    async def watch() -> float:
        answer = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=output.headers, content=output.come()))
        client = AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=answer))
        peer = Peer(AnthropicModel("any", provider=AnthropicProvider(anthropic_client=client)))
        start, count = process_time(), 0
        async with peer.run_stream_events(ASKED) as events:
            async for _ in events:
                count += 1
        assert count > output.events - 10
        return process_time() - start

    return asyncio.run(watch())


def in_memory(output: Stream) -> Any:
    """An HTTP client of the SDKs' kind, without a network."""
    import httpx2

    answer = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=output.headers, content=output.reads()))
    return httpx2.Client(transport=answer)


def drain(output: Stream, ask: Callable[[], Iterable[object]]) -> float:
    """CPU seconds of iterating over an SDK's own stream."""
    start = process_time()
    count = sum(1 for _ in ask())
    seconds = process_time() - start
    assert count > output.events - 10
    return seconds


Way: TypeAlias = Callable[[Stream], float]
OURS: dict[str, Way] = {"parse": parse, "agent": run}
#: What reads the streams of an api besides.
THEIRS: dict[Api, dict[str, Way]] = {
    "anthropic-messages": {"anthropic": by_anthropic, "pydantic-ai": by_pydantic_ai},
    "openai-chat": {"openai": by_openai_chat},
    "openai-responses": {"openai": by_openai_responses},
    "gemini": {"google-genai": by_genai},
    "bedrock-converse": {"boto3": by_boto},
}


def times() -> list[Sequence[object]]:
    """Microseconds an event for each api, size of reads and way: the best of rounds of all, and their median.

    A processor's clock drifts by more than the code does, so the best is what is judged; the median says what is usual.
    """
    streams = [stream(api, size, [WORD] * COUNT) for api, size in product(SPEAK, READS)]
    cases = [(output, name, way) for output in streams for name, way in {**OURS, **THEIRS[output.api]}.items()]
    rounds = [[way(output) / output.events * 1e6 for output, _, way in cases] for _ in range(ROUNDS + 1)][1:]
    rows: list[Sequence[object]] = []
    for (output, name, _), costs in zip(cases, zip(*rounds, strict=True), strict=True):
        good = [verdict(item(costs), GOALS[name]) if name in GOALS else "" for item in (min, median)]
        rows.append(
            [output.api, f"{output.size} B", name, f"{min(costs):.2f}", good[0], f"{median(costs):.2f}", good[1]]
        )
    return rows


async def held(output: Stream) -> int:
    """The most bytes that a run holds between two deltas, beyond the text so far."""
    agent, length, peak, count = agent_of(output), 0, 0, 0
    tracemalloc.start()
    async for event in agent.run(ASKED):
        if isinstance(event, TextDelta):
            length, count = length + len(event.text), count + 1
            peak = peak if count % 1000 else max(peak, tracemalloc.get_traced_memory()[0] - length)
    tracemalloc.stop()
    return peak


def growth(api: Api) -> list[object]:
    """What `MANY` deltas hold at most beside half of them, and what twice the text costs."""
    small, large = (asyncio.run(held(stream(api, READS[1], [WORD] * count))) / 1024 for count in (MANY // 2, MANY))
    word = WORD * 100
    half, whole = (stream(api, READS[0], [word] * (size * MIB // len(word))) for size in (10, 20))
    once, twice = (min(column) for column in zip(*[(run(half), run(whole)) for _ in range(6)], strict=True))
    return [api, f"{small:.0f}", f"{large:.0f}", f"{twice:.2f}", f"{twice / once:.2f}"]


def main() -> None:
    """Print what an event costs, and what a long answer does."""
    gc.freeze()  # keep the garbage collector from scanning imported modules
    print("CPU microseconds per event")
    goals = f"<= {GOALS['parse']:.0f}, {GOALS['agent']:.0f}"
    print(table(["api", "reads", "by", "best", goals, "median", goals], times()))
    print(f"\nA run of Agent: KiB held in addition to the text with {MANY // 2} and {MANY} deltas; an answer of 20 MiB")
    head = ["api", f"{MANY // 2} deltas", f"{MANY} deltas", "20 MiB s", "20/10 MiB"]
    print(table(head, [growth(api) for api in SPEAK]))


if __name__ == "__main__":
    main()
