"""The clients of real SDKs, taken over: where they go, their keys and headers; keys that they don't have, or renew."""

import asyncio

import anthropic
import boto3
import groq
import openai
import pytest
from anthropic.lib.bedrock import AnthropicBedrock
from anthropic.lib.vertex import AsyncAnthropicVertex
from google import genai
from google.oauth2.credentials import Credentials
from mistralai.client import Mistral

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.renderers import renderer_of
from showandtell.errors import BadInput, MissingKey
from showandtell.providers.client import Settings, connect_client, read_client
from showandtell.providers.connect import locate

KEY = "sk-canary-1234567890"
GATE = "http://gate.test/x"
VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY")
OF_AWS = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in (*VARIABLES, *OF_AWS):
        monkeypatch.delenv(name, raising=False)


class Post:
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"
    headers = {"content-type": "application/json"}  # noqa: RUF012 - read only
    size = 2

    async def body(self):
        yield b"{}"


def authorized(settings: Settings):
    """The headers that each request gets."""
    assert settings.authorize is not None
    return asyncio.run(settings.authorize(Post()))


def azure(**more):
    return openai.AzureOpenAI(azure_endpoint="https://acme.openai.azure.com", api_version="2025-04-01", **more)


def boto(**more):
    return boto3.client("bedrock-runtime", region_name="us-east-1", **more)


SIGNED = {"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": KEY}

#: Clients with a key of their own: who they may stand for, where they go, and the headers that let them in.
PLAIN = [
    (openai.OpenAI(api_key=KEY), "openai", "https://api.openai.com/v1/responses", "authorization"),
    (openai.AsyncOpenAI(api_key=KEY, base_url=GATE), "openai-chat", f"{GATE}/chat/completions", "authorization"),
    (
        openai.OpenAI(api_key=KEY, base_url="https://openrouter.ai/api/v1"),
        "openrouter",
        "https://openrouter.ai/api/v1/chat/completions",
        "authorization",
    ),
    (azure(api_key=KEY), "azure", "https://acme.openai.azure.com/openai/v1/responses", "api-key"),
    (
        azure(azure_ad_token=KEY, azure_deployment="mine"),
        "azure-chat",
        "https://acme.openai.azure.com/openai/v1/chat/completions",
        "authorization",
    ),
    (anthropic.Anthropic(api_key=KEY), "anthropic", "https://api.anthropic.com/v1/messages", "x-api-key"),
    (
        anthropic.AsyncAnthropic(auth_token=KEY, base_url=GATE),
        "anthropic",
        f"{GATE}/v1/messages",
        "authorization",
    ),
    (
        AnthropicBedrock(api_key=KEY, aws_region="us-east-1"),
        "anthropic-bedrock",
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/m-1/invoke-with-response-stream",
        "authorization",
    ),
    (
        AsyncAnthropicVertex(access_token=KEY, region="us-east5", project_id="acme"),
        "anthropic-vertex",
        "https://us-east5-aiplatform.googleapis.com/v1/projects/acme/locations/us-east5/publishers/anthropic/models/m-1:streamRawPredict",
        "authorization",
    ),
    (
        genai.Client(api_key=KEY),
        "google",
        "https://generativelanguage.googleapis.com/v1beta/models/m-1:streamGenerateContent?alt=sse",
        "x-goog-api-key",
    ),
    (groq.Groq(api_key=KEY), "groq", "https://api.groq.com/openai/v1/chat/completions", "authorization"),
    (Mistral(api_key=KEY), "mistral", "https://api.mistral.ai/v1/chat/completions", "authorization"),
]


@pytest.mark.parametrize(("client", "provider", "url", "header"), PLAIN, ids=[item[1] for item in PLAIN])
def test_a_client_is_taken_over_with_its_base_url_and_key(client, provider, url, header):
    settings = read_client(client)
    environ = {"GOOGLE_CLOUD_PROJECT": "acme", "GOOGLE_CLOUD_LOCATION": "us-east5"}
    target = locate(resolve(f"{provider}:m-1"), environ)
    exchange = connect_client(target, client)
    assert renderer_of(target.api).url(target, exchange.base, stream=True) == url
    assert exchange.headers[header] == {"authorization": f"Bearer {KEY}"}.get(header, KEY)
    assert exchange.authorize is None
    assert KEY not in repr((settings, exchange))
    assert not [name for name in exchange.headers if name.startswith("x-stainless") or name == "user-agent"]


