"""npm's `ai` builds from an answer's stream the message that a page gets from the stored messages, for all kinds of runs."""

import asyncio
import json
from base64 import b64encode

import pytest

from showandtell import File, RunContext, tool
from showandtell.core.events.types import TextDelta, ToolOutput, ToolStart
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import Approval, Json, Text
from showandtell.core.ui_stream.messages import branches
from support.agents import make_agent
from support.fixtures import png
from support.generated_files import draw as made_picture
from support.generated_files import each_image_model
from support.nodejs import npm_reader
from support.scripted import CLAUDE, FAULT, STOPS, begin, check_usable, each_api, frames, say, scripted
from support.ui_runs import ChatRecorder

PICTURE = png(16, 8)


@pytest.fixture(scope="module")
def read():
    with npm_reader() as read:
        yield read


def echo(word: str = "nothing") -> str:
    """Say it again."""
    return f"you said {word}"


def draw() -> File:
    """Draw a picture."""
    return File.from_bytes(PICTURE, name="drawn.png")


def count() -> dict:
    """Count the rows."""
    return {"rows": 3, "mean": 1.5}


def fail(context: RunContext) -> str:
    """Fail."""
    context.progress(1, 2, "half")
    raise ValueError("no")


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


TOOLS = [echo, draw, count, fail, erase]


def answering(*answers, model=CLAUDE, **settings):
    return ChatRecorder(scripted(*answers, model=model, tools=TOOLS, **settings)[0])


def to_plain(value):
    return json.loads(json.dumps(value))


def check(read, chat, sent, message=None):
    """Check that the client reports no errors and builds the page's message, and return that message."""
    got = read(sse=b"".join(sent).decode(), message=message)
    assert [error for error in got["errors"] if not error.startswith("Error: ")] == []
    page = to_plain(chat.page())
    assert got["message"] == page[-1]
    assert read(messages=page)["errors"] == []
    converted = read(convert=page)
    assert converted["model"] is not None
    if not chat.waiting:  # no model takes a call without a result
        assert converted["errors"] == []
        check_usable(chat.conversation)
    return got["message"]


def run_and_check(read, chat, text="hi", **settings):
    return check(read, chat, asyncio.run(chat.answer(text, **settings)))


def parts(message, kind):
    return [part for part in message["parts"] if part["type"] == kind]


def states(message):
    return {part["toolCallId"]: part["state"] for part in message["parts"] if part["type"].startswith("tool-")}


@each_api
def test_text_and_reasoning(read, model):
    answer = run_and_check(read, answering(say("Hello.", thought="Hm.", model=model), model=model))
    assert [part["text"] for part in parts(answer, "text") + parts(answer, "reasoning")] == ["Hello.", "Hm."]
    assert answer["metadata"]["status"] == "complete"


@each_api
def test_parallel_tools_with_files(read, model):
    calls = [("c1", "draw", "{}"), ("c2", "echo", '{"word": "é\\n"}'), ("c3", "draw", "{}")]
    answer = run_and_check(
        read, answering(say("Look.", *calls, model=model), say("image 1, image 2", model=model), model=model)
    )
    tools = [part for part in answer["parts"] if part["type"].startswith("tool-")]
    assert [part["toolMetadata"]["showandtell"]["files"] for part in tools] == [[1], [], [2]]
    assert [tools[0]["output"]["number"], tools[1]["output"], tools[2]["output"]["number"]] == [1, "you said é\n", 2]
    assert [part["data"]["number"] for part in parts(answer, "data-attachment")] == [1, 2]
    assert len(parts(answer, "file")) == len(parts(answer, "step-start")) == len(parts(answer, "data-receipt")) == 2


def test_a_program_of_ai_gives_a_model_what_the_tool_returned_and_the_addresses_of_files(read):
    chat = answering(say("Look.", ("c1", "draw", "{}"), ("c2", "count", "{}")), say("image 1"))
    run_and_check(read, chat)
    _, made, results, last, _ = read(convert=to_plain(chat.page()))["prompt"]
    (file,) = [part for part in made["content"] if part["type"] == "file"]
    assert file["data"]["url"].startswith("https://chat.test/api/attachments/att_")
    outputs = [part["output"] for part in results["content"]]
    assert outputs[0]["value"]["mediaType"] == "image/png"
    assert outputs[1] == {"type": "json", "value": {"rows": 3, "mean": 1.5}}
    assert last["content"][0]["text"] == "image 1"


