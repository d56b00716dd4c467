"""npm's `@ag-ui/client`, 1.0.0 and 0.0.59, verifies the stream of any kind of run, and has the messages that we say."""

import asyncio
import json
from base64 import b64encode
from unittest.mock import ANY

import msgspec
import pytest
from ag_ui.core import Event
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from showandtell import File, RunContext, tool
from showandtell.core.ag_ui.ag_ui_stream import AgUiContext, AgUiStream
from showandtell.core.events import types as ev
from showandtell.core.events.types import TextDelta, ToolStart
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.wire.sse import Splitter
from support.fixtures import png
from support.generated_files import draw as made_picture
from support.generated_files import each_image_model
from support.nodejs import AG_UI_CLIENTS, ag_ui_reader
from support.properties import examples
from support.run_events import events, streaming
from support.scripted import CLAUDE, FAULT, STOPS, begin, each_api, frames, say, scripted
from support.ui_runs import ChatRecorder

PICTURE = png(16, 8)
EVENT = TypeAdapter(Event)
QUESTION = {"id": "mine", "role": "user", "content": "hi"}


@pytest.fixture(scope="module", params=AG_UI_CLIENTS)
def peer(request):
    """A client, and whether it is one of 0.0.x."""
    with ag_ui_reader(request.param) as read:
        yield read, request.param == "ag-ui-client-0.0"


@pytest.fixture(scope="module")
def read_new():
    with ag_ui_reader(AG_UI_CLIENTS[0]) as read:
        yield read


def echo(word: str = "nothing") -> str:
    """Say it again."""
    return f"you said {word}"


def draw() -> File:
    """Draw a picture."""
    return File.from_bytes(PICTURE, name="drawn.png")


def fail(context: RunContext) -> str:
    """Fail."""
    context.progress(1, 2, "half")
    raise ValueError("no")


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


TOOLS = [echo, draw, fail, erase]


def answering(*answers, model=CLAUDE, **settings):
    return ChatRecorder(scripted(*answers, model=model, tools=TOOLS, **settings)[0])


def convert(sent, **context):
    """The events of a stream as bytes, and the messages that a client then has."""
    stream = AgUiStream(AgUiContext("thread", "run", messages=lambda: [QUESTION], **context))
    return b"".join(map(stream.feed_bytes, sent)), json.loads(json.dumps(stream.messages))


def check(peer, sent, messages=(QUESTION,), error=None, **context):
    """Check that a client takes the stream without a complaint, and has exactly our messages of it."""
    read, is_legacy = peer
    sse, own = convert(sent, is_legacy=is_legacy, **context)
    for data in Splitter().feed(sse):
        assert EVENT.validate_json(data).model_extra == {}  # nothing that the Python SDK doesn't know
    got = read(sse, messages=list(messages), state=context.get("state", {}))
    assert (got["warnings"], got["error"]) == ([], error)
    assert sorted(map(plain, got["messages"]), key=by_id) == sorted([*map(plain, messages), *own], key=by_id)
    return got


def plain(message):
    """A message of a client without the empty texts that some of its versions begin with."""
    return {key: value for key, value in message.items() if value != "" or key != "content"}


def by_id(message):
    return message["id"]


def run_and_check(peer, chat, text="hi", **settings):
    return check(peer, asyncio.run(chat.answer(text, **settings)))


def of(got, role):
    return [message for message in got["messages"] if message["role"] == role]


def kinds(got):
    return [event["type"] for event in got["events"]]


@each_api
def test_text_and_reasoning(peer, model):
    got = run_and_check(peer, answering(say("Hello.", thought="Hm.", model=model), model=model))
    assert [message["content"] for message in of(got, "assistant") + of(got, "reasoning")] == ["Hello.", "Hm."]
    assert got["events"][-1]["outcome"] == {"type": "success"}
    assert got["error"] is None


@each_api
def test_parallel_tools_with_files(peer, model):
    calls = [("c1", "draw", "{}"), ("c2", "echo", '{"word": "é\\n"}'), ("c3", "draw", "{}")]
    chat = answering(say("Look.", *calls, model=model), say("image 1, image 2", model=model), model=model)
    got = run_and_check(peer, chat)
    first, last = of(got, "assistant")
    assert [call["function"]["name"] for call in first["toolCalls"]] == ["draw", "echo", "draw"]
    assert [message["toolCallId"] for message in of(got, "tool")] == [call["id"] for call in first["toolCalls"]]
    assert last["content"] == "image 1, image 2"
    assert kinds(got)[-2:] == ["STATE_SNAPSHOT", "RUN_FINISHED"]
    assert [file["number"] for file in got["state"]["showandtell"]["files"]] == [1, 2]


