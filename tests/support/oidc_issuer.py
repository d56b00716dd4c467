"""A small, strict OpenID Connect issuer on loopback: it asserts that requests follow the standard."""

import base64
import hashlib
import json
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import parse_qsl, unquote_plus, urlencode

from aiohttp import web
from joserfc import jwk
from joserfc.jws import JWSRegistry

from support.middleware_app import NOON

CLIENT, CLIENT_SECRET, REDIRECT_URI = "chat", "s3cret/with+signs %", "http://127.0.0.1:8000/login/callback"
SIGNS = {"RSA": "RS256", "EC": "ES256", "OKP": "Ed25519"}


@cache
def key(kid="one", kind="EC", size=None):
    """A private key, cached because RSA keys are slow to make."""
    size = size or {"RSA": 2048, "EC": "P-256", "OKP": "Ed25519"}[kind]
    return jwk.generate_key(kind, size, {"kid": kid, "use": "sig"})  # pyright: ignore[reportCallIssue] - one of three kinds


def sign(claims, by, **header):
    """A token of these claims or of any text, signed with the key `by`; `header` overrides fields of its header."""
    named = {"alg": SIGNS.get(by.key_type, "HS256"), "kid": by.kid, "typ": "JWT", **header}
    head = json.dumps({name: value for name, value in named.items() if value is not None})
    signed = f"{base64url(head)}.{base64url(claims if isinstance(claims, str) else json.dumps(claims))}"
    return f"{signed}.{base64url(JWSRegistry.algorithms[named['alg']].sign(signed.encode(), by))}"


def base64url(data):
    """Base64 for URLs without padding, of bytes or a string."""
    return base64.urlsafe_b64encode(data.encode() if isinstance(data, str) else data).decode().rstrip("=")


