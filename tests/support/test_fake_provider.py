"""The fake provider responds, checks keys and misses files like real providers."""

import asyncio
import base64
import hashlib
import json
import os
import signal
import sys
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from fake_provider import KEYS, RECORDED_BLINDNESS, TOKEN, WITHOUT_MMPROJ, FakeProvider, blind, reject_files
from fake_provider.agents import APIS, MODELS, ONCE, ask
from fake_provider.plain_client import CLAUDE_ON_AWS, PLAIN, post, user
from showandtell import File
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import ProviderError
from showandtell.inspector.hosts import MODULES, hosts_in
from showandtell.inspector.request import Reply
from showandtell.providers.connect import connect, locate
from support.agents import make_agent
from support.fixtures import pdf, png
from support.paths import ROOT

DRAWN = png(9, 9)
each_api = pytest.mark.parametrize("api", APIS)


def draw() -> File:
    return File.from_bytes(DRAWN, name="drawn.png")


# Hosts.


@pytest.mark.parametrize("model", MODELS)
def test_each_provider_answers_our_agent_and_sees_what_its_tool_returned(model):
    async def play():
        async with FakeProvider() as fake_provider:
            return await ask(fake_provider, model, "/draw", [draw]), fake_provider.ledger

    run, ledger = asyncio.run(play())
    assert (run.status, run.error) == ("complete", None)
    ledger = [item for item in ledger if item.status != 404]  # no host here tells what its models take
    assert [(item.host, item.status) for item in ledger] == [(model.partition(":")[0].removesuffix("-chat"), 200)] * 2
    assert [sight.sha256 for sight in ledger[1].seen] == [hashlib.sha256(DRAWN).hexdigest()]
    assert "image 1" in ledger[1].seen[0].label
    assert not any("standin" in value for item in ledger for value in item.headers.values())


def test_every_provider_of_the_inspector_has_a_base():
    fake_provider = FakeProvider()
    bases = {host.base for module in MODULES for host in hosts_in(module)}
    assert bases == {fake_provider.base(base).split("/")[3] for base in bases}


@each_api
def test_the_ledger_tells_the_body_by_its_hash(api):
    async def play():
        async with FakeProvider() as fake_provider:
            await post(fake_provider, api)
            return fake_provider.ledger

    (noted,) = asyncio.run(play())
    body = json.dumps(PLAIN[api][1]).encode()
    assert (noted.sha256, noted.size, noted.status) == (hashlib.sha256(body).hexdigest(), len(body), 200)
    assert noted.seen == noted.sent == ()


@each_api
def test_a_request_without_a_length_is_refused(api):
    async def pieces():
        yield json.dumps(PLAIN[api][1]).encode()

    async def play():
        async with FakeProvider() as fake_provider:
            return await post(fake_provider, api, data=pieces())

    assert asyncio.run(play()).status == 411


