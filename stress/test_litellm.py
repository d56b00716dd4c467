"""A real LiteLLM proxy between the agent and the fake provider: how it changes files, text and errors.

The first run installs it into stress/.envs/litellm, from a package registry. It listens on 127.0.0.1 alone, reads its
lists from its own package, and any proxy that leads out of the machine is a closed port.
"""

import asyncio
import base64
import hashlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from threading import Thread, Timer
from typing import NamedTuple

import pytest

from fake_provider import AWS_KEY, AWS_SECRET, KEYS, FakeProvider, LedgerEntry
from fake_provider.faults import Fault, empty, end, error_event, hang_up, reset, stall, status
from fake_provider.plain_client import CLAUDE_ON_AWS
from showandtell import Agent, File
from showandtell.agent.agent import Run
from showandtell.core.events.types import Event, Retry, TextDelta
from showandtell.errors import ProviderError, ProviderUnavailable
from showandtell.inspector.gemini.rules import signed_by
from showandtell.providers.retry import RetryPolicy
from support.agents import make_agent as make_model
from support.fixtures import pdf, png

HERE = Path(__file__).parent
UV = HERE.parent / ".uv/bin/uv"
KEY = f"sk-{secrets.token_hex(32)}"
RUNNING = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")
#: It imports for 10 to 30 seconds.
START = 180.0
IMAGE, DOCUMENT = png(9, 9), pdf("Order 7")
CLAUDE, OPENAI = "anthropic/claude-sonnet-4-5", "openai/gpt-5-mini"
GEMINI, MISTRAL = "gemini/gemini-3-flash-preview", "mistral/mistral-medium-latest"
BEDROCK = f"bedrock/{CLAUDE_ON_AWS}"
#: A model's name at the proxy: what is behind it, the fake provider's host, and the path that LiteLLM needs after its base.
ROUTES = {
    CLAUDE: (CLAUDE, "anthropic", ""),
    OPENAI: (OPENAI, "openai", ""),
    GEMINI: (GEMINI, "google", "/v1beta"),
    MISTRAL: (MISTRAL, "mistral", "/v1"),
    "our-claude": (CLAUDE, "anthropic", ""),
}
NAMED = attrgetter("name")
three_apis = pytest.mark.parametrize("model", [CLAUDE, OPENAI, GEMINI])


def draw() -> File:
    return File.from_bytes(IMAGE, name="drawn.png")


def show_order() -> list[object]:
    return ["Order 7:", draw(), File.from_bytes(DOCUMENT, name="order.pdf")]


# The proxy.


class Proxy(NamedTuple):
    """A running proxy, and the port on which it expects the fake provider."""

    process: subprocess.Popen[str]
    url: str
    port: int


def install() -> Path:
    """The programs of the proxy's environment, made where it isn't there yet."""
    env, wanted = HERE / ".envs/litellm", (HERE / "litellm.txt").read_text()
    ready = env / ".ready"
    if not ready.exists() or ready.read_text() != wanted:
        # S603 below: the programs are this repository's own choice.
        subprocess.run([UV, "venv", "-q", "--clear", "--python", sys.executable, env], check=True)  # noqa: S603
        sync = [UV, "pip", "sync", "-q", "--python", env / "bin/python", HERE / "litellm.txt"]
        subprocess.run(sync, check=True)  # noqa: S603
        ready.write_text(wanted)
    return env / "bin"


def write_config(fake_provider: FakeProvider) -> str:
    """The proxy's settings in JSON, which is YAML as well; it never asks again by itself, for that is ours to do."""
    models = {
        name: {"model": model, "api_base": fake_provider.base(host) + path, "api_key": KEYS[host][1]}
        for name, (model, host, path) in ROUTES.items()
    }
    account = {"aws_access_key_id": AWS_KEY, "aws_secret_access_key": AWS_SECRET, "aws_region_name": "us-east-1"}
    models[BEDROCK] = {"model": BEDROCK, "aws_bedrock_runtime_endpoint": fake_provider.base("bedrock"), **account}
    listed = [{"model_name": name, "litellm_params": item} for name, item in models.items()]
    return json.dumps({"model_list": listed, "router_settings": {"num_retries": 0}})


def make_environ(home: Path) -> dict[str, str]:
    """No telemetry, no lists from elsewhere, no way out. It does not start without a key of its own."""
    local = ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS", "POLICY_TEMPLATES", "AUTOROUTER_PRESETS")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LITELLM_MASTER_KEY": KEY,
        "LITELLM_TELEMETRY_DISABLED": "True",
        **{f"LITELLM_LOCAL_{name}": "True" for name in local},
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
        "NO_PROXY": "127.0.0.1",
    }