def test_a_tools_file_is_a_part_of_its_result(read_new):
    got = run_and_check((read_new, False), answering(say("Look.", ("c1", "draw", "{}")), say("A picture.")))
    (message,) = of(got, "tool")
    (part,) = message["content"]
    assert (part["type"], part["source"]["mimeType"]) == ("image", "image/png")
    assert part["source"]["value"].endswith("/content/drawn.png")
    assert part["metadata"]["number"] == 1


def test_json_is_text_and_an_object_with_a_file_refers_to_it(read_new):
    def weigh():
        """Weigh it."""
        return {"grams": 1.50, "photo": File.from_bytes(PICTURE, name="drawn.png"), "tags": ["a"]}

    def count() -> list[int]:
        """Count."""
        return [1, 2]

    calls = [("c1", "weigh", "{}"), ("c2", "count", "{}")]
    agent, _ = scripted(say("", *calls), say("So."), tools=[weigh, count])
    got = run_and_check((read_new, False), ChatRecorder(agent))
    weighed, counted = (message["content"] for message in of(got, "tool"))
    assert json.loads(weighed[0]["text"])["photo"]["name"] == weighed[1]["metadata"]["name"] == "drawn.png"
    assert (json.loads(weighed[0]["text"])["grams"], json.loads(counted)) == (1.5, [1, 2])


def test_a_peer_of_an_old_version_gets_words_and_an_event_with_the_file():
    sent = asyncio.run(answering(say("Look.", ("c1", "draw", "{}")), say("A picture.")).answer("hi"))
    with ag_ui_reader(AG_UI_CLIENTS[1]) as read:
        got = check((read, True), sent)
    (message,) = of(got, "tool")
    assert message["content"] == "image 1: drawn.png"
    (custom,) = [event for event in got["events"] if event["type"] == "CUSTOM"]
    assert (custom["name"], custom["value"]["number"]) == ("showandtell.file", 1)
    assert "protocolVersion" not in got["events"][0]


@each_image_model
def test_a_file_that_the_model_made_is_an_activity(read_new, model):
    chat = ChatRecorder(scripted(made_picture(model, PICTURE), model=model)[0])
    got = run_and_check((read_new, False), chat, "draw")
    assert [message["content"]["number"] for message in of(got, "activity") if "file" in message["activityType"]] == [1]


def test_a_message_that_was_stored_differently_replaces_what_was_sent(peer):
    data = b64encode(png(40, 40)).decode()
    chat = answering(say(f"Here: ![it](data:image/png;base64,{data}) and more.", thought="Hm."))
    receipt = {"id": "receipt", "role": "activity", "activityType": "x", "content": {}}
    sent = asyncio.run(chat.answer("draw"))
    got = check(peer, sent, [QUESTION, receipt])
    assert "MESSAGES_SNAPSHOT" in kinds(got)
    assert [message["content"] for message in of(got, "user")] == ["hi"]
    assert data[120:] not in json.dumps(got)
    assert of(got, "assistant")[0]["content"].endswith("and more.")


@each_api
def test_a_stream_that_is_cut_and_one_that_fails(peer, model):
    torn = begin("Well,", ("c1", "echo", '{"word": "to'), model=model)
    for stream in (begin("Well,", model=model), torn):
        got = run_and_check(peer, answering(stream, model=model))
        assert got["events"][-1]["result"]["status"] == "incomplete"
    start = b"".join(frames("Well,", model=model)[: -STOPS[model].last])
    sent = asyncio.run(answering(start + FAULT[model], model=model).answer("hi"))
    got = check(peer, sent, error=ANY)
    assert (kinds(got)[-1], of(got, "assistant")[0]["content"]) == ("RUN_ERROR", "Well,")


def test_a_call_that_was_cut_off_has_a_result_that_says_so(peer):
    got = run_and_check(peer, answering(say("Now.", ("c1", "echo", '{"word": "to'), stop="max_tokens")))
    (message,) = of(got, "tool")
    assert message["content"] == "the call was not whole, so it was not run"
    assert message["metadata"] == {"showandtell": {"is_error": True}}


def test_unknown_tools_bad_arguments_and_tools_that_fail(peer):
    calls = [("c1", "nobody", "{}"), ("c2", "echo", "{]"), ("c3", "echo", "5"), ("c4", "fail", "")]
    got = run_and_check(peer, answering(say("", *calls), say("Oh.")))
    assert [message["metadata"] for message in of(got, "tool")] == [{"showandtell": {"is_error": True}}] * 4
    assert of(got, "assistant")[0]["toolCalls"][3]["function"]["arguments"] == "{}"
    assert "showandtell.progress" in [event.get("name") for event in got["events"]]


