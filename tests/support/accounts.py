"""A server with the accounts of an issuer, both real, for tests of authentication."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

from showandtell.network.transport import Transport
from showandtell.server.auth import login
from showandtell.server.auth.oidc import Issuer, Oidc
from support.guarded import fake_server, guarded_app, send
from support.issuer import CLIENT, CLIENT_SECRET, issuing


@asynccontextmanager
async def accounts(public=False, audience=None, **received):
    """A server with the accounts of an issuer: `ask` asks it, `issuer` is what the test tells."""
    async with issuing(**received) as issuer, Transport(environ={}) as transport:
        oidc = Oidc(issuer.url, CLIENT, None if public else CLIENT_SECRET, audience)
        made = fake_server(accounts=Issuer(oidc, transport.send))
        app = guarded_app(made, rates="login=10000/minute")
        app.include_router(login.router)
        app.router.routes.insert(0, app.router.routes.pop())

        async def ask(address, headers=(), method="GET"):
            return await send(app, method, address, headers)

        async def bear(token):
            return await ask("/api/me", {"authorization": f"Bearer {token}"})

        yield SimpleNamespace(issuer=issuer, ask=ask, bear=bear, server=made, app=app)


def during(test, **received):
    """Run an async test beside an issuer."""

    async def run():
        async with accounts(**received) as made:
            return await test(made)

    return asyncio.run(run())


def name(made, sub="anna"):
    return f"{sub}@{made.issuer.url.removeprefix('http://')}"
