# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false
import itertools

import msgspec
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
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import HostedBlock, Opaque, Text, ToolCall
from showandtell.core.planning.values import Entry
from showandtell.core.wire import aws_eventstream
from showandtell.core.wire.bedrock_converse import render as bedrock_converse
from showandtell.core.wire.bedrock_converse.parse import parse_full
from showandtell.errors import BadAnswer
from support.builders import parser_of
from support.scripted import FRAMED
from support.streams.bedrock import (
    BEGIN,
    CLAUDE,
    CONTENT,
    STREAM,
    base64,
    block,
    body,
    call,
    end,
    frames,
    text,
    thought,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))


OPAQUE = '{"reasoningContent":{"reasoningText":{"text":"A kiwi, I think.","signature":"EqQB"}}}'
EVENTS = [
    ReasoningStart("r0"),
    ReasoningDelta("r0", "A kiwi, "),
    ReasoningDelta("r0", "I think."),
    ReasoningEnd("r0", OPAQUE),
    TextStart("t1"),
    TextDelta("t1", "Ça, c'est a "),
    TextDelta("t1", "kiwi 🥝"),
    TextEnd("t1"),
    ToolInputStart("tooluse_1", "draw"),
    ToolInputDelta("tooluse_1", '{"si'),
    ToolInputDelta("tooluse_1", 'ze": 2}'),
    ToolInputEnd("tooluse_1"),
    ToolInputStart("tooluse_2", "draw"),
    ToolInputDelta("tooluse_2", "{}"),
    ToolInputEnd("tooluse_2"),
    StepEnd("tool_calls", Usage(32, 9, 5, 2)),
]


def feed_into(events, parser, reads):
    for data in reads:
        events += parser.feed(data)
    events += parser.finish()
    return events


def parse(*reads):
    return feed_into([], parser_of("bedrock-converse", FRAMED), reads)


def fold(events):
    folded = Accumulator("bedrock")
    folded.add(events)
    return folded


