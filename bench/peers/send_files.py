"""What others do to send files in the user's message: base64 and JSON by the API's own SDK, alone or in a framework.

The first argument is a way, as "anthropic" or "pydantic-ai/openai-chat". The last one is the URL of a provider, or
empty: then nothing leaves the process, and a request is done when its body is whole in the transport. The files are
read in each round ("disk") or once before ("bytes").
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network

import httpx2
from pydantic_models import CLAUDE, CONVERSE, GEMINI, GPT, make_model
from rounds import answer_lines

from served.sink import ANSWERS

WAY, FOLDER, SOURCE, URL = sys.argv[1:5]
ASKED = "What do these show?"
AWS_KEYS = {"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "none", "region_name": "us-east-1"}
PATHS = sorted(Path(FOLDER).iterdir())
KEPT = [path.read_bytes() for path in PATHS] if SOURCE == "bytes" else []
SIZE = sum(path.stat().st_size for path in PATHS) * 4 // 3


def files() -> list[bytes]:
    """The bytes of each file."""
    return KEPT or [path.read_bytes() for path in PATHS]


def encoded() -> list[str]:
    return [base64.b64encode(data).decode() for data in files()]


def urls() -> list[str]:
    return [f"data:image/png;base64,{text}" for text in encoded()]


def answer(api: str) -> Callable[[Any], Any]:
    """A transport that gets whole bodies."""

    def get(request: Any) -> Any:
        assert len(request.content) > SIZE
        return httpx2.Response(200, json=ANSWERS[api])

    return get


def client(api: str) -> httpx2.Client:
    return httpx2.Client() if URL else httpx2.Client(transport=httpx2.MockTransport(answer(api)))


def async_client(api: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient() if URL else httpx2.AsyncClient(transport=httpx2.MockTransport(answer(api)))


def reached(name: str = "base_url", end: str = "") -> dict[str, Any]:
    return {name: URL + end} if URL else {}


def anthropic() -> Callable[[], object]:
    from anthropic import Anthropic

    sdk = Anthropic(api_key="none", http_client=client("anthropic-messages"), **reached())

    def work() -> None:
        images = [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
            for data in encoded()
        ]
        content = [*images, {"type": "text", "text": ASKED}]
        sdk.messages.create(model=CLAUDE, max_tokens=1024, messages=[{"role": "user", "content": content}])

    return work


def langchain() -> Callable[[], object]:
    from anthropic import Anthropic
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import HumanMessage

    model = ChatAnthropic(model=CLAUDE, api_key="none", max_tokens=1024, **reached())
    # It makes its own client at first use, and keeps it there.
    model.__dict__["_client"] = Anthropic(api_key="none", http_client=client("anthropic-messages"), **reached())

    def work() -> None:
        images = [{"type": "image", "base64": data, "mime_type": "image/png"} for data in encoded()]
        model.invoke([HumanMessage([*images, {"type": "text", "text": ASKED}])])

    return work


def openai_chat() -> Callable[[], object]:
    from openai import OpenAI

    sdk = OpenAI(api_key="none", http_client=client("openai-chat"), **reached())

    def work() -> None:
        images = [{"type": "image_url", "image_url": {"url": url}} for url in urls()]
        content: Any = [*images, {"type": "text", "text": ASKED}]
        sdk.chat.completions.create(model=GPT, messages=[{"role": "user", "content": content}])

    return work


def openai_responses() -> Callable[[], object]:
    from openai import OpenAI

    sdk = OpenAI(api_key="none", http_client=client("openai-responses"), **reached())

    def work() -> None:
        images = [{"type": "input_image", "image_url": url, "detail": "auto"} for url in urls()]
        content: Any = [*images, {"type": "input_text", "text": ASKED}]
        sdk.responses.create(model=GPT, input=[{"role": "user", "content": content}])

    return work


def google_genai() -> Callable[[], object]:
    from google import genai
    from google.genai import types

    options = types.HttpOptions(httpx_client=client("gemini"), **reached())
    sdk = genai.Client(api_key="none", http_options=options)

    def work() -> None:
        images: Any = [types.Part.from_bytes(data=data, mime_type="image/png") for data in files()]
        sdk.models.generate_content(model=GEMINI, contents=[*images, ASKED])

    return work


def boto3() -> Callable[[], object]:
    from boto3 import Session
    from botocore.awsrequest import AWSResponse

    class Raw(BytesIO):
        """A body as urllib3 gives it."""

        def stream(self, **_: object) -> list[bytes]:
            return [self.read()]

    def get(request: Any, **_: object) -> Any:
        assert len(request.body) > SIZE
        raw = Raw(json.dumps(ANSWERS["bedrock-converse"]).encode())
        return AWSResponse(request.url, 200, {"content-type": "application/json"}, raw)

    session = Session(**AWS_KEYS)
    sdk = session.client("bedrock-runtime", **reached("endpoint_url"))
    if not URL:
        sdk.meta.events.register("before-send.bedrock-runtime.*", get)

    def work() -> None:
        images = [{"image": {"format": "png", "source": {"bytes": data}}} for data in files()]
        sdk.converse(modelId=CONVERSE, messages=[{"role": "user", "content": [*images, {"text": ASKED}]}])

    return work


def pydantic_ai(api: str) -> Callable[[], object]:
    from pydantic_ai import Agent, BinaryContent

    agent = Agent(make_model(api, async_client(api), **(reached() | (AWS_KEYS if api == "bedrock-converse" else {}))))

    def work() -> None:
        images = [BinaryContent(data=data, media_type="image/png") for data in files()]
        agent.run_sync([ASKED, *images], model_settings={"max_tokens": 1024})

    return work


#: Ways by name, each with its distribution.
WAYS: dict[str, tuple[str, Callable[[], Callable[[], object]]]] = {
    "anthropic": ("anthropic", anthropic),
    "langchain": ("langchain-anthropic", langchain),
    "openai-chat": ("openai", openai_chat),
    "openai-responses": ("openai", openai_responses),
    "google-genai": ("google-genai", google_genai),
    "boto3": ("boto3", boto3),
}
framework, _, api = WAY.rpartition("/")
distribution, make = ("pydantic-ai-slim", lambda: pydantic_ai(api)) if framework else WAYS[WAY]
answer_lines(distribution, make())
