"""The UI message stream: its chunks and bytes for any events, and answers that another process started."""

import gc
import json
import weakref
from time import process_time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from msgspec import structs

from showandtell.core.events import types as ev
from showandtell.core.events.annotations import Thought
from showandtell.core.messages.attachments import Origin
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Json, Shown, Text
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.answer import UiAccumulator
from showandtell.core.ui_stream.step_writer import input_chunk
from showandtell.core.ui_stream.ui_stream import AnswerContext, UiStream
from showandtell.core.wire.sse import Splitter
from support.nodejs import npm_reader
from support.properties import examples
from support.run_events import FILES, events, file_event, receipt, streaming
from support.ui_runs import LINKS, STARTED


@pytest.fixture(scope="module")
def read():
    with npm_reader() as read:
        yield read


def sent(events, stream=None):
    stream = stream or streaming()
    return [msgspec.json.decode(ui.serialize(chunk)[6:-2]) for event in events for chunk in stream.chunks(event)]


def kinds(events, stream=None):
    return [chunk["type"] for chunk in sent(events, stream)]


def test_a_stream_is_freed_without_a_garbage_collection():
    gc.disable()
    try:
        stream = streaming()
        assert kinds([ev.StepStart(1), ev.TextStart("0"), ev.TextDelta("0", "Look:"), ev.TextEnd("0")], stream)
        freed = weakref.ref(stream)
        del stream
        assert freed() is None
    finally:
        gc.enable()


def test_the_chunks_of_a_step_with_a_tool():
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
        ev.ToolOutput("c1", "draw", "drawn", (2,), False, (Text("drawn"), Shown(2, "att_2"))),
    ]
    file = LINKS.attachment(FILES[2])
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
        {
            "type": "tool-output-available",
            "toolCallId": "c1",
            "output": ["drawn", LINKS.reference(FILES[2])],
            "toolMetadata": {"showandtell": {"files": [2]}},
        },
    ]


def test_a_result_with_keys_that_the_client_refuses_is_sent_as_text(read):
    result = '{"__proto__": {"polluted": true}}'
    events = [
        ev.StepStart(1),
        ev.ToolInputStart("c1", "draw"),
        ev.ToolInputEnd("c1"),
        ev.ToolOutput("c1", "draw", result, (), False, (Json(result),)),
        ev.Finish("complete"),
    ]
    stream = streaming()
    got = read(sse=b"".join([stream.start(), *map(stream.feed, events)]).decode())
    (part,) = [part for part in got["message"]["parts"] if part["type"] == "tool-draw"]
    assert (got["errors"], part["output"]) == ([], result)


def test_the_bytes_of_a_cancelled_run():
    stream = streaming()
    assert stream.feed(ev.Finish("incomplete", "cancelled", ev.Usage())).decode() == snapshot("""\
data: {"type":"abort","reason":"cancelled"}

data: {"type":"finish","finishReason":"interrupted","messageMetadata":{"status":"incomplete","reason":"cancelled","usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"written_tokens":0,"reasoning_tokens":0,"modalities":{},"cost":null},"finished":2.5}}

data: [DONE]

""")


