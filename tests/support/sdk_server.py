"""The fake provider for official SDKs, which block: it runs in its own thread and records what each SDK sent.

Both sides report what they received as `ReceivedAnswer`, from an SDK's own objects or from our events.
"""

import asyncio
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from fake_provider import KEYS, FakeProvider
from showandtell.core.capabilities.cells import Api
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import Usage
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.parsers import PARSERS
from showandtell.inspector.answering.answer import count_tokens
from showandtell.inspector.request import IncomingRequest, ModelRequest, Reply
from showandtell.inspector.send import default_answerer, serve
from support.builders import parser_of

#: Bytes a read, so that no read ends where an event does.
READS = (313, 7, 1500, 64)


class ReceivedAnswer(NamedTuple):
    """An answer in one form for all SDKs: `calls` are (id, tool, decoded arguments)."""

    text: str
    calls: tuple[tuple[str, str, Any], ...]
    stop: str
    usage: Usage


class Recorded(NamedTuple):
    """The bytes of a response and their media type."""

    media_type: str
    data: bytes


class Post(NamedTuple):
    """A received request and its decoded body."""

    incoming: IncomingRequest
    body: Any


class SdkServer:
    """A running fake provider. Every host answers with `reply`; if it is None, like the inspector.

    `canned` is a raw response that is sent to every client instead. `posts` are the received requests.
    """

    def __init__(self) -> None:
        self.reply: Reply | None = None
        self.canned: Recorded | None = None
        self.posts: list[Post] = []
        self.fake_provider = FakeProvider(answerer=self.answer, handlers=[self.handle])
        self.clients: dict[str, Any] = {}

    def answer(self, request: ModelRequest) -> Reply:
        if self.reply is None:
            return default_answerer(request)
        return msgspec.structs.replace(self.reply, input_tokens=count_tokens(request))

    def handle(self, method: str, incoming: IncomingRequest) -> HttpResponse | None:
        if method == "POST":
            self.posts.append(Post(incoming, json.loads(incoming.body)))
        if self.canned is None:
            return None
        return HttpResponse(200, {"content-type": self.canned.media_type}, in_pieces(self.canned.data))

    def base(self, vendor: str) -> str:
        return self.fake_provider.base(vendor)

    def client(self, name: str, make: Any) -> Any:
        """One client for all tests: making one costs more than asking it."""
        if name not in self.clients:
            self.clients[name] = make()
        return self.clients[name]

    def recorded(self) -> Recorded:
        """The bytes of the answer to the last request: the same request gets the same ones again."""
        return asyncio.run(self._say_again())

    async def _say_again(self) -> Recorded:
        answer = await serve(self.posts[-1].incoming, self.answer)
        assert answer.status == 200
        return Recorded(answer.headers["content-type"], b"".join([piece async for piece in answer.body]))

    def statuses(self) -> list[int]:
        return [item.status for item in self.fake_provider.ledger]

    def rest(self) -> None:
        """Reset the replies and the requests for the next test."""
        self.reply = self.canned = None
        self.posts.clear()
        self.fake_provider.ledger.clear()


async def in_pieces(data: bytes):
    sizes, at = itertools.cycle(READS), 0
    while at < len(data):
        size = next(sizes)
        yield data[at : at + size]
        at += size


