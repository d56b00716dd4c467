"""Files for tools only, from start to end: numbered, named to the model, and given to the tool by their number."""

import json
import sqlite3
from contextlib import closing
from typing import Annotated

import pytest

from showandtell import Agent, File, RunContext, render, tool
from showandtell.agent.tools import as_tool
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.data_files import DATA_FILES
from support.scripted import ELSEWHERE, MODELS, check_usable, results, say, scripted

DATABASE = File.from_bytes(DATA_FILES["sales.sqlite"][0], name="sales.sqlite")


def query(database: File) -> str:
    """Sum up the sales.

    Args:
        database: the database to ask
    """
    with closing(sqlite3.connect(":memory:")) as connection, connection:
        connection.deserialize(database.read())
        (total,) = connection.execute("select sum(amount) from sales").fetchone()
        return f"{total} EUR"


def export() -> File:
    """Export the sales."""
    return DATABASE


@pytest.mark.parametrize("model", MODELS)
def test_a_tool_gets_an_uploaded_database_by_its_number(model):
    called = say("", ("c1", "query", '{"database": 1}'), model=model)
    agent, script = scripted(called, say("42 EUR.", model=model), model=model, tools=[query])
    run = agent.run_sync("What is the sum?", files=[DATABASE])
    assert results(run.messages)[0][1:] == ("42 EUR", False)
    assert [(receipt.number, receipt.delivery) for receipt in run.receipts] == [(1, "for_tools")]
    assert "for tools only: pass its number to a tool that takes files" in str(script.bodies[0])
    check_usable(run.conversation)


@pytest.mark.parametrize("model", MODELS)
def test_a_database_that_a_tool_returns_is_given_to_the_next_tool(model):
    calls = [say("", ("c1", "export", "{}"), model=model), say("", ("c2", "query", '{"database": 1}'), model=model)]
    agent, script = scripted(*calls, say("42 EUR.", model=model), model=model, tools=[query, export])
    run = agent.run_sync("What is the sum?")
    assert results(run.messages)[-1][1:] == ("42 EUR", False)
    assert "from tool export" in str(script.bodies[1])
    assert DATABASE.read()[:16].decode() not in str(script.bodies[1])
    check_usable(run.conversation)


@pytest.mark.parametrize("name", DATA_FILES)
def test_the_inspector_says_which_file_it_only_knows_by_number(name):
    data, media_type = DATA_FILES[name]
    run = Agent("inspector").run_sync("Look inside.", files=[File.from_bytes(data, name=name)])
    assert f"file 1: {name}, uploaded by the user" in run.text
    assert "no tool here takes files" in run.text
    (receipt,) = run.receipts
    assert (receipt.media_type, receipt.reason.endswith("; no tool here takes files, so nothing reads it")) == (
        media_type,
        True,
    )


@pytest.mark.parametrize("model", ELSEWHERE)
def test_a_conversation_with_a_data_file_continues_with_any_model(model):
    run = Agent("inspector", [query]).run_sync("/query database=1", files=[DATABASE])
    assert isinstance(run.conversation, MemoryConversation)
    request = render(run.conversation, model=model, tools=[query])
    assert [receipt.delivery for receipt in request.receipts] == ["for_tools"]
    assert "for tools only: pass its number to a tool that takes files" in str(request.json())


@pytest.mark.parametrize(
    ("annotation", "takes"),
    [(File, True), (File | None, True), (list[File], True), (Annotated[File, "a table"], True), (int, False)],
)
def test_a_tool_takes_files_by_its_annotation(annotation, takes):
    def work(value, context: RunContext):
        """Work."""

    work.__annotations__["value"] = annotation
    assert as_tool(work).takes_files is takes
    assert ("(the number of a file" in as_tool(work).spec.parameters) is False


def test_a_described_parameter_still_says_that_it_is_a_number():
    parameters = json.loads(as_tool(query).spec.parameters)
    described = parameters["properties"]["database"]["description"]
    assert described == "the database to ask (the number of a file of this conversation)"


def test_a_hand_written_schema_takes_no_files():
    written = tool(name="look")(query)
    assert written.takes_files
    assert not type(written)("look", "Look.", {"type": "object"}, query).takes_files