@pytest.mark.parametrize(
    ("status", "reason", "finish_reason"),
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
def test_every_status_has_a_finish_reason(status, reason, finish_reason):
    assert sent([ev.Finish(status, reason)])[-1]["finishReason"] == finish_reason


def test_an_error_comes_after_the_closed_step_and_the_metadata():
    events = [
        ev.StepStart(1),
        ev.ToolInputStart("c1", "draw"),
        ev.ToolInputEnd("c1"),
        ev.ErrorEvent("ProviderError", "Boom"),
        ev.ToolOutput("c1", "draw", "not run", (), True),
        ev.Finish("error", "Boom"),
    ]
    received = sent(events)
    assert [item["type"] for item in received[-5:]] == [
        "tool-output-error",
        "finish-step",
        "message-metadata",
        "error",
        "finish",
    ]
    assert received[-2]["errorText"] == "Boom"


def test_an_empty_step_leaves_no_trace():
    events = [ev.StepStart(1), receipt(1), ev.Retry("busy", 0.5), ev.StepStart(1), ev.Finish("error", "Boom")]
    assert kinds(events) == ["data-retry", "message-metadata", "error", "finish"]


def test_empty_texts_and_encrypted_reasoning_are_not_started():
    events = [
        ev.StepStart(1),
        ev.TextStart("0"),
        ev.TextEnd("0"),
        ev.ReasoningStart("1"),
        ev.ReasoningEnd("1", "sealed"),
        ev.StepFinish(1, "end", ev.Usage()),
    ]
    assert kinds(events) == ["start-step", "data-step"]


def test_other_files_are_transient_and_other_results_are_left_out():
    received = sent([file_event(1), file_event(2), ev.ToolOutput("c1", "draw", "drawn", (2,), False), file_event(3)])
    assert [(item["type"], item.get("transient", False)) for item in received] == [
        ("data-attachment", True),
        ("data-attachment", True),
        ("start-step", False),
        ("data-attachment", False),  # the assistant's file, which has no bytes to link to
    ]


@pytest.mark.parametrize(("audience", "links"), [("both", 1), ("user", 0), ("assistant", 0)])
def test_a_file_for_one_audience_has_no_link_for_clients_that_give_every_file_to_both(audience, links):
    file = structs.replace(FILES[2], origin=Origin("assistant"), audience=audience)
    stream = UiStream(AnswerContext("ans_1", STARTED, {2: file}, LINKS, "inspector", lambda: 2.5))
    received = kinds([ev.StepStart(1), file_event(2)], stream)
    assert (received.count("data-attachment"), received.count("file")) == (1, links)


def test_a_derivative_has_its_url():
    variant = {"sha256": "f" * 64, "media_type": "image/png", "page": 2}
    (_, received, *_) = sent(
        [ev.StepStart(1), receipt(1, variants=[variant]), ev.TextStart("0"), ev.TextDelta("0", "Hm")]
    )
    assert received["data"]["variants"] == [
        {**variant, "url": f"https://chat.test/api/attachments/att_1/variants/{'f' * 64}"}
    ]


def test_receipts_of_a_retried_step_are_sent_once():
    before = {1: receipt(1).receipt}
    events = [ev.StepStart(1), receipt(1, delivery="noted"), receipt(2), receipt(1), receipt(2, delivery="noted")]
    received = sent([*events, ev.TextDelta("0", "Hm")], streaming(earlier_receipt=before.get))
    assert [item["data"]["number"] for item in received if item["type"] == "data-receipt"] == [2]
    assert received[1]["data"]["delivery"] == "noted"


@pytest.mark.parametrize(
    "text", ['{"__proto__": 1}', '[{"\\u005f_proto__": {}}]', '{"a": {"constructor": {"prototype": 1}}}']
)
def test_arguments_that_the_client_would_reject_are_sent_as_text(text):
    assert json.loads(ui.serialize(input_chunk("c1", "draw", text))[6:])["input"] == text


@pytest.mark.parametrize("text", ['{"constructor": 1, "é": "\\u00e9"}', "5", "null", '{"a":\n1e3}\r\n'])
def test_other_json_is_sent_unchanged(text):
    (data,) = Splitter().feed(ui.serialize(input_chunk("c1", "draw", text)))
    assert json.loads(data)["input"] == json.loads(text)


@pytest.mark.parametrize("text", ["{]", "[" * 100_000, "NaN", '"\\ud800"', "{'a': 1}"])
def test_invalid_json_is_an_error_with_the_received_text(text):
    received = input_chunk("c1", "draw", text)
    assert (type(received), received.input) == (ui.InputError, text)


texts = st.text(st.characters(exclude_categories=()), max_size=20)


@given(texts, texts)
def test_any_text_is_one_event(name, text):
    chunks = [ui.MoreText(name, text), ui.StartInput(name, text), ui.Error(text), ui.ProgressData({name: [text]})]
    data = b"".join(map(ui.serialize, chunks))
    received = Splitter().feed(data)
    assert [json.loads(item)["type"] for item in received] == [
        "text-delta",
        "tool-input-start",
        "error",
        "data-progress",
    ]
    assert json.loads(received[0])["delta"] == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_a_run_of_base64_is_held_back_until_the_message_is_stored():
    long = "A" * 99 + "B" * 400
    events = [ev.StepStart(1), ev.TextStart("0"), *[ev.TextDelta("0", piece) for piece in ("Hm ", *long, " so")]]
    stored = Message("msg_2", "assistant", (Text(f"Hm {long} so"),))
    stream = streaming([Message("msg_1", "user"), stored])
    held = sent(events, stream)
    assert "B" not in json.dumps(held[2:])
    rest = sent([ev.TextEnd("0"), ev.StepFinish(1, "end", ev.Usage())], stream)
    assert "".join(item.get("delta", "") for item in held + rest) == f"Hm {long} so"  # the text contained no file


def test_a_message_that_was_stored_differently_is_sent_again_with_its_files():
    stored = Message("msg_2", "assistant", (Text("Hm "), Text(" so")))
    stream = streaming([Message("msg_1", "user"), stored])
    events = [ev.StepStart(1), receipt(1), ev.ReasoningDelta("t", "Well"), ev.TextDelta("0", "Hm data: so")]
    accumulator = UiAccumulator()
    events.append(ev.StepFinish(1, "end", ev.Usage(), (Thought(0, "t", "Well"),)))
    accumulator.add(chunk for event in events for chunk in stream.chunks(event))
    shown = [part for part in accumulator.message["parts"] if part["type"] in {"text", "reasoning"}]
    assert [part["text"] for part in shown] == ["Well", "Hm ", " so"]
    assert [part["id"] for part in accumulator.message["parts"] if part["type"] == "data-receipt"] == ["1.1"]


def repeated_parts(step, *, again=False):
    files = [ui.AttachmentData("att_1", {"step": step})] if again else []
    return [ui.StartStep(), *files, ui.ReceiptData(f"{step}.1", {}), ui.StepData(f"step {step}", {}), ui.FinishStep()]


def test_repeated_parts_replace_each_other_even_after_a_reset():
    accumulator = UiAccumulator()
    accumulator.add(
        [*repeated_parts(1, again=True), *repeated_parts(2, again=True), ui.ResetStep(), *repeated_parts(2)[1:]]
    )
    accumulator.add(
        [*repeated_parts(3, again=True), ui.AttachmentData("att_2", {}), ui.ResetStep(), ui.AttachmentData("att_2", {})]
    )
    received = [(part["type"], part["id"]) for part in accumulator.message["parts"] if "id" in part]
    assert len(received) == len(set(received)) == 6
    assert next(part["data"] for part in accumulator.message["parts"] if part.get("id") == "att_1") == {"step": 3}


def test_the_last_of_thousands_of_steps_costs_no_more_than_the_first():
    chunks, accumulator = [chunk for step in range(4000) for chunk in repeated_parts(step)], UiAccumulator()
    before = process_time()
    accumulator.add(chunks)
    assert process_time() - before < 0.5
    assert len(accumulator.message["parts"]) == 3 * 4000


@examples(200)
@given(st.lists(events, max_size=40))
def test_the_client_reads_any_events_like_our_accumulator(read, script):
    stream, accumulator = streaming(), UiAccumulator()
    chunks = [
        stream.start_chunk(),
        *(chunk for event in [*script, ev.Finish("complete")] for chunk in stream.chunks(event)),
    ]
    accumulator.add(chunks)
    got = read(sse=b"".join(map(ui.serialize, chunks)).decode())
    assert [item for item in got["errors"] if item != "Error: Boom"] == []
    assert got["message"] == json.loads(json.dumps(accumulator.message))
    assert not [part for part in got["message"]["parts"] if part.get("state") == "streaming"]


@examples(50)
@given(st.lists(events, max_size=40))
def test_the_client_reads_any_prefix_of_a_stream(read, script):
    stream = streaming()
    data = b"".join([stream.start(), *map(stream.feed, script)])
    assert [item for item in read(sse=data.decode())["errors"] if item != "Error: Boom"] == []