def read_url(process: subprocess.Popen[str]) -> str:
    """Where the proxy listens, as it says itself."""
    assert process.stdout is not None
    timer, output = Timer(START, process.kill), deque[str](maxlen=20)
    timer.start()
    try:
        for line in process.stdout:
            output.append(line)
            if found := RUNNING.search(line):
                return found[1]
    finally:
        timer.cancel()
    raise AssertionError(f"LiteLLM did not start: {''.join(output)}")


@contextmanager
def running(folder: Path, port: int) -> Iterator[Proxy]:
    """A proxy until the end of the block. What it says is read all the time, so that it never waits for a reader."""
    config = folder / "config.yaml"
    config.write_text(write_config(FakeProvider(port=port)))
    command = [install() / "litellm", "--config", config, "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(  # noqa: S603
        command, env=make_environ(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        reader = Thread(target=deque, args=(process.stdout, 0))
        try:
            url = read_url(process)
            reader.start()
            yield Proxy(process, url, port)
        finally:
            process.kill()
            if reader.ident is not None:
                reader.join()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    with running(tmp_path_factory.mktemp("litellm"), port) as started:
        yield started


class Played(NamedTuple):
    """A finished run, its events, and the requests that the fake provider received."""

    run: Run
    events: list[Event]
    ledger: list[LedgerEntry]

    @property
    def statuses(self):
        return [item.status for item in self.ledger]


async def no_time(_: float) -> None:
    return


def make_agent(proxy: Proxy, model: str, key: str = KEY) -> Agent:
    retry = RetryPolicy(tries=2, sleep=no_time)
    return make_model(f"litellm:{model}", [draw, show_order], base_url=proxy.url, api_key=key, retry=retry)


def play(
    proxy: Proxy, model: str, *faults: Fault, text: str = "/show_order", files: Sequence[File] = (), key: str = KEY
) -> Played:
    """One run through the proxy to its own fake provider."""

    async def watch() -> Played:
        async with FakeProvider(faults, port=proxy.port) as fake_provider:
            run = make_agent(proxy, model, key).run(text, files=files)
            return Played(run, [event async for event in run], fake_provider.ledger)

    return asyncio.run(watch())


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Files.


@pytest.mark.parametrize(
    ("model", "host", "place"),
    [
        (CLAUDE, "anthropic", "tool_result"),
        (GEMINI, "google", "tool_result"),
        (OPENAI, "openai", "user"),
        (MISTRAL, "mistral", "user"),
        ("our-claude", "anthropic", "user"),
    ],
)
def test_files_of_a_tool_reach_the_model_whole_where_our_rows_say(proxy, model, host, place):
    played = play(proxy, model)
    assert (played.run.status, played.run.error, played.statuses) == ("complete", None, [200, 200])
    first, last = played.ledger
    assert (first.seen, last.host) == ((), host)
    assert [(sight.place, sight.media_type, sight.sha256) for sight in last.seen] == [
        (place, "image/png", hashed(IMAGE)),
        (place, "application/pdf", hashed(DOCUMENT)),
    ]
    image, document = (sight.label for sight in last.seen)
    assert image.startswith("⟦image 1: drawn.png, from tool show_order (call ")
    assert document.startswith("⟦document 2: order.pdf, from tool show_order (call ")
    assert ("Tool output: data" in image, "Tool output: data" in document) == (place == "user", place == "user")
    assert {receipt.delivery for receipt in played.run.receipts} == {
        "native" if place == "tool_result" else "relocated"
    }


def test_claude_on_bedrock_sees_an_image_in_the_tool_result_and_a_pdf_in_a_turn_of_its_own(proxy):
    played = play(proxy, BEDROCK)
    assert (played.run.status, played.run.error, played.statuses) == ("complete", None, [200, 200])
    assert [(sight.place, sight.sha256) for sight in played.ledger[1].seen] == [
        ("tool_result", hashed(IMAGE)),
        ("user", hashed(DOCUMENT)),
    ]
    assert [receipt.delivery for receipt in played.run.receipts] == ["native", "relocated"]


@pytest.mark.parametrize("model", [CLAUDE, GEMINI, OPENAI, MISTRAL, BEDROCK, "our-claude"])
def test_files_of_a_user_reach_the_model_in_their_message(proxy, model):
    files = [File.from_bytes(IMAGE, name="mine.png"), File.from_bytes(DOCUMENT, name="mine.pdf")]
    played = play(proxy, model, text="Describe them.", files=files)
    assert (played.run.status, played.statuses) == ("complete", [200])
    seen = played.ledger[0].seen
    assert [(item.place, item.sha256) for item in seen] == [("user", hashed(IMAGE)), ("user", hashed(DOCUMENT))]
    assert all("uploaded by the user" in item.label for item in seen)


def test_geminis_own_signature_comes_back_with_its_call(proxy):
    bodies = []

    async def watch():
        # A handler that returns nothing sees every request.
        async with FakeProvider(handlers=[lambda _, incoming: bodies.append(incoming.body)], port=proxy.port):
            return await make_agent(proxy, GEMINI).run("/show_order")

    assert asyncio.run(watch()).status == "complete"
    parts = [part for content in json.loads(bodies[1])["contents"] for part in content["parts"]]
    (signature,) = (base64.b64decode(part["thoughtSignature"]) for part in parts if "thoughtSignature" in part)
    # LiteLLM inserts a placeholder for a missing signature, which the fake provider's host would not have signed.
    assert signed_by(signature) == "google"


# Words, tokens and errors.


@three_apis
def test_words_come_in_pieces_and_tokens_are_counted(proxy, model):
    played = play(proxy, model, text="hi")
    assert sum(isinstance(event, TextDelta) for event in played.events) > 2
    assert played.run.usage.input_tokens > 0
    assert played.run.usage.output_tokens > 0
    assert played.run.usage.cost is not None


@three_apis
@pytest.mark.parametrize("fault", [status(429, retry_after=1), status(503), status(529), hang_up()], ids=NAMED)
def test_a_provider_that_is_busy_behind_the_proxy_is_asked_again_once(proxy, model, fault):
    played = play(proxy, model, fault)
    assert (played.run.status, len(played.ledger)) == ("complete", 3)
    (retry,) = (event for event in played.events if isinstance(event, Retry))
    assert not retry.files
    assert len(played.ledger[2].seen) == 2


@pytest.mark.parametrize("model", [CLAUDE, OPENAI, MISTRAL, BEDROCK])
def test_a_provider_is_left_alone_for_as_long_as_it_asks(proxy, model):
    played = play(proxy, model, status(429, retry_after=7), text="hi")
    assert [event.seconds for event in played.events if isinstance(event, Retry)] == [7]


@three_apis
def test_a_provider_that_stays_busy_is_given_up_after_as_many_tries_as_ours(proxy, model):
    played = play(proxy, model, status(429), status(429), status(429))
    assert (played.run.status, played.statuses) == ("error", [429] * 3)
    assert isinstance(played.run.error, ProviderUnavailable)
    assert played.run.error.status == 429


@pytest.mark.parametrize("model", [CLAUDE, OPENAI])
@pytest.mark.parametrize("fault", [end(), reset(), error_event()], ids=NAMED)
def test_an_answer_that_breaks_behind_the_proxy_is_an_error(proxy, model, fault):
    played = play(proxy, model, fault, text="hi")
    assert (played.run.status, len(played.ledger)) == ("error", 1)
    assert isinstance(played.run.error, ProviderError)


def test_litellm_calls_a_torn_gemini_answer_whole(proxy):
    whole, torn = play(proxy, GEMINI, text="hi"), play(proxy, GEMINI, end(), text="hi")
    assert torn.run.status == "complete"
    assert whole.run.text.startswith(torn.run.text)
    assert len(torn.run.text) < len(whole.run.text)


@three_apis
def test_an_answer_without_a_word_is_not_called_complete(proxy, model):
    played = play(proxy, model, empty(), text="hi")
    assert (played.run.status, played.run.text) == ("incomplete", "")


def test_a_wrong_key_is_refused_by_the_proxy_itself(proxy):
    played = play(proxy, CLAUDE, key="sk-wrong")
    assert (played.run.status, played.ledger) == ("error", [])
    assert isinstance(played.run.error, ProviderError)
    # Where 401 is to be expected: without a database of keys, LiteLLM 1.109 says this of any key but its own.
    assert (played.run.error.status, played.run.error.text) == (400, "No connected db. (400)")


def test_a_model_that_the_proxy_lacks_is_an_error_with_its_words(proxy):
    played = play(proxy, "openai/gpt-0")
    assert (played.run.status, played.ledger) == ("error", [])
    assert "openai/gpt-0" in str(played.run.error)


# The last test, for no proxy is left after it.


def test_a_proxy_that_is_killed_ends_the_run_and_the_next_one(proxy):
    async def watch():
        async with FakeProvider([stall()], port=proxy.port):
            agent = make_agent(proxy, CLAUDE)
            broken = agent.run("hi")
            async for event in broken:
                if isinstance(event, TextDelta):
                    proxy.process.kill()
            return broken, await agent.run("hi")

    broken, unreachable = asyncio.run(asyncio.wait_for(watch(), 60))
    assert (broken.status, broken.reason) == ("incomplete", "cut")
    assert broken.text
    assert (unreachable.status, type(unreachable.error)) == ("error", ProviderUnavailable)
