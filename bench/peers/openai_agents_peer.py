"""OpenAI's Agents SDK: the Responses API, with images in function outputs."""

from __future__ import annotations

import base64

import httpx2
from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
from sink import ASKED, arrive, calls, report

ANSWER = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt-5-mini",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Nothing.", "annotations": []}],
        }
    ],
}


def answer(request: httpx2.Request) -> httpx2.Response:
    arrive(request.content)
    return httpx2.Response(200, json=ANSWER)


set_tracing_disabled(True)
client = AsyncOpenAI(api_key="none", http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
agent = Agent("bench", model=OpenAIResponsesModel("gpt-5-mini", client))


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        url = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        output = [{"type": "input_image", "image_url": url}]
        uses.append({"type": "function_call", "call_id": call_id, "name": "plot", "arguments": "{}"})
        results.append({"type": "function_call_output", "call_id": call_id, "output": output})
    Runner.run_sync(agent, [{"role": "user", "content": ASKED}, *uses, *results])


report("openai-agents", "tool results", work)
