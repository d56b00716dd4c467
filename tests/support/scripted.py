"""A provider from a script: answers in its wire's own bytes, and every request to it must pass the strict inspector."""

import json
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Text, is_approval
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, View
from showandtell.core.wire.aws_eventstream import encode
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import compose
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import IncomingRequest, files_of
from showandtell.providers.connect import BASES
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from support.agents import make_agent
from support.builders import Everything

CLAUDE, GPT, RESPONSES = "inspector", "inspector:openai-chat", "inspector:openai-responses"
GEMINI, CONVERSE = "inspector:gemini", "inspector:bedrock-converse"
MODELS = (CLAUDE, GPT, RESPONSES, GEMINI, CONVERSE)
each_api = pytest.mark.parametrize("model", MODELS)
#: For what takes long: an API that takes files in results of tools, and one that doesn't. The others are thorough.
two_apis = pytest.mark.parametrize(
    "model", [*MODELS[:2], *(pytest.param(model, marks=pytest.mark.thorough) for model in MODELS[2:])]
)
#: One model of each host, because a conversation may continue with any of them.
ELSEWHERE = (
    "anthropic:claude-sonnet-4-5",
    "openai-chat:gpt-5",
    "openai:gpt-5",
    "google:gemini-3-pro-preview",
    "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
)
FRAMED = "application/vnd.amazon.eventstream"
#: Where the inspector stands in for hosts that share an api with another host.
HOSTS = {"openrouter": "http://inspector/openrouter/v1", "vertex": "http://inspector/vertex"}


class Stops(NamedTuple):
    """How an api says why a message ended.

    `first` counts the frames of a stream up to its first word, `last` those at its end that say why it ended.
    """

    end: str
    calls: str
    length: str
    filtered: str
    first: int
    last: int


STOPS = {
    CLAUDE: Stops("end_turn", "tool_use", "max_tokens", "refusal", 3, 2),
    GPT: Stops("stop", "tool_calls", "length", "content_filter", 1, 3),
    RESPONSES: Stops("completed", "completed", "max_output_tokens", "content_filter", 3, 1),
    GEMINI: Stops("STOP", "STOP", "MAX_TOKENS", "SAFETY", 1, 1),
    CONVERSE: Stops("end_turn", "tool_use", "max_tokens", "guardrail_intervened", 2, 2),
}


#: Ask once, for most scripts end with an error on purpose.
ONCE = RetryPolicy(tries=0)


async def no_time(_):
    """Waiting that takes none."""


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def framed(kind, **fields):
    return encode(kind, json.dumps(fields).encode())


def raw(payload, model):
    """A frame of a delta with bytes of any kind in it."""
    return encode("contentBlockDelta", payload) if model == CONVERSE else b"data: " + payload + b"\n\n"


def is_json(text):
    try:
        json.loads(text or "{}")
    except ValueError:
        return False
    return True


def block(index, opened, *deltas):
    yield event("content_block_start", index=index, content_block=opened)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def speak_anthropic(text, calls, stop, thought):
    yield event("message_start", message={"id": "msg_1", "role": "assistant", "usage": {"input_tokens": 10}})
    blocks = []
    if thought:
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        thinking = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append((thinking, {"type": "thinking_delta", "thinking": thought}, signed))
    if text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": text}))
    for at, tool, given in calls:
        delta = {"type": "input_json_delta", "partial_json": given}
        blocks.append(({"type": "tool_use", "id": at, "name": tool, "input": {}}, delta))
    for index, (opened, *deltas) in enumerate(blocks):
        yield from block(index, opened, *deltas)
    yield event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 5})
    yield event("message_stop")


def chunk(delta, finish=None, **more):
    return (
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}], **more})}\n\n".encode()
    )


