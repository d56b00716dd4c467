"""A provider that replies with the text after `Say:` in the last message, in pieces; it can pause until resumed.

`Fail: 529, then say hello` is answered with that status once, and `Full: 9000` refused as long as the request has more
tokens. The text after `Then say:` in a message whose other lines call tools is sent when the tools have returned.
`Blocks: [...]` is answered with these blocks of JSON; a string among them pauses. `CHART` among them is a file that the provider's code made: it is given by id, as chart.png.

A request for a title is answered with `About` and the last word of the question.

It handles requests of the Messages API; the fake provider's strict hosts answer all others.
"""

import asyncio
import json

from showandtell.agent.suggest_title import INSTRUCTIONS
from showandtell.core.wire.http import HttpResponse
from support.fixtures import RED, png
from support.scripted import block, event

#: An answer pauses here until `resume` is called.
PAUSE = "⏸"
#: Precedes the text to send when the tools have returned.
THEN = "Then say:"
MODEL = "anthropic:claude-sonnet-4-5"
CHART = "file_chart"


class EchoProvider:
    """A handler for the fake provider. `requests` counts the requests with each text."""

    def __init__(self):
        self._gate = asyncio.Semaphore(0)
        self.requests = {}

    async def resume(self, times=1):
        """Let paused answers continue, each to its next pause."""
        for _ in range(times):
            self._gate.release()

    async def reset(self):
        """Discard the pauses and counts of other tests."""
        self._gate = asyncio.Semaphore(0)
        self.requests = {}

    def __call__(self, method, incoming):
        """The response to a request of the Messages API; None for others."""
        if method == "GET" and incoming.path.startswith(f"/anthropic/v1/files/{CHART}"):
            is_content = incoming.path.endswith("/content")
            return HttpResponse(200, {}, single(png(160, 80, RED) if is_content else DESCRIBED))
        if method != "POST" or not incoming.path.startswith("/anthropic/"):
            return None
        if title := requested_title(incoming.body):
            return HttpResponse(200, {"content-type": "text/event-stream"}, self._stream(title))
        last = requested_text(incoming.body)
        self.requests[last] = self.requests.get(last, 0) + 1
        command, _, text = last.partition(":")
        text = text.removeprefix(" ")
        if command == "Fail" and self.requests[last] == 1:
            return HttpResponse(int(text.partition(",")[0]), {"content-type": "application/json"}, single(FAILED))
        if command == "Full" and (asked := len(incoming.body) // 4) > int(text):
            words = f"prompt is too long: {asked} tokens > {text} maximum"
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
            return HttpResponse(400, {"content-type": "application/json"}, single(json.dumps(error).encode()))
        if command == "Full":
            return HttpResponse(200, {"content-type": "text/event-stream"}, self._stream("It fits now."))
        if command == "Blocks":
            return HttpResponse(200, {"content-type": "text/event-stream"}, self._stream_blocks(json.loads(text)))
        if command in {"Say", "Fail"}:
            return HttpResponse(200, {"content-type": "text/event-stream"}, self._stream(text))
        return None

    async def _stream(self, text):
        gate = self._gate
        reasoning, _, text = text.rpartition("</think>")
        yield event("message_start", message={"id": "msg_1", "role": "assistant", "usage": {"input_tokens": 10}})
        if reasoning:
            for item in block(
                0, {"type": "thinking", "thinking": "", "signature": ""}, thinking_delta(reasoning), SIGNED
            ):
                yield item
        start, *deltas, stop = block(1, {"type": "text", "text": ""}, *map(text_delta, text.split(PAUSE)))
        yield start
        for index, item in enumerate(deltas):
            if index:
                await gate.acquire()
            yield item
        yield stop
        yield event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
        yield event("message_stop")

    async def _stream_blocks(self, blocks):
        gate = self._gate
        yield event("message_start", message={"id": "msg_1", "role": "assistant", "usage": {"input_tokens": 10}})
        for index, item in enumerate(blocks):
            if isinstance(item, str):
                await gate.acquire()
                continue
            for data in block(index, *streamed(item)):
                yield data
        yield event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
        yield event("message_stop")


def streamed(item):
    """A block as it starts, and its deltas: text, citations and input are streamed."""
    match item:
        case {"type": "text", "text": words, **rest}:
            citations = ({"type": "citations_delta", "citation": each} for each in rest.get("citations", ()))
            return {"type": "text", "text": ""}, text_delta(words), *citations
        case {"type": "server_tool_use", "input": given}:
            return {**item, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(given)}
        case _:
            return (item,)


SIGNED = {"type": "signature_delta", "signature": "c2lnbmVk"}
DESCRIBED = json.dumps({"type": "file", "id": CHART, "filename": "chart.png", "mime_type": "image/png"}).encode()
FAILED = json.dumps({"type": "error", "error": {"type": "api_error", "message": "The server is on fire"}}).encode()


def thinking_delta(text):
    return {"type": "thinking_delta", "thinking": text.removeprefix("<think>")}


def text_delta(text):
    return {"type": "text_delta", "text": text}


async def single(data):
    yield data


def requested_title(body):
    """The title that a request asks for, if it does."""
    if json.dumps(INSTRUCTIONS).strip('"') not in body.decode():
        return ""
    (message,) = json.loads(body)["messages"]
    (text,) = texts(message)
    question, _, _ = text.partition("Assistant:")
    return f"About {question.split()[-1]}"


def requested_text(body):
    """The command of the last user message, or of the one before the tool results that came last."""
    *before, last = json.loads(body)["messages"]
    if last["role"] != "user":
        return ""
    if not has_results(last):
        return next((text for text in texts(last) if text.startswith(("Say:", "Fail:", "Full:", "Blocks:"))), "")
    question = next(item for item in reversed(before) if item["role"] == "user" and not has_results(item))
    return next((f"Say:{text.partition(THEN)[2]}" for text in texts(question) if THEN in text), "")


def parts(message):
    """The parts of a message; its content may also be a string."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def has_results(message):
    return any(part["type"] == "tool_result" for part in parts(message))


def texts(message):
    return [part["text"] for part in parts(message) if part["type"] == "text"]
