"""Calls of tools that the request didn't declare: the provider's own, or made up by the model."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import HostedCall
from showandtell.core.messages.parts import HostedBlock, Text, ToolCall
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.own_calls import declared_names
from showandtell.core.wire.parsers import FRAMES, PARSERS
from showandtell.core.wire.stream import StreamParser
from support.scripted import (
    CLAUDE,
    CONVERSE,
    FRAMED,
    GEMINI,
    GPT,
    MODELS,
    RESPONSES,
    STOPS,
    block,
    chunk,
    event,
    framed,
    frames,
    gemini_call,
    gemini_chunk,
    say,
    scripted,
)

API = {
    CLAUDE: "anthropic-messages",
    GPT: "openai-chat",
    RESPONSES: "openai-responses",
    GEMINI: "gemini",
    CONVERSE: "bedrock-converse",
}
SEARCH, OWN, TEXT = ("x1", "x_keyword_search", '{"query": "kiwi"}'), ("c1", "draw", '{"word": "kiwi"}'), "A kiwi."
each_model = pytest.mark.parametrize("model", MODELS)


def draw(word: str) -> str:
    return word


def item(call, kind="function_call"):
    call_id, name, given = call
    content = {"input": given} if kind == "custom_tool_call" else {"arguments": given}
    return {"type": kind, "id": f"i_{call_id}", "call_id": call_id, "name": name, "status": "completed", **content}


def answered(*items):
    """A response of xAI or OpenAI with these items."""
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
    whole = [
        {**message, "content": [{"type": "output_text", "text": each, "annotations": []}]}
        if isinstance(each, str)
        else each
        for each in items
    ]
    done = [event("response.output_item.done", output_index=at, item=each) for at, each in enumerate(whole)]
    response = {"id": "r1", "status": "completed", "output": whole, "usage": {"input_tokens": 9, "output_tokens": 5}}
    return b"".join([*done, event("response.completed", response=response)])


def fold(model, stream, declared):
    """The message of a stream, and its events about hosted calls."""
    parser = StreamParser(PARSERS[API[model]].new_reader(), FRAMES[FRAMED if model == CONVERSE else ""](), declared)
    events = [*parser.feed(stream), *parser.finish()]
    message = Accumulator("test")
    message.add(events)
    return message.draft(), [each for each in events if isinstance(each, HostedCall)]


def test_a_search_that_xai_reports_as_a_call_is_kept_and_not_run():
    whole = answered(item(SEARCH, "custom_tool_call"), item(("x2", "x_user_search", "{}"), "custom_tool_call"), TEXT)
    agent, script = scripted(whole, say("Yes.", model=RESPONSES), model=RESPONSES, tools=[draw])
    run = agent.run_sync("what do people say?")
    assert (run.status, run.text, len(script.bodies)) == ("complete", TEXT, 1)
    blocks = [part for part in run.messages[-1].parts if isinstance(part, HostedBlock)]
    assert [(block.tool, block.input) for block in blocks] == [
        ("x_keyword_search", '{"query":"kiwi"}'),
        ("x_user_search", ""),
    ]
    assert agent.run_sync("really?", conversation=run.conversation).status == "complete"
    assert "x_keyword_search" not in json.dumps(script.bodies[1])


def test_a_search_of_the_provider_beside_a_call_of_the_program_is_not_run_either():
    both = answered(item(SEARCH, "custom_tool_call"), item(OWN))
    agent, script = scripted(both, say("Drawn.", model=RESPONSES), model=RESPONSES, tools=[draw])
    run = agent.run_sync("draw what people say")
    assert (run.status, run.text, len(script.bodies)) == ("complete", "Drawn.", 2)
    assert [message.tool for message in run.messages if message.role == "tool"] == ["draw"]


@given(st.lists(st.sampled_from(["text", "own", "custom"]), min_size=1, max_size=5))
@example(["text", "custom"])
@example(["own", "custom"])
@example(["custom"])
def test_a_custom_call_is_the_providers_wherever_it_stands(kinds):
    own, custom = (
        {at: (f"c{at}", name, "{}") for at, each in enumerate(kinds) if each == kind}
        for kind, name in (("own", "draw"), ("custom", "x_search"))
    )
    parts = [
        item(custom[at], "custom_tool_call") if at in custom else item(own[at]) if at in own else f"Text {at}."
        for at in range(len(kinds))
    ]
    draft, _ = fold(RESPONSES, answered(*parts), {"draw"})
    assert [part.call_id for part in draft.parts if isinstance(part, HostedBlock)] == [f"c{at}" for at in custom]
    assert [part.call_id for part in draft.parts if isinstance(part, ToolCall)] == [f"c{at}" for at in own]
    assert draft.stop == ("tool_calls" if own else "end")


def one(model, at, part):
    """The frames of one text or call, at its place in the message."""
    is_text = isinstance(part, str)
    call_id, tool, given = ("", "", "") if is_text else part
    match API[model]:
        case "anthropic-messages" if is_text:
            return block(at, {"type": "text", "text": ""}, {"type": "text_delta", "text": part})
        case "anthropic-messages":
            opened = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
            return block(at, opened, {"type": "input_json_delta", "partial_json": given})
        case "openai-chat" if is_text:
            return [chunk({"content": part})]
        case "openai-chat":
            function = {"name": tool, "arguments": given}
            return [chunk({"tool_calls": [{"index": at, "id": call_id, "type": "function", "function": function}]})]
        case "gemini":
            return [gemini_chunk({"text": part} if is_text else {"functionCall": gemini_call(*part)})]
        case _:
            delta = {"text": part} if is_text else {"toolUse": {"input": given}}
            start = {} if is_text else {"toolUse": {"toolUseId": call_id, "name": tool}}
            return [
                *([framed("contentBlockStart", contentBlockIndex=at, start=start)] if start else []),
                framed("contentBlockDelta", contentBlockIndex=at, delta=delta),
                framed("contentBlockStop", contentBlockIndex=at),
            ]


def ordered(model, parts, stop):
    """A stream in which texts and calls come in this order."""
    if model == RESPONSES:
        return answered(*(part if isinstance(part, str) else item(part) for part in parts))
    begun, ended = frames(model=model, stop=stop)[: -STOPS[model].last], frames(model=model, stop=stop)
    pieces = [frame for at, part in enumerate(parts) for frame in one(model, at, part)]
    return b"".join([*begun, *pieces, *ended[-STOPS[model].last :]])


PARTS = st.lists(st.sampled_from(["text", "own", "other"]), min_size=1, max_size=5)


@given(st.sampled_from(MODELS), PARTS, st.booleans())
@example(CLAUDE, ["other", "text"], False)
@example(GPT, ["other", "text"], False)
@example(GEMINI, ["other", "text"], False)
@example(GPT, ["other", "text"], True)
@example(CONVERSE, ["text", "other"], False)
def test_an_undeclared_call_is_the_providers_if_the_answer_goes_on_and_ends_as_finished(model, kinds, waits):
    names = {"own": "draw", "other": "x_search"}
    parts = [f"Text {at}." if kind == "text" else (f"c{at}", names[kind], "{}") for at, kind in enumerate(kinds)]
    stop = STOPS[model].calls if waits else STOPS[model].end
    draft, shown = fold(model, ordered(model, parts, stop), {"draw"})
    # The words of these two are the same for both ends.
    is_finished = (not waits or model in {RESPONSES, GEMINI}) and "own" not in kinds
    last_text = max((at for at, kind in enumerate(kinds) if kind == "text"), default=-1)
    hosted = [f"c{at}" for at, kind in enumerate(kinds) if kind == "other" and is_finished and at < last_text]
    assert [part.call_id for part in draft.parts if isinstance(part, HostedBlock)] == hosted
    assert [each.call_id for each in shown] == hosted
    called = [f"c{at}" for at, kind in enumerate(kinds) if kind != "text" and f"c{at}" not in hosted]
    assert [part.call_id for part in draft.parts if isinstance(part, ToolCall)] == called
    assert draft.stop == ("tool_calls" if called or (waits and model not in {RESPONSES, GEMINI}) else "end")
    texts = "".join(part.text for part in draft.parts if isinstance(part, Text))
    assert texts == "".join(part for part in parts if isinstance(part, str))


@each_model
def test_a_tool_that_the_model_made_up_is_answered_with_an_error(model):
    answers = say("Let me see.", SEARCH, model=model), say(TEXT, model=model)
    agent, script = scripted(*answers, model=model, tools=[draw])
    run = agent.run_sync("draw")
    assert (run.status, run.text, len(script.bodies)) == ("complete", TEXT, 2)
    (result,) = [message for message in run.messages if message.role == "tool"]
    assert "there is no tool" in result.parts[0].text


@each_model
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_held_call_of_a_cut_answer_is_not_run(model, cut):
    stream = b"".join(frames("", SEARCH, model=model)[:-cut])
    draft, shown = fold(model, stream, set())
    assert not shown
    assert draft.stop in ("cut", "tool_calls")


def test_a_request_declares_the_tools_of_its_options_and_of_its_body():
    options = Options(tools=(ToolSpec("draw", "", "{}"),))
    head = {"tools": [{"type": "custom", "custom": {"name": "shell"}}, {"functionDeclarations": [{"name": "find"}]}]}
    assert declared_names(options, head) == {"draw", "shell", "find"}


def test_a_complete_body_is_sorted_like_a_stream():
    part = {"type": "output_text", "text": TEXT, "annotations": []}
    output = [item(SEARCH), {"type": "message", "id": "m1", "role": "assistant", "content": [part]}]
    body = json.dumps({"status": "completed", "output": output}).encode()
    events = PARSERS["openai-responses"].parse_full(body, {"draw"})
    assert [each.tool for each in events if isinstance(each, HostedCall)] == [SEARCH[1]]
    assert events[-1].stop == "end"
    assert PARSERS["openai-responses"].parse_full(body)[-1].stop == "tool_calls"