def speak_chat(text, calls, stop, thought):
    if thought:
        yield chunk({"role": "assistant", "reasoning_content": thought})
    if text:
        yield chunk({"role": "assistant", "content": text})
    for index, (at, tool, given) in enumerate(calls):
        function = {"name": tool, "arguments": given}
        yield chunk({"tool_calls": [{"index": index, "id": at, "type": "function", "function": function}]})
    yield chunk({}, stop)
    yield f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 10, 'completion_tokens': 5}})}\n\n".encode()
    yield b"data: [DONE]\n\n"


def item_events(index, item):
    """An item's begin, its content in one delta, and its end."""
    place = {"output_index": index, "item_id": item["id"]}
    added = {"content": [], "arguments": "", "summary": [], "encrypted_content": None}
    begun = {key: added.get(key, value) for key, value in item.items()} | {"status": "in_progress"}
    yield event("response.output_item.added", output_index=index, item=begun)
    match item:
        case {"type": "reasoning", "summary": [{"text": words}]}:
            yield event("response.reasoning_summary_text.delta", **place, summary_index=0, delta=words)
        case {"type": "message", "content": [{"text": words}]}:
            yield event("response.output_text.delta", **place, content_index=0, delta=words)
            yield event("response.output_text.done", **place, content_index=0, text=words)
        case {"type": "function_call", "arguments": given}:
            yield event("response.function_call_arguments.delta", **place, delta=given)
            yield event("response.function_call_arguments.done", **place, arguments=given)
    yield event("response.output_item.done", output_index=index, item=item)


def items_of(text, calls, stop, thought):
    if thought:
        summary = [{"type": "summary_text", "text": thought}]
        yield {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "c2VhbGVk"}
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    for at, (call_id, tool, given) in enumerate(calls):
        status = "completed" if stop == "completed" or is_json(given) else "incomplete"
        call = {"type": "function_call", "id": f"fc_{at}", "status": status, "call_id": call_id}
        yield {**call, "name": tool, "arguments": given}


def speak_responses(text, calls, stop, thought):
    yield event("response.created", response={"id": "resp_1", "status": "in_progress", "output": []})
    items = [*items_of(text, calls, stop, thought)]
    for index, item in enumerate(items):
        yield from item_events(index, item)
    usage = {"input_tokens": 10, "output_tokens": 5}
    status = stop if stop in ("completed", "failed") else "incomplete"
    why = {"reason": stop} if status == "incomplete" else None
    wrong = {"code": "server_error", "message": "Broken"} if status == "failed" else None
    response = {"id": "resp_1", "status": status, "output": items, "incomplete_details": why, "error": wrong}
    yield event(f"response.{status}", response={**response, "usage": usage})


def gemini_call(call_id, tool, given):
    """A call comes whole; one whose arguments are no JSON is one whose pieces were cut."""
    torn = {"partialArgs": [{"jsonPath": "$.word", "stringValue": "to"}], "willContinue": True}
    args = torn if not is_json(given) else {"args": json.loads(given)} if given else {}
    return {"id": call_id, "name": tool, **args}


def gemini_chunk(part, finish=None, **more):
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0} | (
        {"finishReason": finish} if finish else {}
    )
    return f"data: {json.dumps({'candidates': [candidate], **more})}\r\n\r\n".encode()


def speak_gemini(text, calls, stop, thought):
    if thought:
        yield gemini_chunk({"text": thought, "thought": True})
    if text:
        yield gemini_chunk({"text": text})
    for at, call in enumerate(calls):
        signed = {} if at else {"thoughtSignature": "c2lnbmVk"}
        yield gemini_chunk({"functionCall": gemini_call(*call), **signed})
    yield gemini_chunk({"text": ""}, stop, usageMetadata={"promptTokenCount": 10, "candidatesTokenCount": 5})


