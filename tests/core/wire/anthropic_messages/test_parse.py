import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import (
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
from showandtell.core.wire.anthropic_messages.parse import parse_full
from showandtell.errors import BadAnswer
from support.builders import parser_of
from support.streams.anthropic import BEGIN, BODY, STOP, STREAM, block, call, end, sse, text

EVENTS = [
    ReasoningStart("r0"),
    ReasoningDelta("r0", "A kiwi, "),
    ReasoningDelta("r0", "I think."),
    ReasoningEnd("r0", '{"type":"thinking","thinking":"A kiwi, I think.","signature":"EqQB"}'),
    TextStart("t1"),
    TextDelta("t1", "Ça, c'est a "),
    TextDelta("t1", "kiwi 🥝"),
    TextEnd("t1"),
    ToolInputStart("toolu_1", "draw"),
    ToolInputDelta("toolu_1", '{"si'),
    ToolInputDelta("toolu_1", 'ze": 2}'),
    ToolInputEnd("toolu_1"),
    StepEnd("tool_calls", Usage(30, 9, 5)),
]


def parse(*reads):
    parser = parser_of("anthropic-messages")
    return [event for data in reads for event in parser.feed(data)] + parser.finish()


def folded(events):
    fold = Accumulator("anthropic")
    fold.add(events)
    return fold.draft()


def test_a_stream_of_reasoning_text_and_call_is_read_in_order():
    assert parse(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_do_not_depend_on_read_sizes(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse(*(STREAM[start:stop] for start, stop in itertools.pairwise(edges))) == EVENTS


def test_a_stream_cut_at_any_byte_gives_a_prefix_and_ends_as_cut():
    reason_end = STREAM.index(b"\n\nevent: message_stop")  # after the finish reason
    for length in range(len(STREAM)):
        *events, last = parse(STREAM[:length])
        assert events == EVENTS[: len(events)]
        assert last.stop == ("cut" if length < reason_end else "tool_calls")


def test_input_tokens_include_tokens_read_from_or_written_to_a_cache():
    tokens = {"input_tokens": 25, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 70, "output_tokens": 1}
    begun = {"type": "message_start", "message": {"usage": tokens}}
    assert parse(sse(begun, end("end_turn"), STOP)) == [StepEnd("end", Usage(595, 9, 500, 70))]


def test_newer_counts_win_and_missing_ones_stay():
    later = {
        "type": "message_delta",
        "delta": {},
        "usage": {
            "input_tokens": 40,
            "cache_read_input_tokens": None,
            "cache_creation_input_tokens": 3,
            "output_tokens": 12,
            "output_tokens_details": {"thinking_tokens": 8},
        },
    }
    events = parse(sse(BEGIN, later, end("end_turn"), STOP))
    assert events == [StepEnd("end", Usage(48, 9, 5, 3, reasoning_tokens=8))]


def test_a_call_without_arguments_has_an_empty_object():
    events = parse(sse(BEGIN, *call(0, "toolu_1"), end("tool_use"), STOP))
    assert events[:3] == [ToolInputStart("toolu_1", "draw"), ToolInputDelta("toolu_1", "{}"), ToolInputEnd("toolu_1")]


def test_arguments_sent_with_the_start_are_read():
    start = {"type": "tool_use", "id": "toolu_1", "name": "draw", "input": {"size": 2}}
    assert ToolInputDelta("toolu_1", '{"size": 2}') in parse(sse(*block(0, start)))


def test_redacted_reasoning_goes_back_unchanged():
    events = parse(sse(*block(0, {"type": "redacted_thinking", "data": "Zm9v"})))
    assert events[:2] == [ReasoningStart("r0"), ReasoningEnd("r0", '{"type":"redacted_thinking","data":"Zm9v"}')]


@pytest.mark.parametrize(
    ("reason", "stop", "detail"),
    [
        ("end_turn", "end", ""),
        ("tool_use", "tool_calls", ""),
        ("max_tokens", "length", ""),
        ("refusal", "refusal", ""),
        ("stop_sequence", "end", "stop_sequence"),
        ("pause_turn", "pause", ""),
        ("model_context_window_exceeded", "length", "model_context_window_exceeded"),
        ("something_new", "cut", "something_new"),
    ],
)
def test_each_stop_reason_is_converted(reason, stop, detail):
    assert parse(sse(end(reason), STOP)) == [StepEnd(stop, Usage(0, 9), detail)]


def test_an_error_ends_the_stream():
    fault = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = parse(sse(BEGIN, *text(0, "It"), fault, *text(1, "more")), sse(end("end_turn"), STOP))
    assert events == [
        TextStart("t0"),
        TextDelta("t0", "It"),
        TextEnd("t0"),
        ProviderFault("overloaded_error: Overloaded"),
    ]


def test_unknown_chunks_deltas_and_fields_are_ignored():
    unknown = [
        {"type": "weather", "index": "north", "delta": 7},
        *block(
            1,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "It"},
        ),
    ]
    assert parse(sse(*unknown)) == [TextStart("t1"), TextDelta("t1", "It"), TextEnd("t1"), StepEnd("cut", Usage())]


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b'{"type":"ping"',
        b"[1]",
        b'{"type":7}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":7}}',
        b'{"type":"content_block_delta","delta":{"type":"text_delta","text":"\xff"}}',
    ],
)
def test_other_data_is_a_bad_answer(data):
    with pytest.raises(BadAnswer):
        parser_of("anthropic-messages").feed(b"data: " + data + b"\n\n")