@pytest.mark.smoke
def test_headers_of_ones_own_come_along():
    client = openai.OpenAI(
        api_key=KEY, organization="org", project="proj", default_headers={"X-Team": "red", "X-None": openai.Omit()}
    )
    assert dict(read_client(client).headers) == {
        "authorization": f"Bearer {KEY}",
        "openai-organization": "org",
        "openai-project": "proj",
        "x-team": "red",
    }
    client = genai.Client(api_key=KEY, http_options={"headers": {"X-Team": "red"}, "base_url": GATE})
    assert read_client(client).headers == {"x-goog-api-key": KEY, "x-team": "red"}


def test_claude_is_asked_in_the_version_that_our_requests_are_written_in():
    client = anthropic.Anthropic(api_key=KEY, default_headers={"anthropic-beta": "files-api-2025-04-14"})
    assert read_client(client).headers == {
        "anthropic-version": "2023-06-01",
        "x-api-key": KEY,
        "anthropic-beta": "files-api-2025-04-14",
    }


async def renewed():
    return f"{KEY}-2"


@pytest.mark.parametrize(
    ("client", "header"),
    [
        (openai.OpenAI(api_key=lambda: f"{KEY}-2"), "authorization"),
        (openai.AsyncOpenAI(api_key=renewed), "authorization"),
        (azure(azure_ad_token_provider=lambda: f"{KEY}-2"), "authorization"),
        (Mistral(api_key=lambda: f"{KEY}-2"), "authorization"),
    ],
)
def test_a_function_that_gives_keys_is_asked_for_each_request(client, header):
    settings = read_client(client)
    assert header not in settings.headers
    assert authorized(settings)[header] == f"Bearer {KEY}-2"


@pytest.mark.parametrize(
    "client",
    [
        boto(**SIGNED),
        AnthropicBedrock(aws_access_key="AKIDEXAMPLE", aws_secret_key=KEY, aws_region="us-east-1"),
    ],
)
def test_a_client_of_bedrock_signs_with_its_own_credentials(client):
    settings = read_client(client)
    assert (settings.base, settings.account) == ("https://bedrock-runtime.us-east-1.amazonaws.com", "us-east-1")
    assert "Credential=AKIDEXAMPLE/" in authorized(settings)["authorization"]
    assert KEY not in repr(settings)


def test_boto_with_a_bearer_key_sends_it(monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    settings = read_client(boto(endpoint_url=GATE))
    assert settings.base == GATE
    assert authorized(settings)["authorization"] == f"Bearer {KEY}"


def test_a_client_of_vertex_brings_its_account_and_credentials():
    client = genai.Client(vertexai=True, project="acme", location="eu", credentials=Credentials(token=KEY))
    settings = read_client(client)
    assert (settings.base, settings.account) == ("https://aiplatform.eu.rep.googleapis.com", "acme/eu")
    assert authorized(settings)["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("model", "client"),
    [
        ("openai:gpt-5", anthropic.Anthropic(api_key=KEY)),
        ("groq:qwen", openai.OpenAI(api_key=KEY)),
        ("openai:gpt-5", openai.OpenAI(api_key=KEY, base_url="https://openrouter.ai/api/v1")),
        ("mistral:mistral-medium-latest", groq.Groq(api_key=KEY)),
        ("inspector", openai.OpenAI(api_key=KEY)),
    ],
)
def test_a_client_of_another_provider_is_refused(model, client):
    with pytest.raises(BadInput, match=f"{model.partition(':')[0]}.* can't be reached by this .*, which is for https"):
        connect_client(resolve(model), client)


def test_an_unknown_client_is_refused_with_the_supported_ones():
    with pytest.raises(BadInput, match=r"^Post is not a supported client; supported are OpenAI, .*boto3"):
        read_client(Post())
    with pytest.raises(BadInput, match="S3 is not a supported client"):
        read_client(boto3.client("s3", region_name="us-east-1", **SIGNED))


def give_nothing(**_):
    return None


def test_a_client_without_a_key_is_refused():
    with pytest.raises(MissingKey, match="the client has no key"):
        read_client(anthropic.Anthropic(credentials=give_nothing))
    with pytest.raises(BadInput, match="the client's key contains a line break") as caught:
        read_client(openai.OpenAI(api_key=f"{KEY}\nx"))
    assert KEY not in str(caught.value)
