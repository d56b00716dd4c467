"""LiteLLM to Anthropic, with images in tool messages."""

from __future__ import annotations

import base64
import os

# It asks the network for prices while it is imported, unless told not to.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import httpx
import litellm
from litellm.llms.custom_httpx.http_handler import HTTPHandler
from sink import ASKED, CLAUDE, arrive, calls, report


def answer(request: httpx.Request) -> httpx.Response:
    arrive(request.read())
    return httpx.Response(200, json=CLAUDE)


client = HTTPHandler(client=httpx.Client(transport=httpx.MockTransport(answer)))


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        url = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        image = {"type": "image_url", "image_url": {"url": url}}
        uses.append({"id": call_id, "type": "function", "function": {"name": "plot", "arguments": "{}"}})
        results.append({"role": "tool", "tool_call_id": call_id, "content": [image]})
    messages = [{"role": "user", "content": ASKED}, {"role": "assistant", "tool_calls": uses}, *results]
    litellm.completion("anthropic/claude-sonnet-4-5", messages, api_key="none", client=client)


report("litellm", "tool results", work)
