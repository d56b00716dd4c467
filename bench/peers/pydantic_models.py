"""pydantic-ai's models of each API, on the API's SDK and an HTTP client of ours."""

from __future__ import annotations

from typing import Any

CLAUDE, GPT, GEMINI = "claude-sonnet-4-5", "gpt-5-mini", "gemini-3-flash-preview"
CONVERSE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def make_model(api: str, http: Any, **reached: Any) -> Any:
    """A model. `reached`: where its provider is; for Bedrock, whose SDK has its own client, all of its arguments."""
    match api:
        case "anthropic-messages":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            sdk = AsyncAnthropic(api_key="none", http_client=http, **reached)
            return AnthropicModel(CLAUDE, provider=AnthropicProvider(anthropic_client=sdk))
        case "openai-chat" | "openai-responses":
            from openai import AsyncOpenAI
            from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            provider = OpenAIProvider(openai_client=AsyncOpenAI(api_key="none", http_client=http, **reached))
            return (OpenAIChatModel if api == "openai-chat" else OpenAIResponsesModel)(GPT, provider=provider)
        case "gemini":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(GEMINI, provider=GoogleProvider(api_key="none", http_client=http, **reached))
        case _:
            from pydantic_ai.models.bedrock import BedrockConverseModel
            from pydantic_ai.providers.bedrock import BedrockProvider

            return BedrockConverseModel(CONVERSE, provider=BedrockProvider(**reached))
