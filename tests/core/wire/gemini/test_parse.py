import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator, CallIds
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
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.planning.values import Entry
from showandtell.core.wire.gemini.parse import whole
from showandtell.errors import BadAnswer, BadFile
from support.builders import parser_of
from support.sdk_clients import aim, check
from support.streams.gemini import (
    CHUNKS,
    PNG,
    SIZE,
    STANDARD,
    STREAM,
    STREAMED,
    call,
    count,
    partial,
    say,
    spell,
    sse,
    text,
)

HOME = aim("gemini", signed=True)


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
    FileMade("image/png", PNG),
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
    """The parts of the model's content when a folded answer is sent back."""
    kept = tuple(part for part in fold(events).parts if not isinstance(part, File))
    return check((Entry("assistant", kept),), HOME)["contents"][0]["parts"]


def test_the_streams_here_have_the_shape_of_the_sdks_answers():
    from google.genai.types import GenerateContentResponse

    for chunk in (*CHUNKS, *STREAMED):
        GenerateContentResponse.model_validate(chunk)


def test_a_stream_of_thought_text_calls_and_a_picture_is_read_in_order():
    assert parse(STREAM) == EVENTS
    assert parse(sse(*CHUNKS, line="\n")) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_any_reads_give_the_same_events(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse(*(STREAM[start:stop] for start, stop in itertools.pairwise(edges))) == EVENTS


@pytest.mark.parametrize(
    "chunks", [CHUNKS, STREAMED, (say(text("No")), say(reason="SAFETY"))], ids=["all", "streamed arguments", "refusal"]
)
def test_a_stream_cut_at_any_byte_is_a_beginning_and_says_cut(chunks):
    body = sse(*chunks)
    expected = parse(body)
    told = body.index(b"\r\n\r\n", body.index(b'"finishReason"')) + 3  # where the reason has been read
    for length in range(len(body)):
        *events, last = parse(body[:length])
        assert events == expected[: len(events)]
        assert last.stop == ("cut" if length < told else expected[-1].stop)
        whole_calls = {part.arguments for part in fold([*events, last]).parts if isinstance(part, ToolCall)}
        assert whole_calls <= {SIZE, "{}", PAINTED}


@pytest.mark.parametrize("chunks", [CHUNKS, STREAMED], ids=["all", "streamed arguments"])
def test_a_whole_body_and_an_array_of_chunks_fold_to_the_draft_of_their_stream(chunks):
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    assert fold(whole(spell(list(chunks)))) == fold(parse(sse(*chunks)))
    assert fold(whole(spell(say(*parts, reason="STOP")))) == fold(parse(sse(*chunks)))
    assert whole(spell(list(CHUNKS))) == EVENTS


def test_signatures_go_back_where_they_stood():
    answer = sse(
        say(text("Hm.", thought=True, thoughtSignature="dGhpbms=")),
        say(text("I draw "), text("it.", thoughtSignature="dGV4dA==")),
        say({"inlineData": {"mimeType": "image/png", "data": STANDARD}, "thoughtSignature": "cG5n"}),
        say(call("draw", "Y2FsbA==", id="a", args={"n": 1}), call("draw", id="b", args={"n": 2})),
        say(text("", thoughtSignature="ZW5k"), reason="STOP"),
    )
    assert replay(parse(answer)) == [
        {"text": "", "thoughtSignature": "dGhpbms="},
        {"text": "I draw it."},
        {"text": "", "thoughtSignature": "dGV4dA=="},
        {"text": "", "thoughtSignature": "cG5n"},
        {"functionCall": {"id": "a", "name": "draw", "args": {"n": 1}}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"id": "b", "name": "draw", "args": {"n": 2}}},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]


def test_a_thought_without_a_signature_is_not_kept():
    assert replay(parse(sse(say(text("Hm.", thought=True), text("Yes."), reason="STOP")))) == [{"text": "Yes."}]


def test_a_signature_parts_the_texts_on_its_two_sides():
    parts = fold(parse(sse(say(text("a", thoughtSignature="cw=="), text("b"), reason="STOP")))).parts
    assert parts == (Text("a"), Opaque("google", "cw=="), Text("b"))