@each_image_model
def test_generated_images(read, model):
    chat = ChatRecorder(scripted(made_picture(model, PICTURE), model=model)[0])
    answer = run_and_check(read, chat, "draw")
    assert [part["data"]["origin"]["by"] for part in parts(answer, "data-attachment")] == ["assistant"]


def test_a_file_inside_a_text_is_a_file_and_its_base64_is_not_sent(read):
    data = b64encode(png(40, 40)).decode()
    text = f"Here: ![it](data:image/png;base64,{data}) and more."
    chat = answering(say(text, thought="Hm."))
    sent = asyncio.run(chat.answer("draw"))
    answer = check(read, chat, sent)
    assert data[120:] not in b"".join(sent).decode()
    assert [part["data"]["media_type"] for part in parts(answer, "data-attachment")] == ["image/png"]
    assert "and more." in parts(answer, "text")[-1]["text"]


@each_api
def test_a_stream_that_is_cut_and_one_that_fails(read, model):
    torn = begin("Well,", ("c1", "echo", '{"word": "to'), model=model)
    for stream, status in ((begin("Well,", model=model), "incomplete"), (torn, "incomplete")):
        assert run_and_check(read, answering(stream, model=model))["metadata"]["status"] == status
    start = b"".join(frames("Well,", model=model)[: -STOPS[model].last])
    answer = run_and_check(read, answering(start + FAULT[model], model=model))
    assert (answer["metadata"]["status"], parts(answer, "text")[0]["text"]) == ("error", "Well,")


def test_a_truncated_call_is_an_input_error(read):
    cut = begin("", ("c1", "echo", '{"word": "to'))[
        : -len('event: content_block_stop\ndata: {"type": "x", "index": 0}')
    ]
    answer = run_and_check(read, answering(cut))
    (call,) = parts(answer, "tool-echo")
    assert (call["state"], call["input"][:9]) == ("output-error", '{"word": ')


def test_a_call_cut_off_by_the_limit_is_an_input_error(read):
    answer = run_and_check(read, answering(say("Now.", ("c1", "echo", '{"word": "to'), stop="max_tokens")))
    assert (states(answer), answer["metadata"]["reason"]) == ({"c1": "output-error"}, "length")


@each_api
def test_a_provider_that_fails_before_the_first_text(read, model):
    chat = answering((401, b'{"error": {"type": "x", "message": "no such key"}}'), model=model)
    sent = asyncio.run(chat.answer("hi"))
    answer = check(read, chat, sent)
    assert (answer["parts"], answer["metadata"]["status"]) == ([], "error")
    assert b'"type":"error"' in b"".join(sent)


@each_api
def test_a_refusal(read, model):
    answer = run_and_check(read, answering(say("I can't.", stop=STOPS[model].filtered, model=model), model=model))
    assert answer["metadata"]["status"] == "refused"


def test_a_busy_provider_that_is_retried(read):
    chat = ChatRecorder(make_agent("inspector", exchange=scripted((529, b"{}"), say("Hello."))[0].exchange))
    chat.agent.retry = type(chat.agent.retry)(sleep=lambda _: asyncio.sleep(0), jitter=lambda: 0.0)
    sent = asyncio.run(chat.answer("hi"))
    assert len(parts(check(read, chat, sent), "text")) == 1
    assert b'"type":"data-retry"' in b"".join(sent)


def test_a_file_that_is_left_out_after_the_provider_rejects_it(read):
    refused = (400, b'{"type":"error","error":{"type":"x","message":"messages.0.content.1.image: too odd"}}')
    chat = answering(refused, say("I see nothing."))
    answer = run_and_check(read, chat, "look", files=[File.from_bytes(PICTURE)])
    assert [part["data"]["delivery"] for part in parts(answer, "data-receipt")] == ["noted"]


def test_unknown_tools_bad_arguments_and_tools_that_fail(read):
    calls = [
        ("c1", "nobody", "{}"),
        ("c2", "echo", "{]"),
        ("c3", "echo", "5"),
        ("c4", "fail", ""),
        ("c5", "echo", '{"x":1}'),
    ]
    answer = run_and_check(read, answering(say("", *calls), say("Oh.")))
    assert set(states(answer).values()) == {"output-error"}
    assert parts(answer, "tool-nobody")[0]["errorText"].startswith("there is no tool")


def test_the_last_step_closes_its_calls(read):
    chat = answering(say("", ("c1", "echo", "{}")), say("", ("c2", "echo", "{}")), steps=2)
    answer = run_and_check(read, chat)
    assert (states(answer), answer["metadata"]["reason"]) == ({"c1": "output-available", "c2": "output-error"}, "steps")


