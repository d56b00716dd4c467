"""Files that a model makes in its answer: numbered, told, kept, and shown to it again in the next request."""

import asyncio
import base64
import json

from showandtell import File
from showandtell.core.events.types import FileEvent, Finish, StepEnd, StepFinish
from showandtell.inspector.request import TextPart, files_of
from support.fixtures import RED, png, truncated
from support.generated_files import VERTEX, WIRE_OF, draw, each_image_model
from support.scripted import (
    GEMINI,
    RESPONSES,
    STOPS,
    check_usable,
    frames,
    say,
    scripted,
    watch,
)

PICTURE = png(16, 8, RED)


def done(model):
    return say("Done.", model=WIRE_OF[model])


def echo() -> str:
    return "echo"


def go(agent, text="draw", **settings):
    run = agent.run(text, **settings)
    events = asyncio.run(watch(run))
    assert [event for event in events if isinstance(event, Finish)] == events[-1:]
    check_usable(run.conversation, agent.target.name)
    return run, events


def labelled(asked):
    """Every file of a request: who holds it, the label before it, its bytes."""
    return [(turn.role, seen.place, seen.label, seen.data) for turn in asked.turns for seen in files_of(turn)]


@each_image_model
def test_a_picture_of_the_models_own_is_numbered_and_reported(model):
    run, events = go(scripted(draw(model, PICTURE), model=model)[0])
    assert (run.status, run.text) == ("complete", "Here.")
    assert [(file.number, file.read()) for file in run.files] == [(1, PICTURE)]
    received = [event for event in events if isinstance(event, FileEvent)]
    assert [(item.number, item.kind, item.media_type, item.origin) for item in received] == [
        (1, "image", "image/png", "assistant")
    ]
    assert run.conversation.attachments[1].origin.by == "assistant"
    assert b"base64" not in repr(events).encode()


#: Models whose own pictures go back in their answer, not in a message of the user.
IN_ANSWER = {RESPONSES, GEMINI, VERTEX}


@each_image_model
def test_it_is_shown_again_with_a_label(model):
    agent, script = scripted(draw(model, PICTURE), done(model), model=model)
    run, _ = go(agent)
    again, _ = go(agent, "make it blue", conversation=run.conversation)
    ((role, place, label, data),) = labelled(script.asked[1])
    expected = ("assistant", "answer", "native") if model in IN_ANSWER else ("user", "user", "relocated")
    assert (again.text, data) == ("Done.", PICTURE)
    assert (role, place, again.receipts[0].delivery) == expected
    assert label.startswith("⟦image 1: ")
    assert "made by the assistant" in label


@each_image_model
def test_a_picture_beside_a_call_is_numbered_before_the_files_of_the_tool(model):
    def plot() -> File:
        return File.from_bytes(png(4, 4), name="plot.png")

    agent, script = scripted(draw(model, PICTURE, calls=[("c1", "plot", "{}")]), done(model), model=model, tools=[plot])
    run, events = go(agent)
    assert [(file.number, file.read()) for file in run.files] == [(1, PICTURE), (2, png(4, 4))]
    assert [event.origin for event in events if isinstance(event, FileEvent)] == ["assistant", "tool plot (c1)"]
    assert {data for *_, data in labelled(script.asked[1])} == {PICTURE, png(4, 4)}


@each_image_model
def test_several_pictures_keep_their_order(model):
    pictures = [png(4 + at, 4) for at in range(3)]
    run, _ = go(scripted(draw(model, *pictures), model=model)[0])
    assert [(file.number, file.read()) for file in run.files] == [*enumerate(pictures, 1)]


@each_image_model
def test_a_picture_that_was_not_given_keeps_its_number_and_says_why(model):
    agent, script = scripted(draw(model, None), done(model), model=model)
    run, events = go(agent)
    ((number, problem),) = [(event.number, event.problem) for event in events if isinstance(event, FileEvent)]
    assert number == 1
    assert problem
    go(agent, "again", conversation=run.conversation)
    words = [part.text for turn in script.asked[1].turns for part in turn.parts if isinstance(part, TextPart)]
    assert any("was not sent" in text and problem.partition(":")[0] in text for text in words)
    assert labelled(script.asked[1]) == []


@each_image_model
def test_a_torn_picture_is_reported_with_its_problem(model):
    run, events = go(scripted(draw(model, truncated(PICTURE)), model=model)[0])
    assert run.status == "complete"
    assert [bool(event.problem) for event in events if isinstance(event, FileEvent)] == [True]


@each_image_model
def test_a_picture_is_kept_where_the_stream_is_cut_behind_it(model):
    whole = draw(model, PICTURE)
    own = WIRE_OF[model]
    end = b"".join(frames("Here.", model=own)[-STOPS[own].last :])
    run, _ = go(scripted(whole.removesuffix(end), model=model)[0])
    assert (run.status, run.reason, run.text) == ("incomplete", "cut", "Here.")
    assert [file.read() for file in run.files] == [PICTURE]


async def cancel_at(run, kind):
    """A run that is cancelled when its reader sees the first event of a kind; its events."""
    events = []
    async for item in run:
        events.append(item)
        if isinstance(item, kind):
            await run.cancel()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return events


@each_image_model
def test_a_run_that_is_cancelled_while_a_picture_is_stored_keeps_its_words_and_can_go_on(model):
    call = ("c1", "echo", "{}")
    agent, script = scripted(draw(model, PICTURE, calls=[call]), done(model), model=model, tools=[echo])
    run = agent.run("draw")
    # The end of the message is reported while the image is stored, before that is finished.
    events = asyncio.run(cancel_at(run, StepEnd))
    assert (run.status, run.reason, run.text) == ("incomplete", "cancelled", "Here.")
    assert [event.stop for event in events if isinstance(event, StepFinish)] == ["cancelled"]
    assert [(event.number, event.size) for event in events if isinstance(event, FileEvent)] == [(1, 0)]
    check_usable(run.conversation, model)
    assert go(agent, "go on", conversation=run.conversation)[0].text == "Done."
    assert "was not stored before the run ended" in json.dumps(script.bodies[1])


@each_image_model
def test_a_run_with_a_picture_can_be_left_at_any_event(model):
    index, finished = 0, False
    while not finished:
        index += 1
        agent, _ = scripted(draw(model, PICTURE), done(model), model=model)
        run = agent.run("draw")
        finished = asyncio.run(leave_at(run, index))
        check_usable(run.conversation, model)
        assert agent.run_sync("go on", conversation=run.conversation).text == (
            "Here." if not run.messages[1:] else "Done."
        )
    assert index > 5


async def leave_at(run, index):
    """Read `count` events and leave; whether there were fewer."""
    stream = aiter(run)
    events = [await anext(stream, None) for _ in range(index)]
    await stream.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return None in events


def test_a_picture_that_a_model_writes_out_among_its_words_is_a_file_and_no_text_in_the_records():
    written = f"Look: data:image/png;base64,{base64.b64encode(png()).decode()} nice?"
    agent, _ = scripted(say(written))
    run = agent.run_sync("draw")
    assert [file.read() for file in run.files] == [png()]
    assert "iVBOR" not in run.text
