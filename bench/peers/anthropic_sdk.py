"""Anthropic's own SDK, with images in tool results."""

from __future__ import annotations

import base64

import anthropic
import httpx2
from sink import ASKED, CLAUDE, arrive, calls, report


def answer(request: httpx2.Request) -> httpx2.Response:
    arrive(request.read())
    return httpx2.Response(200, json=CLAUDE)


client = anthropic.Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        data = base64.b64encode(path.read_bytes()).decode()
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        uses.append({"type": "tool_use", "id": call_id, "name": "plot", "input": {}})
        results.append({"type": "tool_result", "tool_use_id": call_id, "content": [image]})
    messages = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
    ]
    client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages)


report("anthropic", "tool results", work)
