"""Streamed answers of each API: their bytes with all the fields that providers send around a delta, and their reads."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass

from showandtell.core.capabilities.cells import Api
from showandtell.core.wire.aws_eventstream import encode

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
