"""A provider that replies with the text after `Say:` in the last message, in pieces; it can pause until released.

`Fail: 529, then say hello` is answered with that status once. The text after `Then say:` in a message whose other
lines call tools is sent when the tools have returned.

It serves Claude's API; the fake provider's strict hosts answer all other requests.
"""

import asyncio
import json

from showandtell.core.wire.http import HttpResponse
from support.scripted import block, event

#: Where an answer waits until somebody says `go`.
PAUSE = "⏸"
#: Precedes the text to send when the tools have returned.
THEN = "Then say:"
MODEL = "anthropic:claude-sonnet-4-5"


class Speaker:
    """A handler of the fake provider: decides what to reply, and when. `heard` counts the requests for each text."""

    def __init__(self):
        self._gate = asyncio.Semaphore(0)
        self.heard = {}

    async def go(self, times=1):
        """Let waiting answers go on, each to its next pause."""
        for _ in range(times):
            self._gate.release()

    async def reset(self):
        """Forget the texts of other tests."""
        self._gate = asyncio.Semaphore(0)
        self.heard = {}

    def __call__(self, method, incoming):
        """Answer what is for us."""
        if method != "POST" or not incoming.path.startswith("/anthropic/"):
            return None
        last = last_words(incoming.body)
        self.heard[last] = self.heard.get(last, 0) + 1
        word, _, rest = last.partition(":")
        rest = rest.removeprefix(" ")
        if word == "Fail" and self.heard[last] == 1:
            return HttpResponse(int(rest.partition(",")[0]), {"content-type": "application/json"}, once(FAILED))
        if word in {"Say", "Fail"}:
            return HttpResponse(200, {"content-type": "text/event-stream"}, self._say(rest))
        return None

    async def _say(self, text):
        gate = self._gate
        thought, _, text = text.rpartition("</think>")
        yield event("message_start", message={"id": "msg_1", "role": "assistant", "usage": {"input_tokens": 10}})
        if thought:
            for item in block(0, {"type": "thinking", "thinking": "", "signature": ""}, thinking(thought), SIGNED):
                yield item
        start, *deltas, stop = block(1, {"type": "text", "text": ""}, *map(spoken, text.split(PAUSE)))
        yield start
        for at, item in enumerate(deltas):
            if at:
                await gate.acquire()
            yield item
        yield stop
        yield event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
        yield event("message_stop")


SIGNED = {"type": "signature_delta", "signature": "c2lnbmVk"}
FAILED = json.dumps({"type": "error", "error": {"type": "api_error", "message": "The house is on fire"}}).encode()


def thinking(words):
    return {"type": "thinking_delta", "thinking": words.removeprefix("<think>")}


def spoken(words):
    return {"type": "text_delta", "text": words}


async def once(data):
    yield data


def last_words(body):
    """What is to be said: as the person says last, or said before the results of tools that came last."""
    *before, last = json.loads(body)["messages"]
    if last["role"] != "user":
        return ""
    if not has_results(last):
        return next((text for text in texts(last) if text.startswith(("Say:", "Fail:"))), "")
    asked = next(item for item in reversed(before) if item["role"] == "user" and not has_results(item))
    return next((f"Say:{text.partition(THEN)[2]}" for text in texts(asked) if THEN in text), "")


def parts(message):
    """The parts of a message, whose content may be a text alone."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def has_results(message):
    return any(part["type"] == "tool_result" for part in parts(message))


def texts(message):
    return [part["text"] for part in parts(message) if part["type"] == "text"]
