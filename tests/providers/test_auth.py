"""Authentication of each request: headers, Google's tokens, and AWS's signatures, compared to botocore's."""

import asyncio
import hashlib
import json
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput, MissingKey, ProviderUnavailable
from showandtell.providers import aws, google
from showandtell.providers.auth import check_headers
from showandtell.providers.connect import connect, locate
from showandtell.providers.exchange import Exchange

SECRET = "canary/secret+key/1234567890"  # noqa: S105 - the canary
TOKEN = "canary-token=="  # noqa: S105 - the canary
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
CLAUDE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-v1%3A0/converse-stream"
NOW = datetime(2026, 11, 21, 12, 30, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Post:
    url: str = CLAUDE
    pieces: tuple = (b'{"messages":', b"[]}")
    headers: dict = field(default_factory=lambda: {"content-type": "application/json"})
    method: str = "POST"

    @property
    def size(self):
        return len(b"".join(self.pieces))

    async def body(self):
        for piece in self.pieces:
            yield piece


async def authorize(exchange: Exchange, request=None):
    """The headers that a request gets."""
    assert exchange.authorize is not None
    return await exchange.authorize(request or Post())


def as_botocore_signs(request, headers, credentials, region="us-east-1"):
    """What botocore makes of a request that was received, at the time that it names."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    own = Credentials(credentials.access_key, credentials.secret_key, credentials.token or None)
    signer = SigV4Auth(own, "bedrock", region)
    sent = {"Content-Type": request.headers["content-type"], "X-Amz-Date": headers["x-amz-date"]}
    if credentials.token:
        sent["X-Amz-Security-Token"] = headers["x-amz-security-token"]
    copy = AWSRequest("POST", request.url, headers=sent, data=b"".join(request.pieces))
    copy.context["timestamp"] = headers["x-amz-date"]
    signer._inject_signature_to_request(
        copy, signer.signature(signer.string_to_sign(copy, signer.canonical_request(copy)), copy)
    )
    return copy.headers["Authorization"]


def signed(request, credentials, region="us-east-1"):
    digest = asyncio.run(aws.hash_body(request))
    kind = request.headers["content-type"]
    return aws.sign(request.url, kind, digest, credentials=credentials, region=region, now=NOW)


segments = st.text(st.characters(codec="ascii", categories=["L", "N"], include_characters="-._~%:@ +"), max_size=8)


@given(st.lists(segments, max_size=4), st.sampled_from(["", TOKEN]), st.sampled_from(["", "?b=2&a=1", "?alt=sse"]))
def test_a_signature_is_botocores(path, token, query):
    from urllib.parse import quote

    steps = "/".join(quote(step, safe="") for step in path if step not in {"", ".", ".."})
    request = Post(f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{steps}{query}")
    credentials = aws.Credentials("AKIDEXAMPLE", SECRET, token)
    headers = signed(request, credentials)
    assert headers["authorization"] == as_botocore_signs(request, headers, credentials)


@pytest.mark.parametrize(
    "host", ["https://localhost:8443", "http://127.0.0.1:80", "http://127.0.0.1:8080", "http://[::1]:1"]
)
def test_a_host_of_ones_own_is_signed_as_it_is_named(host):
    request = Post(f"{host}/model/a%3A0/converse")
    credentials = aws.Credentials("AKIDEXAMPLE", SECRET)
    headers = signed(request, credentials, "eu-west-1")
    assert headers["authorization"] == as_botocore_signs(request, headers, credentials, "eu-west-1")


def test_what_a_server_receives_is_what_was_signed():
    heads = []

    async def serve(reader, writer):
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        await reader.readexactly(Post().size)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def go():
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
            base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            exchange = connect(locate(resolve("bedrock:m"), KEYS), base_url=base, environ=KEYS)
            unsigned = Post(f"{base}/model/us.claude%3A0/converse")
            headers = {**unsigned.headers, **await authorize(exchange, unsigned)}
            async with exchange.send(Post(unsigned.url, headers=headers)) as answer:
                assert answer.status == 200
        return base

    base = asyncio.run(go())
    line, *lines = heads[0].split("\r\n")[:-2]
    got = {name.lower(): value for name, value in (item.split(": ", 1) for item in lines)}
    received = Post(base + line.split()[1], headers={"content-type": got["content-type"]})
    assert got["host"] == base.removeprefix("http://")
    assert got["authorization"] == as_botocore_signs(received, got, aws.Credentials("AKIDEXAMPLE", SECRET))


def test_a_body_is_hashed_in_its_pieces():
    pieces = tuple(bytes([at]) * 1000 for at in range(50))
    assert asyncio.run(aws.hash_body(Post(pieces=pieces))) == hashlib.sha256(b"".join(pieces)).hexdigest()


def test_others_have_their_turn_while_a_body_is_hashed():
    async def go():
        hashing = asyncio.create_task(aws.hash_body(Post(pieces=(b"piece",) * 50)))
        turns = 0
        while not hashing.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(go()) >= 50


@pytest.mark.parametrize("provider", ["bedrock", "anthropic-bedrock"])
def test_a_request_is_signed_with_the_keys_of_variables(provider):
    environ = {**KEYS, "AWS_SESSION_TOKEN": TOKEN}
    exchange = connect(locate(resolve(f"{provider}:m"), environ), environ=environ)
    headers = asyncio.run(authorize(exchange))
    assert headers["x-amz-security-token"] == TOKEN
    credentials = aws.Credentials("AKIDEXAMPLE", SECRET, TOKEN)
    assert headers["authorization"] == as_botocore_signs(Post(), headers, credentials)
    assert SECRET not in repr((exchange, credentials, headers))


def test_a_profile_is_found_by_botocores_chain(tmp_path, monkeypatch):
    (tmp_path / "credentials").write_text(f"[team]\naws_access_key_id = AKIDTEAM\naws_secret_access_key = {SECRET}\n")
    (tmp_path / "config").write_text("[profile team]\nregion = ap-south-1\n")
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    environ = {
        "AWS_PROFILE": "team",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    target = locate(resolve("bedrock:m"), environ)
    headers = asyncio.run(authorize(connect(target, environ=environ)))
    assert target.account == "ap-south-1"
    assert "Credential=AKIDTEAM/" in headers["authorization"]


def test_a_profile_that_is_none_is_reported(monkeypatch):
    environ = {"AWS_PROFILE": "nobody", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    exchange = connect(locate(resolve("bedrock:m"), environ), environ=environ)
    with pytest.raises(MissingKey, match=r"ProfileNotFound.*set AWS_ACCESS_KEY_ID"):
        asyncio.run(authorize(exchange))


def test_a_region_is_asked_for_before_anything_is_sent(tmp_path, monkeypatch):
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    environ = {"AWS_CONFIG_FILE": str(tmp_path / "none")}
    target = locate(resolve("bedrock:m"), environ)
    with pytest.raises(MissingKey, match="set AWS_REGION"):
        connect(target, environ=environ)
    with pytest.raises(MissingKey, match="set AWS_REGION"):
        connect(target, base_url="http://gate.test", environ=environ)
    assert connect(target, base_url="http://gate.test", api_key="key", environ=environ).base == "http://gate.test"


@pytest.mark.parametrize(
    ("text", "skewed"),
    [
        ("Signature expired: 20261121T000000Z is now earlier than 20261121T010000Z (20261121T010500Z - 5 min.)", True),
        ("Signature not yet current: 20261121T020000Z is still later than 20261121T010500Z", True),
        ("RequestTimeTooSkewed", True),
        ("The request signature we calculated does not match the signature you provided.", False),
        ("Expired model", False),
    ],
)
def test_a_wrong_clock_is_recognized(text, skewed):
    message = aws.explain_skew(403, text)
    assert message == (f"the clock of this machine is wrong, so AWS rejects its signatures: {text}" if skewed else text)


def test_no_secret_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    environ = {**KEYS, "AWS_SESSION_TOKEN": TOKEN}
    asyncio.run(authorize(connect(locate(resolve("bedrock:m"), environ), environ=environ)))
    assert SECRET not in caplog.text
    assert TOKEN not in caplog.text


class Lasting:
    """Credentials in google-auth's form, which are renewed as often as they are asked to."""

    def __init__(self, *tokens, payer=None):
        self.tokens, self.token, self.valid, self.quota_project_id = list(tokens), None, False, payer

    def refresh(self, _):
        self.token, self.valid = self.tokens.pop(0), True


def test_a_token_is_renewed_when_it_expired_and_only_then():
    credentials = Lasting("one", "two", payer="acme-pays")
    authorize = google.authorize_with(lambda: credentials)
    first = [asyncio.run(authorize(Post())) for _ in range(2)]
    assert first == [{"authorization": "Bearer one", "x-goog-user-project": "acme-pays"}] * 2
    credentials.valid = False
    assert asyncio.run(authorize(Post()))["authorization"] == "Bearer two"


def test_requests_side_by_side_renew_a_token_once():
    credentials = Lasting("one")
    authorize = google.authorize_with(lambda: credentials)

    async def go():
        return await asyncio.gather(*(authorize(Post()) for _ in range(8)))

    assert {headers["authorization"] for headers in asyncio.run(go())} == {"Bearer one"}


def test_credentials_that_can_not_be_renewed_are_reported_in_their_first_words():
    from google.auth.exceptions import RefreshError

    class Expired(Lasting):
        def refresh(self, _):
            raise RefreshError("invalid_grant: Token has been revoked.", {"refresh_token": SECRET})

    with pytest.raises(ProviderUnavailable, match="invalid_grant: Token has been revoked") as caught:
        asyncio.run(google.authorize_with(Expired)(Post()))
    assert SECRET not in str(caught.value)


def test_a_file_of_credentials_that_is_none_is_reported(tmp_path, monkeypatch):
    path = tmp_path / "nothing.json"
    path.write_text(json.dumps({"type": "nothing"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    environ = {"GOOGLE_APPLICATION_CREDENTIALS": str(path), "GOOGLE_CLOUD_PROJECT": "acme"}
    exchange = connect(locate(resolve("vertex:m"), environ), environ=environ)
    with pytest.raises(MissingKey, match="GOOGLE_APPLICATION_CREDENTIALS"):
        asyncio.run(authorize(exchange))


@pytest.mark.parametrize(
    "name",
    ["Content-Length", "transfer-encoding", "Connection", "content-encoding", "Expect", "upgrade", "Host"],
)
def test_a_header_that_frames_the_request_is_nobodys_to_set(name):
    with pytest.raises(BadInput, match=f"the header {name} ") as caught:
        check_headers({"x-team": "red", name: SECRET})
    assert SECRET not in str(caught.value)
    assert check_headers({"X-Team": "red"}) == {"x-team": "red"}
