"""What npm's `ai` makes of an answer's stream is what a page is given of the stored messages, for every kind of run."""

import asyncio
import json
from base64 import b64encode

import pytest

from showandtell import File, RunContext, tool
from showandtell.core.events.types import TextDelta, ToolOutput, ToolStart
from showandtell.core.messages.messages import Draft, Message
from showandtell.core.messages.parts import Approval, Json, Text
from showandtell.core.ui_stream.messages import branches
from support.agents import make_agent
from support.answers import Answering
from support.fixtures import png
from support.made_files import draw as made_picture
from support.made_files import each_maker
from support.nodejs import reading
from support.scripted import (
    CLAUDE,
    FAULT,
    MODELS,
    STOPS,
    begin,
    check_usable,
    frames,
    say,
    scripted,
)

PICTURE = png(16, 8)
each_api = pytest.mark.parametrize("model", MODELS)


@pytest.fixture(scope="module")
def read():
    with reading() as read:
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
    return Answering(scripted(*answers, model=model, tools=TOOLS, **settings)[0])


def plain(value):
    return json.loads(json.dumps(value))


def check(read, asked, sent, message=None):
    """The client complains of nothing, and has made what the page is given; gives that message."""
    got = read(sse=b"".join(sent).decode(), message=message)
    assert [one for one in got["errors"] if not one.startswith("Error: ")] == []
    page = plain(asked.page())
    assert got["message"] == page[-1]
    assert read(messages=page)["errors"] == []
    if not asked.waiting:
        check_usable(asked.conversation)
    return got["message"]


def go(read, asked, text="hi", **settings):
    return check(read, asked, asyncio.run(asked.answer(text, **settings)))


def parts(message, kind):
    return [part for part in message["parts"] if part["type"] == kind]


def states(message):
    return {part["toolCallId"]: part["state"] for part in message["parts"] if part["type"].startswith("tool-")}


@each_api
def test_words_and_thoughts(read, model):
    found = go(read, answering(say("Hello.", thought="Hm.", model=model), model=model))
    assert [part["text"] for part in parts(found, "text") + parts(found, "reasoning")] == ["Hello.", "Hm."]
    assert found["metadata"]["status"] == "complete"


@each_api
def test_tools_side_by_side_with_what_they_show(read, model):
    calls = [("c1", "draw", "{}"), ("c2", "echo", '{"word": "é\\n"}'), ("c3", "draw", "{}")]
    found = go(read, answering(say("Look.", *calls, model=model), say("image 1, image 2", model=model), model=model))
    outputs = [part["output"] for part in found["parts"] if part["type"].startswith("tool-")]
    assert [output["files"] for output in outputs] == [[1], [], [2]]
    assert [part["data"]["number"] for part in parts(found, "data-attachment")] == [1, 2]
    assert len(parts(found, "file")) == len(parts(found, "step-start")) == len(parts(found, "data-receipt")) == 2


@each_maker
def test_pictures_of_the_models_own(read, model):
    asked = Answering(scripted(made_picture(model, PICTURE), model=model)[0])
    found = go(read, asked, "draw")
    assert [part["data"]["origin"]["by"] for part in parts(found, "data-attachment")] == ["assistant"]


def test_a_file_among_words_is_a_file_and_its_base64_stays_here(read):
    data = b64encode(png(40, 40)).decode()
    text = f"Here: ![it](data:image/png;base64,{data}) and more."
    asked = answering(say(text, thought="Hm."))
    sent = asyncio.run(asked.answer("draw"))
    found = check(read, asked, sent)
    assert data[120:] not in b"".join(sent).decode()
    assert [part["data"]["media_type"] for part in parts(found, "data-attachment")] == ["image/png"]
    assert "and more." in parts(found, "text")[-1]["text"]


@each_api
def test_a_stream_that_breaks_off_and_one_that_fails(read, model):
    torn = begin("Well,", ("c1", "echo", '{"word": "to'), model=model)
    for stream, status in ((begin("Well,", model=model), "incomplete"), (torn, "incomplete")):
        assert go(read, answering(stream, model=model))["metadata"]["status"] == status
    start = b"".join(frames("Well,", model=model)[: -STOPS[model].last])
    found = go(read, answering(start + FAULT[model], model=model))
    assert (found["metadata"]["status"], parts(found, "text")[0]["text"]) == ("error", "Well,")


def test_a_call_that_was_cut_is_told_as_such(read):
    cut = begin("", ("c1", "echo", '{"word": "to'))[
        : -len('event: content_block_stop\ndata: {"type": "x", "index": 0}')
    ]
    found = go(read, answering(cut))
    (call,) = parts(found, "tool-echo")
    assert (call["state"], call["input"][:9]) == ("output-error", '{"word": ')


def test_a_call_that_the_limit_ended_is_told_as_such(read):
    found = go(read, answering(say("Now.", ("c1", "echo", '{"word": "to'), stop="max_tokens")))
    assert (states(found), found["metadata"]["reason"]) == ({"c1": "output-error"}, "length")


@each_api
def test_a_provider_that_fails_before_the_first_word(read, model):
    asked = answering((401, b'{"error": {"type": "x", "message": "no such key"}}'), model=model)
    sent = asyncio.run(asked.answer("hi"))
    found = check(read, asked, sent)
    assert (found["parts"], found["metadata"]["status"]) == ([], "error")
    assert b'"type":"error"' in b"".join(sent)


@each_api
def test_a_refusal(read, model):
    found = go(read, answering(say("I can't.", stop=STOPS[model].filtered, model=model), model=model))
    assert found["metadata"]["status"] == "refused"


