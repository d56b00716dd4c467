"""Recorded responses of OpenAI's Responses API."""

import base64
import json

KIWI = base64.b64encode(b"a kiwi").decode()


def encode(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sse(*chunks):
    return b"".join(b"event: %s\ndata: %s\n\n" % (chunk["type"].encode(), encode(chunk)) for chunk in chunks)


def event(kind, index=None, **fields):
    return {"type": f"response.{kind}", **({} if index is None else {"output_index": index}), **fields}


def added(index, item):
    return event("output_item.added", index, item={**item, "status": "in_progress"})


def done(index, item):
    return event("output_item.done", index, item=item)


def message(*parts, **more):
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [*parts], **more}


def output_text(text):
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def call(call_id, arguments, status="completed"):
    item = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": "draw"}
    return {**item, "arguments": arguments, "status": status}


def image(**fields):
    return {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": KIWI, **fields}


def text_events(index, part, *pieces):
    deltas = [
        event("output_text.delta", index, item_id="m", content_index=part, delta=piece, logprobs=[]) for piece in pieces
    ]
    return *deltas, event("output_text.done", index, item_id="m", content_index=part, text="".join(pieces))


def argument_events(index, *pieces):
    deltas = [event("function_call_arguments.delta", index, item_id="fc", delta=piece) for piece in pieces]
    return *deltas, event("function_call_arguments.done", index, item_id="fc", arguments="".join(pieces))


def answer(*output, status="completed", **more):
    return {"id": "resp_1", "object": "response", "status": status, "error": None, "output": [*output], **more}


def last(*output, status="completed", **more):
    return event(status, response=answer(*output, status=status, **more))


THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "A kiwi?"}, {"type": "summary_text", "text": "Yes."}],
    "encrypted_content": "gAAA",
}

OUTPUT = (
    {**THOUGHT, "status": "completed", "content": None},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
    message(output_text("Ça, c'est a kiwi 🥝"), output_text("It is green.")),
    call("call_a", '{"size": 2}'),
    call("call_b", "{}"),
    image(output_format="webp"),
)

TOKENS = {
    "input_tokens": 25,
    "output_tokens": 9,
    "total_tokens": 34,
    "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 7},
    "output_tokens_details": {"reasoning_tokens": 4},
}

STREAM = sse(
    event("created", response=answer(status="in_progress")),
    added(0, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}),
    event("reasoning_summary_part.added", 0, summary_index=0, part={"type": "summary_text", "text": ""}),
    event("reasoning_summary_text.delta", 0, summary_index=0, delta="A "),
    event("reasoning_summary_text.delta", 0, summary_index=0, delta="kiwi?"),
    event("reasoning_summary_text.done", 0, summary_index=0, text="A kiwi?"),
    event("reasoning_summary_text.delta", 0, summary_index=1, delta="Yes."),
    done(0, OUTPUT[0]),
    added(1, OUTPUT[1]),
    event("web_search_call.searching", 1, item_id="ws_1"),
    done(1, OUTPUT[1]),
    added(2, message()),
    event("content_part.added", 2, content_index=0, part=output_text("")),
    *text_events(2, 0, "Ça, c'est a ", "kiwi 🥝"),
    *text_events(2, 1, "It is green."),
    done(2, OUTPUT[2]),
    added(3, call("call_a", "")),
    added(4, call("call_b", "")),
    *argument_events(3, '{"si', 'ze": 2}'),
    *argument_events(4, "{}"),
    done(3, OUTPUT[3]),
    done(4, OUTPUT[4]),
    added(5, image(result=None)),
    event("image_generation_call.partial_image", 5, partial_image_b64="AAAA", partial_image_index=0),
    done(5, OUTPUT[5]),
    last(*OUTPUT, usage=TOKENS),
)
