"""Our own agent at the stand-in, over the network: a model of each row, and a run of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from showandtell import Agent
from showandtell.agent.agent import Run
from showandtell.core.capabilities.resolve import resolve
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.rows import connect, locate
from support.agents import make_agent

from .auth import TOKEN
from .plain import CLAUDE_ON_AWS
from .server import Standin

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
)
#: One model of each api, for faults.
APIS = {
    resolve(model).api: model
    for model in (MODELS[0], "openai-chat:gpt-5-mini", "openai:gpt-5-mini", "google:gemini-3-flash-preview", MODELS[9])
}


def connect_agent(
    standin: Standin,
    model: str,
    tools: Sequence[Callable[..., Any]] = (),
    *,
    api_key: str | None = None,
    **settings: Any,
) -> Agent:
    """An agent whose requests go to the stand-in; Vertex gets its token as a key, so that nobody reads credentials."""
    environ = standin.environ()
    target = locate(resolve(model), environ)
    key = api_key or (TOKEN if "vertex" in target.provider else None)
    exchange = connect(target, environ=environ, api_key=key)
    agent = make_agent(model, tools, exchange=exchange, **{"retry": ONCE, **settings})
    agent.target = target
    return agent


async def ask(
    standin: Standin, model: str, text: str, tools: Sequence[Callable[..., Any]] = (), **settings: Any
) -> Run:
    """One run against the stand-in."""
    return await connect_agent(standin, model, tools, **settings).run(text)
