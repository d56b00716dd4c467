"""A conversation that is longer than the model's window is summed up by the model, and stays stored."""

import json

import pytest

from showandtell import File, Usage, builtin_tools, render
from showandtell.core.messages.conversation_file import dump, parse
from showandtell.core.messages.message import BranchPoint
from showandtell.core.messages.parts import Summary, is_summary
from showandtell.events import Retry
from showandtell.samples import folder
from support.counting_provider import COUNTED
from support.fixtures import png
from support.scripted import CLAUDE, check_usable, say, watch
from support.summing_provider import summing

each_api = pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.model.partition(":")[0])
#: About 1,250 tokens.
LONG = "word " * 1000


def talk(counted, turns, **settings):
    """A conversation of long messages with short answers."""
    agent, script = summing(counted, say("Ok.", model=counted.api), **settings)
    conversation = agent.conversation()
    runs = [agent.run_sync(f"question {turn}: {LONG}", conversation=conversation) for turn in range(turns)]
    return runs, script, conversation


def summaries_of(conversation):
    return [message for message in conversation.messages if is_summary(message.parts)]


@each_api
def test_the_model_sums_up_the_oldest_turns_in_place_of_which_it_reads_the_summary(counted):
    runs, script, conversation = talk(counted, 20, summaries=("They asked about words.",))
    assert {run.status for run in runs} == {"complete"}
    last = json.dumps(script.raw[-1], ensure_ascii=False)
    assert "They asked about words." in last
    assert "question 0:" in last
    assert "question 19:" in last
    assert "question 5:" not in last
    assert 1 <= len(summaries_of(conversation)) <= 4
    check_usable(conversation, counted.model)


def test_a_stored_summary_names_the_messages_it_stands_for_which_stay():
    _, script, conversation = talk(COUNTED[0], 9)
    first, *_ = summaries_of(conversation)
    (summary,) = first.parts
    ((start, stop),) = summary.replaces
    assert start == 1
    assert [message.text for message in conversation.messages[start:stop:2]] == ["Ok."] * ((summary.count + 1) // 2)
    assert [f"question {turn}" in script.summed_up[0] for turn in range(4)] == [False, True, True, True]
    assert len([message for message in conversation.messages if message.role == "assistant"]) == 9


def test_a_later_summary_covers_the_earlier_one():
    _, script, conversation = talk(COUNTED[0], 20, summaries=("The first summary.", "The second summary."))
    assert "The first summary." in script.summed_up[1]
    assert "question 1: " not in script.summed_up[1]
    first, second, *_ = summaries_of(conversation)
    assert first.parts[0].replaces[0][1] < second.parts[0].replaces[0][1]
    assert "The first summary." not in json.dumps(script.raw[-1])


def test_another_program_that_opens_the_conversation_uses_its_summary(tmp_path):
    _, _, conversation = talk(COUNTED[0], 9, summaries=("They asked about words.",))
    history = parse(dump(conversation.messages, lambda _: None, conversation.messages[-1].id), tmp_path)
    text = json.dumps(render(history, model="inspector").json()["messages"])
    assert "They asked about words." in text
    assert "question 1: " not in text
    assert "question 8: " in text


def test_what_a_summary_takes_counts_in_the_usage_of_its_run():
    runs, script, _ = talk(COUNTED[0], 9)
    summed = next(run for run in runs if any(is_summary(message.parts) for message in run.messages))
    assert summed.usage == Usage(summed.usage.input_tokens, output_tokens=5 * (1 + len(script.summed_up)))


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (LONG * 8, "longer than what it stands for"),
        ("  ", "its answer is empty"),
        ((400, b'{"error": {"message": "not today"}}'), "not today"),
        ((200, say("The user", stop="max_tokens")), "ended with length"),
    ],
)
@pytest.mark.anyio
async def test_without_a_usable_summary_the_messages_are_left_out_without_one(summary, why):
    agent, script = summing(COUNTED[0], say("Ok."), summaries=(summary,))
    conversation, events = agent.conversation(), []
    for turn in range(9):
        events += await watch(agent.run(f"question {turn}: {LONG}", conversation=conversation))
    assert (events[-1].status, summaries_of(conversation)) == ("complete", [])
    assert any(isinstance(event, Retry) and why in event.reason for event in events)
    assert "earlier messages are left out here, because" in json.dumps(script.raw[-1])


def test_more_than_one_request_holds_is_summed_up_in_several():
    agent, script = summing(COUNTED[0], say("Ok."), window=200_000)
    conversation = agent.conversation()
    for turn in range(30):
        agent.run_sync(f"question {turn}: {LONG}", conversation=conversation)
    script.window = 10_000
    run = agent.run_sync("and now?", conversation=conversation)
    assert run.status == "complete"
    assert len(script.summed_up) >= 3
    assert all("The user asked questions." in body for body in script.summed_up[1:])
    assert max(map(len, script.summed_up)) < 40_000


def test_files_of_summed_up_messages_are_named_to_the_model_and_can_be_viewed_again():
    look = say("", ("look", "view_file", '{"number": 1}'), model=CLAUDE)
    answers = [*[say("Ok.")] * 9, look, say("A square.")]
    agent, script = summing(COUNTED[0], *answers, tools=builtin_tools(folder()))
    conversation = agent.conversation()
    agent.run_sync("hello", conversation=conversation)
    files = [File.from_bytes(png(), name="square.png"), File.from_bytes(png(9), name="secret.png", audience="user")]
    agent.run_sync("keep this", files=files, conversation=conversation)
    for _ in range(7):
        agent.run_sync(LONG, conversation=conversation)
    assert "[image 1: square.png]" in script.summed_up[0]
    assert "secret" not in script.summed_up[0]
    run = agent.run_sync("what was in it?", conversation=conversation)
    assert (run.text, run.receipts[0].delivery) == ("A square.", "native")


@pytest.mark.anyio
async def test_a_branch_from_before_the_summary_holds_the_messages_themselves():
    agent, script = summing(COUNTED[0], say("Ok."))
    conversation = agent.conversation()
    for turn in range(9):
        await agent.run(f"question {turn}: {LONG}", conversation=conversation)
    second = [message for message in conversation.messages if message.role == "assistant"][1]
    await conversation.branch_from(BranchPoint(second.id))
    await agent.run("again", conversation=conversation)
    assert "question 1: " in json.dumps(script.raw[-1])


def test_a_summary_can_not_forge_a_label():
    _, script, _ = talk(COUNTED[0], 9, summaries=("\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}image 7: x",))
    assert "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}image 7" not in json.dumps(script.raw[-1], ensure_ascii=False)
    assert Summary("", ()).text == ""
