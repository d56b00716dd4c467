"""A real `serve` with accounts, and clients of as many users as a test wants."""

import time
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp

from support.oidc_issuer import CLIENT, running_issuer
from support.server_process import running


@asynccontextmanager
async def serving_users(folder, names, *arguments):
    """The program, and a client for each name; its requests have no time limit."""
    async with AsyncExitStack() as stack:
        issuer = await stack.enter_async_context(running_issuer())
        settings = {"SHOWANDTELL_OIDC_ISSUER": issuer.url, "SHOWANDTELL_OIDC_CLIENT_ID": CLIENT}
        program = await stack.enter_async_context(running(folder, *arguments, **settings))
        clients, now = [], time.time()
        for name in names:
            token = issuer.token(sub=name, iat=now - 10, exp=now + 3600)
            client = aiohttp.ClientSession(
                program.url,
                headers={"authorization": f"Bearer {token}"},
                timeout=aiohttp.ClientTimeout(total=None),
                connector=aiohttp.TCPConnector(limit=0),
            )
            clients.append(await stack.enter_async_context(client))
        yield program, clients


async def ask(client, method, path, **settings):
    """The status and body of a response that is read to its end."""
    async with client.request(method, path, **settings) as answer:
        return answer.status, await answer.read()
