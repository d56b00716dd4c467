"""A small, strict OpenID Connect issuer on loopback: it takes what the standard says, and says what is wrong otherwise."""

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

from support.guarded import NOON

CLIENT, CLIENT_SECRET, BACK = "chat", "s3cret/with+signs %", "http://127.0.0.1:8000/login/callback"
SIGNS = {"RSA": "RS256", "EC": "ES256", "OKP": "Ed25519"}


@cache
def key(kid="one", kind="EC", size=None):
    """A private key; the same each time, for RSA takes its time."""
    size = size or {"RSA": 2048, "EC": "P-256", "OKP": "Ed25519"}[kind]
    return jwk.generate_key(kind, size, {"kid": kid, "use": "sig"})


def sign(claims, by, **header):
    """A token of these claims, or of any text; `by` is the key, and the header says so unless told otherwise."""
    named = {"alg": SIGNS.get(by.key_type, "HS256"), "kid": by.kid, "typ": "JWT", **header}
    head = json.dumps({name: value for name, value in named.items() if value is not None})
    signed = f"{in_base64(head)}.{in_base64(claims if isinstance(claims, str) else json.dumps(claims))}"
    return f"{signed}.{in_base64(JWSRegistry.algorithms[named['alg']].sign(signed.encode(), by))}"


def in_base64(output):
    """Without padding, for addresses."""
    return base64.urlsafe_b64encode(output.encode() if isinstance(output, str) else output).decode().rstrip("=")


@dataclass
class Issuing:
    """The issuer's behavior, set by the test, and the requests it received."""

    url: str = ""
    secret: str | None = CLIENT_SECRET
    keys: list = field(default_factory=lambda: [key()])
    overrides: dict = field(default_factory=dict)
    claims: dict = field(default_factory=dict)
    answer: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    codes: dict = field(default_factory=dict)
    signer: object = None

    def good(self, **claims):
        """Claims that are good at noon."""
        return {"iss": self.url, "sub": "anna", "aud": CLIENT, "iat": NOON - 10, "exp": NOON + 300, **claims}

    def token(self, by=None, header=None, **claims):
        """A token that is valid at noon, except for the given changes."""
        kept = {name: value for name, value in self.good(**claims).items() if value is not None}
        return sign(kept, by or self.keys[0], **(header or {}))

    async def discover(self, _):
        self.asked.append("discovery")
        output = {name: f"{self.url}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
        methods = ["client_secret_basic", "client_secret_post"]
        return await self.tell({"issuer": self.url, **output, "token_endpoint_auth_methods_supported": methods})

    async def publish(self, _):
        self.asked.append("keys")
        return await self.tell({"keys": [item.as_dict(private=False) for item in self.keys]})

    async def tell(self, output):
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
        asked = dict(request.query)
        assert len(asked) == len(request.query)
        assert asked["response_type"] == "code"
        assert (asked["client_id"], asked["redirect_uri"]) == (CLIENT, BACK)
        assert "openid" in asked["scope"].split()
        assert len(asked["state"]) >= 22
        assert len(asked["nonce"]) >= 22
        assert (asked["code_challenge_method"], len(asked["code_challenge"])) == ("S256", 43)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], **self.answer}
        raise web.HTTPFound(f"{asked['redirect_uri']}?{urlencode(answer)}")

    async def exchange(self, request):
        self.asked.append("token")
        assert request.content_type == "application/x-www-form-urlencoded"
        form = dict(parse_qsl(await request.text(), strict_parsing=True))
        assert self.client_of(request, form) == (CLIENT, self.secret)
        asked = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if asked is None or asked["code_challenge"] != in_base64(digest):
            return web.json_response({"error": "invalid_grant"}, status=400)
        assert (form["grant_type"], form["redirect_uri"]) == ("authorization_code", asked["redirect_uri"])
        assert len(form["code_verifier"]) >= 43
        received = self.token(self.signer, **{"nonce": asked["nonce"], **self.claims})
        return await self.tell({"id_token": received, "access_token": "opaque", "token_type": "Bearer"})

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
async def issuing(**received):
    """The issuer, at a port of its own."""
    made, app = Issuing(**received), web.Application()
    app.router.add_get("/.well-known/openid-configuration", made.discover)
    app.router.add_get("/jwks_uri", made.publish)
    app.router.add_get("/authorization_endpoint", made.authorize)
    app.router.add_post("/token_endpoint", made.exchange)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = made.url or f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()
