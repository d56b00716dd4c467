"""What an agent takes, what it says of settings that it can't follow, and how a run is awaited."""

import asyncio
import inspect
import re

import pytest

import showandtell
from showandtell import (
    Agent,
    BadInput,
    Connection,
    Draft,
    File,
    FilePolicy,
    RunLimits,
    UnsupportedFile,
    explain,
)
from showandtell.testing import FakeConnection
from support.compound import compound
from support.docx import word_file
from support.fixtures import png
from support.scripted import CLAUDE, Script, say, scripted

WORDS = File.from_bytes(word_file("Parcel 4711"), name="letter.docx")


def test_a_run_is_awaited_for_its_result_and_iterated_for_its_events():
    agent, _ = scripted(say("Hello."), say("Again."))

    async def both():
        run = await agent.run("hi")
        return run, [event async for event in agent.run("hi")]

    run, events = asyncio.run(both())
    assert (run.status, run.text) == ("complete", "Hello.")
    assert events[-1].status == "complete"


def test_what_the_caller_can_mend_is_raised_by_await():
    agent, _ = scripted(say("Hello."), on_unsupported="convert")
    with pytest.raises(UnsupportedFile):
        asyncio.run(finish(agent, [File.from_bytes(compound("WordDocument", b""), name="a.doc")]))


async def finish(agent, files):
    return await agent.run("look", files=files)


@pytest.mark.parametrize(
    ("on_unsupported", "delivery"),
    [
        ("convert", ["converted"]),
        ("note", ["noted"]),
        ({"document": "note"}, ["noted"]),
        ({"image": "note"}, ["converted"]),
    ],
)
def test_a_file_is_converted_or_noted_as_the_program_says_for_its_kind(on_unsupported, delivery):
    found = explain([Draft("user", (WORDS,))], model=CLAUDE, file_policy=FilePolicy(on_unsupported=on_unsupported))
    assert ["converted" if item.converted else item.delivery for item in found] == delivery


@pytest.mark.parametrize("wrong", ["drop", {"image": "drop"}, {"picture": "note"}])
def test_another_word_is_refused_with_those_that_there_are(wrong):
    with pytest.raises(BadInput, match=r"'convert', 'note' or 'error'|'image', 'document'"):
        Agent("inspector", file_policy=FilePolicy(on_unsupported=wrong))


def test_requests_of_a_fake_connection_go_to_a_function():
    script = Script(say("Hello."), model=CLAUDE)
    run = Agent(CLAUDE, connection=FakeConnection(send=script.exchange.send)).run_sync("hi", files=[picture()])
    assert (run.text, len(script.bodies)) == ("Hello.", 1)


def picture():
    return File.from_bytes(png(), name="a.png")


def test_no_key_stands_in_what_is_printed():
    assert "sk-secret" not in repr(Connection(api_key="sk-secret", headers={"authorization": "sk-secret"}))


def test_run_and_run_sync_take_the_same_and_nothing_else():
    run, run_sync = (inspect.signature(item).parameters for item in (Agent.run, Agent.run_sync))
    assert run == run_sync
    assert [*run] == ["self", "text", "files", "conversation", "approvals", "deps", "overrides"]


def test_an_agent_has_ten_parameters_and_each_is_described():
    named = [*inspect.signature(Agent).parameters]
    assert len(named) == 10
    assert all(re.search(rf"^ +{name} \(", Agent.__doc__ or "", re.MULTILINE) for name in named)


def test_dir_lists_each_public_name_once_and_nothing_else():
    assert dir(showandtell) == sorted(set(showandtell.__all__))


def test_one_run_may_have_another_model_and_other_tools_instructions_settings_and_limits():
    def first() -> str:
        return "one"

    def second() -> str:
        return "two"

    agent = Agent("inspector", [first])
    conversation = agent.conversation()
    run = agent.run_sync("/second", conversation=conversation, tools=[second], limits=RunLimits(steps=5))
    assert (run.messages[2].text, run.agent.settings.limits.max_steps) == ("two", 5)
    run = agent.run_sync("/first", conversation=conversation, model="inspector", instructions="Be brief.")
    assert (run.messages[2].text, run.agent.settings.options.instructions) == ("one", "Be brief.")
    assert (agent.settings.limits.max_steps, agent.settings.options.instructions, [*agent.tools]) == (20, "", ["first"])


def test_what_a_run_cannot_have_is_refused():
    with pytest.raises(BadInput, match="run takes no connection: it may have model, tools"):
        Agent("inspector").run("hi", connection=Connection())  # pyright: ignore[reportCallIssue] - refused
