"""Which models can be held to a JSON schema, and how. A model without a row answers by calling a tool.

The rows are apart from those of files: the models that take a schema are others than those that take a PDF.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from msgspec import Struct

from showandtell.core.capabilities.cells import AnswerFormat

READ = "2026-11-26"

CLAUDE_DOCS = "Claude docs, structured outputs; pydantic-ai 2.68 profiles/anthropic.py: models, forced tool choice"
CLAUDE_FORCED = "Claude docs, tool use: tool_choice tool; no structured outputs before Claude Haiku 4.5 and Opus 4.1"
CLAUDE_ON_AWS = "AWS docs, structured outputs, InvokeModel with output_config.format: Claude 4.5 and 4.6 models"
CLAUDE_ON_VERTEX = "Google Cloud docs: structured outputs of Claude are off by an organization policy's default"
CLAUDE_CITES = "Claude docs: structured outputs exclude citations, which Converse needs to see a PDF"
GPT = "OpenAI guide, structured outputs: gpt-4o-mini-2024-07-18, gpt-4o-2024-08-06 and later models"
GPT_FORCED = "OpenAI guide, function calling: a named tool_choice; no structured outputs before gpt-4o-2024-08-06"
DEPLOYMENT = "OpenAI's API, but a deployment's name doesn't tell its model"
GEMINI_3 = "Gemini docs, tool combination (Gemini 3): response schema with function declarations"
GEMINI_2_5 = "400 Function calling with a response mime type: 'application/json' is unsupported (python-genai #867)"
GEMINI_OLDEST = "google-genai 3.4, FunctionCallingConfig: mode ANY with allowed names; responseJsonSchema is for 2.5 on"
BEDROCK = "AWS docs, structured outputs; pydantic-ai 2.68 providers/bedrock.py: verified models"
BEDROCK_FORCED = "pydantic-ai 2.68 providers/bedrock.py: toolChoice is taken by Claude and Nova"
GROK_4 = "xAI docs, structured outputs: with tools for the Grok 4 family"
GROK = "xAI docs, structured outputs: grok-2-1212 and later, with tools only for the Grok 4 family"
GROQ = "Groq docs, structured outputs: neither streaming nor tools; tool_choice takes a function's name"
MISTRAL = "Mistral docs, custom structured outputs; with tools nobody has tried it"
OLLAMA = "with response_format no tool is called (ollama #8095, #13750)"
VLLM = "vLLM docs, structured outputs: the grammar excludes calls; a named tool_choice is supported"
LLAMACPP = "llama.cpp, server README: response_format json_schema; a grammar excludes calls"
LMSTUDIO = "LM Studio docs, structured output; with tools nobody has tried it"

Native: TypeAlias = Literal["always", "without_tools", "never"]


class FormatRow(Struct, frozen=True):
    """The models of a provider with one answer format. `patterns` are globs on the lower-case model name."""

    provider: str
    patterns: tuple[str, ...]
    format: AnswerFormat


def row(
    provider: str,
    patterns: tuple[str, ...],
    native: Native,
    evidence: str,
    *,
    forces: bool = False,
    recursion: bool = False,
    max_unions: int | None = None,
) -> FormatRow:
    """One row, read on `READ`."""
    return FormatRow(provider, patterns, AnswerFormat(native, recursion, max_unions, forces, evidence, READ))


#: These reject a forced tool choice.
CLAUDE_UNFORCED = (
    "claude-fable-5-[12]*",
    "claude-mythos-5-[12]*",
    "claude-opus-5-5*",
    "claude-sonnet-5-5*",
)
CLAUDE_WITH_SCHEMA = (
    "claude-haiku-4-5*",
    "claude-haiku-5*",
    "claude-sonnet-4-[56]*",
    "claude-sonnet-5*",
    "claude-opus-4-[15678]*",
    "claude-opus-5*",
    "claude-fable-5*",
    "claude-mythos-5*",
)
CLAUDE_WITH_SCHEMA_ON_AWS = ("*claude-haiku-4-5*", "*claude-sonnet-4-[56]*", "*claude-opus-4-[56]*")
GPT_WITHOUT_SCHEMA = (
    "gpt-3.5*",
    "gpt-4",
    "gpt-4-*",
    "gpt-4o-2024-05-13",
    "chatgpt-4o*",
    "o1-mini*",
    "o1-preview*",
    "*audio*",
    "*gpt-oss*",
)
GPT_WITH_SCHEMA = ("gpt-4o*", "gpt-4.[1-9]*", "gpt-[5-9]*", "o[1-9]*")
#: The API allows 16 fields with a union in a request.
CLAUDE_UNIONS = 16

ROWS = (
    row("anthropic", CLAUDE_UNFORCED, "always", CLAUDE_DOCS, max_unions=CLAUDE_UNIONS),
    row("anthropic", CLAUDE_WITH_SCHEMA, "always", CLAUDE_DOCS, forces=True, max_unions=CLAUDE_UNIONS),
    row("anthropic", ("claude*",), "never", CLAUDE_FORCED, forces=True),
    row(
        "anthropic-bedrock",
        CLAUDE_WITH_SCHEMA_ON_AWS,
        "always",
        CLAUDE_ON_AWS,
        forces=True,
        max_unions=CLAUDE_UNIONS,
    ),
    row("anthropic-vertex", CLAUDE_UNFORCED, "never", CLAUDE_ON_VERTEX),
    row("anthropic-vertex", ("claude*",), "never", CLAUDE_ON_VERTEX, forces=True),
    *(
        entry
        for provider in ("openai", "openai-chat")
        for entry in (
            row(provider, GPT_WITHOUT_SCHEMA, "never", GPT_FORCED, forces=True),
            row(provider, GPT_WITH_SCHEMA, "always", GPT, forces=True, recursion=True),
        )
    ),
    row("azure", ("*",), "never", DEPLOYMENT, forces=True),
    row("azure-chat", ("*",), "never", DEPLOYMENT, forces=True),
    *(
        entry
        for provider in ("google", "vertex")
        for entry in (
            row(provider, ("*-tts*", "gemma*", "*computer-use*"), "never", GEMINI_OLDEST),
            row(provider, ("gemini-[3-9]*",), "always", GEMINI_3, forces=True),
            row(provider, ("gemini-2.5*",), "without_tools", GEMINI_2_5, forces=True),
            row(provider, ("gemini-*",), "never", GEMINI_OLDEST, forces=True),
        )
    ),
    row("bedrock", ("*claude-3*", "*claude-[hos]*-4*"), "never", CLAUDE_CITES, forces=True),
    row("bedrock", ("*claude*",), "never", CLAUDE_CITES),
    row("bedrock", ("*nova*",), "never", BEDROCK_FORCED, forces=True),
    row(
        "bedrock",
        (
            "*qwen3*",
            "*magistral-small*",
            "*ministral-3*",
            "*mistral-large-3*",
            "*voxtral*",
            "*gemma-3-12b*",
            "*gemma-3-27b*",
            "*minimax-m2*",
            "*nemotron-nano*",
            "*kimi*",
        ),
        "without_tools",
        BEDROCK,
    ),
    row("xai", ("grok-4*",), "always", GROK_4, forces=True),
    row("xai", ("grok-3*", "grok-2-1212", "grok-2-vision-1212"), "without_tools", GROK, forces=True),
    row("groq", ("*",), "never", GROQ, forces=True),
    row("mistral", ("mistral*", "ministral*", "magistral*", "pixtral*"), "without_tools", MISTRAL),
    row("ollama", ("*",), "without_tools", OLLAMA),
    row("vllm", ("*",), "without_tools", VLLM, forces=True),
    row("llamacpp", ("*",), "without_tools", LLAMACPP),
    row("lmstudio", ("*",), "without_tools", LMSTUDIO),
    # As the models of `table.INSPECTOR`, by API.
    row("inspector", ("anthropic-messages",), "always", CLAUDE_DOCS, forces=True, max_unions=CLAUDE_UNIONS),
    row("inspector", ("openai-*",), "always", GPT, forces=True, recursion=True),
    row("inspector", ("gemini",), "always", GEMINI_3, forces=True),
    row("inspector", ("bedrock-converse",), "never", CLAUDE_CITES, forces=True),
)
UNKNOWN = AnswerFormat()


def find_answer_format(provider: str, model: str) -> AnswerFormat:
    """The format of the first row that matches the model."""
    name = model.lower()
    rows = (entry for entry in ROWS if entry.provider == provider)
    return next((entry.format for entry in rows if any(fnmatchcase(name, glob) for glob in entry.patterns)), UNKNOWN)
