"""A host that tells what its models take is asked once, before the first file is sent."""

import json
from contextlib import asynccontextmanager

import pytest

from showandtell import File, UnsupportedFile
from showandtell.agent.fit_context import ContextFit
from showandtell.core.capabilities.cells import Window
from showandtell.core.capabilities.modalities import ListedWindow, limit_window
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.http import HttpResponse
from showandtell.providers.exchange import Exchange
from support.agents import make_agent
from support.fixtures import png
from support.scripted import GPT, ONCE, say

IMAGE = File.from_bytes(png(9, 8), name="drawn.png")
SEEING, BLIND = ["completion", "vision"], ["completion"]


class Ollama:
    """A server with one model: answers `/api/show`, and the chat. `asked` are the paths, `images` those of each chat."""

    def __init__(self, capabilities, status=200):
        self.shown = status, json.dumps({"capabilities": capabilities}).encode()
        self.asked, self.images = [], []

    @asynccontextmanager
    async def send(self, request):
        body = b"".join([piece async for piece in request.body()])
        self.asked.append(request.url.removeprefix("http://ollama"))
        if request.url.endswith("/api/show"):
            yield HttpResponse(self.shown[0], {"content-type": "application/json"}, one(self.shown[1]))
        else:
            self.images.append(body.count(b"image_url") // 2)
            yield HttpResponse(200, {"content-type": "text/event-stream"}, one(say("Ok.", model=GPT)))

    def agent(self):
        return make_agent("ollama:some-model", exchange=Exchange(self.send, "http://ollama/v1", {}), retry=ONCE)


async def one(data):
    yield data


def test_an_image_is_sent_to_a_model_that_sees_and_the_host_is_asked_once():
    host = Ollama(SEEING)
    conversation = host.agent().conversation()
    for _ in range(3):
        host.agent().run_sync("look", files=[IMAGE], conversation=conversation)
    assert (host.asked.count("/api/show"), host.asked[0], host.images) == (1, "/api/show", [1, 2, 3])


def test_an_image_is_not_sent_to_a_model_without_eyes():
    host = Ollama(BLIND)
    conversation = host.agent().conversation()
    with pytest.raises(UnsupportedFile, match="its host doesn't list it"):
        host.agent().run_sync("look", files=[IMAGE], conversation=conversation)
    run = host.agent().run_sync("never mind", conversation=conversation)
    assert (run.status, host.images, host.asked.count("/api/show")) == ("complete", [0], 1)


def test_a_host_that_does_not_tell_gets_the_image_and_is_not_asked_again_soon():
    host = Ollama(BLIND, status=404)
    for _ in range(2):
        host.agent().run_sync("look", files=[IMAGE])
    assert (host.asked.count("/api/show"), host.images) == (1, [1, 1])


def test_a_conversation_without_files_asks_nothing():
    host = Ollama(BLIND)
    host.agent().run_sync("hello")
    assert host.asked == ["/v1/chat/completions"]


SIZES = [
    ("vllm:served", 8_192, 8_192),
    ("openrouter:openai/gpt-4.1", 32_768, 32_768),
    ("openrouter:openai/gpt-4.1", 10_000_000, 1_047_576),
]


@pytest.mark.parametrize(("name", "listed", "tokens"), SIZES)
def test_the_smaller_window_of_the_table_and_the_host_counts(name, listed, tokens):
    window = ListedWindow(listed, "its host lists it", "2026-11-26", 1e12)
    assert limit_window(resolve(name), window).window.tokens == tokens


@pytest.mark.parametrize("tokens", [4_096, 16_000])
def test_the_window_that_an_error_tells_counts_before_the_one_of_the_host(tokens):
    target = limit_window(resolve("vllm:served"), ListedWindow(8_192, "its host lists it", "2026-11-26", 1e12))
    fit = ContextFit(window=Window(tokens, "told by the provider", ""))
    assert fit.known(target).window.tokens == tokens