def test_calls_without_ids_get_ids_that_no_other_call_has():
    parts = [call(id="call_2"), call(), call(id="call_1"), call(id=""), call(args=None)]
    events = parse(sse(say(*parts), say(call(), reason="STOP")))
    ids = [event.call_id for event in events if isinstance(event, ToolInputStart)]
    assert ids == ["call_2", "call_3", "call_1", "call_4", "call_5", "call_6"]
    assert [event.text for event in events if isinstance(event, ToolInputDelta)] == ["{}"] * 6


def test_streamed_arguments_are_gathered_and_come_whole():
    assert parse(sse(*STREAMED)) == [
        ToolInputStart("call_1", "paint"),
        ToolInputDelta("call_1", PAINTED),
        ToolInputEnd("call_1", "EqQB"),
        StepEnd("tool_calls", Usage()),
    ]


def test_a_streamed_call_may_have_some_arguments_whole_and_end_with_its_last_piece():
    pieces = [partial("$.of", stringValue="kiwi")]
    chunks = [say(call(args={"n": 1}, willContinue=True)), say(call(partialArgs=pieces, willContinue=False))]
    assert ToolInputDelta("call_1", '{"n":1,"of":"kiwi"}') in parse(sse(*chunks, say(reason="STOP")))


@pytest.mark.parametrize("other", [call(), call("paint", willContinue=True), call("paint", id="b"), text("So.")])
def test_a_streamed_call_that_never_ends_does_not_run(other):
    draft = fold(parse(sse(say(call("paint", args={"n": 1}, willContinue=True)), say(other), say(reason="STOP"))))
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
def test_arguments_that_have_no_place_are_a_bad_answer(pieces):
    with pytest.raises(BadAnswer):
        whole(spell(say(call(partialArgs=pieces), reason="STOP")))


@pytest.mark.parametrize("begun", [[], [call("paint", id="a", willContinue=True)]])
def test_arguments_of_no_call_are_a_bad_answer(begun):
    with pytest.raises(BadAnswer, match="belong to no call"):
        parse(sse(say(*begun, call(None, id="b", partialArgs=[partial("$.a", numberValue=1)]))))


@given(
    st.lists(st.text(max_size=5), max_size=6),
    st.dictionaries(st.from_regex("[a-z]+", fullmatch=True), st.integers(-9, 9)),
)
def test_pieces_of_a_text_make_the_text(words, numbers):
    pieces = [partial("$.A", stringValue=word, willContinue=True) for word in words]
    pieces += [partial(f"$['{name}']", numberValue=number) for name, number in numbers.items()]
    chunks = [say(call(willContinue=True)), *(say(call(None, partialArgs=[it], willContinue=True)) for it in pieces)]
    (made,) = fold(parse(sse(*chunks, say({"functionCall": {}}), say(reason="STOP")))).parts
    assert json.loads(made.arguments) == ({"A": "".join(words)} if words else {}) | numbers


@pytest.mark.parametrize("data", [STANDARD, STANDARD.replace("+", "-").replace("/", "_"), STANDARD.rstrip("=")])
def test_a_made_file_may_be_in_either_alphabet_of_base64(data):
    events = parse(sse(say({"inlineData": {"mimeType": "image/png", "data": data}}, reason="STOP")))
    assert events == [FileMade("image/png", PNG), StepEnd("end", Usage())]


@pytest.mark.parametrize("data", ["no base64!", "a", "", "Zm9v\nZm9v", "é"])
def test_a_made_file_that_holds_no_base64_says_so(data):
    events = parse(sse(say({"inlineData": {"data": data}}, text("There."), reason="STOP")))
    assert events[0] == FileMade("application/octet-stream", b"", problem="holds no base64")
    with pytest.raises(BadFile, match="holds no base64"):
        fold(events).parts[0].read()


def test_a_file_at_an_address_is_not_fetched_and_a_picture_of_a_thought_is_no_file():
    linked = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://host/a.mp4"}}
    thought = {"inlineData": {"data": STANDARD}, "thought": True}
    parts = fold(parse(sse(say(text("a"), thought, linked, text("b"), reason="STOP")))).parts
    assert [getattr(part, "text", None) for part in parts] == ["a", None, "b"]
    with pytest.raises(BadFile, match="was given as an address, which is not fetched"):
        parts[1].read()


