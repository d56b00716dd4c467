"""Recorded responses of Bedrock's Converse API."""

import json
from base64 import b64encode

from showandtell.core.wire import aws_eventstream

USAGE = {"inputTokens": 25, "outputTokens": 9, "totalTokens": 39, "cacheReadInputTokens": 5, "cacheWriteInputTokens": 2}


def frames(*events):
    return b"".join(
        aws_eventstream.encode(name, json.dumps(body | {"p": "abcdefgh"}, ensure_ascii=False).encode())
        for name, body in events
    )


def base64(data):
    return b64encode(data).decode()


def block(index, *deltas, start=None):
    opened = [] if start is None else [("contentBlockStart", {"start": start, "contentBlockIndex": index})]
    grown = [("contentBlockDelta", {"delta": delta, "contentBlockIndex": index}) for delta in deltas]
    return [*opened, *grown, ("contentBlockStop", {"contentBlockIndex": index})]


def text(index, *words):
    return block(index, *({"text": word} for word in words))


def call(index, call_id, *pieces):
    start = {"toolUse": {"toolUseId": call_id, "name": "draw"}}
    return block(index, *({"toolUse": {"input": piece}} for piece in pieces), start=start)


def thought(index, *deltas):
    return block(index, *({"reasoningContent": delta} for delta in deltas))


def end(reason, usage=USAGE):
    return [("messageStop", {"stopReason": reason}), ("metadata", {"usage": usage, "metrics": {"latencyMs": 400}})]


BEGIN = ("messageStart", {"role": "assistant"})

STREAM = frames(
    BEGIN,
    *thought(0, {"text": "A kiwi, "}, {"text": "I think."}, {"signature": "EqQB"}),
    *text(1, "", "Ça, c'est a ", "kiwi 🥝"),
    *call(2, "tooluse_1", "", '{"si', 'ze": 2}'),
    *call(3, "tooluse_2"),
    *end("tool_use"),
)

CONTENT = [
    {"reasoningContent": {"reasoningText": {"text": "A kiwi, I think.", "signature": "EqQB"}}},
    {"text": "Ça, c'est a kiwi 🥝"},
    {"toolUse": {"toolUseId": "tooluse_1", "name": "draw", "input": {"size": 2}}},
    {"toolUse": {"toolUseId": "tooluse_2", "name": "draw", "input": {}}},
]


def body(*content, reason="tool_use", **more):
    answer = {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": reason}
    return json.dumps(answer | {"usage": USAGE, "metrics": {"latencyMs": 1}} | more).encode()


def chunks(*events):
    """Return Claude's own events as InvokeModelWithResponseStream sends them."""
    return b"".join(
        aws_eventstream.encode("chunk", json.dumps({"bytes": base64(json.dumps(event).encode()), "p": "ab"}).encode())
        for event in events
    )


CLAUDE = chunks(
    {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 25, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 25}},
)
