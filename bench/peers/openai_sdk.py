"""OpenAI's own SDK: Chat Completions takes images in user messages only."""

from __future__ import annotations

import base64

import httpx2
import openai
from sink import ASKED, CHAT, arrive, files, report


def answer(request: httpx2.Request) -> httpx2.Response:
    arrive(request.read())
    return httpx2.Response(200, json=CHAT)


client = openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


def work() -> None:
    content: list[dict] = [{"type": "text", "text": ASKED}]
    for path in files():
        url = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        content.append({"type": "image_url", "image_url": {"url": url}})
    client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": content}])


report("openai", "user message", work)
