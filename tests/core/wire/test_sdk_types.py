"""The providers' own SDKs as last witnesses: what they send over HTTP, given our `kwargs()`, is our REST body."""

import json

import httpx
import httpx2
import pytest

from showandtell import File, render
from support.builders import tool_history
from support.fixtures import pdf, png
from support.sdk_spelling import URL_SAFE, camel

HISTORY = tool_history("Here:", File.from_bytes(png(), name="kiwi.png"), File.from_bytes(pdf("one"), name="r.pdf"))


def find(city: str) -> str:
    """Find a city."""
    return city


def request(model):
    return render(HISTORY, model=model, tools=[find], instructions="Be brief.", temperature=0.5, max_tokens=100)


class Line:
    """A transport's end: keeps the body of the one request, and refuses it so that no answer need be made up."""

    def __init__(self):
        self.body = None

    def answer(self, kind):
        def take(sent):
            self.body = json.loads(sent.content)
            return kind.Response(400, json={"error": {"message": "enough", "code": 400, "status": "INVALID_ARGUMENT"}})

        return kind.Client(transport=kind.MockTransport(take))


def by_anthropic(made, line):
    from anthropic import Anthropic

    Anthropic(api_key="x", http_client=line.answer(httpx2), max_retries=0).messages.create(**made.kwargs())


def by_openai_chat(made, line):
    from openai import OpenAI

    OpenAI(api_key="x", http_client=line.answer(httpx2), max_retries=0).chat.completions.create(**made.kwargs())


def by_openai(made, line):
    from openai import OpenAI

    OpenAI(api_key="x", http_client=line.answer(httpx2), max_retries=0).responses.create(**made.kwargs())


def by_groq(made, line):
    from groq import Groq

    Groq(api_key="x", http_client=line.answer(httpx), max_retries=0).chat.completions.create(**made.kwargs())


def by_mistral(made, line):
    from mistralai.client import Mistral

    Mistral(api_key="x", client=line.answer(httpx)).chat.complete(**made.kwargs())


def by_google(made, line):
    from google import genai

    options = genai.types.HttpOptions(httpx_client=line.answer(httpx))
    genai.Client(api_key="x", http_options=options).models.generate_content(**made.kwargs())


def by_bedrock(made, line):
    import botocore.session
    from botocore.awsrequest import AWSResponse

    client = botocore.session.get_session().create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",  # noqa: S106
    )

    def take(request, **_):
        line.body = json.loads(request.body)
        return AWSResponse(request.url, 400, {"x-amzn-errortype": "ValidationException"}, None)

    client.meta.events.register("before-send", take)
    client.converse(**made.kwargs())


SDKS = {
    "anthropic:claude-opus-5": by_anthropic,
    "openai-chat:gpt-5-mini": by_openai_chat,
    "openai:gpt-5-mini": by_openai,
    "groq:meta-llama/llama-4-maverick-17b-128e-instruct": by_groq,
    "mistral:mistral-medium-latest": by_mistral,
    "google:gemini-3-flash-preview": by_google,
    "google:gemini-2.5-flash": by_google,
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": by_bedrock,
}


@pytest.mark.parametrize(("model", "send"), SDKS.items(), ids=SDKS)
def test_the_sdk_sends_the_body_that_we_render(model, send):
    made, line = request(model), Line()
    with pytest.raises(Exception):  # noqa: B017 - each SDK has its own error for the refusal
        send(made, line)
    assert normal(line.body) == normal(made.json())


def normal(body):
    """A body without what SDKs spell otherwise: Google's snake_case and url-safe base64, Mistral's defaults."""
    match body:
        case dict():
            kept = {
                camel(key): normal(value) for key, value in body.items() if key not in {"prefix", "stream", "index"}
            }
            return kept | {"data": kept["data"].translate(URL_SAFE)} if isinstance(kept.get("data"), str) else kept
        case list():
            return [normal(value) for value in body]
        case _:
            return body