@each_api
@pytest.mark.parametrize("kind", [TextDelta, ToolStart, ToolOutput])
def test_a_cancelled_run(read, model, kind):
    calls = [("c1", "draw", "{}"), ("c2", "echo", "{}")]
    chat = answering(say("Look.", *calls, model=model), say("Seen.", model=model), model=model)
    answer = run_and_check(read, chat, stop_at=lambda event: isinstance(event, kind))
    assert answer["metadata"]["reason"] == "cancelled"


@each_api
@pytest.mark.parametrize(("yes", "state"), [(True, "output-available"), (False, "output-denied")])
def test_an_answer_continues_after_an_approval(read, model, yes, state):
    calls = [("c1", "erase", '{"path": "a"}'), ("c2", "echo", "{}")]
    chat = answering(say("Hm.", *calls, model=model), say("Done.", model=model), model=model)
    waits = run_and_check(read, chat, "clean up")
    assert states(waits) == {"c1": "approval-requested", "c2": "output-available"}
    sent = asyncio.run(chat.answer(yes={"c1": yes}))
    whole = check(read, chat, sent)
    assert (states(whole)["c1"], whole["id"]) == (state, waits["id"])
    call = next(part for part in waits["parts"] if part["type"] == "tool-erase")
    call |= {"state": "approval-responded", "approval": {"id": "c1", "approved": yes}}
    assert whole == check(read, chat, [sent[0], *sent[2:]], waits)  # as a page continues that has the message so far


def test_a_call_waits_until_a_new_message_closes_it(read):
    chat = answering(say("Hm.", ("c1", "erase", '{"path": "a"}')), say("As you like."))
    run_and_check(read, chat, "clean up")
    answer = run_and_check(read, chat, "never mind")
    assert [part["text"] for part in parts(answer, "text")] == ["As you like."]
    assert states(to_plain(chat.page())[1]) == {"c1": "output-denied"}


def test_user_files_are_transient_and_part_of_the_user_message(read):
    chat = answering(say("I see it."))
    sent = asyncio.run(chat.answer("see image 1", files=[File.from_bytes(PICTURE, name="a.png")]))
    assert parts(check(read, chat, sent), "data-attachment") == []
    assert b'"transient":true' in b"".join(sent)
    output, _ = to_plain(chat.page())
    assert [part["type"] for part in output["parts"]] == ["text", "data-attachment", "file", "data-reference"]
    assert (output["parts"][2]["filename"], output["parts"][3]["data"]["numbers"]) == ("a.png", [1])


def test_text_for_the_model_alone_is_hidden_and_json_is_shown_as_text():
    chat = answering(say("Yes."))
    drafts = [Draft("user", (Text("psst", audience="model"), Json('{"a": 1}')))]
    chat.conversation.ingest_now(drafts)
    assert [part["text"] for part in chat.page()[0]["parts"]] == ['{"a": 1}']


def test_an_imported_conversation_needs_only_its_messages(read):
    chat = answering(say("Yes."))
    chat.conversation.ingest_now([Draft("assistant", (Text("Welcome."),)), Draft("user", (Text("hi"),))])
    first, second = to_plain(chat.page())
    assert (first["role"], first["parts"]) == (
        "assistant",
        [{"type": "step-start"}, {"type": "text", "text": "Welcome.", "state": "done"}],
    )
    assert (second["role"], read(messages=[first, second])["errors"]) == ("user", [])


def test_two_files_in_two_steps_are_numbered_once_and_shown_again_without_a_copy(read):
    def again(context: RunContext):
        """Show it again."""
        return context.files.show(1)

    agent, _ = scripted(
        say("", ("c1", "draw", "{}")), say("", ("c2", "again", "{}")), say("Seen."), tools=[draw, again]
    )
    answer = run_and_check(read, ChatRecorder(agent))
    assert len(parts(answer, "data-attachment")) == 1
    assert parts(answer, "tool-again")[0]["output"]["number"] == 1


def test_each_message_has_its_alternatives():
    def message(name, parent, role="user", *parts):
        return Message(name, role, parts or (Text(name),), parent_id=parent)

    first, edited = message("msg_1", None), message("msg_2", None)
    answer, other = message("msg_3", "msg_1", "assistant"), message("msg_4", "msg_1", "assistant")
    approval = message("msg_5", "msg_4", "user", Approval("c1", approved=True))
    assert branches([first, answer, edited, other, approval], [first, other, approval]) == {
        "msg_1": {"index": 0, "count": 2, "others": ["msg_2"]},
        "ans_1": {"index": 1, "count": 2, "others": ["msg_3"]},
    }