def test_a_body_over_its_providers_limit_is_refused_unread():
    async def play():
        async with FakeProvider() as fake_provider:
            reader, writer = await asyncio.open_connection("127.0.0.1", fake_provider.port)
            writer.write(b"POST /openai/v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
            line = await reader.readline()
            writer.close()
            return line, fake_provider.ledger

    line, ledger = asyncio.run(play())
    assert b"413" in line
    assert (ledger[0].status, ledger[0].size) == (413, 0)


def test_another_method_is_an_unknown_address():
    async def play():
        async with (
            FakeProvider() as fake_provider,
            aiohttp.ClientSession() as client,
            client.get(fake_provider.base("openai") + "/responses") as answer,
        ):
            return answer.status, (await answer.json())["error"]["message"]

    assert asyncio.run(play()) == (404, "Invalid URL (GET /openai/v1/responses)")


# Keys.

WRONG = {
    "anthropic-messages": (401, {"x-api-key": "no", "anthropic-version": "2023-06-01"}, ("error", "type")),
    "openai-chat": (401, {"authorization": "Bearer no"}, ("error", "code")),
    "openai-responses": (401, {"authorization": KEYS["openai"][1]}, ("error", "code")),
    "gemini": (400, {"x-goog-api-key": "no"}, ("error", "status")),
    "bedrock-converse": (403, {"authorization": "Bearer no"}, ("__type",)),
}
NAMED = {
    "anthropic-messages": "authentication_error",
    "openai-chat": "invalid_api_key",
    "openai-responses": "invalid_api_key",
    "gemini": "INVALID_ARGUMENT",
    "bedrock-converse": "AccessDeniedException",
}


@each_api
def test_a_wrong_key_is_refused_in_the_format_of_its_provider(api):
    status, headers, path = WRONG[api]

    async def play():
        async with FakeProvider() as fake_provider:
            return await post(fake_provider, api, headers=headers), await post(fake_provider, api, headers={})

    wrong, missing = asyncio.run(play())
    received = json.loads(wrong.data)
    for step in path:
        received = received[step]
    assert (wrong.status, received) == (status, NAMED[api])
    assert missing.status in {401, 403}


@pytest.mark.parametrize("host", [*KEYS, "vertex", "anthropic-vertex", "anthropic-bedrock"])
def test_our_client_hears_of_a_wrong_key_as_a_providers_error(host):
    model = next(model for model in MODELS if model.startswith(f"{host}:"))

    async def play():
        async with FakeProvider() as fake_provider:
            return await ask(fake_provider, model, "hi", api_key="wrong")

    error = asyncio.run(play()).error
    assert isinstance(error, ProviderError)
    assert error.status in {400, 401, 403}


def test_servers_of_ones_own_want_no_key():
    async def play():
        async with FakeProvider() as fake_provider, aiohttp.ClientSession() as client:
            body = {"model": "x", "messages": user("hi")}
            async with client.post(fake_provider.base("vllm") + "/chat/completions", json=body) as answer:
                return answer.status

    assert asyncio.run(play()) == 200


def test_a_google_key_in_the_address_and_a_missing_anthropic_version_are_refused():
    async def play():
        async with FakeProvider() as fake_provider, aiohttp.ClientSession() as client:
            url = f"{fake_provider.base('google')}/v1beta/models/m:generateContent?key={KEYS['google'][1]}"
            async with client.post(url, json={}) as google:
                in_address = google.status, await google.json()
            return in_address, await post(
                fake_provider, "anthropic-messages", headers={"x-api-key": KEYS["anthropic"][1]}
            )

    (status_, received), anthropic = asyncio.run(play())
    assert status_ == 400
    assert "URL" in received["error"]["message"]
    assert anthropic.status == 400
    assert b"anthropic-version" in anthropic.data


def ask_by_boto3(url, secret):
    import boto3
    from botocore.config import Config

    keys = {"aws_access_key_id": "AKIDSTANDIN", "aws_secret_access_key": secret, "region_name": "eu-west-1"}
    client = boto3.client("bedrock-runtime", endpoint_url=url, config=Config(retries={"max_attempts": 0}), **keys)
    try:
        return client.converse(modelId=CLAUDE_ON_AWS, messages=[{"role": "user", "content": [{"text": "hi"}]}])
    except client.exceptions.ClientError as error:
        return error.response
    finally:
        client.close()


def test_boto3s_own_signature_is_taken_and_one_with_another_secret_is_not():
    async def play():
        async with FakeProvider() as fake_provider:
            return [
                await asyncio.to_thread(ask_by_boto3, fake_provider.base("bedrock"), secret)
                for secret in ("standin-secret", "another")
            ]

    right, wrong = asyncio.run(play())
    assert right["stopReason"] == "end_turn"
    assert (wrong["Error"]["Code"], wrong["ResponseMetadata"]["HTTPStatusCode"]) == ("InvalidSignatureException", 403)


@pytest.mark.parametrize(("minutes", "words"), [(6, "Signature expired: "), (-6, "Signature not yet current: ")])
def test_a_clock_that_is_off_by_more_than_five_minutes_is_reported_as_aws_does(minutes, words):
    async def play():
        async with FakeProvider(clock=lambda: datetime.now(UTC) + timedelta(minutes=minutes)) as fake_provider:
            return await ask(fake_provider, f"bedrock:{CLAUDE_ON_AWS}", "/draw", [draw])

    run = asyncio.run(play())
    assert run.error.status == 403
    assert words in run.error.text


def test_a_clock_that_is_off_by_four_minutes_does_no_harm():
    async def play():
        async with FakeProvider(clock=lambda: datetime.now(UTC) + timedelta(minutes=4)) as fake_provider:
            return await ask(fake_provider, f"bedrock:{CLAUDE_ON_AWS}", "/draw", [draw])

    assert asyncio.run(play()).status == "complete"


def test_google_auth_gets_its_token_here(monkeypatch):
    async def play():
        async with FakeProvider() as fake_provider:
            environ = fake_provider.environ()
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", environ["GOOGLE_APPLICATION_CREDENTIALS"])
            target = locate(resolve("vertex:gemini-3-flash-preview"), environ)
            agent = make_agent("vertex:gemini-3-flash-preview", exchange=connect(target, environ=environ), retry=ONCE)
            return await agent.run("hi")

    assert asyncio.run(play()).status == "complete"


# Blindness and rejections.


def see(model, text, *blindnesses):
    """A run against a blind fake provider, and its record of the last request."""

    async def play():
        async with FakeProvider(blind=blindnesses) as fake_provider:
            return await ask(fake_provider, model, text, [draw]), fake_provider.ledger[-1]

    return asyncio.run(play())


@pytest.mark.parametrize("model", APIS.values())
def test_a_blind_model_is_reported_of_a_file_and_never_sees_it(model):
    run, noted = see(model, "/draw", blind(kinds=["image"]))
    assert (run.status, len(noted.sent), noted.seen) == ("complete", 1, ())
    assert hashlib.sha256(DRAWN).hexdigest() not in run.text


def test_a_blind_gemini_counts_no_tokens_of_what_it_does_not_see():
    model = "google:gemini-3-flash-preview"
    sighted, _ = see(model, "/draw")
    blinded, _ = see(model, "/draw", blind(host="google"))
    assert sighted.usage.modalities["image"] > 0
    assert "image" not in blinded.usage.modalities
    assert blinded.usage.input_tokens < sighted.usage.input_tokens


def test_blindness_is_bounded_by_place_kind_provider_and_model():
    model, bounds = "anthropic:claude-sonnet-4-5", ({"places": ["user"]}, {"kinds": ["video"]}, {"host": "xai"})
    for bound in (*bounds, {"models": "gemini"}):
        _, noted = see(model, "/draw", blind(**bound))
        assert len(noted.seen) == 1


def test_the_recorded_blindness_of_the_gemini_api_is_for_references_in_results():
    part = {"fileData": {"fileUri": "https://x/files/a", "mimeType": "image/png"}}
    signature = {"thoughtSignature": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}
    call = {"functionCall": {"name": "look", "args": {}}, **signature}
    response = {"functionResponse": {"name": "look", "response": {"output": "image 1:"}, "parts": [part]}}
    path, body, key = PLAIN["gemini"]
    turns = [*body["contents"], {"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]

    async def play():
        async with FakeProvider(blind=[RECORDED_BLINDNESS["gemini-api-file-data-in-parts"]]) as fake_provider:
            got = await post(fake_provider, "gemini", data=json.dumps({**body, "contents": turns}).encode())
            return got, fake_provider.ledger[-1]

    got, noted = asyncio.run(play())
    assert path.split("/")[1] == "google"
    assert key != {}
    assert got.status == 200
    assert (len(noted.sent), noted.seen) == (1, ())
    assert b'"IMAGE"' not in got.data


def test_the_recorded_blindness_of_claude_on_converse_is_for_its_pdfs_in_results():
    result = {
        "toolUseId": "t1",
        "content": [{"document": {"name": "d", "format": "pdf", "source": {"bytes": b64(pdf("x"))}}}],
    }
    body = PLAIN["bedrock-converse"][1]
    use = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"where": "x"}}}
    turns = [("assistant", use), ("user", {"toolResult": result})]
    messages = [*body["messages"], *({"role": role, "content": [block]} for role, block in turns)]

    async def play():
        async with FakeProvider(blind=[RECORDED_BLINDNESS["bedrock-claude-pdf-in-result"]]) as fake_provider:
            got = await post(
                fake_provider, "bedrock-converse", data=json.dumps({**body, "messages": messages}).encode()
            )
            return got, fake_provider.ledger[-1]

    got, noted = asyncio.run(play())
    assert got.status == 200
    assert ([sight.media_type for sight in noted.sent], noted.seen) == (["application/pdf"], ())


