# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
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
from showandtell.core.wire.openai_chat.parse import parse_full
from showandtell.core.wire.openai_chat.render import render_entry
from showandtell.errors import BadAnswer
from support.builders import parser_of
from support.streams.openai_chat import (
    DETAILS,
    DONE,
    PNG,
    RICH,
    STREAM,
    USAGE,
    delta,
    detailed,
    generated_image,
    piece,
    sse,
)


def parse(*reads):
    parser = parser_of("openai-chat")
    return [event for data in reads for event in parser.feed(data)] + parser.finish()


def calls(*pieces, reason="tool_calls"):
    """Return the events of a stream whose chunks contain these lists of pieces, without the last event."""
    return parse(sse(*(delta(tool_calls=some) for some in pieces), delta(reason)))[:-1]


def called(call_id, *arguments, tool="draw"):
    return [ToolInputStart(call_id, tool), *(ToolInputDelta(call_id, text) for text in arguments)]


EVENTS = [
    ReasoningStart("r0"),
    ReasoningDelta("r0", "A kiwi, "),
    ReasoningDelta("r0", "I think."),
    ReasoningEnd("r0"),
    TextStart("t1"),
    TextDelta("t1", "Ça, c'est "),
    TextDelta("t1", "un kiwi 🥝"),
    TextEnd("t1"),
    *called("call_a", '{"si', 'ze": 2}'),
    ToolInputStart("call_b", "look"),
    ReasoningStart("r2"),
    ReasoningEnd("r2", '{"reasoning_content":"A kiwi, I think."}'),
    ToolInputEnd("call_a"),
    ToolInputDelta("call_b", "{}"),
    ToolInputEnd("call_b"),
    StepEnd("tool_calls", Usage(25, 9, 5)),
]


