"""Runs of pydantic-ai over Anthropic's SDK with a tool that returns words or a picture."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.usage import UsageLimits
from rounds import answer_costs, difference

from model_answers import ASKED, answers

KIND, FILE, *COUNTS = sys.argv[1:]
DATA = Path(FILE).read_bytes()
WORDS = DATA.decode() if KIND == "words" else ""


def draw(page: int) -> object:  # noqa: ARG001 - the model gives it
    """Draw a page."""
    return WORDS or BinaryContent(data=DATA, media_type="image/png")


def run(steps: int) -> None:
    bodies = iter(answers(steps))

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=next(bodies), headers={"content-type": "application/json"})

    transport = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    provider = AnthropicProvider(anthropic_client=AsyncAnthropic(api_key="none", http_client=transport))
    agent = Agent(AnthropicModel("claude-sonnet-4-5", provider=provider), tools=[draw])
    done = agent.run_sync(ASKED, usage_limits=UsageLimits(request_limit=None), model_settings={"max_tokens": 1024})
    assert done.output == "Nothing changed."


answer_costs("pydantic-ai-slim", lambda: difference(run, (int(COUNTS[0]), int(COUNTS[1]))))
