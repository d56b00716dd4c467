"""Recorded responses of OpenAI's Chat Completions API."""

import base64
import json

DONE = b"data: [DONE]\n\n"


def sse(*chunks):
    return b"".join(b"data: %s\n\n" % json.dumps(chunk, ensure_ascii=False).encode() for chunk in chunks)


def delta(reason=None, **fields):
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice], "usage": None}


def piece(arguments="", **fields):
    name = {"name": fields.pop("name")} if "name" in fields else {}
    return fields | {"type": "function", "function": {"arguments": arguments} | name}


USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 25, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 5}},
}

STREAM = (
    sse(
        delta(role="assistant", content="", refusal=None),
        delta(reasoning_content="A kiwi, "),
        delta(reasoning_content="I think."),
        delta(content="Ça, c'est "),
        delta(content="un kiwi 🥝"),
        delta(tool_calls=[piece(index=0, id="call_a", name="draw")]),
        delta(tool_calls=[piece('{"si', index=0)]),
        delta(tool_calls=[piece('ze": 2}', index=0)]),
        delta(tool_calls=[piece(index=1, id="call_b", name="look")]),
        delta("tool_calls"),
        USAGE,
    )
    + DONE
)


def generated_image(url):
    return {"type": "image_url", "image_url": {"url": url}}


PNG = "data:image/png;base64," + base64.b64encode(b"a kiwi").decode()

DETAILS = [
    {
        "type": "reasoning.text",
        "text": "A kiwi, I think.",
        "format": "anthropic-claude-v1",
        "index": 0,
        "signature": "Eq",
    },
    {"type": "reasoning.encrypted", "data": "gAAA", "format": "openai-responses-v1", "index": 1, "id": "rs_1"},
]


def detailed(**fields):
    return delta(reasoning_details=[{"format": "anthropic-claude-v1", "index": 0, "type": "reasoning.text", **fields}])


RICH = sse(
    delta(reasoning="A kiwi, I think."),
    detailed(text="A kiwi, I think."),
    detailed(signature="Eq"),
    delta(reasoning_details=DETAILS[1:]),
    delta(content="It is a "),
    delta(content="kiwi 🥝"),
    delta(images=[generated_image(PNG)]),
    delta(tool_calls=[piece('{"si', index=0, id="x", name="draw")]),
    delta(tool_calls=[piece('ze": 2}', index=0)]),
    delta("tool_calls"),
    USAGE,
)