def test_a_stream_of_reasoning_text_and_calls_is_read_in_order():
    assert parse(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_do_not_depend_on_read_sizes(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse(*(STREAM[start:stop] for start, stop in itertools.pairwise(edges))) == EVENTS


def test_a_stream_cut_at_any_byte_gives_a_prefix_and_ends_as_cut():
    reason_end = STREAM.index(b'\n\ndata: {"choices": []')  # after the finish reason
    for length in range(len(STREAM)):
        *events, last = parse(STREAM[:length])
        assert events == EVENTS[: len(events)]
        assert last.stop == ("cut" if length < reason_end else "tool_calls")


@pytest.mark.parametrize(
    "pieces",
    [
        [[piece('{"a"', index=0, id="x", name="draw")], [piece(":1}", index=0)]],
        [[piece('{"a"', index=0, id="x", name="draw")], [piece(":1}", index=0, id="x", name="draw")]],
        [[piece('{"a"', index=0, id="x", name="draw")], [piece(":1}", index=0, id="new")]],
        [[piece('{"a"', id="x", name="draw")], [piece(":1}", id="x")]],
        [[piece('{"a"', id="x", name="draw")], [piece(":1}")]],
        [[piece(None, index=0, id="x", name="draw")], [piece('{"a"', index=0)], [piece(":1}", index=0, id="")]],
    ],
    ids=["id once", "id and name repeated", "id changes", "no index", "no index, id once", "arguments later"],
)
def test_pieces_of_one_call_are_joined(pieces):
    assert calls(*pieces) == [*called("x", '{"a"', ":1}"), ToolInputEnd("x")]


@pytest.mark.parametrize("index", [{}, {"index": 0}], ids=["no index", "index 0 for all"])
def test_complete_calls_in_one_chunk_stay_separate(index):
    events = calls([piece('{"a":1}', id="x", name="draw", **index), piece("", id="y", name="draw", **index)])
    ends = [ToolInputEnd("x"), ToolInputDelta("y", "{}"), ToolInputEnd("y")]
    assert events == [*called("x", '{"a":1}'), *called("y"), *ends]


def test_calls_without_ids_get_ids():
    events = calls([piece("{}", index=0, name="draw")], [piece("{}", index=1, name="draw")])
    assert events[:4] == [*called("call_1", "{}"), *called("call_2", "{}")]


def test_the_old_function_call_is_a_tool_call():
    events = parse(sse(delta(function_call={"name": "draw", "arguments": "{}"}), delta("function_call")))
    assert events == [*called("call_1", "{}"), ToolInputEnd("call_1"), StepEnd("tool_calls", Usage(), "function_call")]


def test_arguments_cut_off_by_the_limit_never_end():
    events = parse(sse(delta(tool_calls=[piece('{"a', index=0, id="x", name="draw")]), delta("length")))
    assert events == [*called("x", '{"a'), StepEnd("length", Usage())]


@pytest.mark.parametrize(
    ("reason", "stop", "detail"),
    [
        ("stop", "end", ""),
        ("length", "length", ""),
        ("content_filter", "refusal", "content_filter"),
        ("eos", "cut", "eos"),
    ],
)
def test_each_stop_reason_is_converted(reason, stop, detail):
    assert parse(sse(delta(reason))) == [StepEnd(stop, Usage(), detail)]


def test_stop_after_calls_means_calls():
    events = parse(sse(delta(tool_calls=[piece("{}", id="x", name="draw")]), delta("stop")))
    assert events[-1].stop == "tool_calls"


def test_a_refusal_is_shown_and_reported():
    events = parse(sse(delta(refusal="I can't "), delta(refusal="help."), delta("stop")) + DONE)
    assert events[1:3] == [TextDelta("t0", "I can't "), TextDelta("t0", "help.")]
    assert events[-1].stop == "refusal"


def test_reasoning_is_read_from_either_field_and_from_lists():
    listed = [{"type": "thinking", "thinking": [{"type": "text", "text": "three"}]}, {"type": "text", "text": "It"}]
    events = parse(sse(delta(reasoning="one"), delta(reasoning_content="two"), delta(content=listed)))
    assert [event.text for event in events if isinstance(event, ReasoningDelta)] == ["one", "two", "three"]
    assert TextDelta("t2", "It") in events


def test_an_error_ends_the_stream():
    events = parse(sse(delta(content="It"), {"error": {"message": "Overloaded", "code": 502}}, delta("stop")) + DONE)
    assert events == [TextStart("t0"), TextDelta("t0", "It"), ProviderFault("Overloaded")]


def test_done_without_a_reason_is_cut():
    assert parse(sse(delta(content="It")) + DONE)[-1] == StepEnd("cut", Usage())
    assert parse(sse(delta(content="It"), delta("")) + DONE)[-1] == StepEnd("cut", Usage())


CALL = [piece("{}", index=0, id="x", name="draw")]
EMPTY_CALL = {"function_call": {"name": "", "arguments": ""}, "tool_calls": None, "refusal": ""}
USED = {"choices": [], "usage": {"prompt_tokens": 25, "completion_tokens": 9}}


def test_an_empty_function_call_is_no_call():
    events = parse(sse(delta(content="4", **EMPTY_CALL), delta("stop", **EMPTY_CALL)) + DONE)
    assert (folded(events).parts, events[-1].stop) == ((Text("4"),), "end")


def test_a_stream_without_a_reason_is_whole_only_after_its_usage_and_its_end():
    called = delta("", **EMPTY_CALL | {"tool_calls": CALL})
    events = parse(sse(called, USED) + DONE)
    assert (folded(events).parts, events[-1]) == ((ToolCall("x", "draw", "{}"),), StepEnd("tool_calls", Usage(25, 9)))
    assert parse(sse(called, USED))[-1].stop == "cut"


def test_a_complete_body_with_an_empty_reason_is_whole():
    message = {
        "content": "",
        "tool_calls": [piece("{}", id="x", name="draw")],
        "function_call": {"name": "", "arguments": ""},
    }
    body = {"choices": [{"index": 0, "message": message, "finish_reason": ""}]}
    events = parse_full(json.dumps(body).encode())
    assert (folded(events).parts, events[-1].stop) == ((ToolCall("x", "draw", "{}"),), "tool_calls")
    assert parse_full(b'{"choices": [{"message": {"content": null}, "finish_reason": ""}]}')[-1].stop == "cut"


def test_content_that_is_an_object_becomes_its_json():
    body = {"choices": [{"message": {"content": {"n": 1.0, "of": ["a"]}}, "finish_reason": "stop"}]}
    assert folded(parse_full(json.dumps(body).encode())).parts == (Text('{"n":1.0,"of":["a"]}'),)


@pytest.mark.parametrize("data", [b"{", b"[1]", b'{"choices":7}', b'{"choices":[{"delta":{"content":"\xff"}}]}'])
def test_other_data_is_a_bad_answer(data):
    with pytest.raises(BadAnswer):
        parser_of("openai-chat").feed(b"data: " + data + b"\n\n")
    with pytest.raises(BadAnswer):
        parse_full(data)


def test_endless_nesting_is_a_bad_answer():
    with pytest.raises(BadAnswer):
        parser_of("openai-chat").feed(b'data: {"x":' + b"[" * 100_000 + b"\n\n")


def test_a_complete_body_gives_the_events_of_its_stream():
    message = {
        "role": "assistant",
        "content": "It",
        "refusal": None,
        "tool_calls": [piece("{}", id="x", name="draw")] * 2,
    }
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": USAGE["usage"]}
    ends = [ToolInputEnd("x"), ToolInputEnd("x"), StepEnd("tool_calls", Usage(25, 9, 5))]
    text = [TextStart("t0"), TextDelta("t0", "It"), TextEnd("t0")]
    assert parse_full(json.dumps(body).encode()) == [*text, *called("x", "{}"), *called("x", "{}"), *ends]


def test_a_complete_body_may_be_an_error():
    assert parse_full(b'{"error":"no such model"}') == [ProviderFault("no such model")]


def folded(events):
    fold = Accumulator("openrouter")
    fold.add(events)
    return fold.draft()


def used(usage, **more):
    """Return the usage of a stream with this last chunk."""
    return parse(sse(delta("stop"), {"choices": [], "usage": usage, **more}))[-1].usage


def test_usage_has_modalities_and_cost():
    given = {"cached_tokens": 5, "cache_write_tokens": 3, "text_tokens": 15, "audio_tokens": 0, "image_tokens": 10}
    usage = {
        "prompt_tokens": 25,
        "completion_tokens": 9,
        "prompt_tokens_details": given,
        "completion_tokens_details": {"reasoning_tokens": 4, "audio_tokens": None},
        "cost": 0.0025,
    }
    assert used(usage) == Usage(25, 9, 5, 3, 4, {"text": 15, "image": 10, "audio": 0}, 0.0025)


@pytest.mark.parametrize("details", [None, {"cached_tokens": None}])
def test_missing_counts_are_zero(details):
    usage = {"prompt_tokens": 25, "completion_tokens": 9, "prompt_tokens_details": details, "cost": {"total": 1}}
    assert used(usage) == Usage(25, 9)


def test_usage_is_read_from_the_own_fields_of_hosts():
    assert used({"prompt_tokens": 25, "completion_tokens": 9, "prompt_cache_hit_tokens": 5}) == Usage(25, 9, 5)
    assert used(None, x_groq={"id": "r", "usage": {"prompt_tokens": 25, "completion_tokens": 9}}) == Usage(25, 9)


def test_groqs_own_error_field_ends_the_stream():
    events = parse(sse(delta(content="It"), {"choices": [], "x_groq": {"error": "over capacity"}}, delta("stop")))
    assert events[-1] == ProviderFault("over capacity")


def test_a_generated_image_is_a_file_between_texts():
    events = parse(
        sse(
            delta(content="Here:"),
            delta(content="", images=[generated_image(PNG)]),
            delta(content="Done"),
            delta("stop"),
        )
    )
    texts = [TextStart("t0"), TextDelta("t0", "Here:"), TextEnd("t0")]
    assert events[:4] == [*texts, FileMade("image/png", b"a kiwi")]
    assert [type(part).__name__ for part in folded(events).parts] == ["Text", "File", "Text"]


@pytest.mark.parametrize(
    ("url", "media_type", "problem"),
    [
        ("https://host/kiwi.png", "application/octet-stream", "was given as an address, which is not fetched"),
        ("data:image/png;base64,a kiwi", "image/png", "holds no base64"),
        ("data:image/png;base64,", "image/png", "holds no base64"),
        ("data:image/png,kiwi", "image/png", "holds no base64"),
        ("data:image/png;base64,k\u00efw\u00ef", "image/png", "holds no base64"),
    ],
)
def test_an_image_without_bytes_has_a_problem(url, media_type, problem):
    assert parse(sse(delta(images=[generated_image(url)])))[0] == FileMade(media_type, b"", problem=problem)


def test_reasoning_details_are_joined():
    thoughts = [detailed(text="A kiwi, "), detailed(text="I think."), detailed(text=None, signature="Eq")]
    events = parse(sse(*thoughts, delta(reasoning_details=DETAILS[1:]), delta(tool_calls=CALL), delta("tool_calls")))
    opaque = next(event.opaque for event in events if isinstance(event, ReasoningEnd) and event.opaque)
    assert json.loads(opaque) == {"reasoning_details": DETAILS}
    target = resolve("openrouter:anthropic/claude-haiku-4.5")
    [written] = render_entry(Entry("assistant", (Text("It"), Opaque("openrouter", opaque))), target)
    assert json.loads(bytes(written["reasoning_details"])) == DETAILS


def test_reasoning_details_of_a_cut_response_are_dropped():
    events = parse(sse(detailed(text="A kiwi, "), delta("length")))
    assert (folded(events).parts, events[-1]) == ((), StepEnd("length", Usage()))


def test_reasoning_that_only_its_details_hold_is_shown():
    events = parse(sse(detailed(text="A kiwi, "), detailed(text="I think."), delta(content="A kiwi."), delta("stop")))
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "A kiwi, I think."
    repeated = parse(sse(delta(reasoning="A kiwi", reasoning_details=[DETAILS[0] | {"text": "A kiwi"}]), delta("stop")))
    assert [event.text for event in repeated if isinstance(event, ReasoningDelta)] == ["A kiwi"]


def test_reasoning_details_of_any_shape_are_stored():
    odd = [{"type": 7}, {"type": ["x"]}, {}, {"type": "reasoning.text", "text": 7}, {"type": "reasoning.summary"}]
    events = parse(sse(delta(reasoning_details=odd), delta("stop")))
    assert len(json.loads(events[1].opaque)["reasoning_details"]) == len(odd)


def test_a_response_with_an_image_cut_at_any_byte_gives_a_prefix():
    events = parse(RICH)
    reason_end = RICH.index(b'"finish_reason": "tool_calls"')
    for length in range(len(RICH)):
        *begun, last = parse(RICH[:length])
        assert begun == events[: len(begun)]
        assert last.stop == "cut" or length > reason_end


def test_a_complete_body_gives_the_message_of_its_stream():
    message = {
        "content": "It is a kiwi 🥝",
        "reasoning": "A kiwi, I think.",
        "reasoning_details": [{**DETAILS[0]}, DETAILS[1]],
        "images": [generated_image(PNG)],
        "tool_calls": [piece('{"size": 2}', id="x", name="draw")],
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": USAGE["usage"]}
    streamed, at_once = folded(parse(RICH)), folded(parse_full(json.dumps(body).encode()))
    assert [without_order(part) for part in streamed.parts] == [without_order(part) for part in at_once.parts]


def without_order(part):
    """Decode an opaque part, because a stream may send its fields in another order."""
    return json.loads(part.text) if isinstance(part, Opaque) else part
