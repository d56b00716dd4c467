"""Which tools a provider runs for a model, and what it calls them. The first row that matches counts.

Each row has its source. In Chat Completions, the word before the colon says where a tool is declared.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TypeAlias

Names: TypeAlias = tuple[tuple[str, str], ...]

#: anthropic 2.12, `ToolUnionParam`: the versions without a need for others beside them.
ANTHROPIC: Names = (
    ("web_search", "web_search_20250305"),
    ("code_execution", "code_execution_20250825"),
    ("url_context", "web_fetch_20250910"),
)
#: openai 3.54, `ToolParam`, and recorded answers of all four.
OPENAI: Names = (
    ("web_search", "web_search"),
    ("code_execution", "code_interpreter"),
    ("image_generation", "image_generation"),
    ("file_search", "file_search"),
)
#: google-genai 3.4, `Tool`, and recorded answers of all four.
GOOGLE: Names = (
    ("web_search", "googleSearch"),
    ("code_execution", "codeExecution"),
    ("url_context", "urlContext"),
    ("file_search", "fileSearch"),
)
#: Groq's docs, "Compound: built-in tools", read 2026-11-26.
GROQ: Names = (
    ("web_search", "compound:web_search"),
    ("code_execution", "compound:code_interpreter"),
    ("url_context", "compound:visit_website"),
)
#: Rows of provider, pattern of the model's name, and names.
ROWS: tuple[tuple[str, str, Names], ...] = (
    ("anthropic", "*", ANTHROPIC),
    ("anthropic-vertex", "*", ANTHROPIC[:1]),  # Anthropic's docs, web search on Google Cloud (from memory)
    ("openai", "*", OPENAI),
    ("azure", "*", (OPENAI[1], OPENAI[2], OPENAI[3])),  # Azure's docs of the Responses API (from memory)
    ("xai", "*", (OPENAI[0], OPENAI[1], OPENAI[3])),  # docs.x.ai, server-side tools (from memory)
    ("google", "*-image*", (("image_generation", "modality"), GOOGLE[0])),  # Google's docs, image generation
    ("google", "gemini-*", GOOGLE),
    ("vertex", "*-image*", (("image_generation", "modality"), GOOGLE[0])),
    ("vertex", "gemini-*", GOOGLE[:3]),  # File search is of the Gemini API alone (google-genai 3.4, `Tool`)
    # botocore 1.44.5, `SystemTool`; recorded for nova_code_interpreter.
    ("bedrock", "*nova-2*", (("code_execution", "nova_code_interpreter"), ("web_search", "nova_grounding"))),
    ("openai-chat", "*search*", (("web_search", "field:web_search_options"),)),  # openai 3.54, `web_search_options`
    ("groq", "*compound*", GROQ),
    ("openrouter", "*", (("web_search", "plugin:web"),)),  # OpenRouter's docs, "Web search"
)


#: What all providers call the tools that they run.
ALL_NAMES = frozenset(name for _, _, names in ROWS for _, name in names)


def find_hosted(provider: str, model: str) -> Names:
    """The tools that a provider runs for a model, by our name and its own; none for unknown ones."""
    rows = (names for own, pattern, names in ROWS if own == provider and fnmatchcase(model.lower(), pattern))
    return next(rows, ())
