"""Blocks of recorded answers go back to their provider unchanged: tools it ran, compactions, signed reasoning.

The recordings are those of test_recorded_answers.py. They leave out repeated events, so a stream's arguments may lack
pieces. What a whole block is, is put together here, so that the parser is compared with something else.
"""

import json

import pytest

from core.wire.test_recorded_answers import ANSWERS, cases, parse, values_of
from showandtell import render
from showandtell.core.events.types import StepEnd
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.hosted import CodeExecution
from support.next_request import accumulated, output

MODELS = {
    "anthropic-messages": "anthropic:claude-sonnet-4-5",
    "openai-responses": "openai:gpt-5",
    "gemini": "google:gemini-3-flash-preview",
    "bedrock-converse": "bedrock:us.amazon.nova-2-lite-v1:0",
}
ANTHROPIC_DELTAS = {"text": "text", "thinking": "thinking", "signature": "signature", "compaction": "content"}
GEMINI_PARTS = {"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}


def anthropic_blocks(values):
    """The content of an answer but for texts and calls."""
    blocks = dict(enumerate(values[0].get("content", ())))
    blocks |= {value["index"]: dict(value["content_block"]) for value in values if "content_block" in value}
    arguments = dict.fromkeys(blocks, "")
    for value in values:
        delta = value.get("delta", {})
        kind = delta.get("type", "").removesuffix("_delta")
        if kind == "input_json":
            arguments[value["index"]] += delta["partial_json"]
        elif name := ANTHROPIC_DELTAS.get(kind):
            held = blocks[value["index"]]
            held[name] = (held.get(name) or "") + delta[name]
    for index, text in arguments.items():
        if text:
            blocks[index]["input"] = arguments_of(text)
    return [block for block in blocks.values() if block["type"] not in ("text", "tool_use")]


def arguments_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return {"INVALID_JSON": text.strip()}


def responses_items(values):
    """The output of an answer but for messages and calls: items of the stream, then those of its end alone.

    Reasoning without encrypted content can't be sent back.
    """
    done = {value["item"]["id"]: value["item"] for value in values if value.get("type") == "response.output_item.done"}
    whole = values[-1].get("response", values[-1]).get("output", [])
    items = [*done.values(), *(item for item in whole if item.get("id") not in done)]
    while items and items[-1]["type"] == "reasoning":
        items = items[:-1]
    blocks = [item for item in items if item["type"] not in ("message", "function_call")]
    return [without_state(item) for item in blocks if item["type"] != "reasoning" or item.get("encrypted_content")]


def without_state(item):
    """An item without the state of its reasoning, which requests need not have."""
    return {key: value for key, value in item.items() if item["type"] != "reasoning" or key != "status"}


def gemini_parts(values):
    """The parts of an answer that the provider ran."""
    contents = [candidate.get("content", {}) for value in values for candidate in value.get("candidates", ())]
    return [part for content in contents for part in content.get("parts", ()) if GEMINI_PARTS & part.keys()]


def converse_blocks(values):
    """The blocks of an answer that the provider ran; deltas of one block come in one piece in the recordings."""
    blocks = [block for value in values for block in value.get("output", {}).get("message", {}).get("content", ())]
    for value in values:
        if start := value.get("contentBlockStart"):
            blocks.append({kind: dict(fields) for kind, fields in start["start"].items()})
        for kind, more in value.get("contentBlockDelta", {}).get("delta", {}).items():
            if kind == "toolUse":
                blocks[-1]["toolUse"]["input"] = json.loads(more["input"])
            elif kind == "toolResult":
                blocks[-1]["toolResult"]["content"] = more
    return [block for block in blocks if "toolResult" in block or is_hosted_call(block)]


def is_hosted_call(block):
    return block.get("toolUse", {}).get("type") == "server_tool_use"


def converse_content(messages):
    blocks = [block for message in messages if message["role"] == "assistant" for block in message["content"]]
    return converse_blocks([{"output": {"message": {"content": blocks}}}])


def anthropic_content(messages):
    contents = [message["content"] for message in messages if message["role"] == "assistant"]
    return [block for content in contents for block in anthropic_blocks([{"content": content}])]


#: What is read of an answer's JSON values, and of the body of the next request.
BLOCKS = {
    "anthropic-messages": (anthropic_blocks, lambda body: anthropic_content(body["messages"])),
    "openai-responses": (responses_items, lambda body: responses_items([{"output": with_types(body["input"])}])),
    "gemini": (gemini_parts, lambda body: gemini_parts([{"candidates": [{"content": it}]} for it in body["contents"]])),
    "bedrock-converse": (converse_blocks, lambda body: converse_content(body["messages"])),
}


def with_types(items):
    return [item for item in items if item.get("type", "message") != "function_call_output" and "type" in item]


def without_open(blocks):
    """Blocks without calls whose results the recording leaves out, which become words unless the turn is paused."""
    results = {block.get("tool_use_id") for block in blocks}
    is_open = [block.get("type") == "server_tool_use" and block["id"] not in results for block in blocks]
    has_results = any("codeExecutionResult" in block for block in blocks)
    return [
        block
        for block, is_call in zip(blocks, is_open, strict=True)
        if not is_call and (has_results or "executableCode" not in block)
    ]


def next_request(events, model, stop):
    """The body after an answer and the results of its calls. After a pause, the answer itself is continued."""
    answer = accumulated(events, model.partition(":")[0])
    results = [output(part.call_id, tool=part.tool) for part in answer.parts if isinstance(part, ToolCall)]
    later = [] if stop == "pause" else [*results, Draft("user", (Text("And now?"),))]
    return render([Draft("user", (Text("What is it?"),)), answer, *later], model=model, tools=[CodeExecution()]).json()


@pytest.mark.skipif(not ANSWERS.exists(), reason="the recordings are not at hand")
@pytest.mark.parametrize("case", [case for case in cases() if case.values[0]["api"] in MODELS])
def test_blocks_of_a_recorded_answer_go_back_unchanged(case):
    values, (_, events) = values_of(case), parse(case)
    found, sent = BLOCKS[case["api"]]
    ends = [event for event in events if isinstance(event, StepEnd)]
    if not ends or ends[0].stop == "cut" or not (blocks := found(values)):
        return
    complete = blocks if ends[0].stop == "pause" else without_open(blocks)
    assert sent(next_request(events, MODELS[case["api"]], ends[0].stop)) == complete
