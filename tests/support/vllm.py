"""A loopback server in place of vLLM."""

from contextlib import asynccontextmanager
from inspect import isawaitable

from aiohttp import web


@asynccontextmanager
async def vllm(answer, monkeypatch):
    """Where the provider vLLM is found: a server that answers each body by `answer(body)`, which may be awaitable. Yields the bodies."""
    bodies = []

    async def handle(request):
        bodies.append(await request.json())
        response = answer(bodies[-1])
        return await response if isawaitable(response) else response

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("SHOWANDTELL_VLLM_BASE_URL", f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield bodies
    await runner.cleanup()
