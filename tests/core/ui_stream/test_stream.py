"""The UI message stream: its chunks and bytes, whatever the events are, and going on with what another process began."""

import json
from time import process_time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from showandtell.core.events import types as ev
from showandtell.core.events.annotations import Thought
from showandtell.core.events.replay import ModelChosen
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Approval, Text
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.answer import UiAccumulator
from showandtell.core.ui_stream.step import spell_input
from showandtell.core.ui_stream.stream import AnswerContext, UiStream
from showandtell.core.wire.sse import Splitter
from support.answers import SHOW, STARTED
from support.nodejs import reading
from support.properties import examples

#: Files of every origin, with bytes and without.
FILES = {
    1: Attachment("att_1", 1, "a.png", Origin("user"), "2026-01-02", Facts("a" * 64, "image/png", 7)),
    2: Attachment("att_2", 2, "b.png", Origin("tool", "draw", "c1"), "2026-01-02", Facts("b" * 64, "image/png", 7)),
    3: Attachment("att_3", 3, "c.png", Origin("assistant"), "2026-01-02", problem="is torn"),
}


@pytest.fixture(scope="module")
def read():
    with reading() as read:
        yield read


def streaming(messages=(), **more):
    return UiStream(
        AnswerContext("ans_1", STARTED, FILES, SHOW, "inspector", lambda: 2.5, messages=lambda: messages, **more)
    )


def file_event(number):
    one = FILES[number]
    return ev.FileEvent(number, one.id, one.name, one.kind, one.media_type, 7, str(one.origin), one.problem)


def receipt(number, **more):
    return ev.ReceiptEvent(1, {"number": number, "delivery": "native", **more})


def sent(events, stream=None):
    stream = stream or streaming()
    return [msgspec.json.decode(ui.spell(chunk)[6:-2]) for event in events for chunk in stream.chunks(event)]


def kinds(events, stream=None):
    return [chunk["type"] for chunk in sent(events, stream)]


