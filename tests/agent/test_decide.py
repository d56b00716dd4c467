"""What comes next, from stored messages alone: every branch as a row, and random histories played to their end."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.agent.decide import (
    EARLY_STOPS,
    LIMIT,
    UNKNOWN,
    AskModel,
    CheckAnswer,
    Close,
    Done,
    LoopLimits,
    RunTools,
    Wait,
    decide,
)
from showandtell.core.messages.message import Message, Stop
from showandtell.core.messages.parts import Approval, Correction, Text, ToolCall
from support.builders import assistant, result, user, view
from support.scripted import check_pairs

CARE = LoopLimits(3, frozenset({"get"}))


def model_message(*calls, text="", stop="end", named="a1"):
    one = assistant(*calls, text=text, named=named)
    return Message(one.id, "assistant", one.parts, stop="tool_calls" if calls and stop == "end" else stop)


def answer(**approved):
    return Message("ok", "user", tuple(Approval(call_id, yes, "no thanks") for call_id, yes in approved.items()))


def call(call_id):
    return ToolCall(call_id, "get", "{}")


CHECKED = LoopLimits(checks_answer=True)
BY_TOOL = LoopLimits(checks_answer=True, answer_tool="get", output_retries=1)
WRONG = Message("w1", "user", (Correction("wrong"),))

NEXT = {
    "a typed answer is checked": (
        [user("hi"), model_message(text="{}")],
        CHECKED,
        CheckAnswer("{}", may_retry=True),
    ),
    "a corrected answer is asked for again": (
        [user("hi"), model_message(text="{}"), WRONG],
        CHECKED,
        AskModel(2, forbid_tools=False),
    ),
    "the answer by a tool is checked even in the last step": (
        [user("hi"), model_message("c1")],
        replace(BY_TOOL, max_steps=1),
        RunTools((call("c1"),)),
    ),
    "a valid answer by a tool ends the run": (
        [user("hi"), model_message("c1"), result("c1", "x")],
        BY_TOOL,
        CheckAnswer("{}", "c1"),
    ),
    "after words only the answer's tool may be called": (
        [user("hi"), model_message(text="words"), WRONG],
        BY_TOOL,
        AskModel(2, forbid_tools=True),
    ),
    "answers in words and by the tool count together": (
        [
            user("hi"),
            model_message(text="words"),
            WRONG,
            model_message("c1", named="a2"),
            result("c1", "x", is_error=True),
        ],
        BY_TOOL,
        Done("incomplete", "output"),
    ),
    "corrections of an older message don't count": (
        [user("old", named="u0"), model_message(text="a", named="a0"), WRONG, user("hi"), model_message(text="{}")],
        replace(CHECKED, output_retries=1),
        CheckAnswer("{}", may_retry=True),
    ),
    "a new message asks the model": ([user("hi")], LoopLimits(), AskModel(1, forbid_tools=False)),
    "the only step forbids tools": ([user("hi")], LoopLimits(1), AskModel(1, forbid_tools=True)),
    "an answer ends the run": ([user("hi"), model_message(text="hello")], LoopLimits(), Done("complete")),
    "an empty answer is incomplete": ([user("hi"), model_message()], LoopLimits(), Done("incomplete", "empty")),
    "a paused answer goes on": (
        [user("hi"), model_message(text="half an", stop="pause")],
        LoopLimits(),
        AskModel(2, forbid_tools=False),
    ),
    "a paused answer without content is incomplete": (
        [user("hi"), model_message(stop="pause")],
        LoopLimits(),
        Done("incomplete", "empty"),
    ),
    "pauses count as steps": (
        [user("hi"), *(model_message(text="more", stop="pause", named=f"a{at}") for at in range(3))],
        LoopLimits(3),
        Done("incomplete", "steps"),
    ),
    "calls of a paused answer run": (
        [user("hi"), model_message("c1", text="half an", stop="pause")],
        LoopLimits(),
        RunTools((call("c1"),)),
    ),
    "open calls run": ([user("hi"), model_message("c1", "c2")], LoopLimits(), RunTools((call("c1"), call("c2")))),
    "after a crash only calls without a result run": (
        [user("hi"), model_message("c1", "c2"), result("c2", "x")],
        LoopLimits(),
        RunTools((call("c1"),)),
    ),
    "results go back to the model": (
        [user("hi"), model_message("c1"), result("c1", "x")],
        LoopLimits(),
        AskModel(2, forbid_tools=False),
    ),
    "the last step forbids tools": (
        [user("hi"), model_message("c1"), result("c1", "x")],
        LoopLimits(2),
        AskModel(2, forbid_tools=True),
    ),
    "calls of the last step are closed": (
        [user("hi"), model_message("c1")],
        LoopLimits(1),
        Close((call("c1"),), LIMIT),
    ),
    "after the last step the run is over": (
        [user("hi"), model_message("c1"), result("c1", "x")],
        LoopLimits(1),
        Done("incomplete", "steps"),
    ),
    "a call may need a yes": ([user("hi"), model_message("c1")], CARE, Wait((call("c1"),))),
    "a yes runs it": ([user("hi"), model_message("c1"), answer(c1=True)], CARE, RunTools((call("c1"),))),
    "a no denies it": (
        [user("hi"), model_message("c1"), answer(c1=False)],
        CARE,
        RunTools((), ((call("c1"), "no thanks"),)),
    ),
    "what has its answer doesn't wait for the others": (
        [user("hi"), model_message("c1", "c2", "c3"), answer(c2=True, c3=False)],
        CARE,
        RunTools((call("c2"),), ((call("c3"), "no thanks"),)),
    ),
    "the others wait on": (
        [user("hi"), model_message("c1", "c2"), answer(c2=True), result("c2", "x")],
        CARE,
        Wait((call("c1"),)),
    ),
    "an answer to an old message doesn't count": (
        [answer(c1=True), user("hi"), model_message("c1")],
        CARE,
        Wait((call("c1"),)),
    ),
    "steps of older messages don't count": (
        [
            user("old", named="u0"),
            model_message("c0"),
            result("c0", "x"),
            model_message(text="done", named="a0"),
            user("hi"),
        ],
        LoopLimits(2),
        AskModel(1, forbid_tools=False),
    ),
}


@pytest.mark.parametrize(("messages", "limits", "expected"), NEXT.values(), ids=NEXT)
def test_the_next_thing_follows_from_the_messages(messages, limits, expected):
    assert decide(view(*messages, files=[]), limits) == expected


@pytest.mark.parametrize("stop", EARLY_STOPS)
def test_a_message_that_ended_early_closes_its_calls_and_ends_the_run(stop):
    status, why = EARLY_STOPS[stop]
    begun = [user("hi"), model_message("c1", "c2", text="half a", stop=stop), result("c1", "x")]
    assert decide(view(*begun, files=[]), CARE) == Close((call("c2"),), why)
    assert decide(view(*begun, result("c2", why), files=[]), CARE) == Done(status, stop)


def test_every_way_to_stop_is_an_end_a_call_a_pause_or_early():
    assert set(get_args(Stop)) == {"end", "tool_calls", "pause", *EARLY_STOPS}


def test_a_call_without_approval_runs_beside_one_that_waits():
    free = ToolCall("c2", "look", "{}")
    message = Message("a1", "assistant", (call("c1"), free), stop="tool_calls")
    assert decide(view(user("hi"), message, files=[]), CARE) == RunTools((free,))


answers = st.tuples(
    st.integers(0, 3),
    st.sampled_from(["", "words"]),
    st.sampled_from(["end", "tool_calls", "pause", *sorted(EARLY_STOPS)]),
)


def speak(number, answer):
    count, text, stop = answer
    calls = [ToolCall(f"c{number}_{at}", ["get", "look"][at % 2], "{}") for at in range(count)]
    return Message(f"a{number}", "assistant", (*([Text(text)] if text else []), *calls), stop=stop)


def play(script, limits, yes):
    """Do what `decide` says, with a model that answers from a script and tools that always answer; count the asks."""
    messages, asked = [user("hi")], 0
    for number in range(100):
        step = decide(view(*messages, files=[]), limits)
        match step:
            case AskModel():
                check_pairs(messages)
                messages.append(speak(asked, script[asked % len(script)]))
                asked += 1
                assert step == AskModel(asked, forbid_tools=asked >= limits.max_steps)
            case RunTools(calls, denied):
                assert calls or denied
                messages += [result(one.call_id, "x") for one in (*calls, *(item for item, _ in denied))]
            case Close(calls, _):
                messages += [result(item.call_id, "closed", is_error=True) for item in calls]
            case Wait(calls):
                messages.append(answer(**{item.call_id: (number + at) in yes for at, item in enumerate(calls)}))
            case Done():
                return messages, asked
    raise AssertionError("the run has no end")


def test_a_call_that_began_and_never_ended_is_not_run_again():
    seen = replace(view(user("hi"), model_message("c1", "c2"), files=[]), started=frozenset({"c1"}))
    assert decide(seen, LoopLimits()) == Close((call("c1"),), UNKNOWN)
    assert decide(seen, LoopLimits(idempotent=frozenset({"get"}))) == RunTools((call("c1"), call("c2")))


@given(st.lists(answers, min_size=1, max_size=6), st.integers(1, 5), st.booleans(), st.sets(st.integers(0, 20)))
def test_any_run_ends_with_every_call_answered_and_no_more_asks_than_steps(script, max_steps, asking, yes):
    limits = LoopLimits(max_steps, frozenset({"get"}) if asking else frozenset())
    messages, asked = play(script, limits, yes)
    assert asked <= max_steps
    check_pairs(messages)


def play_checked(script, limits, verdicts):
    """As `play`, with answers of the tool "get" or in words that are valid as `verdicts` say, by turns."""
    messages, asked, checks = [user("hi")], 0, 0
    for _ in range(100):
        match decide(view(*messages, files=[]), limits):
            case AskModel():
                check_pairs(messages)
                messages.append(speak(asked, script[asked % len(script)]))
                asked += 1
            case RunTools(calls):
                for one in calls:
                    is_wrong = one.tool == limits.answer_tool and not verdicts[checks % len(verdicts)]
                    checks += one.tool == limits.answer_tool
                    messages.append(result(one.call_id, "x", is_error=is_wrong, tool=one.tool))
            case Close(calls, _):
                messages += [result(one.call_id, "closed", is_error=True, tool=one.tool) for one in calls]
            case CheckAnswer(call_id=None, may_retry=True) if not verdicts[checks % len(verdicts)]:
                checks += 1
                messages.append(Message(f"w{checks}", "user", (Correction("wrong"),)))
            case CheckAnswer() | Done():
                return messages, asked
    raise AssertionError("the run has no end")


@given(
    st.lists(answers, min_size=1, max_size=6),
    st.integers(1, 5),
    st.integers(0, 3),
    st.lists(st.booleans(), min_size=1, max_size=4),
    st.sampled_from([None, "get"]),
)
def test_any_run_with_checked_answers_ends_with_few_corrections(script, max_steps, retries, verdicts, answer_tool):
    limits = LoopLimits(max_steps, checks_answer=True, answer_tool=answer_tool, output_retries=retries)
    messages, asked = play_checked(script, limits, verdicts)
    check_pairs(messages)
    assert asked <= max_steps
    corrections = [message for message in messages if any(isinstance(part, Correction) for part in message.parts)]
    assert len(corrections) <= retries
