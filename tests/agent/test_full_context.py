"""A conversation that is longer than the model's window: a typed error, or its oldest messages are left out."""

import json

import pytest

from showandtell import BadInput, File, RunLimits, builtin_tools
from showandtell.agent.configure import loop_limits
from showandtell.errors import ContextFull
from showandtell.samples import folder
from support.counting_provider import COUNTED, changed_prefixes, counting
from support.fixtures import png
from support.scripted import CLAUDE, check_usable, say

each_api = pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.model.partition(":")[0])
WINDOW = 10_000
#: About 1,250 tokens.
LONG = "word " * 1000


def essay() -> str:
    """Write an essay."""
    return LONG


def talk(counted, turns, **settings):
    """A conversation of long messages, each answered with a call of `essay`, and the script."""
    answers = [
        answer
        for turn in range(turns)
        for answer in (say("", (f"c{turn}", "essay", "{}"), model=counted.api), say("Ok.", model=counted.api))
    ]
    agent, script = counting(counted, *answers, window=WINDOW, tools=[essay], **settings)
    conversation = agent.conversation()
    runs = [agent.run_sync(f"question {turn}: {LONG}", conversation=conversation) for turn in range(turns)]
    return runs, script, conversation


@each_api
def test_by_default_the_run_ends_with_an_error_that_says_what_to_do(counted):
    runs, script, conversation = talk(counted, 6)
    assert [run.status for run in runs[:3]] == ["complete"] * 3
    assert isinstance(runs[-1].error, ContextFull)
    assert 'set RunLimits(on_full="drop_oldest")' in str(runs[-1].error)
    assert script.refused.count(True) == sum(run.status == "error" for run in runs)
    check_usable(conversation, counted.model)


@each_api
def test_the_oldest_turns_are_left_out_of_requests_and_stay_stored(counted):
    runs, script, conversation = talk(counted, 20, on_full="drop_oldest")
    assert {run.status for run in runs} == {"complete"}
    assert len(conversation.messages) == 80
    last = json.dumps(script.raw[-1], ensure_ascii=False)
    assert "question 0:" in last
    assert "question 19:" in last
    assert "question 5:" not in last
    assert "earlier messages are left out here" in last
    assert script.refused.count(True) <= 2
    assert changed_prefixes(script) <= 10


@each_api
def test_in_one_long_turn_the_oldest_steps_are_left_out(counted):
    calls = [say("", (f"c{step}", "essay", "{}"), model=counted.api) for step in range(30)]
    agent, script = counting(
        counted, *calls, say("Done.", model=counted.api), window=WINDOW, tools=[essay], on_full="drop_oldest", steps=31
    )
    run = agent.run_sync("write thirty essays")
    assert (run.status, len(run.messages)) == ("complete", 62)
    assert all("write thirty essays" in json.dumps(messages) for messages in script.raw)
    assert script.refused.count(True) <= 2
    assert changed_prefixes(script) <= 8


@each_api
def test_a_message_that_is_too_long_alone_is_an_error_after_one_request_for_each_form(counted):
    agent, script = counting(counted, say("Ok.", model=counted.api), window=WINDOW, on_full="drop_oldest")
    conversation = agent.conversation()
    agent.run_sync("hello", conversation=conversation)
    run = agent.run_sync("word " * 10_000, conversation=conversation)
    assert isinstance(run.error, ContextFull)
    assert "nothing more can be left out" in str(run.error)
    assert len(script.bodies) <= 3


def test_files_of_messages_that_are_left_out_keep_their_numbers_and_can_be_viewed_again():
    counted = COUNTED[0]
    look = say("", ("look", "view_file", '{"number": 1}'), model=CLAUDE)
    answers = [*[say("Ok.", model=CLAUDE)] * 9, look, say("A square.", model=CLAUDE)]
    agent, _ = counting(counted, *answers, window=WINDOW, tools=builtin_tools(folder()), on_full="drop_oldest")
    conversation = agent.conversation()
    agent.run_sync("hello", conversation=conversation)
    agent.run_sync("keep this", files=[File.from_bytes(png(), name="square.png")], conversation=conversation)
    runs = [agent.run_sync(LONG, conversation=conversation) for _ in range(7)]
    (receipt,) = runs[-1].receipts
    assert (receipt.delivery, receipt.place) == ("listed", None)
    assert "its message is left out" in receipt.reason
    run = agent.run_sync("what was in it?", conversation=conversation)
    assert (run.text, run.receipts[0].delivery) == ("A square.", "native")


def test_an_unknown_way_to_handle_a_full_context_is_an_error():
    with pytest.raises(BadInput, match="on_full is 'forget': give 'error', 'drop_oldest' or 'summarize'"):
        loop_limits({}, RunLimits(on_full="forget"), None)
