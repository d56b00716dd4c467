"""The real OpenID Connect login with a real issuer, for tests of authentication."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import aiohttp

from showandtell.network.transport import Transport
from showandtell.server.auth import backchannel, login
from showandtell.server.auth.confirmations import Confirmations
from showandtell.server.auth.oidc import Issuer, Oidc
from showandtell.server.auth.sessions import Sessions
from showandtell.server.auth.stored_secrets import StoredSecrets
from support.middleware_app import fake_server, guarded_app, send, shared_database
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer


@asynccontextmanager
async def login_app(public=False, audience=None, rates="tokens=10000/minute", **issuer_settings):
    """An app with the accounts of an issuer: `ask` sends it a request, `bear` one with a bearer token."""
    async with running_issuer(**issuer_settings) as issuer, Transport(environ={}) as transport:
        oidc = Oidc(issuer.url, CLIENT, None if public else CLIENT_SECRET, audience)
        accounts = Issuer(oidc, transport.send)
        server = fake_server(accounts=accounts)
        secrets = StoredSecrets(b"s" * 32)
        confirmations = [Confirmations(shared_database(), accounts, secrets, server.clock) for _ in range(2)]
        server.workers = [Sessions(shared_database(), server.clock, one) for one in confirmations]
        server.sessions = server.workers[0]
        app = guarded_app(server, rates=rates)
        app.include_router(login.router)
        app.include_router(backchannel.router)
        app.router.routes[:0] = [app.router.routes.pop() for _ in range(2)]

        async def ask(address, headers=(), method="GET", pieces=(b"",)):
            return await send(app, method, address, headers, pieces)

        async def bear(token):
            return await ask("/api/me", {"authorization": f"Bearer {token}"})

        yield SimpleNamespace(issuer=issuer, ask=ask, bear=bear, server=server, app=app)
        for one in confirmations:
            await one.close()


def run_with_issuer(test, **settings):
    """Run an async test with a `login_app`."""

    async def run():
        async with login_app(**settings) as app:
            return await test(app)

    return asyncio.run(run())


async def sign_in(site, to="/"):
    """Sign in at the issuer with a new browser, and return its header."""
    start = await site.ask(f"/login?to={to}")
    async with aiohttp.ClientSession() as client, client.get(start["location"], allow_redirects=False) as response:
        done = await site.ask(response.headers["location"], {"cookie": start.cookie})
    assert done.status == 303, done.body
    return {"cookie": done.all("set-cookie")[-1].partition(";")[0]}


async def status(site, browser):
    return (await site.ask("/api/me", browser)).status


def pass_time(site, seconds):
    """Let the clocks of the server and of the issuer go on."""
    site.server.now += seconds
    site.issuer.later += seconds


def name(app, sub="anna"):
    """The user name of an account of the issuer."""
    return f"{sub}@{app.issuer.url.removeprefix('http://')}"
