import base64
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import (
    BlockRead,
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
from showandtell.core.wire.gemini.parse import parse_full
from showandtell.errors import BadAnswer, BadFile
from support.builders import parser_of
from support.fixtures import png
from support.next_request import next_body, output
from support.streams.gemini import (
    CHUNKS,
    PNG,
    SIZE,
    STANDARD,
    STREAM,
    STREAMED,
    call,
    chunk_of,
    count,
    encode,
    partial,
    sse,
    text,
)

MADE = '{"inlineData":{"mimeType":"image/png","data":null}}'
PICTURE = HostedBlock("", MADE, "", "", files=(("/inlineData/data", File(PNG, "image/png")),))


SPENT = Usage(25, 13, cached_tokens=5, reasoning_tokens=4, modalities={"text": 20, "image": 5})
EVENTS = [
    ReasoningStart("r0"),
    ReasoningDelta("r0", "A kiwi, "),
    ReasoningDelta("r0", "I think."),
    ReasoningEnd("r0"),
    TextStart("t1"),
    TextDelta("t1", "Ça, c'est a "),
    TextDelta("t1", "kiwi 🥝"),
    TextEnd("t1"),
    ReasoningStart("r2"),
    ReasoningEnd("r2", "c2ln"),
    ToolInputStart("fc_1", "draw"),
    ToolInputDelta("fc_1", SIZE),
    ToolInputEnd("fc_1", "EqQB"),
    ToolInputStart("call_2", "draw"),
    ToolInputDelta("call_2", "{}"),
    ToolInputEnd("call_2"),
    BlockRead(PICTURE),
    StepEnd("tool_calls", SPENT),
]
PAINTED = '{"of":"a kiwi","in box":[{"x":50,"y":true},null]}'


def parse(*reads):
    parser = parser_of("gemini")
    return [event for data in reads for event in parser.feed(data)] + parser.finish()


def fold(events):
    folded = Accumulator("google")
    folded.add(CallIds().rename(events))
    return folded.draft()


def replay(events):
    """Return the parts of the model's content when an accumulated answer is sent back."""
    draft = fold(events)
    results = [output(part.call_id) for part in draft.parts if isinstance(part, ToolCall)]
    return next_body(draft, "google:gemini-3-pro", *results)["contents"][1]["parts"]


def test_our_test_streams_have_the_shape_of_the_sdks_responses():
    from google.genai.types import GenerateContentResponse

    for chunk in (*CHUNKS, *STREAMED):
        GenerateContentResponse.model_validate(chunk)


def test_a_stream_of_reasoning_text_calls_and_an_image_is_read_in_order():
    assert parse(STREAM) == EVENTS
    assert parse(sse(*CHUNKS, line="\n")) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_do_not_depend_on_read_sizes(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse(*(STREAM[start:stop] for start, stop in itertools.pairwise(edges))) == EVENTS


@pytest.mark.parametrize(
    "chunks",
    [CHUNKS, STREAMED, (chunk_of(text("No")), chunk_of(reason="SAFETY"))],
    ids=["all", "streamed arguments", "refusal"],
)
def test_a_stream_cut_at_any_byte_gives_a_prefix_and_ends_as_cut(chunks):
    body = sse(*chunks)
    expected = parse(body)
    reason_end = body.index(b"\r\n\r\n", body.index(b'"finishReason"'))  # after the finish reason
    for length in range(len(body)):
        *events, last = parse(body[:length])
        assert events == expected[: len(events)]
        assert last.stop == ("cut" if length < reason_end else expected[-1].stop)
        whole_calls = {part.arguments for part in fold([*events, last]).parts if isinstance(part, ToolCall)}
        assert whole_calls <= {SIZE, "{}", PAINTED}


@pytest.mark.parametrize("chunks", [CHUNKS, STREAMED], ids=["all", "streamed arguments"])
def test_a_complete_body_and_an_array_of_chunks_give_the_draft_of_their_stream(chunks):
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    assert fold(parse_full(encode(list(chunks)))) == fold(parse(sse(*chunks)))
    assert fold(parse_full(encode(chunk_of(*parts, reason="STOP")))) == fold(parse(sse(*chunks)))
    assert parse_full(encode(list(CHUNKS))) == EVENTS


def test_signatures_go_back_in_their_position():
    picture = {"mimeType": "image/png", "data": base64.b64encode(png(2, 2)).decode()}
    answer = sse(
        chunk_of(text("Hm.", thought=True, thoughtSignature="dGhpbms=")),
        chunk_of(text("I draw "), text("it.", thoughtSignature="dGV4dA==")),
        chunk_of({"inlineData": picture, "thoughtSignature": "cG5n"}),
        chunk_of(call("draw", "Y2FsbA==", id="a", args={"n": 1}), call("draw", id="b", args={"n": 2})),
        chunk_of(text("", thoughtSignature="ZW5k"), reason="STOP"),
    )
    assert replay(parse(answer)) == [
        {"text": "", "thoughtSignature": "dGhpbms="},
        {"text": "I draw it."},
        {"text": "", "thoughtSignature": "dGV4dA=="},
        {"inlineData": picture, "thoughtSignature": "cG5n"},
        {"functionCall": {"id": "a", "name": "draw", "args": {"n": 1}}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"id": "b", "name": "draw", "args": {"n": 2}}},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]


def test_reasoning_without_a_signature_is_dropped():
    assert replay(parse(sse(chunk_of(text("Hm.", thought=True), text("Yes."), reason="STOP")))) == [{"text": "Yes."}]


def test_a_signature_separates_the_texts_around_it():
    parts = fold(parse(sse(chunk_of(text("a", thoughtSignature="cw=="), text("b"), reason="STOP")))).parts
    assert parts == (Text("a"), Opaque("google", "cw=="), Text("b"))


def test_calls_without_ids_get_ids_that_no_other_call_has():
    parts = [call(id="call_2"), call(), call(id="call_1"), call(id=""), call(args=None)]
    events = parse(sse(chunk_of(*parts), chunk_of(call(), reason="STOP")))
    ids = [event.call_id for event in events if isinstance(event, ToolInputStart)]
    assert ids == ["call_2", "call_3", "call_1", "call_4", "call_5", "call_6"]
    assert [event.text for event in events if isinstance(event, ToolInputDelta)] == ["{}"] * 6


def test_streamed_arguments_are_assembled():
    assert parse(sse(*STREAMED)) == [
        ToolInputStart("call_1", "paint"),
        ToolInputDelta("call_1", PAINTED),
        ToolInputEnd("call_1", "EqQB"),
        StepEnd("tool_calls", Usage()),
    ]


def test_a_streamed_call_may_have_some_complete_arguments_and_end_with_its_last_piece():
    pieces = [partial("$.of", stringValue="kiwi")]
    chunks = [chunk_of(call(args={"n": 1}, willContinue=True)), chunk_of(call(partialArgs=pieces, willContinue=False))]
    assert ToolInputDelta("call_1", '{"n":1,"of":"kiwi"}') in parse(sse(*chunks, chunk_of(reason="STOP")))


@pytest.mark.parametrize("other", [call(), call("paint", willContinue=True), call("paint", id="b"), text("So.")])
def test_a_streamed_call_that_never_ends_does_not_run(other):
    draft = fold(
        parse(sse(chunk_of(call("paint", args={"n": 1}, willContinue=True)), chunk_of(other), chunk_of(reason="STOP")))
    )
    assert draft.stop == "cut"
    assert all(part.arguments == "{}" for part in draft.parts if isinstance(part, ToolCall))


@pytest.mark.parametrize(
    "pieces",
    [
        [partial("$", stringValue="x")],
        [partial("of", stringValue="x")],
        [partial("$..of", stringValue="x")],
        [partial("$.of[*]", stringValue="x")],
        [partial("$.of[1]", stringValue="x")],
        [partial("$[0]", stringValue="x")],
        [partial("$.of", numberValue=1), partial("$.of", stringValue="x")],
        [partial("$.of", stringValue="x"), partial("$.of.size", numberValue=1)],
        [partial("$.of.size", numberValue=1), partial("$.of", stringValue="x")],
    ],
)
def test_arguments_with_an_invalid_path_are_a_bad_answer(pieces):
    with pytest.raises(BadAnswer):
        parse_full(encode(chunk_of(call(partialArgs=pieces), reason="STOP")))


@pytest.mark.parametrize("begun", [[], [call("paint", id="a", willContinue=True)]])
def test_arguments_without_a_call_are_a_bad_answer(begun):
    with pytest.raises(BadAnswer, match="without a call"):
        parse(sse(chunk_of(*begun, call(None, id="b", partialArgs=[partial("$.a", numberValue=1)]))))


@given(
    st.lists(st.text(max_size=5), max_size=6),
    st.dictionaries(st.from_regex("[a-z]+", fullmatch=True), st.integers(-9, 9)),
)
def test_pieces_of_a_text_are_joined(pieces_of_text, numbers):
    pieces = [partial("$.A", stringValue=word, willContinue=True) for word in pieces_of_text]
    pieces += [partial(f"$['{name}']", numberValue=number) for name, number in numbers.items()]
    chunks = [
        chunk_of(call(willContinue=True)),
        *(chunk_of(call(None, partialArgs=[it], willContinue=True)) for it in pieces),
    ]
    (call_part,) = fold(parse(sse(*chunks, chunk_of({"functionCall": {}}), chunk_of(reason="STOP")))).parts
    assert json.loads(call_part.arguments) == ({"A": "".join(pieces_of_text)} if pieces_of_text else {}) | numbers


@pytest.mark.parametrize("data", [STANDARD, STANDARD.replace("+", "-").replace("/", "_"), STANDARD.rstrip("=")])
def test_a_generated_file_may_use_either_base64_alphabet(data):
    events = parse(sse(chunk_of({"inlineData": {"mimeType": "image/png", "data": data}}, reason="STOP")))
    assert events == [BlockRead(PICTURE), StepEnd("end", Usage())]


@pytest.mark.parametrize("data", ["no base64!", "a", "", "Zm9v\nZm9v", "é"])
def test_a_generated_file_without_base64_has_a_problem(data):
    events = parse(sse(chunk_of({"inlineData": {"data": data}}, text("There."), reason="STOP")))
    assert events[0] == FileMade("application/octet-stream", b"", problem="holds no base64")
    with pytest.raises(BadFile, match="holds no base64"):
        fold(events).parts[0].read()


def test_a_file_at_an_address_is_not_fetched_and_an_image_of_reasoning_is_not_a_file():
    linked = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://host/a.mp4"}}
    thought = {"inlineData": {"data": STANDARD}, "thought": True}
    parts = fold(parse(sse(chunk_of(text("a"), thought, linked, text("b"), reason="STOP")))).parts
    assert [getattr(part, "text", None) for part in parts] == ["a", None, None, "b"]
    with pytest.raises(BadFile, match="was given as an address, which is not fetched"):
        parts[2].read()


def test_empty_parts_fields_and_other_candidates_are_ignored():
    parts = [{}, {"thought": True}]
    second = {"candidates": [{"index": 1, "content": {"parts": [text("No")]}, "finishReason": "SAFETY"}]}
    empty = {"candidates": [{"content": {}, "finishReason": "FINISH_REASON_UNSPECIFIED"}], "usageMetadata": None}
    assert parse(sse(chunk_of(*parts), second, empty, chunk_of(reason="STOP"))) == [StepEnd("end", Usage())]


REFUSALS = "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII ESCALATION MODEL_ARMOR"
REFUSALS += " IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION"
CUTS = "OTHER MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE"
CUTS += " MALFORMED_RESPONSE NO_IMAGE IMAGE_OTHER PUP_LIMITED_DISABLED"
REASONS = {"STOP": ("end", ""), "MAX_TOKENS": ("length", ""), "CONTINUATION": ("length", "CONTINUATION")}
REASONS |= {word: ("refusal", word) for word in REFUSALS.split()} | {word: ("cut", word) for word in CUTS.split()}


def test_each_finish_reason_of_the_sdk_is_converted():
    from google.genai.types import FinishReason

    output = {word: parse_full(encode({"candidates": [{"finishReason": word}]})) for word in [*REASONS, "NEW"]}
    expected = {**REASONS, "NEW": ("cut", "NEW")}
    assert output == {word: [StepEnd(stop, Usage(), detail)] for word, (stop, detail) in expected.items()}
    assert set(FinishReason.__members__) - {"FINISH_REASON_UNSPECIFIED"} == set(REASONS)


def test_the_message_of_a_reason_is_added_except_for_success():
    blocked = {"candidates": [{"finishReason": "SAFETY", "finishMessage": "No."}]}
    assert parse_full(encode(blocked)) == [StepEnd("refusal", Usage(), "SAFETY: No.")]
    well = {"candidates": [{"finishReason": "STOP", "finishMessage": "Model generated function call(s)."}]}
    assert parse_full(encode(well)) == [StepEnd("end", Usage())]


def test_a_blocked_prompt_is_a_refusal():
    feedback = {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []}
    end = parse(sse({"promptFeedback": feedback, **count(25, 0)}))
    assert end == [StepEnd("refusal", Usage(25), "PROHIBITED_CONTENT")]
    blocked = {"promptFeedback": feedback | {"blockReasonMessage": "Not this."}}
    assert parse_full(encode(blocked | chunk_of(reason="MAX_TOKENS"))) == [StepEnd("length", Usage())]
    assert parse_full(encode(blocked)) == [StepEnd("refusal", Usage(), "PROHIBITED_CONTENT: Not this.")]


def test_content_after_the_reason_still_counts():
    parser = parser_of("gemini")
    events = parser.feed(sse(chunk_of(text("It "), reason="STOP")))
    assert not parser.done
    events += parser.feed(sse(chunk_of(text("is."), reason="MAX_TOKENS"), chunk_of(reason="STOP"), count(25, 9)))
    assert events + parser.finish() == [
        TextStart("t0"),
        TextDelta("t0", "It "),
        TextDelta("t0", "is."),
        TextEnd("t0"),
        StepEnd("length", Usage(25, 9)),
    ]
    assert parser.done


def test_a_count_that_the_last_chunk_leaves_out_is_kept():
    def counted(**counts):
        return {"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": counts}

    first = counted(promptTokenCount=9, candidatesTokenCount=21, thoughtsTokenCount=35)
    last = counted(promptTokenCount=87, thoughtsTokenCount=78, totalTokenCount=165) | chunk_of(reason="STOP")
    *_, end = parse(sse(first, last))
    assert end == StepEnd("end", Usage(87, 99, reasoning_tokens=78))


def test_tool_tokens_count_as_input_and_invalid_counts_as_none():
    assert parse(sse(chunk_of(reason="STOP"), count(25, 9, toolUsePromptTokenCount=3))) == [
        StepEnd("end", Usage(28, 9))
    ]
    assert parse(sse(chunk_of(reason="STOP", usageMetadata={"promptTokenCount": "many"}))) == [StepEnd("end", Usage())]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}, "UNAVAILABLE: Overloaded"),
        ({"code": 503, "message": "Overloaded"}, "503: Overloaded"),
        ({"code": 503}, "503"),
        ({"details": []}, "error"),
        ("Overloaded", "Overloaded"),
    ],
)
def test_an_error_ends_the_response(error, message):
    chunks = [chunk_of(text("It")), {"error": error}, chunk_of(text("more"), reason="STOP")]
    events = [TextStart("t0"), TextDelta("t0", "It"), ProviderFault(message)]
    assert parse(sse(*chunks)) == parse_full(encode(chunks)) == events


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"candidates": 1}',
        b'{"candidates":[{"content":{"parts":[{"text":1}]}}]}',
        b'{"x":' + b"[" * 100_000,
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"a":"\xff"}}}]}}]}',
    ],
)
def test_other_data_is_a_bad_answer(body):
    with pytest.raises(BadAnswer):
        parse_full(body)
    with pytest.raises(BadAnswer):
        parse(b"data: " + body + b"\n\n")
