"""What newcomers hand in by mistake: each is a sentence that says what to write instead."""

import asyncio

import pytest

from showandtell import Agent, BadConversation, BadInput, Draft, File, Text, ToolResult, render, render_results
from support.builders import user_history
from support.fixtures import png

CLAUDE = "anthropic:claude-sonnet-5"


@pytest.mark.parametrize("files", ["photo.jpg", b"abc", ["photo.jpg"], [b"abc"], [None], [123], File.from_bytes(png())])
def test_files_that_are_none_are_refused_with_what_to_write(files):
    with pytest.raises(BadInput, match=r"File\.from_path"):
        Agent("inspector").run("look", files=files)


@pytest.mark.parametrize(
    ("messages", "output"),
    [
        ("hi", "give a list of Draft"),
        ([], "no messages"),
        ([{"role": "user", "content": "hi"}], "from_openai"),
    ],
)
def test_messages_that_are_no_drafts_are_refused_with_what_to_do(messages, output):
    with pytest.raises(BadConversation, match=output):
        render(messages, model=CLAUDE)


@pytest.mark.parametrize(
    ("role", "parts", "output"),
    [
        ("system", (Text("x"),), "instructions="),
        ("model", (), "role is 'model': give 'user', 'assistant' or 'tool'"),
        ("user", "hi", r"parts is 'hi': give a tuple of parts, as \(Text"),
        ("user", ("hi",), r"parts\[0\] is 'hi': give a part: wrap text in Text"),
        ("user", (Text("x"), b"x"), r"parts\[1\] is 1 byte: .* File\.from_bytes"),
    ],
)
def test_drafts_of_other_roles_and_parts_are_refused_with_what_to_do(role, parts, output):
    with pytest.raises(BadInput, match=output):
        Draft(role, parts)


def test_stored_messages_are_rendered_by_their_conversation():
    run = Agent("inspector").run_sync("hi")
    with pytest.raises(BadConversation, match="whole conversation"):
        render(run.messages, model=CLAUDE)
    assert render(run.conversation, model=CLAUDE).json()["messages"][0]["role"] == "user"


@pytest.mark.parametrize("results", [[ToolResult("x")], ["c1"], [("c1",)], [(1, 2)]])
def test_results_of_another_shape_are_refused(results):
    with pytest.raises(BadInput, match=r"pairs of a call|give a ToolCall or a str"):
        render_results(results, model=CLAUDE)


def test_results_by_id_may_be_a_mapping():
    rendered = render_results({"call_1": [File.from_bytes(png(), name="a.png")]}, model=CLAUDE)
    assert [receipt.name for receipt in rendered.receipts] == ["a.png"]


@pytest.mark.parametrize(
    ("options", "output"),
    [
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"reasoning_effort": "ultra"}, "reasoning_effort"),
        ({"tool_choice": "nope"}, "tool_choice"),
        ({"extra_body": {"x": float("nan")}}, "extra_body"),
        ({"extra_body": {"x": object()}}, "extra_body"),
        ({"output_type": {"x": {1, 2}}}, "output_type"),
    ],
)
def test_options_that_no_api_takes_are_named(options, output):
    with pytest.raises(BadInput, match=output):
        render(user_history(), model=CLAUDE, **options)


def test_run_sync_in_a_notebook_says_what_to_write():
    async def cell():
        Agent("inspector").run_sync("hi")

    with pytest.raises(BadInput, match=r"await agent\.run"):
        asyncio.run(cell())
