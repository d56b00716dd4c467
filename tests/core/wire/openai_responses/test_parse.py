import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import (
    FileMade,
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepEnd,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.planning.values import Entry
from showandtell.core.wire.openai_responses.parse import whole
from showandtell.core.wire.openai_responses.render import entry
from showandtell.errors import BadAnswer
from support.builders import parser_of
from support.streams.openai_responses import (
    OUTPUT,
    STREAM,
    THOUGHT,
    TOKENS,
    added,
    answer,
    argued,
    call,
    done,
    event,
    image,
    last,
    message,
    said,
    spell,
    sse,
    words,
)


def refused(text):
    return {"type": "refusal", "refusal": text}


def parse(*reads):
    parser = parser_of("openai-responses")
    return [event for data in reads for event in parser.feed(data)] + parser.finish()


def folded(events):
    fold = Accumulator("openai")
    fold.add(events)
    return fold.draft()


KEPT = spell(THOUGHT).decode()
EVENTS = [
    ReasoningStart("r0"),
    ReasoningDelta("r0", "A "),
    ReasoningDelta("r0", "kiwi?"),
    ReasoningDelta("r0", "\n\nYes."),
    ReasoningEnd("r0", KEPT),
    TextStart("t1"),
    TextDelta("t1", "Ça, c'est a "),
    TextDelta("t1", "kiwi 🥝"),
    TextEnd("t1"),
    TextStart("t2"),
    TextDelta("t2", "It is green."),
    TextEnd("t2"),
    ToolInputStart("call_a", "draw"),
    ToolInputStart("call_b", "draw"),
    ToolInputDelta("call_a", '{"si'),
    ToolInputDelta("call_a", 'ze": 2}'),
    ToolInputDelta("call_b", "{}"),
    ToolInputEnd("call_a"),
    ToolInputEnd("call_b"),
    FileMade("image/webp", b"a kiwi"),
    StepEnd("tool_calls", Usage(25, 9, 5, 7, 4)),
]


def test_a_stream_of_thought_texts_calls_and_an_image_is_read_in_order():
    assert parse(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_any_reads_give_the_same_events(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    reads = [STREAM[start:stop] for start, stop in itertools.pairwise(edges)]
    assert parse(*reads) == EVENTS


def test_a_stream_cut_at_any_byte_is_a_beginning_and_says_cut():
    for length in range(len(STREAM)):
        *events, end = parse(STREAM[:length])
        assert events == EVENTS[: len(events)]
        assert end == StepEnd("cut", Usage())


def test_a_whole_body_folds_to_the_message_of_its_stream():
    events = whole(spell(answer(*OUTPUT, usage=TOKENS)))
    assert folded(events) == folded(parse(STREAM))
    assert events[-1] == EVENTS[-1]


def test_a_stream_of_which_only_the_end_came_is_read_from_it():
    assert folded(parse(sse(last(*OUTPUT)))) == folded(parse(STREAM))


def test_what_deltas_left_out_is_given_at_the_end():
    start = event("output_text.delta", 0, content_index=0, delta="It is ")
    events = parse(sse(start, done(0, message(said("It is a kiwi"))), last()))
    deltas = [TextDelta("t0", "It is "), TextDelta("t0", "a kiwi")]
    assert events == [TextStart("t0"), *deltas, TextEnd("t0"), StepEnd("end", Usage())]


def test_items_without_numbers_are_known_by_their_ids():
    pieces = [
        event("function_call_arguments.delta", item_id=f"fc_{which}", delta=piece)
        for which, piece in (("x", '{"a"'), ("y", "{"), ("x", ":1}"), ("y", "}"))
    ]
    starts = [event("output_item.added", item=call(which, "")) for which in "xy"]
    ends = [event("output_item.done", item=call(which, text)) for which, text in (("x", '{"a":1}'), ("y", "{}"))]
    parts = folded(parse(sse(*starts, *pieces, *ends, last()))).parts
    assert parts == (ToolCall("x", "draw", '{"a":1}'), ToolCall("y", "draw", "{}"))


def test_items_that_are_only_told_when_done_are_read_even_with_one_place_for_all():
    output = (OUTPUT[0], message(said("Look")), call("x", "{}"), call("y", "{}"))
    thought, *rest = folded(parse(sse(*(done(0, item) for item in output), last()))).parts
    assert json.loads(thought.text) == THOUGHT
    assert rest == [Text("Look"), ToolCall("x", "draw", "{}"), ToolCall("y", "draw", "{}")]


def test_arguments_of_one_call_never_get_into_another():
    begun = [event("output_item.added", item=call(which, "") | {"id": None}) for which in "xy"]
    ends = [event("output_item.done", item=call(which, f'{{"{which}":1}}') | {"id": None}) for which in "xy"]
    parts = folded(parse(sse(*begun, *ends, last()))).parts
    assert parts == (ToolCall("x", "draw", '{"x":1}'), ToolCall("y", "draw", '{"y":1}'))


def test_a_call_that_is_told_whole_ends_with_a_complete_answer_only():
    begun = sse(added(0, call("x", "")), *argued(0, '{"a":1}'))
    assert ToolInputEnd("x") in parse(begun, sse(last()))
    assert ToolInputEnd("x") not in parse(begun, sse(last(status="incomplete")))
    assert ToolInputEnd("x") not in parse(begun)


def test_an_open_call_takes_its_end_from_the_whole_answer():
    begun = sse(added(7, call("x", "")), event("function_call_arguments.delta", 7, delta='{"a"'))
    end = sse(last(call("x", '{"a":1}')))
    assert folded(parse(begun, end)).parts == (ToolCall("x", "draw", '{"a":1}'),)
    assert folded(parse(begun, sse(last()))).stop == "cut"


def test_arguments_cut_by_the_limit_never_end():
    cut = call("x", '{"a', status="incomplete")
    reason = {"incomplete_details": {"reason": "max_output_tokens"}}
    told = last(cut, status="incomplete", **reason)
    streamed = parse(sse(added(0, call("x", "")), *argued(0, '{"a'), done(0, cut), told))
    assert streamed == [ToolInputStart("x", "draw"), ToolInputDelta("x", '{"a'), StepEnd("length", Usage())]
    assert whole(spell(told["response"])) == streamed


def test_a_call_without_arguments_has_an_empty_object():
    events = parse(sse(added(0, call("x", "")), done(0, call("x", "")), last()))
    assert events[:3] == [ToolInputStart("x", "draw"), ToolInputDelta("x", "{}"), ToolInputEnd("x")]


def test_a_refusal_is_shown_and_said():
    deltas = [event("refusal.delta", 0, content_index=0, delta=piece) for piece in ("I can't ", "help.")]
    events = parse(sse(*deltas, done(0, message(refused("I can't help."))), last()))
    assert events[1:3] == [TextDelta("t0", "I can't "), TextDelta("t0", "help.")]
    assert events[-1] == StepEnd("refusal", Usage())
    assert whole(spell(answer(message(refused("No.")))))[-1].stop == "refusal"


def test_a_thought_goes_back_as_it_came():
    events = parse(sse(done(0, {**OUTPUT[0], "format": "xai", "content": []}), last()))
    opaque = Opaque("openai", events[-2].opaque)
    written = json.loads(bytes(entry(Entry("assistant", (opaque, Text("So."))), resolve("openai:gpt-5"))[0]))
    assert written == {**THOUGHT, "format": "xai", "content": []}


@pytest.mark.parametrize("fields", [{"encrypted_content": None}, {"status": "incomplete"}])
def test_a_thought_that_its_provider_could_not_read_again_is_not_kept(fields):
    events = parse(sse(done(0, {**OUTPUT[0], **fields}), last()))
    assert events[:3] == [ReasoningStart("r0"), ReasoningDelta("r0", "A kiwi?\n\nYes."), ReasoningEnd("r0")]


def test_reasoning_in_the_open_is_a_thought():
    deltas = [event("reasoning_text.delta", 0, content_index=0, delta=piece) for piece in ("A ", "kiwi")]
    events = parse(sse(*deltas, last()))
    thoughts = [ReasoningDelta("r0", "A "), ReasoningDelta("r0", "kiwi")]
    assert events[:-1] == [ReasoningStart("r0"), *thoughts, ReasoningEnd("r0")]


@pytest.mark.parametrize(
    ("fields", "made"),
    [
        ({}, FileMade("image/png", b"a kiwi")),
        ({"output_format": "svg"}, FileMade("image/svg+xml", b"a kiwi")),
        ({"result": "kiwi!"}, FileMade("image/png", b"", problem="holds no base64")),
        ({"result": None}, FileMade("image/png", b"", problem="holds no base64")),
        (
            {"result": None, "status": "failed", "error": {"code": "moderation_blocked", "message": "No."}},
            FileMade("image/png", b"", problem="was not made (moderation_blocked: No.)"),
        ),
    ],
)
def test_an_image_is_a_file_or_says_why_not(fields, made):
    assert parse(sse(done(0, image(**fields)), last()))[0] == made


@pytest.mark.parametrize(
    ("status", "reason", "stop", "detail"),
    [
        ("completed", None, "end", ""),
        ("incomplete", "max_output_tokens", "length", ""),
        ("incomplete", "content_filter", "refusal", "content_filter"),
        ("incomplete", "steered", "cut", "steered"),
        ("incomplete", None, "cut", "incomplete"),
    ],
)
def test_each_reason_is_said_in_our_words(status, reason, stop, detail):
    told = last(status=status, incomplete_details=reason and {"reason": reason})
    assert parse(sse(told)) == [StepEnd(stop, Usage(), detail)]
    assert whole(spell(told["response"])) == [StepEnd(stop, Usage(), detail)]


def test_a_cancelled_answer_is_cut_and_done_believes_the_answer():
    assert whole(spell(answer(status="cancelled"))) == [StepEnd("cut", Usage(), "cancelled")]
    assert parse(sse(event("done", response=answer()))) == [StepEnd("end", Usage())]
    assert parse(sse(event("done", response=answer(status=None)))) == [StepEnd("cut", Usage())]


def test_the_end_of_a_stream_without_its_last_event_is_cut():
    assert parse(sse(*words(0, 0, "It")), b"data: [DONE]\n\n")[-1] == StepEnd("cut", Usage())


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"type": "error", "code": "overloaded", "message": "Later.", "param": None}, "overloaded: Later."),
        ({"type": "error", "error": {"type": "server_error", "message": "Later."}}, "server_error: Later."),
        ({"type": "", "error": {"code": 502, "message": "Later."}}, "502: Later."),
        (
            last(status="failed") | {"response": {"error": {"code": "server_error", "message": "No."}}},
            "server_error: No.",
        ),
        (last(status="failed"), "error"),
    ],
)
def test_an_error_ends_the_stream(fault, text):
    events = parse(sse(*words(0, 0, "It")), sse(fault, *words(1, 0, "more"), last()))
    assert events == [TextStart("t0"), TextDelta("t0", "It"), TextEnd("t0"), ProviderFault(text)]


