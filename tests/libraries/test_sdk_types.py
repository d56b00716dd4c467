"""The providers' SDKs, called with our `kwargs()`, send our REST body over HTTP."""

import json

import httpx
import httpx2
import pytest

from showandtell import File, render
from support.builders import tool_history
from support.fixtures import pdf, png
from support.sdk_formats import URL_SAFE, camel

HISTORY = tool_history("Here:", File.from_bytes(png(), name="kiwi.png"), File.from_bytes(pdf("one"), name="r.pdf"))


def find(city: str) -> str:
    """Find a city."""
    return city


def request(model):
    return render(HISTORY, model=model, tools=[find], instructions="Be brief.", temperature=0.5, max_tokens=100)


class Line:
    """A transport that records the body of one request and rejects it, so that no response is needed."""

    def __init__(self):
        self.body = None

    def answer(self, kind):
        def record(sent):
            self.body = json.loads(sent.content)
            return kind.Response(400, json={"error": {"message": "enough", "code": 400, "status": "INVALID_ARGUMENT"}})

        return kind.Client(transport=kind.MockTransport(record))


def by_anthropic(rendered, line):
    from anthropic import Anthropic

    Anthropic(api_key="x", http_client=line.answer(httpx2), max_retries=0).messages.create(**rendered.kwargs())


def by_openai_chat(rendered, line):
    from openai import OpenAI

    OpenAI(api_key="x", http_client=line.answer(httpx2), max_retries=0).chat.completions.create(**rendered.kwargs())


def by_openai(rendered, line):
    from openai import OpenAI

    OpenAI(api_key="x", http_client=line.answer(httpx2), max_retries=0).responses.create(**rendered.kwargs())


def by_groq(rendered, line):
    from groq import Groq

    Groq(api_key="x", http_client=line.answer(httpx), max_retries=0).chat.completions.create(**rendered.kwargs())


def by_mistral(rendered, line):
    from mistralai.client import Mistral

    Mistral(api_key="x", client=line.answer(httpx)).chat.complete(**rendered.kwargs())


def by_google(rendered, line):
    from google import genai

    options = genai.types.HttpOptions(httpx_client=line.answer(httpx))
    genai.Client(api_key="x", http_options=options).models.generate_content(**rendered.kwargs())


def by_bedrock(rendered, line):
    import botocore.session
    from botocore.awsrequest import AWSResponse

    client = botocore.session.get_session().create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",  # noqa: S106
    )

    def record(request, **_):
        line.body = json.loads(request.body)
        return AWSResponse(request.url, 400, {"x-amzn-errortype": "ValidationException"}, None)

    client.meta.events.register("before-send", record)
    client.converse(**rendered.kwargs())


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
    rendered, line = request(model), Line()
    with pytest.raises(Exception):  # noqa: B017 - each SDK has its own error for the refusal
        send(rendered, line)
    assert normal(line.body) == normal(rendered.json())


def normal(body):
    """Normalize a body: Google's SDK writes snake case and URL-safe base64, Mistral's writes defaults."""
    match body:
        case dict():
            fields = {
                camel(key): normal(value) for key, value in body.items() if key not in {"prefix", "stream", "index"}
            }
            return (
                fields | {"data": fields["data"].translate(URL_SAFE)} if isinstance(fields.get("data"), str) else fields
            )
        case list():
            return [normal(value) for value in body]
        case _:
            return body
