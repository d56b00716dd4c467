"""Random faults of provider, tools and reader, one on top of the other: the history stays valid, every run has one end."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import png
from scripted import CLAUDE, FAULT, GPT, MODELS, check_usable, say, scripted
from showandtell import File, Tool, ToolError, tool
from showandtell.events.types import Finish


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


async def hanging() -> str:
    await asyncio.Event().wait()


TOOLS = [echo, draw, failing, telling, yielding, Tool("hanging", "", run=hanging, timeout=0.01), erase]
calls = st.lists(
    st.tuples(
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from(["echo", "draw", "failing", "telling", "yielding", "hanging", "erase", "unknown"]),
        st.sampled_from(["", "{}", '{"word": "a"}', '{"path": "a"}', '{"word": ', "[1]", "NaN"]),
    ),
    max_size=3,
)
EARLY = {CLAUDE: ["max_tokens", "refusal", "pause_turn", "unheard"], GPT: ["length", "content_filter", "error", "odd"]}


@st.composite
def an_answer(draw, model):
    """Words and calls, whole or with one fault."""
    stop = draw(st.sampled_from([None] * 12 + EARLY[model]))
    whole = say(draw(st.sampled_from(["", "Words."])), *draw(calls), stop=stop, model=model)
    match draw(st.sampled_from(["whole"] * 10 + ["cut", "status", "bad", "fault", "gone"])):
        case "cut":
            return whole[: draw(st.integers(0, len(whole)))]
        case "status":
            return draw(st.sampled_from([400, 413, 429, 500])), b'{"error": {"message": "no"}}'
        case "bad":
            return whole.replace(b"{", b"\xff", 1) if draw(st.booleans()) else whole[:60] + b"\n\ndata: {\n\n"
        case "fault":
            return whole[: draw(st.integers(0, len(whole)))].rpartition(b"\n\n")[0] + b"\n\n" + FAULT[model]
        case "gone":
            return ConnectionResetError()
        case _:
            return whole


async def play(agent, conversation, more, leave_at):
    """One run, perhaps left at an event; its events, and its end where it had one."""
    events = []
    run = agent.run(conversation=conversation, **more)
    async for event in run:
        events.append(event)
        if len(events) == leave_at:
            await run.cancel()
    assert [one for one in events if isinstance(one, Finish)] == events[-1:]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return run


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(MODELS), st.integers(1, 4))
def test_after_any_faults_the_history_is_valid_and_the_run_has_one_end(data, model, most):
    answers = data.draw(st.lists(an_answer(model), min_size=1, max_size=5))
    agent, script = scripted(*answers, model=model, tools=TOOLS, max_steps=most)
    conversation = agent.conversation()
    more = {"text": "hi"}
    for _ in range(data.draw(st.integers(1, 3))):
        before = len(script.bodies)
        leave_at = data.draw(st.sampled_from([None, None, *range(1, 12)]))
        run = asyncio.run(play(agent, conversation, more, leave_at))
        assert len(script.bodies) - before <= most
        more = {"text": "go on"}
        if run.status == "waiting":
            asked = [call.call_id for message in conversation.messages for call in message.calls]
            yes = data.draw(st.sampled_from([{}, dict.fromkeys(asked, True), dict.fromkeys(asked, False)]))
            more = data.draw(st.sampled_from([{"approvals": yes}, {"text": "go on"}, {"text": "x", "approvals": yes}]))
        else:
            check_usable(conversation)
