"""Toolsets: tools that are known only after connecting."""

import asyncio
import logging

import pytest

from showandtell import Agent, BadInput, File, ModelSettings, RunLimits, Tool, ToolError, Toolset
from support.fixtures import png

SCHEMA = {"type": "object", "properties": {"size": {"type": "integer"}}}


class Shop(Toolset):
    """Tools of a shop, and what was done with them."""

    def __init__(self, *names: str, **settings):
        self.names, self.settings = list(names), settings
        self.log, self.is_new = [], False

    async def open(self):
        self.log.append("open")
        self.task = asyncio.current_task()

    async def close(self):
        self.log.append("close" if asyncio.current_task() is self.task else "closed by another task")

    def changed(self):
        return self.is_new

    async def list(self):
        self.is_new = False
        self.log.append("list")
        return [Tool(name, f"The {name}.", SCHEMA, **self.settings) for name in self.names]

    async def call(self, name, arguments, context):
        self.log.append(f"{name} {dict(arguments)} {context.deps}")
        return name, File.from_bytes(png(8, 8), name=f"{name}.png")


def results(run):
    return [message.text for message in run.messages if message.role == "tool"]


def test_the_tools_of_a_toolset_are_listed_and_called_by_a_run():
    shop = Shop("cake")
    run = Agent("inspector", [shop]).run_sync("/cake size=2", deps="ann")
    assert shop.log == ["open", "list", "cake {'size': 2} ann", "close"]
    assert [file.name for file in run.files] == ["cake.png"]


def test_tools_of_toolsets_stand_beside_others():
    def tea() -> str:
        """The tea."""
        return "green"

    agent = Agent("inspector", [Shop("cake"), tea, Shop("bread")])
    assert results(agent.run_sync("/tea")) == ["green"]
    assert "bread" in results(agent.run_sync("/bread"))[0]


def test_an_open_agent_keeps_a_toolset_open_for_all_runs():
    shop = Shop("cake")

    async def use():
        async with Agent("inspector", [shop]) as agent:
            await asyncio.gather(agent.run("/cake"), agent.run("/cake"))
            await agent.run("hi")
            assert shop.log.count("open") == shop.log.count("list") == 1
            assert "close" not in shop.log
        assert shop.log[-1] == "close"

    asyncio.run(use())


def test_two_agents_share_a_toolset_while_both_use_it():
    shop = Shop("cake")

    async def use():
        async with Agent("inspector", [shop]) as one, Agent("inspector:gemini", [shop]) as other:
            await asyncio.gather(one.run("/cake"), other.run("/cake"))
        assert (shop.log.count("open"), shop.log.count("close")) == (1, 1)
        await other.run("/cake")
        assert (shop.log.count("open"), shop.log.count("close")) == (2, 2)

    asyncio.run(use())


def test_a_toolset_that_changes_between_two_steps_is_listed_again():
    shop = Shop("cake")

    def order() -> str:
        """Order bread."""
        shop.names, shop.is_new = ["bread"], True
        return "ordered"

    async def use():
        async with Agent("inspector", [shop, order]) as agent:
            await agent.run("/order")
            return await agent.run("/bread"), await agent.run("/cake")

    bread, cake = asyncio.run(use())
    assert shop.log.count("list") == 2
    assert "bread" in results(bread)[0]
    assert results(cake) == []


@pytest.mark.parametrize("when", ["open", "list"])
def test_a_toolset_that_cannot_be_used_ends_the_run_with_its_name(when, caplog):
    class Broken(Shop):
        async def open(self):
            self.fail("open")

        async def list(self):
            self.fail("list")
            return []

        def fail(self, now):
            if now == when:
                raise ConnectionError("secret words")

    run = Agent("inspector", [Broken("cake")]).run_sync("/cake")
    assert run.status == "error"
    assert run.reason == "the tools of Broken are not available: ConnectionError, see the log"
    assert "secret words" in caplog.text
    assert not run.messages


def test_a_toolset_that_failed_connects_again_for_the_next_run():
    class Moody(Shop):
        async def list(self):
            if self.log.count("open") == 1:
                raise ConnectionError
            return await super().list()

    shop = Moody("cake")

    async def use():
        async with Agent("inspector", [shop]) as agent:
            return await agent.run("/cake"), await agent.run("/cake")

    first, second = asyncio.run(use())
    assert (first.status, second.status) == ("error", "complete")
    assert shop.log[:3] == ["open", "close", "open"]


def test_a_run_goes_on_with_the_tools_before_if_a_changed_toolset_cannot_be_listed(caplog):
    class Moody(Shop):
        async def list(self):
            if self.log.count("list"):
                raise ToolError("closed on Mondays")
            return await super().list()

        def changed(self):
            return True

    caplog.set_level(logging.WARNING)
    shop = Moody("cake")
    run = Agent("inspector", [shop]).run_sync("/cake")
    assert (run.status, len(results(run))) == ("complete", 1)
    assert "closed on Mondays" in caplog.text


def test_a_toolset_that_hangs_is_given_up(monkeypatch):
    class Slow(Shop):
        async def open(self):
            await asyncio.Event().wait()

    monkeypatch.setattr("showandtell.agent.toolsets.OPEN_SECONDS", 0.05)
    run = Agent("inspector", [Slow("cake")]).run_sync("hi")
    assert run.reason == "the tools of Slow are not available: not connected after 0.05 s"


def test_two_tools_with_one_name_are_refused_when_they_are_known():
    def cake() -> str:
        """The cake."""
        return "ours"

    with pytest.raises(BadInput, match="two tools are called 'cake'"):
        Agent("inspector", [cake, Shop("cake")]).run_sync("/cake")


def test_a_failed_call_and_one_that_takes_too_long_are_error_results():
    class Bad(Shop):
        async def call(self, name, arguments, context):  # noqa: ARG002 - as in `Toolset`
            if name == "slow":
                await asyncio.Event().wait()
            raise ConnectionError("secret words")

    agent = Agent("inspector", [Bad("broken", "slow", timeout=0.05)])
    assert results(agent.run_sync("/broken"))[0].startswith("broken failed with ConnectionError (log id ")
    assert results(agent.run_sync("/slow")) == ["slow did not finish in time: after 0.05 s it was stopped"]


def test_a_tool_of_a_toolset_may_wait_for_approval():
    agent = Agent("inspector", [Shop("cake", approval=True)])
    run = agent.run_sync("/cake")
    assert run.status == "waiting"
    (call,) = run.messages[-1].calls
    again = agent.run_sync(conversation=run.conversation, approvals={call.call_id: True})
    assert "cake" in results(again)[0]


def test_a_tool_choice_may_name_a_tool_that_is_not_listed_yet():
    settings = ModelSettings(tool_choice="cake")
    run = Agent("inspector", [Shop("cake")], model_settings=settings, limits=RunLimits(steps=2)).run_sync("hi")
    assert len(results(run)) == 1
    with pytest.raises(BadInput, match="tool_choice is 'cake'"):
        Agent("inspector", [Shop("bread")], model_settings=settings).run_sync("hi")
