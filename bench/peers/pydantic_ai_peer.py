"""pydantic-ai over Anthropic's SDK, with images in tool results."""

from __future__ import annotations

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from sink import ASKED, CLAUDE, arrive, calls, report


def answer(request: httpx2.Request) -> httpx2.Response:
    arrive(request.content)
    return httpx2.Response(200, json=CLAUDE)


transport = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
provider = AnthropicProvider(anthropic_client=AsyncAnthropic(api_key="none", http_client=transport))
agent = Agent(AnthropicModel("claude-sonnet-4-5", provider=provider))


def work() -> None:
    uses, results = [], []
    for call_id, path in calls():
        image = BinaryContent(data=path.read_bytes(), media_type="image/png")
        uses.append(ToolCallPart("plot", {}, call_id))
        results.append(ToolReturnPart("plot", [image], call_id))
    history = [ModelRequest([UserPromptPart(ASKED)]), ModelResponse(uses), ModelRequest(results)]
    agent.run_sync(message_history=history, model_settings={"max_tokens": 1024})


report("pydantic-ai-slim", "tool results", work)
