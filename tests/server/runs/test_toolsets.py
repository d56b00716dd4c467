"""Toolsets in a server: opened once, used by all runs, closed at its end."""

import asyncio
import logging

import pytest

from showandtell import Tool, Toolset
from support.serving import serving

pytestmark = pytest.mark.anyio


class Kitchen(Toolset):
    """One tool that needs approval, and what was done with the toolset."""

    def __init__(self, fails=0):
        self.log, self.fails, self.failed = [], fails, asyncio.Event()

    async def open(self):
        self.log.append("open")
        if self.log.count("open") <= self.fails:
            self.failed.set()
            raise ConnectionError

    async def close(self):
        self.log.append("close")

    async def list(self):
        return [Tool("bake", "Bake.", {"type": "object"}, approval=True)]

    async def call(self, name, arguments, context):  # noqa: ARG002 - as in `Toolset`
        self.log.append(name)
        return f"{name} for {context.owner}"


def approve(chat, call):
    part = {"type": "tool-bake", "toolCallId": call, "state": "approval-responded"}
    message = {"id": "ans_x", "role": "assistant", "parts": [part | {"approval": {"id": call, "approved": True}}]}
    return {"id": chat, "messages": [message], "trigger": "submit-message"}


async def test_a_server_keeps_a_toolset_open_and_asks_for_approval(tmp_path):
    kitchen = Kitchen()
    async with serving(tmp_path, tools=(kitchen,)) as site:
        _, chunks = await site.post("/bake", "c")
        (call,) = [one["toolCallId"] for one in chunks if one["type"] == "tool-approval-request"]
        _, stored = await site.get(f"/api/conversations/{chunks[0]['messageMetadata']['conversation_id']}")
        assert "approval-requested" in str(stored["messages"])
        async with site.session.post("/api/chat", json=approve("c", call)) as answer:
            assert "bake for" in await answer.text()
        assert kitchen.log == ["open", "bake"]
    assert kitchen.log == ["open", "bake", "close"]


async def test_a_toolset_that_fails_at_the_start_is_tried_again_by_the_next_run(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    kitchen = Kitchen(fails=1)
    async with serving(tmp_path, tools=(kitchen,)) as site:
        await kitchen.failed.wait()
        _, chunks = await site.post("/bake", "c")
        assert any(one["type"] == "tool-approval-request" for one in chunks)
    assert kitchen.log == ["open", "open", "close"]
    assert "the tools of Kitchen are not available" in caplog.text
