"""A provider from a script: answers in its wire's own bytes, and every request to it must pass the strict inspector."""

import json
from contextlib import asynccontextmanager
from inspect import isasyncgenfunction

from builders import Everything
from showandtell import Agent
from showandtell.capabilities.resolve import resolve
from showandtell.content import Message, Text, is_approval
from showandtell.delivery.plan import plan
from showandtell.delivery.values import Policy, View
from showandtell.inspector import anthropic_messages, openai_chat
from showandtell.providers.exchange import Exchange
from showandtell.providers.http import Answer
from showandtell.wire.body import compose
from showandtell.wire.options import Options

CLAUDE, GPT = "inspector", "inspector:openai-chat"
MODELS = (CLAUDE, GPT)
BASES = {CLAUDE: "http://script", GPT: "http://script/v1"}
READ = {CLAUDE: anthropic_messages.read_body, GPT: openai_chat.read_body}
STOPS = {CLAUDE: ("end_turn", "tool_use"), GPT: ("stop", "tool_calls")}


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def block(index, opened, delta):
    yield event("content_block_start", index=index, content_block=opened)
    yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def speak_anthropic(text, calls, stop):
    yield event("message_start", message={"id": "msg_1", "role": "assistant", "usage": {"input_tokens": 10}})
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})] if text else []
    blocks += [
        ({"type": "tool_use", "id": at, "name": tool, "input": {}}, {"type": "input_json_delta", "partial_json": given})
        for at, tool, given in calls
    ]
    for index, (opened, delta) in enumerate(blocks):
        yield from block(index, opened, delta)
    yield event("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 5})
    yield event("message_stop")


def chunk(delta, finish=None, **more):
    return (
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}], **more})}\n\n".encode()
    )


def speak_openai(text, calls, stop):
    if text:
        yield chunk({"role": "assistant", "content": text})
    for index, (at, tool, given) in enumerate(calls):
        function = {"name": tool, "arguments": given}
        yield chunk({"tool_calls": [{"index": index, "id": at, "type": "function", "function": function}]})
    yield chunk({}, stop)
    yield f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 10, 'completion_tokens': 5}})}\n\n".encode()
    yield b"data: [DONE]\n\n"


FAULT = {
    CLAUDE: event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
    GPT: chunk({}, error={"type": "overloaded_error", "message": "Overloaded"}),
}


def say(text="", *calls, stop=None, model=CLAUDE):
    """A whole answer; a call is (id, tool, arguments as text)."""
    stop = stop or STOPS[model][bool(calls)]
    return b"".join((speak_openai if model == GPT else speak_anthropic)(text, calls, stop))


async def in_pieces(data, size=40):
    for at in range(0, len(data), size):
        yield data[at : at + size]


class Script:
    """One answer after the other, the last one for ever: bytes, (status, bytes), an error to raise, or a stream."""

    def __init__(self, *answers, model=CLAUDE):
        self.answers = answers
        self.model = model
        self.bodies = []

    @property
    def exchange(self):
        return Exchange(self.send, BASES[self.model], {})

    @asynccontextmanager
    async def send(self, request):
        body = b"".join([piece async for piece in request.body()])
        READ[self.model](body)
        answer = self.answers[min(len(self.bodies), len(self.answers) - 1)]
        self.bodies.append(json.loads(body))
        if isinstance(answer, Exception):
            raise answer
        if isasyncgenfunction(answer):
            yield Answer(200, {}, answer())
        else:
            status, data = answer if isinstance(answer, tuple) else (200, answer)
            yield Answer(status, {}, in_pieces(data))


def scripted(*answers, model=CLAUDE, **settings):
    """An agent that talks to a script, and the script."""
    script = Script(*answers, model=model)
    return Agent(model, exchange=script.exchange, **settings), script


async def watch(run):
    return [event async for event in run]


def results(messages):
    """What each call got back: (call id, words, whether it is an error)."""
    return [(one.call_id, one.text, one.is_error) for one in messages if one.role == "tool"]


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


def check_usable(conversation):
    """The next message on this conversation would be accepted on either api."""
    check_pairs(conversation.messages)
    asked = Message("next", "user", (Text("go on"),))
    view = View((*conversation.messages, asked), conversation.attachments, "next")
    for model in MODELS:
        target = resolve(model)
        planned = plan(view, target, Everything(), Policy())
        request = compose(planned, target, Options(), {}, conversation.blobs)
        READ[model](b"".join(request.chunks()))
