"""What a server tells every model: how it may show a file in its words, and then what the user wants it to know."""

import pytest
from aiohttp import web

from support.serving import serving

pytestmark = pytest.mark.anyio


@pytest.fixture
async def provider(monkeypatch):
    """A server on loopback in place of vLLM, which refuses; gives the bodies of what it was asked."""
    bodies = []

    async def handle(request):
        bodies.append(await request.json())
        return web.json_response({"error": {"message": "not today"}}, status=400)

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("SHOWANDTELL_VLLM_BASE_URL", f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield bodies
    await runner.cleanup()


async def test_a_model_is_told_how_it_places_a_file_and_then_what_the_user_says(provider, tmp_path):
    async with serving(tmp_path) as house:
        await house.post("hello", "one", model="vllm:any")
        await house.session.patch("/api/settings", json={"instructions": "Answer in rhymes."})
        await house.post("hello", "two", model="vllm:any")
    told = [body["messages"][0] for body in provider]
    assert [one["role"] for one in told] == ["system", "system"]
    assert "![caption](file:5)" in told[0]["content"]
    assert told[1]["content"] == told[0]["content"] + "\n\nAnswer in rhymes."
