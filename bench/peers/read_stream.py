"""What others do to read a streamed answer: the API's SDK, or pydantic-ai on it, through an HTTP client in memory."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
from pydantic_models import CONVERSE, GEMINI, GPT, make_model
from rounds import answer_lines

WAY, PATH, SIZE, TYPE, EVENTS = sys.argv[1:6]
#: "pydantic-ai/openai-chat": the framework, and the API on which it works.
FRAMEWORK, _, API = WAY.rpartition("/")
DATA, ASKED = Path(PATH).read_bytes(), "How was the quarter?"
HEADERS = {"content-type": TYPE}


def reads() -> Iterator[bytes]:
    size = int(SIZE)
    return (DATA[at : at + size] for at in range(0, len(DATA), size))


async def come() -> AsyncIterator[bytes]:
    for data in reads():
        yield data


def client() -> httpx2.Client:
    return httpx2.Client(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, headers=HEADERS, content=reads()))
    )


def async_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, headers=HEADERS, content=come()))
    )


def drained(ask: Callable[[], Any]) -> Callable[[], object]:
    def work() -> None:
        assert sum(1 for _ in ask()) > int(EVENTS) - 10

    return work


def anthropic() -> Callable[[], object]:
    from anthropic import Anthropic

    sdk, asked = Anthropic(api_key="none", http_client=client()), {"role": "user", "content": ASKED}
    return drained(lambda: sdk.messages.create(model="any", max_tokens=9, messages=[asked], stream=True))


def openai_chat() -> Callable[[], object]:
    from openai import OpenAI

    sdk, asked = OpenAI(api_key="none", http_client=client()), {"role": "user", "content": ASKED}
    return drained(lambda: sdk.chat.completions.create(model=GPT, messages=[asked], stream=True))


def openai_responses() -> Callable[[], object]:
    from openai import OpenAI

    sdk = OpenAI(api_key="none", http_client=client())
    return drained(lambda: sdk.responses.create(model=GPT, input=ASKED, stream=True))


def google_genai() -> Callable[[], object]:
    from google import genai

    sdk = genai.Client(api_key="none", http_options=genai.types.HttpOptions(httpx_client=client()))
    return drained(lambda: sdk.models.generate_content_stream(model=GEMINI, contents=ASKED))


def boto3_client() -> Any:
    import boto3
    from botocore.awsrequest import AWSResponse

    class Raw:
        """A body as urllib3 gives it."""

        def stream(self, **_: object) -> Iterator[bytes]:
            return reads()

        def close(self) -> None:
            """There is nothing to close."""

    session = boto3.Session(aws_access_key_id="none", aws_secret_access_key="none", region_name="us-east-1")  # noqa: S106 - no key
    sdk = session.client("bedrock-runtime")
    sdk.meta.events.register(
        "before-send.bedrock-runtime.*", lambda request, **_: AWSResponse(request.url, 200, HEADERS, Raw())
    )
    return sdk


def boto3() -> Callable[[], object]:
    sdk, asked = boto3_client(), {"role": "user", "content": [{"text": ASKED}]}
    return drained(lambda: sdk.converse_stream(modelId=CONVERSE, messages=[asked])["stream"])


def pydantic_ai() -> Callable[[], object]:
    from pydantic_ai import Agent

    reached = {"bedrock_client": boto3_client()} if API == "bedrock-converse" else {}
    agent = Agent(make_model(API, async_client(), **reached))

    async def watch() -> None:
        count = 0
        async with agent.run_stream_events(ASKED) as events:
            async for _ in events:
                count += 1
        assert count > int(EVENTS) - 10

    return lambda: asyncio.run(watch())


#: Ways by name, each with its distribution.
WAYS: dict[str, tuple[str, Callable[[], Callable[[], object]]]] = {
    "anthropic": ("anthropic", anthropic),
    "openai-chat": ("openai", openai_chat),
    "openai-responses": ("openai", openai_responses),
    "google-genai": ("google-genai", google_genai),
    "boto3": ("boto3", boto3),
}
distribution, make = ("pydantic-ai-slim", pydantic_ai) if FRAMEWORK else WAYS[WAY]
answer_lines(distribution, make())