def test_a_busy_provider_that_is_asked_again(read):
    asked = Answering(make_agent("inspector", exchange=scripted((529, b"{}"), say("Hello."))[0].exchange))
    asked.agent.retry = type(asked.agent.retry)(sleep=lambda _: asyncio.sleep(0), jitter=lambda: 0.0)
    sent = asyncio.run(asked.answer("hi"))
    assert len(parts(check(read, asked, sent), "text")) == 1
    assert b'"type":"data-retry"' in b"".join(sent)


def test_a_file_that_is_left_out_when_the_provider_refuses_it(read):
    refused = (400, b'{"type":"error","error":{"type":"x","message":"messages.0.content.1.image: too odd"}}')
    asked = answering(refused, say("I see nothing."))
    found = go(read, asked, "look", files=[File.from_bytes(PICTURE)])
    assert [part["data"]["delivery"] for part in parts(found, "data-receipt")] == ["noted"]


def test_unknown_tools_bad_arguments_and_tools_that_fail(read):
    calls = [
        ("c1", "nobody", "{}"),
        ("c2", "echo", "{]"),
        ("c3", "echo", "5"),
        ("c4", "fail", ""),
        ("c5", "echo", '{"x":1}'),
    ]
    found = go(read, answering(say("", *calls), say("Oh.")))
    assert set(states(found).values()) == {"output-error"}
    assert parts(found, "tool-nobody")[0]["errorText"].startswith("there is no tool")


def test_the_last_step_closes_its_calls(read):
    asked = answering(say("", ("c1", "echo", "{}")), say("", ("c2", "echo", "{}")), steps=2)
    found = go(read, asked)
    assert (states(found), found["metadata"]["reason"]) == ({"c1": "output-available", "c2": "output-error"}, "steps")


@each_api
@pytest.mark.parametrize("kind", [TextDelta, ToolStart, ToolOutput])
def test_a_run_that_is_stopped(read, model, kind):
    calls = [("c1", "draw", "{}"), ("c2", "echo", "{}")]
    asked = answering(say("Look.", *calls, model=model), say("Seen.", model=model), model=model)
    found = go(read, asked, stop_at=lambda event: isinstance(event, kind))
    assert found["metadata"]["reason"] == "cancelled"


@each_api
@pytest.mark.parametrize(("yes", "state"), [(True, "output-available"), (False, "output-denied")])
def test_an_answer_goes_on_after_a_person_has_answered(read, model, yes, state):
    calls = [("c1", "erase", '{"path": "a"}'), ("c2", "echo", "{}")]
    asked = answering(say("Hm.", *calls, model=model), say("Done.", model=model), model=model)
    waits = go(read, asked, "clean up")
    assert states(waits) == {"c1": "approval-requested", "c2": "output-available"}
    sent = asyncio.run(asked.answer(yes={"c1": yes}))
    whole = check(read, asked, sent)
    assert (states(whole)["c1"], whole["id"]) == (state, waits["id"])
    call = next(part for part in waits["parts"] if part["type"] == "tool-erase")
    call |= {"state": "approval-responded", "approval": {"id": "c1", "approved": yes}}
    assert whole == check(read, asked, [sent[0], *sent[2:]], waits)  # as the page reads on that had it so far


def test_without_an_answer_of_his_the_call_waits_on_and_more_words_close_it(read):
    asked = answering(say("Hm.", ("c1", "erase", '{"path": "a"}')), say("As you like."))
    go(read, asked, "clean up")
    found = go(read, asked, "never mind")
    assert [part["text"] for part in parts(found, "text")] == ["As you like."]
    assert states(plain(asked.page())[1]) == {"c1": "output-error"}


def test_what_the_user_brings_is_told_to_watchers_and_stands_in_his_own_message(read):
    asked = answering(say("I see it."))
    sent = asyncio.run(asked.answer("see image 1", files=[File.from_bytes(PICTURE, name="a.png")]))
    assert parts(check(read, asked, sent), "data-attachment") == []
    assert b'"transient":true' in b"".join(sent)
    said, _ = plain(asked.page())
    assert [part["type"] for part in said["parts"]] == ["text", "data-attachment", "file", "data-reference"]
    assert (said["parts"][2]["filename"], said["parts"][3]["data"]["numbers"]) == ("a.png", [1])


def test_a_page_shows_no_words_that_are_for_the_model_alone_and_json_as_text():
    asked = answering(say("Yes."))
    drafts = [Draft("user", (Text("psst", audience="model"), Json('{"a": 1}')))]
    asked.conversation.ingest_now(drafts)
    assert [part["text"] for part in asked.page()[0]["parts"]] == ['{"a": 1}']


def test_a_conversation_from_elsewhere_needs_nothing_beside_its_messages(read):
    asked = answering(say("Yes."))
    asked.conversation.ingest_now([Draft("assistant", (Text("Welcome."),)), Draft("user", (Text("hi"),))])
    first, second = plain(asked.page())
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
    found = go(read, Answering(agent))
    assert len(parts(found, "data-attachment")) == 1
    assert parts(found, "tool-again")[0]["output"]["files"] == [1]


def test_branches_are_counted_beside_each_message():
    def message(name, parent, role="user", *parts):
        return Message(name, role, parts or (Text(name),), parent_id=parent)

    first, edited = message("msg_1", None), message("msg_2", None)
    answer, other = message("msg_3", "msg_1", "assistant"), message("msg_4", "msg_1", "assistant")
    approval = message("msg_5", "msg_4", "user", Approval("c1", approved=True))
    found = branches([first, answer, edited, other, approval], [first, other, approval])
    assert found == {
        "msg_1": {"index": 0, "count": 2, "others": ["msg_2"]},
        "ans_1": {"index": 1, "count": 2, "others": ["msg_3"]},
    }
