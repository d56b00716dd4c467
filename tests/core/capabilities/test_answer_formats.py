"""Which models are held to a JSON schema by their API, and which by a tool."""

from datetime import date

import pytest

from showandtell.core.capabilities.answer_formats import ROWS
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.capabilities.table import PROVIDERS

NATIVE = {
    "anthropic:claude-sonnet-4-5": "always",
    "anthropic:claude-3-haiku-20240307": "never",
    "anthropic-bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": "always",
    "anthropic-vertex:claude-sonnet-4-5@20250929": "never",
    "openai:gpt-5-mini": "always",
    "openai:gpt-4o": "always",
    "openai:gpt-4-turbo": "never",
    "openai-chat:o3-mini": "always",
    "openai-chat:gpt-audio": "never",
    "azure:gpt-5-mini": "never",
    "google:gemini-3-flash-preview": "always",
    "google:gemini-2.5-flash": "without_tools",
    "vertex:gemini-2.0-flash": "never",
    "google:gemma-3-27b-it": "never",
    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": "never",
    "bedrock:qwen.qwen3-32b-v1:0": "without_tools",
    "xai:grok-4-1-fast-non-reasoning": "always",
    "groq:qwen/qwen3.6-27b": "never",
    "ollama:qwen3-vl:8b": "without_tools",
    "litellm:some-alias": "never",
    "openrouter:some/model": "never",
}


@pytest.mark.parametrize(("model", "native"), NATIVE.items())
def test_a_model_takes_a_schema_as_its_row_says(model, native):
    assert resolve(model).answer_format.native == native


def test_every_row_names_its_provider_its_source_and_a_date():
    for row in ROWS:
        assert row.provider in PROVIDERS
        assert row.format.evidence
        assert date.fromisoformat(row.format.date)


@pytest.mark.parametrize(
    ("model", "forces"), [("claude-opus-5-5", False), ("claude-opus-5", True), ("claude-2.1", True)]
)
def test_newest_claude_models_take_no_forced_tool_choice(model, forces):
    assert resolve(f"anthropic:{model}").answer_format.forces_tools is forces
