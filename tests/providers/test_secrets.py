"""A provider may repeat the key that it was sent: nobody hears it, neither the person nor the model."""

import asyncio
import json

import pytest

from showandtell import File
from showandtell.core.wire.http import HttpResponse
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.secrets import MAX_TEXT, conceal, secrets_in
from support.agents import make_agent
from support.fixtures import png
from support.scripted import CLAUDE, FAULT, Script, say, watch

KEY = "sk/CANARY/0123456789"


def speaking(*answers, model=CLAUDE, **settings):
    """An agent that sends a key to a script which repeats it."""
    script = Script(*answers, model=model)
    headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
    exchange = Exchange(script.send, script.exchange.base, headers)
    return make_agent(model, exchange=exchange, retry=RetryPolicy(tries=0), **settings), script


def play(agent, text="hi", **settings):
    async def go():
        run = agent.run(text, **settings)
        return run, await watch(run)

    return asyncio.run(go())


async def page():
    yield f"<title>{KEY} is no key</title>".encode()


ECHOES = [
    (401, json.dumps({"error": {"type": "x", "message": f"Incorrect API key provided: {KEY}"}}).encode()),
    (400, json.dumps({"error": {"type": "x", "message": f"authorization: Bearer {KEY}"}}).encode()),
    FAULT[CLAUDE].replace(b"Overloaded", json.dumps(KEY)[1:-1].encode()),
]


@pytest.mark.parametrize("answer", ECHOES)
def test_no_event_and_no_error_holds_a_key_that_the_provider_repeats(answer):
    run, events = play(speaking(answer)[0])
    received = repr(events) + repr(run.error) + repr(run.error.__cause__) + repr(run.error.__context__) + run.reason
    assert "CANARY" not in received
    assert "[hidden]" in received


def test_a_page_that_repeats_a_key_is_reported_without_it():
    run, _ = play(speaking(HttpResponse(200, {"content-type": "text/html"}, page()))[0])
    assert "CANARY" not in run.reason
    assert "[hidden] is no key" in run.reason


def test_the_model_does_not_read_a_key_in_the_reason_why_it_was_not_given_a_file():
    refusal = 400, json.dumps({"error": {"message": f"bad image for Bearer {KEY}"}}).encode()
    agent, script = speaking(refusal, say("I see nothing."))
    run, _ = play(agent, "look", files=[File.from_bytes(png(8, 8), name="a.png")])
    assert run.text == "I see nothing."
    assert "bad image for [hidden]" in json.dumps(script.bodies[1])
    assert "CANARY" not in json.dumps(script.bodies) + repr(run.conversation.known()) + repr(run.receipts)


def test_words_without_end_are_cut():
    assert len(conceal("x" * 10_000, ())) == MAX_TEXT


def test_a_key_is_hidden_in_every_encoding():
    secrets = secrets_in({"authorization": f"Bearer {KEY}", "content-type": "application/json"})
    for text in (KEY, KEY.replace("/", "\\/"), "sk%2FCANARY%2F0123456789", f"key={KEY};"):
        assert "CANARY" not in conceal(text, secrets)
    assert conceal("application/json", secrets) == "application/json"


def test_no_key_stands_in_the_fields_of_an_agent():
    agent = make_agent("openai:gpt-5.6", api_key=KEY, headers={"x-more": KEY})
    assert "CANARY" not in repr(vars(agent)) + repr(agent) + repr(agent.exchange)
