"""Recorded responses of Anthropic's Messages API."""

import json


def sse(*chunks):
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (chunk["type"].encode(), json.dumps(chunk, ensure_ascii=False).encode())
        for chunk in chunks
    )


def block(index, start, *deltas):
    return (
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    )


def text(index, *words):
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": word} for word in words))


def call(index, call_id, *pieces):
    start = {"type": "tool_use", "id": call_id, "name": "draw", "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def end(reason):
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 9},
    }


BEGIN = {
    "type": "message_start",
    "message": {"id": "m", "usage": {"input_tokens": 25, "cache_read_input_tokens": 5, "output_tokens": 1}},
}

STOP = {"type": "message_stop"}

THOUGHT = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "A kiwi, "},
    {"type": "thinking_delta", "thinking": "I think."},
    {"type": "signature_delta", "signature": "EqQB"},
)

STREAM = sse(
    BEGIN,
    *THOUGHT,
    {"type": "ping"},
    *text(1, "Ça, c'est a ", "kiwi 🥝"),
    *call(2, "toolu_1", "", '{"si', 'ze": 2}'),
    end("tool_use"),
    STOP,
)

BODY = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "A kiwi.", "signature": "EqQB"},
        {"type": "text", "text": "Ça, c'est a kiwi", "citations": None},
        {"type": "tool_use", "id": "toolu_1", "name": "draw", "input": {}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 25, "output_tokens": 9, "cache_read_input_tokens": None},
}