def test_xai_and_gateways_tell_cost_and_modalities():
    details = {"text_tokens": 20, "image_tokens": 0, "cached_tokens": 3}
    usage = {"input_tokens": 25, "output_tokens": 9, "input_tokens_details": details}
    ticks = parse(sse(last(usage={**usage, "cost_in_usd_ticks": 25_000_000})))
    cost = parse(sse(last(usage={**usage, "cost": 0.0025})))
    assert ticks == cost == [StepEnd("end", Usage(25, 9, 3, modalities={"text": 20, "image": 0}, cost=0.0025))]


def test_unknown_events_items_and_fields_are_ignored():
    unknown = [
        {"type": "response.weather", "output_index": "north", "delta": 7},
        done(0, {"type": "custom_tool_call", "id": 7, "call_id": "c", "name": "draw", "input": "x"}),
        done(1, {"type": "mcp_call", "arguments": {}, "error": ["no"]}),
        done(2, message({"type": "hologram", "text": None}, said("It"))),
    ]
    assert parse(sse(*unknown, last()))[:-1] == [TextStart("t0"), TextDelta("t0", "It"), TextEnd("t0")]


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[1]",
        b'{"type":7}',
        b'{"output_index":0}',
        b'{"type":"response.output_text.delta","delta":7}',
        b'{"type":"response.output_text.delta","delta":"\xff"}',
        b'{"type":"response.output_item.done","item":{"type":"message","content":7}}',
        b'{"type":"response.completed"}',
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_what_is_not_the_api_is_a_bad_answer(data):
    with pytest.raises(BadAnswer):
        parser_of("openai-responses").feed(b"data: " + data + b"\n\n")


def test_a_whole_body_may_be_an_error_or_nothing_at_all():
    assert whole(b'{"error":{"code":"bad","message":"Sorry"}}') == [ProviderFault("bad: Sorry")]
    with pytest.raises(BadAnswer):
        whole(b"<html>")
