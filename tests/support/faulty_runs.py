"""Runs that meet faults."""

import asyncio

from hypothesis import strategies as st

from showandtell import File, Tool, ToolError, tool
from showandtell.core.events.types import Finish
from showandtell.providers.retry import RetryPolicy
from support.fixtures import png
from support.scripted import (
    FAULT,
    STOPS,
    Repeating,
    begins,
    check_usable,
    frames,
    no_time,
    raw,
    say,
    scripted,
    watch,
)

NO = b'{"error": {"message": "no"}}'


def echo(word: str = "nothing") -> str:
    return f"you said {word}"


def draw() -> File:
    return File.from_bytes(png(8, 8), name="drawn.png")


@tool(approval=True)
def erase(path: str) -> str:
    return f"erased {path}"


def failing() -> str:
    raise KeyError("secret")


def telling() -> str:
    raise ToolError("not today")


async def yielding() -> str:
    for _ in range(3):
        await asyncio.sleep(0)
    return "slow"


async def hanging() -> None:
    await asyncio.Event().wait()


def play(agent, conversation, text):
    """One run to its end, with its events."""
    run = agent.run(text, conversation=conversation)
    events = asyncio.run(watch(run))
    assert [event for event in events if isinstance(event, Finish)] == events[-1:]
    return run, events


def play_long(model, count, size=10_000):
    """A run whose answer is an x, followed by `count` pieces."""
    agent, _ = scripted(Repeating("x" * size, count, model), model=model)
    return play(agent, None, "hi")


TWO = [("c1", "note", '{"word": "first"}'), ("c2", "note", '{"word": "second"}')]


def thoughtful(model):
    """Text, reasoning and two calls, frame by frame."""
    return frames("Words.", *TWO, thought="Let me see.", model=model)


def check_cut(model, begun):
    """A run whose first answer ends here runs both calls, or none and says so; it can always go on."""
    ran = []

    def note(word: str) -> str:
        ran.append(word)
        return word

    agent, _ = scripted(begun, say("Done.", model=model), model=model, tools=[note])
    run, _ = play(agent, None, "hi")
    if ran:
        assert (sorted(ran), run.text, run.status) == (
            ["first", "second"],
            "Done.",
            "complete",
        )  # they run side by side
    elif run.status == "error":
        assert "empty response" in run.reason
    else:
        assert (run.status, run.reason) == ("incomplete", "cut")
    check_usable(run.conversation, model)


TOOLS = [echo, draw, failing, telling, yielding, Tool("hanging", "", run=hanging, timeout=0.01), erase]

calls = st.lists(
    st.tuples(
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from(["echo", "draw", "failing", "telling", "yielding", "hanging", "erase", "unknown"]),
        st.sampled_from(["", "{}", '{"word": "a"}', '{"path": "a"}', '{"word": ', "[1]", "NaN"]),
    ),
    max_size=3,
)

#: Reasons to end early, known and unknown.
EARLY = {model: [stops.length, stops.filtered, "unheard_of"] for model, stops in STOPS.items()}


@st.composite
def an_answer(draw, model):
    """Words, thoughts and calls, whole or with one fault."""
    stop = draw(st.sampled_from([None] * 12 + EARLY[model]))
    output, thought = draw(st.sampled_from(["", "Words."])), draw(st.sampled_from(["", "", "Thoughts."]))
    spoken = frames(output, *draw(calls), stop=stop, model=model, thought=thought)
    whole, first = b"".join(spoken), b"".join(spoken[: draw(st.integers(0, len(spoken)))])
    match draw(st.sampled_from(["whole"] * 10 + ["cut", "status", "bad", "torn", "fault", "gone", "reset", "stall"])):
        case "cut":
            return whole[: draw(st.integers(0, len(whole)))]
        case "status":
            return draw(st.sampled_from([400, 413, 429, 500])), NO
        case "bad":
            return first + raw(draw(st.sampled_from([b"{not json}", b"[1]", b"\xff", b"{}", b"null"])), model)
        case "torn":
            at = draw(st.integers(0, len(whole) - 1))
            return whole[:at] + bytes([whole[at] ^ draw(st.integers(1, 255))]) + whole[at + 1 :]
        case "fault":
            return first + FAULT[model]
        case "gone":
            return ConnectionResetError()
        case "reset":
            return begins(first, ConnectionResetError())
        case "stall":
            return begins(first, TimeoutError())
        case _:
            return whole


async def leave_at(agent, conversation, more, index):
    """One run, perhaps left at an event; its events, and its end where it had one."""
    events = []
    run = agent.run(conversation=conversation, **more)
    async for item in run:
        events.append(item)
        if len(events) == index:
            await run.cancel()
    assert [event for event in events if isinstance(event, Finish)] == events[-1:]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return run


def survive(data, model, max_steps):
    """One conversation of up to three runs under random faults, left anywhere, its next request checked each time."""
    answers = data.draw(st.lists(an_answer(model), min_size=1, max_size=5))
    retry = RetryPolicy(data.draw(st.integers(0, 2)), sleep=no_time)
    agent, script = scripted(*answers, model=model, tools=TOOLS, steps=max_steps, retry=retry)
    conversation = agent.conversation()
    more = {"text": "hi", "files": data.draw(st.sampled_from([[], [], [draw()]]))}
    for _ in range(data.draw(st.integers(1, 3))):
        before = len(script.bodies)
        run = asyncio.run(leave_at(agent, conversation, more, data.draw(st.sampled_from([None, None, *range(1, 12)]))))
        # A step whose files are refused is asked for once more.
        assert len(script.bodies) - before <= max_steps * 2 * (1 + retry.tries)
        more = {"text": "go on"}
        if run.status == "waiting":
            asked = [call.call_id for message in conversation.messages for call in message.calls]
            yes = data.draw(st.sampled_from([{}, dict.fromkeys(asked, True), dict.fromkeys(asked, False)]))
            more = data.draw(st.sampled_from([{"approvals": yes}, {"text": "go on"}, {"text": "x", "approvals": yes}]))
        else:
            check_usable(conversation, model)