@pytest.mark.parametrize(
    ("opened", "delta"),
    [
        (text(0), {"type": "input_json_delta", "partial_json": "{}"}),
        (text(0), {"type": "thinking_delta", "thinking": "a"}),
        (call(0, "x"), {"type": "text_delta", "text": "a"}),
        (block(0, {"type": "thinking", "thinking": ""}), {"type": "text_delta", "text": "a"}),
        (block(0, {"type": "redacted_thinking", "data": "EqQB"}), {"type": "thinking_delta", "thinking": "a"}),
    ],
)
def test_a_delta_of_another_type_than_its_block_is_a_bad_answer(opened, delta):
    with pytest.raises(BadAnswer, match=f"{delta['type']} doesn't belong in a block of type"):
        parse(sse(opened[0], {"type": "content_block_delta", "index": 0, "delta": delta}))


def test_endless_nesting_is_a_bad_answer():
    with pytest.raises(BadAnswer):
        parser_of("anthropic-messages").feed(b'data: {"x":' + b"[" * 100_000 + b"\n\n")


def test_a_complete_body_gives_the_events_of_its_stream():
    assert parse_full(json.dumps(BODY).encode()) == [
        ReasoningStart("r0"),
        ReasoningDelta("r0", "A kiwi."),
        ReasoningEnd("r0", '{"type":"thinking","thinking":"A kiwi.","signature":"EqQB"}'),
        TextStart("t1"),
        TextDelta("t1", "Ça, c'est a kiwi"),
        TextEnd("t1"),
        ToolInputStart("toolu_1", "draw"),
        ToolInputDelta("toolu_1", "{}"),
        ToolInputEnd("toolu_1"),
        StepEnd("tool_calls", Usage(25, 9)),
    ]


def test_a_complete_body_gives_the_message_of_its_stream():
    blocks = (block(0, BODY["content"][0]), block(1, BODY["content"][1]), block(2, BODY["content"][2]))
    stream = sse(BEGIN, *(chunk for item in blocks for chunk in item), end("tool_use"), STOP)
    assert folded(parse(stream)) == folded(parse_full(json.dumps(BODY).encode()))


def test_a_complete_body_that_hit_the_limit_has_no_finished_call():
    events = parse_full(json.dumps(BODY | {"stop_reason": "max_tokens"}).encode())
    assert ToolInputEnd("toolu_1") not in events
    assert events[-1].stop == "length"


def test_a_complete_body_may_be_an_error_or_empty():
    assert parse_full(b'{"type":"error","error":{"type":"api_error","message":"Sorry"}}') == [
        ProviderFault("api_error: Sorry")
    ]
    with pytest.raises(BadAnswer):
        parse_full(b"<html>")