def speak_converse(text, calls, stop, thought):
    yield framed("messageStart", role="assistant")
    blocks = []
    if thought:
        words, signed = ({"reasoningContent": item} for item in ({"text": thought}, {"signature": "c2lnbmVk"}))
        blocks.append((None, words, signed))
    if text:
        blocks.append((None, {"text": text}))
    blocks += [
        ({"toolUse": {"toolUseId": at, "name": tool}}, {"toolUse": {"input": given}}) for at, tool, given in calls
    ]
    for index, (start, *deltas) in enumerate(blocks):
        if start:
            yield framed("contentBlockStart", contentBlockIndex=index, start=start)
        for delta in deltas:
            yield framed("contentBlockDelta", contentBlockIndex=index, delta=delta)
        yield framed("contentBlockStop", contentBlockIndex=index)
    yield framed("messageStop", stopReason=stop)
    yield framed("metadata", usage={"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, metrics={"latencyMs": 1})


SPEAK = {
    CLAUDE: speak_anthropic,
    GPT: speak_chat,
    RESPONSES: speak_responses,
    GEMINI: speak_gemini,
    CONVERSE: speak_converse,
}


def frames(text="", *calls, stop=None, model=CLAUDE, thought=""):
    """A whole answer frame by frame; a call is (id, tool, arguments as text)."""
    stop = stop or (STOPS[model].calls if calls else STOPS[model].end)
    return [*SPEAK[model](text, calls, stop, thought)]


def say(text="", *calls, stop=None, model=CLAUDE, thought=""):
    """The same in one."""
    return b"".join(frames(text, *calls, stop=stop, model=model, thought=thought))


def begin(text="", *calls, model=CLAUDE):
    """An answer up to where it would say why it ended."""
    return b"".join(frames(text, *calls, model=model)[: -STOPS[model].last])


def delta(words, model):
    """The JSON of one piece of text."""
    match model:
        case _ if model == CLAUDE:
            output = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}}
        case _ if model == GPT:
            output = {"choices": [{"index": 0, "delta": {"content": words}}]}
        case _ if model == RESPONSES:
            output = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": words}
        case _ if model == GEMINI:
            output = {"candidates": [{"content": {"parts": [{"text": words}], "role": "model"}}]}
        case _:
            output = {"contentBlockIndex": 0, "delta": {"text": words}}
    return json.dumps(output).encode()


class Repeating:
    """An answer of one text: an x, then `words` repeated `count` times. `read` is how many were read so far."""

    def __init__(self, words, count, model=CLAUDE):
        self.words, self.count, self.model, self.read = words, count, model, 0

    async def __call__(self):
        whole, at = frames("x", model=self.model), STOPS[self.model].first
        yield b"".join(whole[:at])
        piece = raw(delta(self.words, self.model), self.model)
        for _ in range(self.count):
            self.read += 1
            yield piece
        yield b"".join(whole[at:])


def begins(data, error):
    """A stream that breaks with an error after these bytes."""

    async def stream():
        yield data
        raise error

    return stream


#: An error inside a stream, as each api says it, and in our words.
FAULT = {
    CLAUDE: event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
    GPT: chunk({}, error={"type": "overloaded_error", "message": "Overloaded"}),
    RESPONSES: event("error", code="server_error", message="Overloaded", param=None),
    GEMINI: raw(
        json.dumps({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}).encode(), GEMINI
    ),
    CONVERSE: encode("serviceUnavailableException", b'{"message": "Overloaded"}', message_type="exception"),
}
FAULTS = {
    CLAUDE: "overloaded_error: Overloaded",
    GPT: "overloaded_error: Overloaded",
    RESPONSES: "server_error: Overloaded",
    GEMINI: "UNAVAILABLE: Overloaded",
    CONVERSE: "serviceUnavailableException: Overloaded",
}


async def in_pieces(data, size=40):
    for at in range(0, len(data), size):
        yield data[at : at + size]


def base_of(target):
    return HOSTS.get(target.provider, BASES[target.api])


def host_of(model, url, body):
    """Where a script's request goes. OpenAI gives no reasoning and takes none back, so one with it is for vLLM."""
    is_own = model.startswith(GPT) and b'"reasoning_content"' in body
    return url.replace("/openai/", "/vllm/") if is_own else url