def test_unknown_parts_fields_and_other_candidates_say_nothing():
    parts = [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"somethingNew": {"a": [1]}},
        {},
    ]
    second = {"candidates": [{"index": 1, "content": {"parts": [text("No")]}, "finishReason": "SAFETY"}]}
    empty = {"candidates": [{"content": {}, "finishReason": "FINISH_REASON_UNSPECIFIED"}], "usageMetadata": None}
    assert parse(sse(say(*parts), second, empty, say(reason="STOP"))) == [StepEnd("end", Usage())]


REFUSALS = "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII ESCALATION MODEL_ARMOR"
REFUSALS += " IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION"
CUTS = "OTHER MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE"
CUTS += " MALFORMED_RESPONSE NO_IMAGE IMAGE_OTHER PUP_LIMITED_DISABLED"
REASONS = {"STOP": ("end", ""), "MAX_TOKENS": ("length", ""), "CONTINUATION": ("length", "CONTINUATION")}
REASONS |= {word: ("refusal", word) for word in REFUSALS.split()} | {word: ("cut", word) for word in CUTS.split()}


def test_each_reason_of_the_sdk_is_said_in_our_words():
    from google.genai.types import FinishReason

    said = {word: whole(spell({"candidates": [{"finishReason": word}]})) for word in [*REASONS, "NEW"]}
    expected = {**REASONS, "NEW": ("cut", "NEW")}
    assert said == {word: [StepEnd(stop, Usage(), detail)] for word, (stop, detail) in expected.items()}
    assert set(FinishReason.__members__) - {"FINISH_REASON_UNSPECIFIED"} == set(REASONS)


def test_the_message_of_a_reason_stands_beside_it_unless_all_went_well():
    blocked = {"candidates": [{"finishReason": "SAFETY", "finishMessage": "No."}]}
    assert whole(spell(blocked)) == [StepEnd("refusal", Usage(), "SAFETY: No.")]
    well = {"candidates": [{"finishReason": "STOP", "finishMessage": "Model generated function call(s)."}]}
    assert whole(spell(well)) == [StepEnd("end", Usage())]


def test_a_blocked_prompt_is_a_refusal():
    feedback = {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []}
    end = parse(sse({"promptFeedback": feedback, **count(25, 0)}))
    assert end == [StepEnd("refusal", Usage(25), "PROHIBITED_CONTENT")]
    told = {"promptFeedback": feedback | {"blockReasonMessage": "Not this."}}
    assert whole(spell(told | say(reason="MAX_TOKENS"))) == [StepEnd("length", Usage())]
    assert whole(spell(told)) == [StepEnd("refusal", Usage(), "PROHIBITED_CONTENT: Not this.")]


def test_what_comes_after_the_reason_still_counts():
    parser = parser_of("gemini")
    events = parser.feed(sse(say(text("It "), reason="STOP")))
    assert not parser.done
    events += parser.feed(sse(say(text("is."), reason="MAX_TOKENS"), say(reason="STOP"), count(25, 9)))
    assert events + parser.finish() == [
        TextStart("t0"),
        TextDelta("t0", "It "),
        TextDelta("t0", "is."),
        TextEnd("t0"),
        StepEnd("length", Usage(25, 9)),
    ]
    assert parser.done


def test_tokens_of_tools_count_as_input_and_an_odd_count_as_none():
    assert parse(sse(say(reason="STOP"), count(25, 9, toolUsePromptTokenCount=3))) == [StepEnd("end", Usage(28, 9))]
    assert parse(sse(say(reason="STOP", usageMetadata={"promptTokenCount": "many"}))) == [StepEnd("end", Usage())]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}, "UNAVAILABLE: Overloaded"),
        ({"code": 503, "message": "Overloaded"}, "503: Overloaded"),
        ({"code": 503}, "503"),
        ({"details": []}, "error"),
        ("Overloaded", "Overloaded"),
    ],
)
def test_an_error_ends_the_answer(error, told):
    chunks = [say(text("It")), {"error": error}, say(text("more"), reason="STOP")]
    events = [TextStart("t0"), TextDelta("t0", "It"), ProviderFault(told)]
    assert parse(sse(*chunks)) == whole(spell(chunks)) == events


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
def test_what_is_not_the_apis_json_is_a_bad_answer(body):
    with pytest.raises(BadAnswer):
        whole(body)
    with pytest.raises(BadAnswer):
        parse(b"data: " + body + b"\n\n")