def test_a_step_with_a_tool_as_its_chunks():
    events = [
        ev.StepStart(1),
        receipt(1),
        ev.TextStart("0"),
        ev.TextDelta("0", "Look:"),
        ev.TextEnd("0"),
        ev.ToolInputStart("c1", "draw"),
        ev.ToolInputDelta("c1", '{"a": 1}'),
        ev.ToolInputEnd("c1"),
        ev.StepEnd("tool_calls", ev.Usage()),
        ev.StepFinish(1, "tool_calls", ev.Usage(3, 2)),
        ev.ToolStart("c1", "draw", '{"a": 1}'),
        ev.ToolProgress("c1", 1, 2, "half"),
        file_event(2),
        ev.ToolOutput("c1", "draw", "drawn", (2,), False),
    ]
    file = SHOW.attachment(FILES[2])
    usage = msgspec.to_builtins(ev.Usage(3, 2))
    assert sent(events) == [
        {"type": "start-step"},
        {"type": "data-receipt", "id": "1.1", "data": {"step": 1, "number": 1, "delivery": "native", "variants": []}},
        {"type": "text-start", "id": "1.0"},
        {"type": "text-delta", "id": "1.0", "delta": "Look:"},
        {"type": "text-end", "id": "1.0"},
        {"type": "tool-input-start", "toolCallId": "c1", "toolName": "draw"},
        {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a": 1}'},
        {"type": "tool-input-available", "toolCallId": "c1", "toolName": "draw", "input": {"a": 1}},
        {
            "type": "data-step",
            "id": "step 1",
            "data": {"step": 1, "model": "inspector", "usage": usage, "stop": "tool_calls"},
        },
        {
            "type": "data-progress",
            "data": {"tool_call_id": "c1", "done": 1.0, "total": 2.0, "note": "half"},
            "transient": True,
        },
        {"type": "data-attachment", "id": "att_2", "data": file},
        {"type": "file", "url": file["url"], "mediaType": "image/png"},
        {"type": "tool-output-available", "toolCallId": "c1", "output": {"text": "drawn", "files": [2]}},
    ]


def test_the_bytes_of_an_end():
    stream = streaming()
    assert stream.take(ev.Finish("incomplete", "cancelled", ev.Usage())).decode() == snapshot("""\
data: {"type":"abort","reason":"cancelled"}

data: {"type":"finish","finishReason":"interrupted","messageMetadata":{"status":"incomplete","reason":"cancelled","usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"written_tokens":0,"reasoning_tokens":0,"modalities":{},"cost":null},"finished":2.5}}

data: [DONE]

""")


@pytest.mark.parametrize(
    ("status", "reason", "told"),
    [
        ("complete", None, "stop"),
        ("refused", "refusal", "content-filter"),
        ("waiting", "approval", "tool-calls"),
        ("incomplete", "steps", "length"),
        ("incomplete", "budget", "length"),
        ("incomplete", "length", "length"),
        ("incomplete", "cut", "interrupted"),
        ("incomplete", "empty", "other"),
        ("error", "Boom", "error"),
    ],
)
def test_every_end_has_its_reason(status, reason, told):
    assert sent([ev.Finish(status, reason)])[-1]["finishReason"] == told


def test_an_error_is_told_last_after_what_it_closed_and_what_is_known_of_the_end():
    events = [
        ev.StepStart(1),
        ev.ToolInputStart("c1", "draw"),
        ev.ToolInputEnd("c1"),
        ev.ErrorEvent("ProviderError", "Boom"),
        ev.ToolOutput("c1", "draw", "not run", (), True),
        ev.Finish("error", "Boom"),
    ]
    found = sent(events)
    assert [one["type"] for one in found[-5:]] == [
        "tool-output-error",
        "finish-step",
        "message-metadata",
        "error",
        "finish",
    ]
    assert found[-2]["errorText"] == "Boom"


def test_a_step_of_which_nothing_is_said_leaves_no_trace():
    events = [ev.StepStart(1), receipt(1), ev.Retry("busy", 0.5), ev.StepStart(1), ev.Finish("error", "Boom")]
    assert kinds(events) == ["data-retry", "message-metadata", "error", "finish"]


def test_empty_texts_and_thoughts_that_are_sealed_are_not_begun():
    events = [
        ev.StepStart(1),
        ev.TextStart("0"),
        ev.TextEnd("0"),
        ev.ReasoningStart("1"),
        ev.ReasoningEnd("1", "sealed"),
        ev.StepFinish(1, "end", ev.Usage()),
    ]
    assert kinds(events) == ["start-step", "data-step"]


def test_files_and_results_of_others_are_told_and_stay_out_of_the_answer():
    found = sent([file_event(1), file_event(2), ev.ToolOutput("c1", "draw", "drawn", (2,), False), file_event(3)])
    assert [(one["type"], one.get("transient", False)) for one in found] == [
        ("data-attachment", True),
        ("data-attachment", True),
        ("start-step", False),
        ("data-attachment", False),  # the assistant's own, which has no bytes to link to
    ]


def test_a_conversion_is_told_with_where_it_is_fetched():
    variant = {"sha256": "f" * 64, "media_type": "image/png", "page": 2}
    (_, found, *_) = sent([ev.StepStart(1), receipt(1, variants=[variant]), ev.TextStart("0"), ev.TextDelta("0", "Hm")])
    assert found["data"]["variants"] == [{**variant, "url": f"/api/attachments/att_1/variants/{'f' * 64}"}]


def test_what_a_step_is_given_when_it_is_asked_again_counts_once():
    before = {1: receipt(1).receipt}
    events = [ev.StepStart(1), receipt(1, delivery="noted"), receipt(2), receipt(1), receipt(2, delivery="noted")]
    found = sent([*events, ev.TextDelta("0", "Hm")], streaming(receipts=before))
    assert [one["data"]["number"] for one in found if one["type"] == "data-receipt"] == [2]
    assert found[1]["data"]["delivery"] == "noted"


@pytest.mark.parametrize(
    "text", ['{"__proto__": 1}', '[{"\\u005f_proto__": {}}]', '{"a": {"constructor": {"prototype": 1}}}']
)
def test_arguments_that_the_client_takes_for_an_attack_are_sent_as_text(text):
    assert json.loads(ui.spell(spell_input("c1", "draw", text))[6:])["input"] == text


@pytest.mark.parametrize("text", ['{"constructor": 1, "é": "\\u00e9"}', "5", "null", '{"a":\n1e3}\r\n'])
def test_other_json_is_sent_as_it_is(text):
    (data,) = Splitter().feed(ui.spell(spell_input("c1", "draw", text)))
    assert json.loads(data)["input"] == json.loads(text)


@pytest.mark.parametrize("text", ["{]", "[" * 100_000, "NaN", '"\\ud800"', "{'a': 1}"])
def test_what_is_no_json_is_an_error_with_the_text_that_came(text):
    found = spell_input("c1", "draw", text)
    assert (type(found), found.input) == (ui.InputError, text)


words = st.text(st.characters(exclude_categories=()), max_size=20)


@given(words, words)
def test_any_text_is_one_event(name, text):
    chunks = [ui.MoreText(name, text), ui.BeginInput(name, text), ui.Error(text), ui.ProgressData({name: [text]})]
    data = b"".join(map(ui.spell, chunks))
    found = Splitter().feed(data)
    assert [json.loads(one)["type"] for one in found] == ["text-delta", "tool-input-start", "error", "data-progress"]
    assert json.loads(found[0])["delta"] == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_a_run_of_base64_is_held_back_until_the_message_is_stored():
    long = "A" * 99 + "B" * 400
    events = [ev.StepStart(1), ev.TextStart("0"), *[ev.TextDelta("0", piece) for piece in ("Hm ", *long, " so")]]
    said = Message("msg_2", "assistant", (Text(f"Hm {long} so"),))
    stream = streaming([Message("msg_1", "user"), said])
    held = sent(events, stream)
    assert "B" not in json.dumps(held[2:])
    rest = sent([ev.TextEnd("0"), ev.StepFinish(1, "end", ev.Usage())], stream)
    assert "".join(one.get("delta", "") for one in held + rest) == f"Hm {long} so"  # it was no file after all


def test_a_message_that_was_stored_otherwise_is_told_anew_with_what_stood_beside_it():
    said = Message("msg_2", "assistant", (Text("Hm "), Text(" so")))
    stream = streaming([Message("msg_1", "user"), said])
    events = [ev.StepStart(1), receipt(1), ev.ReasoningDelta("t", "Well"), ev.TextDelta("0", "Hm data: so")]
    fold = UiAccumulator()
    events.append(ev.StepFinish(1, "end", ev.Usage(), (Thought(0, "t", "Well"),)))
    fold.add(chunk for event in events for chunk in stream.chunks(event))
    shown = [part for part in fold.message["parts"] if part["type"] in {"text", "reasoning"}]
    assert [part["text"] for part in shown] == ["Well", "Hm ", " so"]
    assert [part["id"] for part in fold.message["parts"] if part["type"] == "data-receipt"] == ["1.1"]


def told(step, *, again=False):
    files = [ui.AttachmentData("att_1", {"step": step})] if again else []
    return [ui.StartStep(), *files, ui.ReceiptData(f"{step}.1", {}), ui.StepData(f"step {step}", {}), ui.FinishStep()]


def test_what_is_told_twice_stands_once_also_where_a_step_began_anew():
    fold = UiAccumulator()
    fold.add([*told(1, again=True), *told(2, again=True), ui.ResetStep(), *told(2)[1:]])
    fold.add([*told(3, again=True), ui.AttachmentData("att_2", {}), ui.ResetStep(), ui.AttachmentData("att_2", {})])
    found = [(part["type"], part["id"]) for part in fold.message["parts"] if "id" in part]
    assert len(found) == len(set(found)) == 6
    assert next(part["data"] for part in fold.message["parts"] if part.get("id") == "att_1") == {"step": 3}


def test_an_answer_of_thousands_of_steps_takes_no_more_for_its_last_than_for_its_first():
    chunks, fold = [chunk for step in range(4000) for chunk in told(step)], UiAccumulator()
    before = process_time()
    fold.add(chunks)
    assert process_time() - before < 0.5
    assert len(fold.message["parts"]) == 3 * 4000


ids = st.sampled_from(["c1", "c2", "0"])
numbers = st.sampled_from([1, 2, 3, 4])
pieces = st.one_of(st.sampled_from(["{", "}", '"a"', ":", "1", "[", "\n", "A" * 120]), st.text(max_size=5))
events = st.one_of(
    st.builds(ev.TextStart, ids),
    st.builds(ev.TextDelta, ids, pieces),
    st.builds(ev.TextEnd, ids),
    st.builds(ev.ReasoningStart, ids),
    st.builds(ev.ReasoningDelta, ids, pieces),
    st.builds(ev.ReasoningEnd, ids, st.sampled_from([None, "sealed"])),
    st.builds(ev.ToolInputStart, ids, st.sampled_from(["draw", "é x"])),
    st.builds(ev.ToolInputDelta, ids, pieces),
    st.builds(ev.ToolInputEnd, ids),
    st.builds(ev.StepEnd, st.sampled_from(["end", "length"]), st.just(ev.Usage())),
    st.builds(ev.StepStart, st.integers(1, 3)),
    st.builds(ev.StepFinish, st.integers(1, 3), st.just("end"), st.just(ev.Usage())),
    st.builds(ev.ToolProgress, ids, st.just(1.0)),
    st.builds(ev.ToolOutput, ids, st.just("draw"), pieces, st.just(()), st.booleans()),
    st.builds(file_event, st.sampled_from([1, 2, 3])),
    st.builds(receipt, numbers, delivery=st.sampled_from(["native", "noted"])),
    st.builds(ev.ApprovalNeeded, ids, st.just("draw"), st.just("{}")),
    st.builds(Approval, ids, st.booleans(), pieces),
    st.builds(ev.Retry, st.just("busy"), st.just(0.5)),
    st.builds(ev.ErrorEvent, st.just("X"), st.just("Boom")),
    st.builds(ev.ProviderFault, st.just("Boom")),
    st.builds(ModelChosen, st.just("openai:gpt-5")),
)


@examples(200)
@given(st.lists(events, max_size=40))
def test_the_client_reads_any_script_of_events_as_our_own_fold_does(read, script):
    stream, fold = streaming(), UiAccumulator()
    chunks = [stream.begin(), *(chunk for event in [*script, ev.Finish("complete")] for chunk in stream.chunks(event))]
    fold.add(chunks)
    got = read(sse=b"".join(map(ui.spell, chunks)).decode())
    assert [one for one in got["errors"] if one != "Error: Boom"] == []
    assert got["message"] == json.loads(json.dumps(fold.message))
    assert not [part for part in got["message"]["parts"] if part.get("state") == "streaming"]


@examples(50)
@given(st.lists(events, max_size=40))
def test_the_client_reads_any_beginning_of_a_stream(read, script):
    stream = streaming()
    data = b"".join([stream.start(), *map(stream.take, script)])
    assert [one for one in read(sse=data.decode())["errors"] if one != "Error: Boom"] == []
