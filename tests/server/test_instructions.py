"""The instructions of every model: how to show a file, then the user's own."""

import pytest
from aiohttp import web

from support.serving import serving
from support.vllm import vllm

pytestmark = pytest.mark.anyio


@pytest.fixture
async def provider(monkeypatch):
    """A loopback server in place of vLLM that refuses every request. Yields the request bodies."""

    def refuse(_):
        return web.json_response({"error": {"message": "not today"}}, status=400)

    async with vllm(refuse, monkeypatch) as bodies:
        yield bodies


async def test_instructions_explain_files_and_then_add_the_users_own(provider, tmp_path):
    async with serving(tmp_path) as site:
        await site.post("hello", "one", model="vllm:any")
        await site.session.patch("/api/settings", json={"instructions": "Answer in rhymes."})
        await site.post("hello", "two", model="vllm:any")
    received = [body["messages"][0] for body in provider]
    assert [one["role"] for one in received] == ["system", "system"]
    assert "![caption](file:5)" in received[0]["content"]
    assert received[1]["content"] == received[0]["content"] + "\n\nAnswer in rhymes."
