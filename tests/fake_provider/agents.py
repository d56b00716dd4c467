"""Run agents against the fake provider over the network, and a model for each provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from showandtell import Agent
from showandtell.agent.agent import Run
from showandtell.core.capabilities.resolve import examples_of, resolve
from showandtell.providers.connect import connect, locate
from showandtell.providers.retry import RetryPolicy
from support.agents import make_agent

from .auth import TOKEN
from .plain_client import CLAUDE_ON_AWS
from .server import FakeProvider
from .urls import OTHERS

ONCE = RetryPolicy(tries=0)
MODELS = (
    "anthropic:claude-sonnet-4-5",
    f"anthropic-bedrock:{CLAUDE_ON_AWS}",
    "anthropic-vertex:claude-sonnet-4-5@20250929",
    "openai:gpt-5-mini",
    "openai-chat:gpt-5-mini",
    "azure:gpt-5-mini",
    "azure-chat:gpt-5-mini",
    "google:gemini-3-flash-preview",
    "vertex:gemini-3-flash-preview",
    f"bedrock:{CLAUDE_ON_AWS}",
    "xai:grok-4-1-fast-non-reasoning",
    "groq:qwen/qwen3.6-27b",
    "openrouter:anthropic/claude-haiku-4.5",
    "mistral:mistral-medium-latest",
    "cohere:command-a-vision-07-2025",
    "ollama:qwen3-vl:8b",
    "vllm:Qwen/Qwen3-VL-8B-Instruct",
    "llamacpp:gemma-3-4b-it",
    "lmstudio:qwen/qwen3-vl-8b",
    "litellm:anthropic/claude-sonnet-4-5",
    *(f"{name}:{examples_of(name)[0]}" for name in OTHERS),
)
#: One model per API, for faults.
APIS = {
    resolve(model).api: model
    for model in (MODELS[0], "openai-chat:gpt-5-mini", "openai:gpt-5-mini", "google:gemini-3-flash-preview", MODELS[9])
}


def connect_agent(
    fake_provider: FakeProvider,
    model: str,
    tools: Sequence[Callable[..., Any]] = (),
    *,
    api_key: str | None = None,
    **settings: Any,
) -> Agent:
    """An agent that calls the fake provider. Vertex gets its token as a key, so that no credentials are read."""
    environ = fake_provider.environ()
    target = locate(resolve(model), environ)
    key = api_key or (TOKEN if "vertex" in target.provider else None)
    exchange = connect(target, environ=environ, api_key=key)
    agent = make_agent(model, tools, exchange=exchange, **{"retry": ONCE, **settings})
    agent.target = target
    return agent


async def ask(
    fake_provider: FakeProvider, model: str, text: str, tools: Sequence[Callable[..., Any]] = (), **settings: Any
) -> Run:
    """One run against the fake provider."""
    return await connect_agent(fake_provider, model, tools, **settings).run(text)
