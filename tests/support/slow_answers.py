"""An answer that ends when the test says so."""

import asyncio
from contextlib import asynccontextmanager

from showandtell.agent.tools import tool
from support.serving import serving
from support.two_users import open_accounts


class Slow:
    """A tool that returns when the test says so."""

    def __init__(self):
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

        @tool
        async def wait() -> str:
            """Wait."""
            self.begun.set()
            await self.may_end.wait()
            return "done waiting"

        self.tool = wait


@asynccontextmanager
async def slow_answer(folder, user=None, **settings):
    """A server on which an answer to "m1" runs: the site, the session of its user, the answer, and its tool."""
    slow = Slow()
    async with serving(folder, tools=(slow.tool,), **settings) as site:
        session = open_accounts(site)(user) if user else site.session
        answer = asyncio.create_task(site.post("/wait", id="m1", session=session))
        async with asyncio.timeout(60):
            await slow.begun.wait()
        try:
            yield site, session, answer, slow
        finally:
            slow.may_end.set()
            await asyncio.gather(answer, return_exceptions=True)  # a deleted conversation's breaks off