def test_a_stream_of_reasoning_text_and_calls_is_read_in_order():
    assert parse(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_do_not_depend_on_where_reads_end(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse(*(STREAM[start:stop] for start, stop in itertools.pairwise(edges))) == EVENTS


@pytest.mark.parametrize("size", [1, 7, 100, 16384])
def test_events_do_not_depend_on_read_sizes(size):
    assert parse(*(STREAM[at : at + size] for at in range(0, len(STREAM), size))) == EVENTS


def test_a_stream_cut_at_any_byte_gives_a_prefix_and_ends_as_cut():
    reason_end = len(STREAM) - len(frames(end("tool_use")[1]))  # after the reason and before the usage
    for length in range(len(STREAM)):
        *events, last = parse(STREAM[:length])
        assert events == EVENTS[: len(events)]
        assert last == (StepEnd("cut", Usage()) if length < reason_end else StepEnd("tool_calls", Usage()))


def test_a_call_with_a_missing_byte_never_runs():
    for length in range(len(STREAM)):
        calls = [part for part in fold(parse(STREAM[:length])).draft().parts if isinstance(part, ToolCall)]
        assert (
            calls == [ToolCall("tooluse_1", "draw", '{"size": 2}'), ToolCall("tooluse_2", "draw", "{}")][: len(calls)]
        )


@given(st.integers(0, len(STREAM) * 8 - 1), st.integers(1, len(STREAM)))
def test_a_flipped_bit_is_a_bad_answer_after_the_events_before_it(bit, size):
    torn = bytearray(STREAM)
    torn[bit // 8] ^= 1 << bit % 8
    parser, events = parser_of("bedrock-converse", FRAMED), []
    with pytest.raises(BadAnswer):
        feed_into(events, parser, [bytes(torn[at : at + size]) for at in range(0, len(torn), size)])
    assert events == EVENTS[: len(events)]
    assert parser.done


def test_events_before_a_broken_frame_in_the_last_read_are_returned():
    parser = parser_of("bedrock-converse", FRAMED)
    assert parser.feed(frames(*text(0, "It")) + b"x" * 20) == [TextStart("t0"), TextDelta("t0", "It"), TextEnd("t0")]
    with pytest.raises(BadAnswer, match="checksum"):
        parser.finish()


def test_nothing_after_the_end_is_read():
    parser = parser_of("bedrock-converse", FRAMED)
    assert parser.feed(STREAM + b"x" * 20) == EVENTS
    assert parser.done
    assert parser.finish() == []


def test_the_message_ends_only_after_its_usage():
    parser, (stop, metadata) = parser_of("bedrock-converse", FRAMED), end("end_turn")
    assert parser.feed(frames(stop)) == []
    assert not parser.done
    assert parser.feed(frames(metadata)) == [StepEnd("end", Usage(32, 9, 5, 2))]
    assert parser.done


def test_usage_before_the_reason_is_stored():
    assert parse(frames(*reversed(end("end_turn")))) == [StepEnd("end", Usage(32, 9, 5, 2))]
    assert parse(frames(end("end_turn")[1])) == [StepEnd("cut", Usage(32, 9, 5, 2))]


def test_missing_cache_tokens_are_zero():
    usage = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7, "cacheReadInputTokens": None}
    assert parse(frames(*end("end_turn", usage))) == [StepEnd("end", Usage(3, 4))]


def typed(type_name, call_id="tooluse_1"):
    return {"toolUse": {"toolUseId": call_id, "name": "draw", "type": type_name}}


def test_calls_with_a_type_are_read_like_those_without():
    events = block(0, {"toolUse": {"input": '{"size":2}'}}, start=typed("tool_use"))
    at_once = body({"toolUse": {**typed("tool_use")["toolUse"], "input": {"size": 2}}})
    assert fold(parse(frames(*events, *end("tool_use")))).draft().parts == (
        ToolCall("tooluse_1", "draw", '{"size":2}'),
    )
    assert fold(parse_full(at_once)).draft().parts == (ToolCall("tooluse_1", "draw", '{"size": 2}'),)


def test_a_step_of_the_provider_beside_a_call_is_no_call():
    own = {"toolUse": {**typed("tool_use", "tooluse_2")["toolUse"], "input": {"result": 7006652.0}}}
    theirs = {"toolUse": {**typed("server_tool_use")["toolUse"], "input": {"snippet": "1234 * 5678"}}}
    output = [{"json": {"stdOut": "7006652", "stdErr": "", "exitCode": 0, "isError": False}}]
    result = {"toolUseId": "tooluse_1", "type": "nova_code_interpreter_result", "status": "success", "content": output}
    parts = fold(parse_full(body(theirs, {"toolResult": result}, own))).draft().parts
    assert [part for part in parts if not isinstance(part, HostedBlock)] == [
        ToolCall("tooluse_2", "draw", '{"result": 7006652.0}')
    ]


def test_interleaved_calls_stay_separate():
    first, second = call(0, "a", "1", "2"), call(1, "b", "3", "4")
    mixed = [event for pair in zip(first, second, strict=True) for event in pair]
    parts = fold(parse(frames(*mixed, *end("tool_use")))).draft().parts
    assert parts == (ToolCall("a", "draw", "12"), ToolCall("b", "draw", "34"))


def test_arguments_without_a_call_and_a_call_without_its_stop_never_run():
    orphan = block(0, {"toolUse": {"input": "{}"}})
    unstopped = call(1, "a", "{}")[:-1]
    folded = fold(parse(frames(*orphan, *unstopped, *text(1, "It"), *end("tool_use"))))
    assert (folded.stop, folded.draft().parts) == ("cut", (Text("It"),))


def test_reasoning_in_blobs_goes_back_as_one():
    events = parse(frames(*thought(0, {"redactedContent": base64(b"a")}, {"redactedContent": base64(b"bcd")})))
    assert events[:2] == [
        ReasoningStart("r0"),
        ReasoningEnd("r0", '{"reasoningContent":{"redactedContent":"YWJjZA=="}}'),
    ]


def test_reasoning_with_only_a_signature_is_stored_and_without_one_dropped():
    first, second = thought(0, {"signature": "EqQB"}), thought(1, {"text": "hm"})
    ends = [event.opaque for event in parse(frames(*first, *second)) if isinstance(event, ReasoningEnd)]
    assert ends == ['{"reasoningContent":{"reasoningText":{"text":"","signature":"EqQB"}}}', None]


def test_reasoning_is_rendered_unchanged():
    parts = fold(parse(STREAM)).draft().parts
    target = resolve("bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0")
    thoughts = tuple(part for part in parts if isinstance(part, Opaque))
    (message,) = bedrock_converse.render_entry(Entry("assistant", (*thoughts, Text("So."))), target)
    assert msgspec.json.encode(message["content"]).decode() == f'[{OPAQUE},{{"text":"So."}}]'


def test_a_text_after_reasoning_in_the_same_block_ends_the_reasoning():
    events = parse(frames(*block(0, {"reasoningContent": {"text": "hm"}}, {"text": "It"})))
    assert events[2:5] == [ReasoningEnd("r0"), TextStart("t0"), TextDelta("t0", "It")]


@pytest.mark.parametrize(
    ("reason", "stop", "detail"),
    [
        ("end_turn", "end", ""),
        ("stop_sequence", "end", "stop_sequence"),
        ("tool_use", "tool_calls", ""),
        ("max_tokens", "length", ""),
        ("model_context_window_exceeded", "length", "model_context_window_exceeded"),
        ("guardrail_intervened", "refusal", "guardrail_intervened"),
        ("content_filtered", "refusal", "content_filtered"),
        ("malformed_model_output", "cut", "malformed_model_output"),
        ("malformed_tool_use", "cut", "malformed_tool_use"),
        ("something_new", "cut", "something_new"),
    ],
)
def test_each_stop_reason_is_converted(reason, stop, detail):
    assert parse(frames(*end(reason))) == [StepEnd(stop, Usage(32, 9, 5, 2), detail)]


@pytest.mark.parametrize(
    "name",
    [
        "throttlingException",
        "modelStreamErrorException",
        "internalServerException",
        "serviceUnavailableException",
        "validationException",
    ],
)
def test_an_exception_ends_the_stream(name):
    fault = aws_eventstream.encode(name, b'{"message":"Too many tokens"}', message_type="exception")
    events = parse(frames(BEGIN, *text(0, "It")) + fault + frames(*text(1, "more")), frames(*end("end_turn")))
    assert events[2:] == [TextEnd("t0"), ProviderFault(f"{name}: Too many tokens")]


def test_unknown_events_and_empty_blocks_are_ignored():
    unknown = [
        ("weather", {"delta": 7}),
        ("messageStart", {"role": "narrator"}),
        *block(2, {"text": "It"}, {}),
        *block(3, {}, start={}),
    ]
    events = parse(frames(*unknown, *end("end_turn")))
    assert events == [TextStart("t2"), TextDelta("t2", "It"), TextEnd("t2"), StepEnd("end", Usage(32, 9, 5, 2))]


@pytest.mark.parametrize(
    "payload",
    [
        b"{",
        b"7",
        b'{"contentBlockIndex":"one"}',
        b'{"delta":{"text":7}}',
        b'{"delta":{"text":"\xff"}}',
        b'{"delta":{"reasoningContent":{"redactedContent":"*"}}}',
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_other_data_is_a_bad_answer(payload):
    with pytest.raises(BadAnswer):
        parser_of("bedrock-converse", FRAMED).feed(aws_eventstream.encode("contentBlockDelta", payload))


def image(*sources):
    return block(0, *({"image": source} for source in sources), start={"image": {"format": "png"}})


def test_a_generated_image_is_a_file_once_it_is_complete():
    events = image({"source": {"bytes": base64(PNG[:10])}}, {"source": {"bytes": base64(PNG[10:])}})
    assert parse(frames(*events, *end("end_turn")))[0] == FileMade("image/png", PNG)
    assert not [event for event in parse(frames(*events[:-1])) if isinstance(event, FileMade)]


def test_an_unavailable_image_has_a_problem():
    (address,) = parse(frames(*image({"source": {"s3Location": {"uri": "s3://bucket/a.png"}}})))[:1]
    (failed,) = parse(frames(*image({"error": {"message": "blocked"}})))[:1]
    assert address == FileMade("image/png", b"", problem="was given as an address")
    assert failed == FileMade("image/png", b"", problem="was not made (blocked)")


def test_a_complete_body_gives_the_message_of_its_stream():
    streamed, at_once = fold(parse(STREAM)), fold(parse_full(body(*CONTENT)))
    assert at_once.draft() == streamed.draft()
    assert (at_once.usage, at_once.detail) == (streamed.usage, streamed.detail)


def test_a_complete_body_that_hit_the_limit_has_no_finished_last_call():
    events = parse_full(body(*CONTENT, reason="max_tokens"))
    assert [event.call_id for event in events if isinstance(event, ToolInputEnd)] == ["tooluse_1"]
    assert events[-1].stop == "length"


def test_a_complete_body_may_contain_texts_with_citations_and_files():
    content = [
        {"citationsContent": {"content": [{"text": "It is "}, {"text": "a kiwi."}], "citations": []}},
        {"reasoningContent": {"redactedContent": base64(b"abcd")}},
        {"image": {"format": "png", "source": {"bytes": base64(PNG)}}},
        {"audio": {"format": "wav", "source": {"bytes": base64(b"RIFF")}}},
    ]
    thoughts = Opaque("bedrock", '{"reasoningContent":{"redactedContent":"YWJjZA=="}}')
    files = (File(PNG, "image/png"), File(b"RIFF", "audio/wav"))
    assert fold(parse_full(body(*content, reason="end_turn"))).draft().parts == (
        Text("It is a kiwi."),
        thoughts,
        *files,
    )


def test_a_complete_body_may_be_an_error_or_empty():
    assert parse_full(b'{"message":"Sorry"}') == [ProviderFault("Sorry")]
    assert parse_full(b"{}") == [StepEnd("cut", Usage())]
    for data in (b"<html>", b"[1]", b'{"output":7}', b'{"output":' + b"[" * 100_000):
        with pytest.raises(BadAnswer):
            parse_full(data)


class _Raw:
    def stream(self):
        yield STREAM


def test_botocore_reads_the_same_from_this_stream():
    import botocore.session
    from botocore.eventstream import EventStream
    from botocore.parsers import EventStreamJSONParser

    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    events = EventStream(_Raw(), model.shape_for("ConverseStreamOutput"), EventStreamJSONParser(), "ConverseStream")
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert "".join(delta.get("text", "") for delta in deltas) == "Ça, c'est a kiwi 🥝"
    assert "".join(delta["toolUse"]["input"] for delta in deltas if "toolUse" in delta) == '{"size": 2}'


@given(st.lists(st.integers(0, len(CLAUDE)), max_size=20))
def test_claudes_own_stream_in_these_frames_is_read_by_its_own_parser(cuts):
    parser, edges = parser_of("anthropic-messages", FRAMED), [0, *sorted(cuts), len(CLAUDE)]
    events = [event for start, stop in itertools.pairwise(edges) for event in parser.feed(CLAUDE[start:stop])]
    assert [type(event) for event in events] == [TextStart, TextDelta, TextEnd, StepEnd]
    assert events[-1].stop == "end"


def test_an_exception_in_claudes_own_stream_has_its_message():
    fault = aws_eventstream.encode("throttlingException", b'{"message":"Slow down"}', message_type="exception")
    parser = parser_of("anthropic-messages", FRAMED)
    assert parser.feed(fault) == [ProviderFault("throttlingException: Slow down")]
