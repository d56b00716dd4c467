"""What docs/server.md says to a program, done."""

import json
import re

import pytest

from showandtell import tool
from support.paths import ROOT
from support.serving import chunks_of, serving

pytestmark = pytest.mark.anyio
PAGE = (ROOT / "docs" / "server.md").read_text()


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


async def test_a_program_says_yes_to_a_call_that_waits(tmp_path):
    body = json.loads(re.search(r"(?s)```json\n(.*?)```", PAGE)[1])
    async with serving(tmp_path, tools=(erase,)) as site:
        _, chunks = await site.post("/erase path=a.txt", body["id"])
        waiting = next(chunk for chunk in chunks if chunk["type"] == "tool-approval-request")
        body["messages"][0]["parts"][0]["approval"]["id"] = waiting["approvalId"]
        async with site.session.post("/api/chat", json=body) as answer:
            outputs = [chunk["output"] for chunk in await chunks_of(answer) if chunk["type"] == "tool-output-available"]
    assert outputs == ["erased a.txt"]