def test_the_recorded_blindness_of_gemini_2_is_for_base64_in_words():
    body = PLAIN["gemini"][1]
    call = {"functionCall": {"name": "look", "args": {}}}
    response = {"functionResponse": {"name": "look", "response": {"image": b64(png(64, 64) * 3)}}}
    turns = [*body["contents"], {"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]
    received = []

    def mind(asked):
        received.append(asked.turns[-1].parts[0].parts[0].text)
        return Reply("A white Pomeranian.")

    async def play():
        blindness = RECORDED_BLINDNESS["gemini-2.5-base64-in-response"]
        async with FakeProvider(blind=[blindness], answerer=mind) as fake_provider, aiohttp.ClientSession() as client:
            url = f"{fake_provider.base('google')}/v1beta/models/gemini-2.5-flash:generateContent"
            async with client.post(url, json={"contents": turns}, headers=PLAIN["gemini"][2]) as answer:
                return answer.status

    assert (asyncio.run(play()), received) == (200, ['{"image":""}'])


def b64(data):
    return base64.b64encode(data).decode()


@pytest.mark.parametrize("model", APIS.values())
def test_a_file_that_is_rejected_is_left_out_by_our_agent_when_it_asks_again(model):
    async def play():
        async with FakeProvider(reject=[reject_files("image")]) as fake_provider:
            return await ask(fake_provider, model, "/draw", [draw]), fake_provider.ledger

    run, ledger = asyncio.run(play())
    assert (run.status, [item.status for item in ledger]) == ("complete", [200, 400, 200])
    assert [(receipt.number, receipt.delivery) for receipt in run.receipts] == [(1, "noted")]


def test_vertex_opens_no_address_that_forbids_robots():
    async def play():
        async with FakeProvider() as fake_provider, aiohttp.ClientSession() as client:
            url = f"{fake_provider.base('vertex')}/v1/publishers/google/models/gemini-3:generateContent"
            part = {"fileData": {"fileUri": "https://robots.invalid/a.png", "mimeType": "image/png"}}
            body = {"contents": [{"role": "user", "parts": [part]}]}
            async with client.post(url, json=body, headers={"authorization": f"Bearer {TOKEN}"}) as answer:
                return answer.status, (await answer.json())["error"]["message"]

    code, words = asyncio.run(play())
    assert code == 400
    assert "URL_ROBOTED-ROBOTED_DENIED" in words


def test_a_llama_cpp_without_eyes_says_so_and_gets_no_image_again():
    async def play():
        async with FakeProvider(reject=[WITHOUT_MMPROJ]) as fake_provider:
            return await ask(fake_provider, "llamacpp:gemma-3-4b-it", "/draw", [draw]), fake_provider.ledger

    run, ledger = asyncio.run(play())
    assert (run.status, [item.status for item in ledger if item.status != 404][-2:]) == ("complete", [500, 200])
    assert ledger[-1].seen == ()
    assert "image input is not supported" in run.receipts[0].reason


# In a shell.


async def say_hi(client, url):
    async with client.post(url, json={"model": "x", "messages": user("hi")}) as answer:
        return answer.status


def test_it_listens_for_a_shell_and_leaves_nothing_behind():
    async def play():
        command = (
            sys.executable,
            "-m",
            "tests.fake_provider",
            "--fault",
            "vllm:status(503)",
            "--blind",
            "openai:image",
        )
        process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
        environ = {}
        while "GOOGLE_APPLICATION_CREDENTIALS" not in environ:
            name, _, value = (await process.stdout.readline()).decode().removeprefix("export ").strip().partition("=")
            environ[name] = value
        async with aiohttp.ClientSession() as client:
            url = environ["SHOWANDTELL_VLLM_BASE_URL"] + "/chat/completions"
            statuses = [await say_hi(client, url) for _ in "ab"]
        process.send_signal(signal.SIGTERM)
        return environ, statuses, await process.wait()

    environ, statuses, code = asyncio.run(play())
    assert (statuses, code) == ([503, 200], 0)
    assert not os.path.exists(environ["GOOGLE_APPLICATION_CREDENTIALS"])  # noqa: PTH110 - a path of another process
