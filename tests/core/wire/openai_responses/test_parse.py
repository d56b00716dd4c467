# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import (
    BlockRead,
    HostedCall,
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
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import HostedBlock, Opaque, Text, ToolCall
from showandtell.core.planning.values import Entry
from showandtell.core.wire.openai_responses.parse import parse_full
from showandtell.core.wire.openai_responses.render import render_entry
from showandtell.errors import BadAnswer, BadFile
from support.builders import parser_of
from support.streams.openai_responses import (
    OUTPUT,
    STREAM,
    THOUGHT,
    TOKENS,
    added,
    answer,
    argument_events,
    call,
    done,
    encode,
    event,
    image,
    last,
    message,
    output_text,
    sse,
    text_events,
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


KEPT = encode(THOUGHT).decode()
SEARCH = HostedBlock("", encode(OUTPUT[1]).decode(), "ws_1", "web_search", '{"type":"search"}')
PICTURE = ("/result", File(b"a kiwi", "image/webp"))
MADE = HostedBlock(
    "", encode(image(output_format="webp", result=None)).decode(), "ig_1", "image_generation", files=(PICTURE,)
)
EVENTS = [
    ReasoningStart("r0"),
    ReasoningDelta("r0", "A "),
    ReasoningDelta("r0", "kiwi?"),
    ReasoningDelta("r0", "\n\nYes."),
    ReasoningEnd("r0", KEPT),
    HostedCall("ws_1", "web_search", state="running"),
    BlockRead(SEARCH),
    HostedCall("ws_1", "web_search", '{"type":"search"}'),
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
    HostedCall("ig_1", "image_generation", state="running"),
    BlockRead(MADE),
    HostedCall("ig_1", "image_generation"),
    StepEnd("tool_calls", Usage(25, 9, 5, 7, 4)),
]


def test_a_stream_of_reasoning_texts_calls_and_an_image_is_read_in_order():
    assert parse(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_do_not_depend_on_read_sizes(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    reads = [STREAM[start:stop] for start, stop in itertools.pairwise(edges)]
    assert parse(*reads) == EVENTS


def test_a_stream_cut_anywhere_gives_a_prefix_and_ends_as_cut():
    for length in range(0, len(STREAM.rstrip()), 7):  # stress/ has every byte
        *events, end = parse(STREAM[:length])
        assert events == EVENTS[: len(events)]
        assert end == StepEnd("cut", Usage())
    assert parse(STREAM.rstrip()) == EVENTS


def test_a_complete_body_gives_the_message_of_its_stream():
    events = parse_full(encode(answer(*OUTPUT, usage=TOKENS)))
    assert folded(events) == folded(parse(STREAM))
    assert events[-1] == EVENTS[-1]


COMMENTARY, FINAL = Opaque("openai", '{"phase":"commentary"}'), Opaque("openai", '{"phase":"final_answer"}')
PHASES = (
    message(output_text("I'll draw it."), phase="commentary"),
    call("call_a", "{}"),
    message(output_text("Here "), output_text("it is."), id="msg_2", phase="final_answer"),
)


def phase_stream(known_at_start):
    start = {"phase": "commentary"} if known_at_start else {}
    return sse(
        added(0, message(**start)),
        *text_events(0, 0, "I'll ", "draw it."),
        done(0, PHASES[0]),
        *[event for at in (1, 2) for event in (added(at, PHASES[at] | {"phase": None}), done(at, PHASES[at]))],
        last(*PHASES),
    )


@pytest.mark.parametrize(
    "events", [parse(phase_stream(True)), parse(phase_stream(False)), parse_full(encode(answer(*PHASES)))]
)
def test_each_message_of_an_answer_goes_back_with_its_phase(events):
    parts = folded(events).parts
    assert parts == (
        *(Text("I'll draw it."), COMMENTARY, ToolCall("call_a", "draw", "{}")),
        *(Text("Here "), FINAL, Text("it is."), FINAL),
    )
    first, called, *others = render_entry(Entry("assistant", parts), resolve("openai:gpt-5.5"))
    assert (first["phase"], first["content"], called["type"]) == ("commentary", "I'll draw it.", "function_call")
    assert [(item["phase"], item["content"]) for item in others] == [
        ("final_answer", "Here "),
        ("final_answer", "it is."),
    ]


@pytest.mark.parametrize("parts", [("It is green.",), ("It is green.", "It is green."), ("", "It is green.")])
def test_a_text_whose_deltas_have_another_index_than_its_end_comes_once(parts):
    item = message(*map(output_text, parts))
    deltas = [event("output_text.delta", 0, content_index=1, delta=piece) for piece in ("It is ", "green.")]
    ends = event("output_text.done", 0, content_index=1, text="It is green.")
    for end in ([], [ends], [ends | {"content_index": 0}]):
        events = parse(sse(added(0, message()), *deltas, *end, done(0, item), last(item)))
        texts = [part.text for part in folded(events).parts]
        assert "".join(texts) == "".join(parts)
        assert sum(isinstance(event, TextEnd) for event in events) == len(texts)


def test_an_unknown_status_is_the_detail():
    assert parse_full(encode(answer(message(output_text("Hi.")), status="queued")))[-1] == StepEnd(
        "cut", Usage(), "queued"
    )


def test_a_text_that_was_complete_when_the_stream_broke_keeps_its_phase():
    events = parse(sse(added(0, message(phase="commentary")), *text_events(0, 0, "I'll draw it.")))
    assert folded(events).parts == (Text("I'll draw it."), COMMENTARY)


@pytest.mark.parametrize("model", ["azure:gpt-5.5", "xai:grok-4"])
def test_another_provider_gets_the_text_without_its_phase(model):
    items = render_entry(Entry("assistant", (Text("Hi."), FINAL)), resolve(model))
    assert items == [{"type": "message", "role": "assistant", "content": "Hi."}]


def test_a_phase_without_its_text_is_left_out_and_reasoning_before_it_too():
    parts = (Text("Hi."), FINAL, Opaque("openai", KEPT), FINAL)
    (item,) = render_entry(Entry("assistant", parts), resolve("openai:gpt-5.5"))
    assert (item["content"], item["phase"]) == ("Hi.", "final_answer")


def test_a_stream_with_only_its_last_event_is_read_from_that_event():
    assert folded(parse(sse(last(*OUTPUT)))) == folded(parse(STREAM))


def test_content_missing_from_deltas_is_added_at_the_end():
    start = event("output_text.delta", 0, content_index=0, delta="It is ")
    events = parse(sse(start, done(0, message(output_text("It is a kiwi"))), last()))
    deltas = [TextDelta("t0", "It is "), TextDelta("t0", "a kiwi")]
    assert events == [TextStart("t0"), *deltas, TextEnd("t0"), StepEnd("end", Usage())]


def test_items_without_indexes_are_identified_by_ids():
    pieces = [
        event("function_call_arguments.delta", item_id=f"fc_{which}", delta=piece)
        for which, piece in (("x", '{"a"'), ("y", "{"), ("x", ":1}"), ("y", "}"))
    ]
    starts = [event("output_item.added", item=call(which, "")) for which in "xy"]
    ends = [event("output_item.done", item=call(which, text)) for which, text in (("x", '{"a":1}'), ("y", "{}"))]
    parts = folded(parse(sse(*starts, *pieces, *ends, last()))).parts
    assert parts == (ToolCall("x", "draw", '{"a":1}'), ToolCall("y", "draw", "{}"))


def test_items_sent_only_when_done_are_read_even_with_one_index_for_all():
    output = (OUTPUT[0], message(output_text("Look")), call("x", "{}"), call("y", "{}"))
    thought, *rest = folded(parse(sse(*(done(0, item) for item in output), last()))).parts
    assert json.loads(thought.text) == THOUGHT
    assert rest == [Text("Look"), ToolCall("x", "draw", "{}"), ToolCall("y", "draw", "{}")]


def test_arguments_never_get_into_another_call():
    begun = [event("output_item.added", item=call(which, "") | {"id": None}) for which in "xy"]
    ends = [event("output_item.done", item=call(which, f'{{"{which}":1}}') | {"id": None}) for which in "xy"]
    parts = folded(parse(sse(*begun, *ends, last()))).parts
    assert parts == (ToolCall("x", "draw", '{"x":1}'), ToolCall("y", "draw", '{"y":1}'))


def test_a_complete_call_ends_only_with_a_complete_response():
    begun = sse(added(0, call("x", "")), *argument_events(0, '{"a":1}'))
    assert ToolInputEnd("x") in parse(begun, sse(last()))
    assert ToolInputEnd("x") not in parse(begun, sse(last(status="incomplete")))
    assert ToolInputEnd("x") not in parse(begun)


def test_an_open_call_gets_its_end_from_the_complete_response():
    begun = sse(added(7, call("x", "")), event("function_call_arguments.delta", 7, delta='{"a"'))
    end = sse(last(call("x", '{"a":1}')))
    assert folded(parse(begun, end)).parts == (ToolCall("x", "draw", '{"a":1}'),)
    assert folded(parse(begun, sse(last()))).stop == "cut"


def test_arguments_cut_off_by_the_limit_never_end():
    cut = call("x", '{"a', status="incomplete")
    reason = {"incomplete_details": {"reason": "max_output_tokens"}}
    final_event = last(cut, status="incomplete", **reason)
    streamed = parse(sse(added(0, call("x", "")), *argument_events(0, '{"a'), done(0, cut), final_event))
    assert streamed == [ToolInputStart("x", "draw"), ToolInputDelta("x", '{"a'), StepEnd("length", Usage())]
    assert parse_full(encode(final_event["response"])) == streamed


def test_a_call_without_arguments_has_an_empty_object():
    events = parse(sse(added(0, call("x", "")), done(0, call("x", "")), last()))
    assert events[:3] == [ToolInputStart("x", "draw"), ToolInputDelta("x", "{}"), ToolInputEnd("x")]


def test_a_refusal_is_shown_and_reported():
    deltas = [event("refusal.delta", 0, content_index=0, delta=piece) for piece in ("I can't ", "help.")]
    events = parse(sse(*deltas, done(0, message(refused("I can't help."))), last()))
    assert events[1:3] == [TextDelta("t0", "I can't "), TextDelta("t0", "help.")]
    assert events[-1] == StepEnd("refusal", Usage())
    assert parse_full(encode(answer(message(refused("No.")))))[-1].stop == "refusal"


def test_reasoning_goes_back_unchanged():
    events = parse(sse(done(0, {**OUTPUT[0], "format": "xai", "content": []}), last()))
    opaque = Opaque("openai", events[-2].opaque)
    written = json.loads(bytes(render_entry(Entry("assistant", (opaque, Text("So."))), resolve("openai:gpt-5"))[0]))
    assert written == {**THOUGHT, "format": "xai", "content": []}


@pytest.mark.parametrize("fields", [{"encrypted_content": None}, {"status": "incomplete"}])
def test_reasoning_that_its_provider_can_not_read_again_is_dropped(fields):
    events = parse(sse(done(0, {**OUTPUT[0], **fields}), last()))
    assert events[:3] == [ReasoningStart("r0"), ReasoningDelta("r0", "A kiwi?\n\nYes."), ReasoningEnd("r0")]


def test_unencrypted_reasoning_is_read():
    deltas = [event("reasoning_text.delta", 0, content_index=0, delta=piece) for piece in ("A ", "kiwi")]
    events = parse(sse(*deltas, last()))
    thoughts = [ReasoningDelta("r0", "A "), ReasoningDelta("r0", "kiwi")]
    assert events[:-1] == [ReasoningStart("r0"), *thoughts, ReasoningEnd("r0")]


@pytest.mark.parametrize(
    ("fields", "media_type", "content"),
    [
        ({}, "image/png", b"a kiwi"),
        ({"output_format": "svg"}, "image/svg+xml", b"a kiwi"),
        ({"result": "kiwi!"}, "image/png", "holds no base64"),
        ({"result": None}, "image/png", "holds no base64"),
        ({"result": None, "status": "failed", "error": {"message": "No."}}, "image/png", '{"message":"No."}'),
    ],
)
def test_an_image_is_a_file_or_has_a_problem(fields, media_type, content):
    block, *_ = parse(sse(done(0, image(**fields)), last()))
    ((_, file),) = block.part.files
    assert file.media_type == media_type
    if isinstance(content, bytes):
        assert file.read() == content
    else:
        with pytest.raises(BadFile, match=re.escape(content)):
            file.read()


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
def test_each_stop_reason_is_converted(status, reason, stop, detail):
    final_event = last(status=status, incomplete_details=reason and {"reason": reason})
    assert parse(sse(final_event)) == [StepEnd(stop, Usage(), detail)]
    assert parse_full(encode(final_event["response"])) == [StepEnd(stop, Usage(), detail)]


def test_a_cancelled_response_is_cut_and_done_uses_the_status_of_the_response():
    assert parse_full(encode(answer(status="cancelled"))) == [StepEnd("cut", Usage(), "cancelled")]
    assert parse(sse(event("done", response=answer()))) == [StepEnd("end", Usage())]
    assert parse(sse(event("done", response=answer(status=None)))) == [StepEnd("cut", Usage())]


def test_a_stream_without_its_last_event_is_cut():
    assert parse(sse(*text_events(0, 0, "It")), b"data: [DONE]\n\n")[-1] == StepEnd("cut", Usage())


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
    events = parse(sse(*text_events(0, 0, "It")), sse(fault, *text_events(1, 0, "more"), last()))
    assert events == [TextStart("t0"), TextDelta("t0", "It"), TextEnd("t0"), ProviderFault(text)]


def test_xai_and_gateways_report_cost_and_modalities():
    details = {"text_tokens": 20, "image_tokens": 0, "cached_tokens": 3}
    usage = {"input_tokens": 25, "output_tokens": 9, "input_tokens_details": details}
    ticks = parse(sse(last(usage={**usage, "cost_in_usd_ticks": 25_000_000})))
    cost = parse(sse(last(usage={**usage, "cost": 0.0025})))
    assert ticks == cost == [StepEnd("end", Usage(25, 9, 3, modalities={"text": 20, "image": 0}, cost=0.0025))]


def test_unknown_events_and_fields_are_ignored():
    unknown = [
        {"type": "response.weather", "output_index": "north", "delta": 7},
        done(2, message(output_text("It") | {"beam": 3})),
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
def test_other_data_is_a_bad_answer(data):
    with pytest.raises(BadAnswer):
        parser_of("openai-responses").feed(b"data: " + data + b"\n\n")


def test_a_complete_body_may_be_an_error_or_empty():
    assert parse_full(b'{"error":{"code":"bad","message":"Sorry"}}') == [ProviderFault("bad: Sorry")]
    with pytest.raises(BadAnswer):
        parse_full(b"<html>")
