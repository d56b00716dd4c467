"""LangChain over Anthropic's SDK, with images in tool messages."""

from __future__ import annotations

import base64

import anthropic
import httpx2
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from sink import ASKED, CLAUDE, arrive, calls, report


def answer(request: httpx2.Request) -> httpx2.Response:
    arrive(request.read())
    return httpx2.Response(200, json=CLAUDE)


model = ChatAnthropic(model="claude-sonnet-4-5", api_key="none", max_tokens=1024)
# It makes its own client at first use, and keeps it there.
transport = httpx2.Client(transport=httpx2.MockTransport(answer))
model.__dict__["_client"] = anthropic.Client(api_key="none", http_client=transport)


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        image = {"type": "image", "base64": base64.b64encode(path.read_bytes()).decode(), "mime_type": "image/png"}
        uses.append({"id": call_id, "name": "plot", "args": {}})
        results.append(ToolMessage([image], tool_call_id=call_id))
    model.invoke([HumanMessage(ASKED), AIMessage("", tool_calls=uses), *results])


report("langchain-anthropic", "tool results", work)