@dataclass
class FakeIssuer:
    """The issuer's behavior, set by the test, and the requests it received."""

    url: str = ""
    secret: str | None = CLIENT_SECRET
    keys: list = field(default_factory=lambda: [key()])
    overrides: dict = field(default_factory=dict)
    claims: dict = field(default_factory=dict)
    answer: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    codes: dict = field(default_factory=dict)
    signer: object = None
    #: Seconds after noon.
    later: float = 0.0
    #: Whether it gives refresh tokens: always, for the scope offline_access, or never.
    refreshes: str = "never"
    #: The current refresh token of each sign-in; all others were used. Subjects that the issuer has removed.
    current: dict = field(default_factory=dict)
    used: dict = field(default_factory=dict)
    removed: set = field(default_factory=set)
    signed_in: int = 0

    def good(self, **claims):
        """Claims that are good at noon, or some seconds later."""
        now = NOON + self.later
        return {"iss": self.url, "sub": "anna", "aud": CLIENT, "iat": now - 10, "exp": now + 300, **claims}

    def logout_token(self, by=None, header=None, **claims):
        """A logout token, except for the given changes."""
        events = {"http://schemas.openid.net/event/backchannel-logout": {}}
        now = {"iat": NOON + self.later, "jti": secrets.token_hex(8), "events": events}
        present = self.good(**{**now, **claims})
        present = {name: value for name, value in present.items() if value is not None}
        return sign(present, by or self.keys[0], **{"typ": "logout+jwt", **(header or {})})

    def token(self, by=None, header=None, **claims):
        """A token that is valid at noon, except for the given changes."""
        present = {name: value for name, value in self.good(**claims).items() if value is not None}
        return sign(present, by or self.keys[0], **(header or {}))

    async def discover(self, _):
        self.requests.append("discovery")
        output = {name: f"{self.url}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
        methods = ["client_secret_basic", "client_secret_post"]
        return await self.respond({"issuer": self.url, **output, "token_endpoint_auth_methods_supported": methods})

    async def publish(self, _):
        self.requests.append("keys")
        return await self.respond({"keys": [item.as_dict(private=False) for item in self.keys]})

    async def respond(self, output):
        """An answer, with what the test put in its place."""
        match self.overrides:
            case {"status": status, **more}:
                return web.Response(status=status, text="no", headers=more)
            case {"text": text}:
                return web.Response(text=text, content_type="application/json")
            case {"wait": event}:
                await event.wait()
        return web.json_response({**output, **self.overrides.get("besides", {})})

    async def authorize(self, request):
        query = dict(request.query)
        assert len(query) == len(request.query)
        assert query["response_type"] == "code"
        assert (query["client_id"], query["redirect_uri"]) == (CLIENT, REDIRECT_URI)
        assert "openid" in query["scope"].split()
        assert len(query["state"]) >= 22
        assert len(query["nonce"]) >= 22
        assert (query["code_challenge_method"], len(query["code_challenge"])) == ("S256", 43)
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], **self.answer}
        raise web.HTTPFound(f"{query['redirect_uri']}?{urlencode(answer)}")

    async def exchange(self, request):
        self.requests.append("token")
        assert request.content_type == "application/x-www-form-urlencoded"
        form = dict(parse_qsl(await request.text(), strict_parsing=True))
        assert self.client_of(request, form) == (CLIENT, self.secret)
        if form["grant_type"] == "refresh_token":
            return await self.refresh(form)
        query = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if query is None or query["code_challenge"] != base64url(digest):
            return web.json_response({"error": "invalid_grant"}, status=400)
        assert (form["grant_type"], form["redirect_uri"]) == ("authorization_code", query["redirect_uri"])
        assert len(form["code_verifier"]) >= 43
        self.signed_in += 1
        claims = {"sid": f"sid-{self.signed_in}", "nonce": query["nonce"], **self.claims}
        offline = "offline_access" in query["scope"].split()
        gives = self.refreshes == "always" or (self.refreshes == "scope" and offline)
        return await self.grant(claims, gives, self.token(self.signer, **claims))

    async def refresh(self, form):
        """Use a refresh token once. A second use is taken for theft, and voids the whole sign-in."""
        assert set(form) <= {"grant_type", "refresh_token", "client_id", "client_secret"}
        token = form["refresh_token"]
        if token in self.used:
            self.requests.append("reuse")
            self.current.pop(self.used[token], None)
        claims = next((claims for sid, (kept, claims) in self.current.items() if kept == token), None)
        if self.overrides:  # broken before it has looked at the token
            return await self.respond({})
        if claims is None or claims.get("sub", "anna") in self.removed:
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.used[token] = claims["sid"]
        return await self.grant(claims, True, self.token(self.signer, **{**claims, "nonce": None, **self.claims}))

    async def grant(self, claims, gives, id_token):
        """A response with a new refresh token, if it `gives` one."""
        output = {"id_token": id_token, "access_token": "opaque", "token_type": "Bearer", "expires_in": 300}
        if gives:
            output["refresh_token"] = secrets.token_urlsafe(16)
            self.current[claims["sid"]] = output["refresh_token"], claims
        return await self.respond(output)

    def client_of(self, request, form):
        """The client, from the header or the form, never from both."""
        if "Authorization" not in request.headers:
            return form["client_id"], form.get("client_secret")
        assert "client_secret" not in form
        name, _, secret = (
            base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode().partition(":")
        )
        return unquote_plus(name), unquote_plus(secret)


@asynccontextmanager
async def running_issuer(**settings):
    """The issuer, listening on a free port."""
    issuer, app = FakeIssuer(**settings), web.Application()
    app.router.add_get("/.well-known/openid-configuration", issuer.discover)
    app.router.add_get("/jwks_uri", issuer.publish)
    app.router.add_get("/authorization_endpoint", issuer.authorize)
    app.router.add_post("/token_endpoint", issuer.exchange)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    issuer.url = issuer.url or f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield issuer
    finally:
        await runner.cleanup()