@each_api
@pytest.mark.parametrize("kind", [TextDelta, ToolStart])
def test_a_cancelled_run(peer, model, kind):
    calls = [("c1", "draw", "{}"), ("c2", "echo", "{}")]
    chat = answering(say("Look.", *calls, model=model), say("Seen.", model=model), model=model)
    got = run_and_check(peer, chat, stop_at=lambda event: isinstance(event, kind))
    assert got["events"][-1]["outcome"]["type"] == ("success" if peer[1] else "cancelled")
    assert got["events"][-1]["result"] == {"status": "incomplete", "reason": "cancelled"}


@each_api
@pytest.mark.parametrize("yes", [True, False])
def test_an_answer_continues_after_an_approval(peer, model, yes):
    calls = [("c1", "erase", '{"path": "a"}'), ("c2", "echo", "{}")]
    chat = answering(say("Hm.", *calls, model=model), say("Done.", model=model), model=model)
    waits = run_and_check(peer, chat, "clean up")
    (interrupt,) = waits["interrupts"]
    assert (interrupt["toolCallId"], interrupt["message"]) == ("c1", 'Approve erase({"path": "a"})?')
    sent = asyncio.run(chat.answer(yes={"c1": yes}))
    sse, _ = convert([sent[0], *sent[2:]], is_legacy=peer[1], steps=1)
    whole = peer[0](sse, messages=waits["messages"])
    assert (whole["error"], whole["interrupts"]) == (None, [])
    results = {message["toolCallId"]: message["content"] for message in of(whole, "tool")}
    assert results["c1"] == ("erased a" if yes else "the user denied this call")
    assert [message["content"] for message in of(whole, "assistant")] == ["Hm.", "Done."]


def test_a_stream_that_is_read_again_replaces_what_the_client_has_of_it(peer):
    chat = answering(say("Look.", ("c1", "echo", "{}"), thought="Hm."), say("Seen."))
    sent = asyncio.run(chat.answer("hi"))
    half = sent[: len(sent) // 2]
    had = json.loads(json.dumps(stream_of(half).messages))
    stream = AgUiStream(
        AgUiContext("thread", "run", messages=lambda: [QUESTION, *had], is_repeat=True, is_legacy=peer[1])
    )
    sse = b"".join(map(stream.feed_bytes, sent))
    got = peer[0](sse, messages=[QUESTION, *had])
    assert "reasoning" in {message["role"] for message in had}
    assert sorted(map(plain, got["messages"]), key=by_id) == sorted([QUESTION, *stream.messages], key=by_id)


def stream_of(sent):
    stream = AgUiStream(AgUiContext("thread", "run"))
    for data in sent:
        stream.feed_bytes(data)
    return stream


def test_a_state_of_the_clients_own_is_kept(peer):
    sent = asyncio.run(answering(say("Look.", ("c1", "draw", "{}")), say("A picture.")).answer("hi"))
    got = check(peer, sent, state={"theme": "dark", "showandtell": 5})
    assert got["state"]["theme"] == "dark"
    assert [file["name"] for file in got["state"]["showandtell"]["files"]] == ["drawn.png"]


def test_comments_and_chunks_of_a_newer_version_pass():
    stream = AgUiStream(AgUiContext("thread", "run"))
    assert stream.feed_bytes(b":\n\n") == b":\n\n"
    assert stream.feed_bytes(b'data: {"type":"hologram-start","id":1}\n\n') == b""
    with pytest.raises(msgspec.ValidationError):
        stream.feed_bytes(b'data: {"type":"text-delta","id":1}\n\n')


@examples(100)
@given(st.lists(events, min_size=20, max_size=60))
@example([ev.TextDelta("c1", "a"), ev.TextDelta("c2", "b"), ev.ReasoningDelta("c1", "c")])
@example([ev.ToolInputStart("c1", "draw"), ev.StepStart(2), ev.ToolInputStart("c1", "draw"), ev.ToolInputEnd("c1")])
def test_any_run_is_a_valid_stream(peer, script):
    read, is_legacy = peer
    chunks, ours = streaming(), AgUiStream(AgUiContext("thread", "run", is_legacy=is_legacy))
    made = [chunk for event in [*script, ev.Finish("complete")] for chunk in chunks.chunks(event)]
    found = [event for chunk in [chunks.start_chunk(), *made] for event in ours.feed(chunk)]
    got = read(b"".join(map(ui.serialize, found)))
    assert got["error"] in {None, "Boom"}
    assert kinds(got)[-1] == ("RUN_ERROR" if got["error"] else "RUN_FINISHED")
    assert len(got["events"]) == len(found)