@contextmanager
def sdk_server() -> Iterator[SdkServer]:
    """A server in its own thread, for blocking clients."""
    server, loop = SdkServer(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.fake_provider.__aenter__(), loop).result(60)
        yield server
    finally:
        for client in server.clients.values():
            close(client)
        asyncio.run_coroutine_threadsafe(server.fake_provider.__aexit__(None, None, None), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def close(client: Any) -> None:
    """Close an SDK's client; Mistral's has no `close`."""
    if hasattr(client, "close"):
        client.close()
    else:
        client.__exit__(None, None, None)


def key(vendor: str) -> str:
    return KEYS[vendor][1]


def environ(server: SdkServer) -> dict[str, str]:
    """Environment variables that lead our own client to the server, without a proxy."""
    return {**server.fake_provider.environ(), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def listen(api: Api, output: Recorded) -> ReceivedAnswer:
    """What our own parser and fold make of an answer's bytes."""
    media_type = output.media_type.partition(";")[0]
    fold = Accumulator("witness")
    if media_type == "application/json":
        fold.add(PARSERS[api].parse_full(output.data))
    else:
        parser = parser_of(api, media_type)
        for at in range(0, len(output.data), 97):
            fold.add(parser.feed(output.data[at : at + 97]))
        fold.add(parser.finish())
    return hear(fold)


def hear(fold: Accumulator) -> ReceivedAnswer:
    draft = fold.draft()
    text = "".join(part.text for part in draft.parts if isinstance(part, Text))
    calls = [part for part in draft.parts if isinstance(part, ToolCall)]
    received = tuple((call.call_id, call.tool, json.loads(call.arguments)) for call in calls)
    return ReceivedAnswer(text, received, draft.stop or "", fold.usage)


# How each SDK asks, and what it heard.


def send_claude(client, stream, **call):
    if not stream:
        return client.messages.create(**call)
    with client.messages.stream(**call) as answer:
        return answer.get_final_message()


CLAUDE_STOPS = {"end_turn": "end", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "refusal"}


def hear_claude(message):
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = tuple((block.id, block.name, block.input) for block in message.content if block.type == "tool_use")
    received = message.usage
    cached, written = received.cache_read_input_tokens or 0, received.cache_creation_input_tokens or 0
    usage = Usage(received.input_tokens + cached + written, received.output_tokens, cached, written)
    return ReceivedAnswer(text, calls, CLAUDE_STOPS[message.stop_reason], usage)


def send_responses(client, stream, **call):
    if not stream:
        return client.responses.create(**call)
    with client.responses.stream(**call) as answer:
        # Its own `get_final_response` knows of no other end than "completed".
        *_, last = answer
    return last.response


RESPONSES_STOPS = {"max_output_tokens": "length", "content_filter": "refusal"}


def hear_response(response):
    calls = tuple(
        (item.call_id, item.name, json.loads(item.arguments))
        for item in response.output
        if item.type == "function_call"
    )
    received, prompt, answer = response.usage, response.usage.input_tokens_details, response.usage.output_tokens_details
    cached, written = (prompt.cached_tokens, prompt.cache_write_tokens or 0) if prompt else (0, 0)
    usage = Usage(
        received.input_tokens, received.output_tokens, cached, written, answer.reasoning_tokens if answer else 0
    )
    why = response.incomplete_details and RESPONSES_STOPS[response.incomplete_details.reason]
    return ReceivedAnswer(response.output_text, calls, why or ("tool_calls" if calls else "end"), usage)


def send_chat(client, stream, **call):
    from openai.lib.streaming.chat import ChatCompletionStreamState

    if not stream:
        return client.chat.completions.create(**call)
    state = ChatCompletionStreamState()
    with client.chat.completions.create(**call, stream=True, stream_options={"include_usage": True}) as answer:
        for chunk in answer:
            state.handle_chunk(chunk)
    return state.current_completion_snapshot


CHAT_STOPS = {"stop": "end", "tool_calls": "tool_calls", "length": "length", "content_filter": "refusal"}


def hear_chat(completion):
    choice, received = completion.choices[0], completion.usage
    calls = tuple(
        (call.id, call.function.name, json.loads(call.function.arguments or "{}"))
        for call in choice.message.tool_calls or ()
    )
    prompt, answer = (
        getattr(received, "prompt_tokens_details", None),
        getattr(received, "completion_tokens_details", None),
    )
    cached, reasoning = getattr(prompt, "cached_tokens", 0) or 0, getattr(answer, "reasoning_tokens", 0) or 0
    cost = getattr(received, "cost", None)
    usage = Usage(received.prompt_tokens, received.completion_tokens, cached, reasoning_tokens=reasoning, cost=cost)
    return ReceivedAnswer(choice.message.content or "", calls, CHAT_STOPS[choice.finish_reason], usage)


def hear_chunks(chunks, usage_of):
    """For SDKs that leave it to their caller to gather the chunks."""
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    calls = {}
    for piece in (piece for choice in choices for piece in choice.delta.tool_calls or ()):
        call = calls.setdefault(piece.index, ["", "", ""])
        call[0] = call[0] or piece.id or ""
        call[1] += piece.function.name or ""
        call[2] += piece.function.arguments or ""
    text = "".join(choice.delta.content or "" for choice in choices)
    received = next(usage for chunk in reversed(chunks) if (usage := usage_of(chunk)))
    stop = next(choice.finish_reason for choice in choices if choice.finish_reason)
    parsed_calls = tuple((call_id, tool, json.loads(arguments)) for call_id, tool, arguments in calls.values())
    return ReceivedAnswer(
        text, parsed_calls, CHAT_STOPS[stop], Usage(received.prompt_tokens, received.completion_tokens)
    )


def send_gemini(client, stream, **call):
    if not stream:
        return hear_gemini([client.models.generate_content(**call)])
    return hear_gemini([*client.models.generate_content_stream(**call)])


GEMINI_STOPS = {"STOP": "end", "MAX_TOKENS": "length", "SAFETY": "refusal"}


def hear_gemini(chunks):
    candidates = [candidate for chunk in chunks for candidate in chunk.candidates or ()]
    parts = [part for item in candidates if item.content for part in item.content.parts or ()]
    text = "".join(part.text for part in parts if part.text and not part.thought)
    made = [part.function_call for part in parts if part.function_call]
    calls = tuple((call.id or "", call.name, call.args or {}) for call in made)
    received = next(chunk.usage_metadata for chunk in reversed(chunks) if chunk.usage_metadata)
    reason = next(item.finish_reason.name for item in reversed(candidates) if item.finish_reason)
    thoughts = received.thoughts_token_count or 0
    counts = {detail.modality.value.lower(): detail.token_count for detail in received.prompt_tokens_details or ()}
    modalities = {kind: count for kind, count in counts.items() if count and kind != "modality_unspecified"}
    usage = Usage(
        received.prompt_token_count or 0,
        (received.candidates_token_count or 0) + thoughts,
        received.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        modalities=modalities,
    )
    stop = GEMINI_STOPS[reason]
    return ReceivedAnswer(text, calls, "tool_calls" if calls and stop == "end" else stop, usage)


def send_converse(client, stream, **call):
    if not stream:
        return hear_converse(client.converse(**call))
    return hear_converse(gather_converse(client.converse_stream(**call)["stream"]))


CONVERSE_STOPS = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "guardrail_intervened": "refusal",
}


def gather_converse(events):
    """botocore leaves it to its caller to gather the events."""
    blocks, received = {}, {}
    for event in events:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": use}}}:
                blocks[at] = {"toolUse": {**use, "input": ""}}
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"text": words}}}:
                blocks[at] = {"text": blocks.get(at, {"text": ""})["text"] + words}
            case {"contentBlockDelta": {"contentBlockIndex": at, "delta": {"toolUse": {"input": piece}}}}:
                blocks[at]["toolUse"]["input"] += piece
            case {"messageStop": ending} | {"metadata": ending}:
                received |= ending
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return {**received, "output": {"message": {"content": [blocks[at] for at in sorted(blocks)]}}}


def hear_converse(answer):
    content = answer["output"]["message"]["content"]
    text = "".join(block.get("text", "") for block in content)
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    calls = tuple((use["toolUseId"], use["name"], use["input"]) for use in uses)
    received = answer["usage"]
    cached, written = received.get("cacheReadInputTokens", 0), received.get("cacheWriteInputTokens", 0)
    usage = Usage(received["inputTokens"] + cached + written, received["outputTokens"], cached, written)
    return ReceivedAnswer(text, calls, CONVERSE_STOPS[answer["stopReason"]], usage)
