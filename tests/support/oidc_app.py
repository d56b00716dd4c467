"""The real OpenID Connect login with a real issuer, for tests of authentication."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

from showandtell.network.transport import Transport
from showandtell.server.auth import login
from showandtell.server.auth.oidc import Issuer, Oidc
from support.middleware_app import fake_server, guarded_app, send
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer


@asynccontextmanager
async def login_app(public=False, audience=None, rates="tokens=10000/minute", **issuer_settings):
    """An app with the accounts of an issuer: `ask` sends it a request, `bear` one with a bearer token."""
    async with running_issuer(**issuer_settings) as issuer, Transport(environ={}) as transport:
        oidc = Oidc(issuer.url, CLIENT, None if public else CLIENT_SECRET, audience)
        server = fake_server(accounts=Issuer(oidc, transport.send))
        app = guarded_app(server, rates=rates)
        app.include_router(login.router)
        app.router.routes.insert(0, app.router.routes.pop())

        async def ask(address, headers=(), method="GET"):
            return await send(app, method, address, headers)

        async def bear(token):
            return await ask("/api/me", {"authorization": f"Bearer {token}"})

        yield SimpleNamespace(issuer=issuer, ask=ask, bear=bear, server=server, app=app)


def run_with_issuer(test, **settings):
    """Run an async test with a `login_app`."""

    async def run():
        async with login_app(**settings) as app:
            return await test(app)

    return asyncio.run(run())


def name(app, sub="anna"):
    """The user name of an account of the issuer."""
    return f"{sub}@{app.issuer.url.removeprefix('http://')}"
