"""A run that has not begun has nothing to read, and Python warns about one that nobody awaits."""

import asyncio
import gc
import warnings

import pytest

from showandtell import Agent, BadInput, File
from support.fixtures import png

RESULTS = [
    "error",
    "files",
    "messages",
    "metadata",
    "output",
    "reason",
    "receipts",
    "sources",
    "status",
    "text",
    "usage",
]


def asked(agent=None):
    return (agent or Agent("inspector")).run("hello")


@pytest.mark.parametrize("name", RESULTS)
def test_a_run_that_has_not_begun_says_to_await_it(name):
    run = asked()
    with pytest.raises(BadInput, match="has not begun: await it first"):
        getattr(run, name)
    with pytest.raises(BadInput, match="await it first"):
        run.file(1)
    asyncio.run(run.cancel())


def test_a_run_that_nobody_awaits_is_warned_about():
    with pytest.warns(RuntimeWarning, match=r"was never awaited: write `await agent\.run"):
        asked()


def test_a_run_that_was_awaited_or_left_is_not_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Agent("inspector").run_sync("hello")
        asyncio.run(asked().cancel())
        gc.collect()


def chart_sales() -> File:
    """Draw a chart."""
    return File.from_bytes(png(), "image/png")


def test_agents_runs_conversations_and_receipts_print_one_line_without_secrets():
    agent = Agent("inspector", [chart_sales], "be secret", connection={"headers": {"X-Key": "secret"}})
    waiting = asked(agent)
    run = agent.run_sync("/chart_sales")
    printed = [repr(value) for value in (agent, waiting, run, run.conversation, run.receipts[0], run.files[0])]
    assert [line.partition(" in ")[0].partition(" conv_")[0] for line in printed] == [
        "<Agent of inspector:anthropic-messages with chart_sales>",
        "<Run of inspector:anthropic-messages",
        "<Run of inspector:anthropic-messages",
        "<MemoryConversation",
        "<Receipt of image 1 (chart_sales.png): shown",
        "<File chart_sales.png, image/png, number 1>",
    ]
    assert printed[1].endswith(": not begun>")
    assert printed[2].endswith(": complete, 4 messages, 1 file>")
    assert not [line for line in printed if "secret" in line or "\n" in line or len(line) > 200]
    asyncio.run(waiting.cancel())


def test_a_file_without_a_name_is_named_after_its_tool_and_each_has_its_own():
    agent = Agent("inspector", [chart_sales])
    run = agent.run_sync("/chart_sales")
    again = agent.run_sync("/chart_sales", conversation=run.conversation)
    assert [file.name for file in (*run.files, *again.files)] == ["chart_sales.png", "chart_sales-2.png"]
