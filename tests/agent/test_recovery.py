"""Whatever a provider refuses, cuts or loses: the next message is answered, and no refused request is sent again."""

import asyncio
import json
from contextlib import suppress

import pybase64
from hypothesis import example, given
from hypothesis import strategies as st

from showandtell import File, ShowAndTellError
from showandtell.config.learned_models import learned_models
from support.fixtures import bmp, pdf, png
from support.properties import examples
from support.scripted import MODELS, begin, check_usable, say, scripted
from support.videos import grey

PRIVATE = png(29, 13)
FILES = {
    "image": File.from_bytes(png(9, 8), name="image.png"),
    "converted": File.from_bytes(bmp(10, 8), name="converted.bmp"),
    "document": File.from_bytes(pdf("Hello"), name="document.pdf"),
    "film": File.from_bytes(grey(seconds=1), name="film.mp4"),
    "private": File.from_bytes(PRIVATE, name="private-4711.png", audience="user"),
}
#: Refusals by which files may have to leave the request, and others.
TEXTS = (
    "No endpoints found that support image input",
    "This model does not support documents",
    "Could not process image",
    "image dimensions exceed 100 pixels",
    "the image is broken",
    "messages.2.content.1: image refused",
    "'messages.2.content' : value must be a string",
    "prompt is too long",
    "no",
)
STATUSES = (400, 404, 413, 415, 422, 429, 500, 503)


def show(name: str) -> object:
    """Return a file by its name."""
    return FILES[name]


refusals = st.tuples(st.sampled_from(STATUSES), st.sampled_from(TEXTS))
tool_calls = st.lists(st.sampled_from([*FILES]), min_size=1, max_size=3).map(tuple)
answers = st.lists(refusals | tool_calls | st.sampled_from(["cut", "cut call", "nothing"]), max_size=8)
turns = st.lists(
    st.tuples(st.lists(st.sampled_from([*FILES]), max_size=2), st.none() | st.integers(0, 20)), min_size=1, max_size=3
)


def serialize(answer, at, model):
    """An answer in the API's own bytes."""
    match answer:
        case (int(status), text):
            return status, json.dumps({"error": {"message": text}}).encode()
        case "cut":
            return begin("half of", model=model)
        case "cut call":
            return begin("", (f"cut{at}", "show", '{"name": "image"}'), model=model)
        case "nothing":
            return b""
        case names:
            calls = [(f"c{at}x{index}", "show", json.dumps({"name": name})) for index, name in enumerate(names)]
            return say("", *calls, model=model)


async def play(agent, conversation, files, stop_at):
    """Run a turn, and cancel it after some events."""
    run = agent.run("go on", files=files, conversation=conversation)
    events = 0
    async for _ in run:
        events += 1
        if events == stop_at:
            await run.cancel()
            break


def was_refused(answer):
    """Whether the request must not be sent again. A 500 counts, because these agents have no retries to spend."""
    return isinstance(answer, tuple) and isinstance(answer[0], int) and answer[0] not in {408, 409, 429, 503}


@examples(60)
@given(st.sampled_from(MODELS), answers, turns)
@example(MODELS[0], [(400, "the image is broken")], [(["film"], None)])
@example(MODELS[1], [(413, "no"), (413, "no"), (413, "no")], [(["converted", "image"], None)])
@example(MODELS[2], [("private", "image"), (404, "No endpoints found that support image input")], [([], None)])
def test_after_any_faults_the_next_message_is_answered_and_nothing_refused_is_repeated(model, answers, turns):
    learned_models().forget()
    serialized = [serialize(answer, at, model) for at, answer in enumerate(answers)]
    agent, script = scripted(*serialized, say("Ok.", model=model), model=model, tools=[show])
    conversation = agent.conversation()
    for names, stop_at in turns:
        with suppress(ShowAndTellError):
            asyncio.run(play(agent, conversation, [FILES[name] for name in names], stop_at))
    refused = [body for body, answer in zip(script.bodies, script.answers, strict=False) if was_refused(answer)]
    script.answers = (say("Ok.", model=model),)
    run = agent.run_sync("hello", conversation=conversation)
    assert (run.status, run.text) == ("complete", "Ok.")
    check_usable(conversation, model)
    assert all(script.bodies.count(body) == 1 for body in refused)
    sent = json.dumps(script.bodies)
    assert pybase64.b64encode(PRIVATE).decode() not in sent
    assert "private-4711" not in sent
