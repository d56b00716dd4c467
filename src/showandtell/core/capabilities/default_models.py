"""The model of each provider that answers people who name none: a good current one, with its source and its date."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from showandtell.core.capabilities.provider import Provider

#: The date on which the sources were read.
READ: Final = "2026-11-29"
NAMES: Final = "pydantic-ai 2.68, known model names"


class CurrentModel(Struct, frozen=True):
    """A model that a provider offers, that calls tools, and that sees pictures. date: when the source was read."""

    provider: str
    model: str
    source: str
    date: str = READ

    @property
    def name(self) -> str:
        """The model as `resolve` takes it."""
        return f"{self.provider}:{self.model}"


#: In the order in which providers with a key are preferred: that of the table in docs/reach.md.
CURRENT_MODELS: Final[tuple[CurrentModel, ...]] = (
    CurrentModel("anthropic", "claude-sonnet-5-5", "anthropic 2.12, types/model.py"),
    CurrentModel("openai", "gpt-6.1-sol", "openai 3.54, types/shared/chat_model.py"),
    CurrentModel("google", "gemini-3.8-flash", "google-genai 3.4, examples of chats.py"),
    CurrentModel("bedrock", "global.anthropic.claude-sonnet-5-5", NAMES),
    CurrentModel("xai", "grok-4.7", NAMES),
    CurrentModel("groq", "qwen/qwen3.8-27b", NAMES),
    CurrentModel("openrouter", "anthropic/claude-sonnet-5.5", "genai-prices 0.2.3, openrouter"),
    CurrentModel("mistral", "mistral-large-latest", "mistralai 3.7, README"),
    CurrentModel("cohere", "command-a-plus-05-2026", NAMES),
)
#: Providers with a key, but without such a model, and why.
WITHOUT_MODEL: Final = {
    "azure": "its models have the names of an account's own deployments",
    "ollama": "its models are those that are installed",
    "vllm": "its models are those that it was started with",
    "llamacpp": "its model is the one that it was started with",
    "lmstudio": "its models are those that are installed",
    "litellm": "its models are those of the proxy's configuration",
}


def current_model_of(provider: str, known: Provider | None = None) -> str | None:
    """`provider:model` of a provider's current model; None if it has none. `known`: a provider of a package.

    Of a package's provider, the first model that is offered to people counts.
    """
    if known is not None:
        offered = (family for family in known.families if family.has_example and not family.subfamily)
        return next((f"{known.name}:{family.example}" for family in offered), None)
    return next((row.name for row in CURRENT_MODELS if row.provider == provider), None)
