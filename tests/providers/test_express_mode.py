"""Gemini on Vertex by an API key alone: no project, no credentials, and the key in a header."""

import asyncio

import pytest
from google import genai

from showandtell import Agent, Connection, File
from showandtell.core.capabilities.google import EXPRESS
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.renderers import renderer_of
from showandtell.errors import BadInput, MissingKey
from showandtell.providers.client import read_client
from showandtell.providers.connect import connect, locate
from support.fixtures import png
from support.scripted import GEMINI, say, scripted, watch

KEY = "AQ.secret-key"
MODEL = "vertex:gemini-3-flash-preview"
PROJECT = {"GOOGLE_CLOUD_PROJECT": "acme-1", "GOOGLE_CLOUD_LOCATION": "europe-west4"}
URL = "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-3-flash-preview:generateContent"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", *PROJECT):
        monkeypatch.delenv(name, raising=False)


def sent(agent):
    """URL and headers of an agent's requests."""
    url = renderer_of(agent.target.api).url(agent.target, agent.exchange.base, stream=False)
    return url, dict(agent.exchange.headers), agent.exchange.authorize


def test_a_key_that_is_passed_needs_no_project(monkeypatch):
    by_key = URL, {"x-goog-api-key": KEY}, None
    assert sent(Agent(MODEL, connection=Connection(api_key=KEY))) == by_key
    for name, value in PROJECT.items():
        monkeypatch.setenv(name, value)
    assert sent(Agent(MODEL, connection=Connection(api_key=KEY))) == by_key


def test_the_key_of_the_environment_is_used_without_a_project(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert sent(Agent(MODEL)) == (URL, {"x-goog-api-key": KEY}, None)


def test_a_project_of_the_environment_takes_precedence_over_its_key():
    environ = {**PROJECT, "GOOGLE_API_KEY": KEY}
    exchange = connect(locate(resolve(MODEL), environ), environ=environ)
    assert exchange.base == "https://europe-west4-aiplatform.googleapis.com"
    assert dict(exchange.headers) == {}
    assert exchange.authorize is not None


def test_behind_a_gateway_a_project_keeps_its_url_and_the_key_is_the_gateways():
    target = locate(resolve(MODEL), PROJECT, base_url="http://gate.test", api_key=KEY)
    exchange = connect(target, base_url="http://gate.test", api_key=KEY, environ=PROJECT)
    assert (target.account, dict(exchange.headers)) == ("acme-1/europe-west4", {"authorization": f"Bearer {KEY}"})


@pytest.mark.parametrize("project", [{}, PROJECT])
def test_a_client_in_express_mode_is_taken_over(project, monkeypatch):
    for name, value in project.items():
        monkeypatch.setenv(name, value)
    client = genai.Client(vertexai=True, api_key=KEY)
    assert sent(Agent(MODEL, connection=Connection(client=client))) == (URL, {"x-goog-api-key": KEY}, None)
    assert KEY not in repr(read_client(client))
    with pytest.raises(BadInput, match="can't be reached by this Client"):
        _ = Agent("anthropic-vertex:claude-sonnet-4-5@20250929", connection=Connection(client=client)).exchange


def test_without_project_and_key_both_settings_are_named():
    with pytest.raises(MissingKey, match=r"GOOGLE_CLOUD_PROJECT.*GOOGLE_API_KEY"):
        connect(resolve(MODEL), environ={})


def test_a_refused_key_is_reported_with_its_source():
    exchange = connect(resolve(MODEL), environ={"GOOGLE_API_KEY": KEY})
    assert exchange.explain(401, "no") == "no (the key is from GOOGLE_API_KEY)"


def test_the_strict_server_accepts_what_is_sent_by_key():
    agent, script = scripted(say("Hi.", model=GEMINI), model=MODEL, api_key=KEY)
    asyncio.run(watch(agent.run("Hello", files=[File.from_bytes(png())])))
    assert (script.files, agent.target.account) == ([1], EXPRESS)
