"""What a client approves is the model's own text: it runs byte for byte as it was sealed, or not at all."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import BadInput, from_ag_ui, from_ui_messages, tool
from showandtell.asgi import ag_ui_stream, ui_stream
from support.nodejs import npm_reader
from support.properties import examples
from support.scripted import say, scripted

SECRET = b"0123456789abcdef"
got = []


@tool(approval=True)
def remove(value: Any) -> str:
    """Remove it."""
    got.append(value)
    return "removed"


@pytest.fixture(scope="module")
def npm():
    with npm_reader() as read:
        yield read


#: JSON as models write it: any number of digits, escapes, spaces, and repeated keys.
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
STRINGS = st.one_of(
    WORDS.map(json.dumps),
    WORDS.map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from([r'"\/"', r'"\u0041"', r'"\u0000"', r'"\ud83d\ude00"', r'"\ud800"', '"__proto__"']),
)
GAPS = st.sampled_from(["", " ", "\n", "\t"])


def listed(items):
    return st.tuples(st.lists(items, max_size=3), GAPS).map(lambda drawn: f"[{(',' + drawn[1]).join(drawn[0])}]")


def mapped(items):
    keys = st.sampled_from(['"a"', '"b"', '"10"', r'"\u0061"', '"__proto__"', '"constructor"'])
    pair = st.tuples(keys, GAPS, items).map(lambda drawn: f"{drawn[0]}:{drawn[1]}{drawn[2]}")
    return st.lists(pair, max_size=3).map(lambda pairs: "{" + ", ".join(pairs) + "}")


VALUES = st.recursive(
    NUMBERS | STRINGS | st.sampled_from(["true", "false", "null", "-0", "-0.0", "1e400", "NaN"]),
    lambda inner: listed(inner) | mapped(inner),
    max_leaves=5,
)


async def whole(stream):
    return b"".join([data async for data in stream])


def call_of(conversation):
    return next(call for message in conversation.messages for call in message.calls)


async def by_ui_messages(npm, agent):
    """The model's call, what the stock client shows of it, and the conversation in which it has been approved."""
    body = {"id": "chat", "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]}]}
    turn = await from_ui_messages(body, secret=SECRET)
    first = ui_stream(agent.run(turn.text, conversation=turn.conversation), turn=turn)
    answer = npm(sse=(await whole(first)).decode())["message"]
    made = call_of(turn.conversation)
    part = next(part for part in answer["parts"] if part["type"] == "tool-remove")
    part |= {"state": "approval-responded", "approval": {**part.get("approval", {}), "id": "c1", "approved": True}}
    body["messages"].append(npm(echo=answer)["echo"])
    turn = await from_ui_messages(body, secret=SECRET)
    await whole(ui_stream(agent.run(approvals=turn.approvals, conversation=turn.conversation), turn=turn))
    return made, part.get("input"), turn.conversation


async def by_ag_ui(npm, agent):
    """The model's call, what a client of AG-UI has of it, and the conversation in which it has been approved."""
    body = {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "hi"}]}
    turn = await from_ag_ui(body, secret=SECRET)
    run = agent.run(turn.text, conversation=turn.conversation)
    events = [
        json.loads(line[6:])
        for line in (await whole(ag_ui_stream(run, request=turn))).decode().split("\n")
        if line.startswith("data: ")
    ]
    made = call_of(turn.conversation)
    text = "".join(event["delta"] for event in events if event["type"] == "TOOL_CALL_ARGS")
    metadata = next((event.get("metadata") for event in events if event["type"] == "TOOL_CALL_END"), None) or {}
    call = {"id": "c1", "function": {"name": "remove", "arguments": text}, "metadata": metadata}
    body["messages"].append(npm(echo={"id": "a", "role": "assistant", "toolCalls": [call]})["echo"])
    body["resume"] = [{"interruptId": "c1", "status": "resolved", "payload": {"approved": True}}]
    turn = await from_ag_ui(body, secret=SECRET)
    await whole(ag_ui_stream(agent.run(approvals=turn.approvals, conversation=turn.conversation), request=turn))
    return made, text, turn.conversation


def approve(way, npm, text):
    """The model's call, what a client had of it, and the call that ran once approved; None if it was refused."""
    agent, _ = scripted(say("May I?", ("c1", "remove", text)), say("Done."), tools=[remove])
    got.clear()
    try:
        made, shown, conversation = asyncio.run(way(npm, agent))
    except BadInput:
        return None
    return made, shown, call_of(conversation)


@pytest.mark.parametrize("way", [by_ui_messages, by_ag_ui])
@given(VALUES)
@examples(60)
def test_what_runs_is_byte_for_byte_what_was_sealed_or_nothing_runs(npm, way, value):
    approved = approve(way, npm, f'{{"value": {value}}}')
    if approved is None:
        assert got == []
        return
    made, shown, ran = approved
    assert (ran, got) == (made, [json.loads(made.arguments)["value"]])
    if isinstance(shown, dict):  # the numbers that a person saw are those that ran
        assert shown == json.loads(made.arguments)


@pytest.mark.parametrize("way", [by_ui_messages, by_ag_ui])
@pytest.mark.parametrize(
    "value",
    [
        "1234567890123456789",
        "9007199254740993",
        "-0",
        "1.0",
        "1e22",
        "0.1234567890123456789",
        '{"b": 1, "a": 2, "a": 3}',
    ],
)
def test_a_call_that_was_shown_unchanged_runs(npm, way, value):
    text = f'{{ "value":{value}}}'
    approved = approve(way, npm, text)
    assert approved is not None
    _, shown, ran = approved
    assert (ran.arguments, got) == (text, [json.loads(text)["value"]])
    assert (json.loads(shown) if isinstance(shown, str) else shown) == json.loads(text)


@pytest.mark.parametrize("way", [by_ui_messages, by_ag_ui])
@pytest.mark.parametrize("value", ["1e400", "NaN", "1" * 5000, "[" * 5000])
def test_what_is_no_json_is_never_run(npm, way, value):
    approve(way, npm, f'{{"value": {value}}}')
    assert got == []