def read_strictly(url, body, headers=None):
    """What the inspector reads in a request; it raises for whatever the api would answer with an error."""
    parts = urlsplit(url)
    site, groups = find_host(parts.path)
    assert groups is not None, f"nobody serves {url}"
    assert len(body) <= site.max_body
    found = {name: unquote(value) for name, value in groups.items() if value is not None}
    return site.read(IncomingRequest(parts.path, parts.query, headers or {}, body, found))


class Script:
    """One answer after the other, the last one for ever: bytes, (status, bytes), an error to raise, a stream, an `HttpResponse`.

    `bodies` are the requests as JSON, `asked` what the inspector read in them.
    """

    def __init__(self, *answers, model=CLAUDE):
        self.answers = answers
        self.model = model
        self.bodies = []
        self.asked = []

    @property
    def exchange(self):
        return Exchange(self.send, base_of(resolve(self.model)), {})

    @asynccontextmanager
    async def send(self, request):
        body = b"".join([piece async for piece in request.body()])
        assert len(body) == request.size
        self.asked.append(read_strictly(host_of(self.model, request.url, body), body, request.headers))
        answer = self.answer_to(body)
        self.bodies.append(json.loads(body))
        headers = {"content-type": FRAMED} if resolve(self.model).api == "bedrock-converse" else {}
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, HttpResponse):
            yield answer
        elif callable(answer):
            yield HttpResponse(200, headers, self.record(answer()))
        else:
            status, data = answer if isinstance(answer, tuple) else (200, answer)
            yield HttpResponse(status, headers, in_pieces(self.fresh(data)))

    def answer_to(self, body):  # noqa: ARG002 - for scripts that read it
        """The next answer."""
        return self.answers[min(len(self.bodies), len(self.answers) - 1)]

    def fresh(self, data):
        """An answer that is given again, with other ids: the Responses API refuses two thoughts of one id."""
        return data.replace(b'"rs_1"', b'"rs_%d"' % len(self.bodies)) if self.model == RESPONSES else data

    async def record(self, stream):
        async for data in stream:
            yield self.fresh(data)

    @property
    def files(self):
        """How many files each request held."""
        return [sum(len([*files_of(turn)]) for turn in asked.turns) for asked in self.asked]


def scripted(*answers, model=CLAUDE, **settings):
    """An agent that talks to a script, and the script."""
    script = Script(*answers, model=model)
    return make_agent(model, exchange=script.exchange, **{"retry": ONCE, **settings}), script


async def watch(run):
    return [event async for event in run]


def results(messages):
    """What each call got back: (call id, words, whether it is an error)."""
    return [(message.call_id, message.text, message.is_error) for message in messages if message.role == "tool"]


def check_pairs(messages):
    """Every call has one result, before anybody speaks again, and no id is used twice."""
    waiting, used = [], set()
    for message in messages:
        if message.role == "tool":
            waiting.remove(message.call_id)
            continue
        if is_approval(message.parts):
            continue
        assert waiting == []
        waiting = [call.call_id for call in message.calls]
        assert len({*waiting}) == len(waiting)
        assert not used & {*waiting}
        used |= {*waiting}
    assert waiting == []


def check_usable(conversation, *models):
    """The next message on this conversation would be accepted by these models, and by one of every other host."""
    check_pairs(conversation.messages)
    asked = Message("next", "user", (Text("go on"),))
    view = View((*conversation.messages, asked), conversation.attachments, "next")
    for model in (*models, *ELSEWHERE):
        target = resolve(model)
        planned = plan(view, target, Everything(conversation.known()), Policy())
        request = compose(planned, target, Options(stream=True), conversation.blobs)
        body, url = b"".join(request.chunks()), request.api.url(target, base_of(target), stream=True)
        read_strictly(host_of(target.name, url, body), body)
