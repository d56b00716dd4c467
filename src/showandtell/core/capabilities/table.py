"""The complete table in one tuple, and the inspector's rows, which are copies of one row for each API."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities import anthropic, bedrock, google, local, openai, openai_compatible
from showandtell.core.capabilities.family import Family

#: The inspector is as strict as these, by API.
API_FAMILIES = (anthropic.DIRECT, openai.CHAT_GPT, openai.RESPONSES_GPT, google.GEMINI_NEWER, bedrock.ON_CLAUDE)
INSPECTOR = tuple(
    replace(family, provider="inspector", patterns=(family.api,), example=family.api) for family in API_FAMILIES
)

FAMILIES: tuple[Family, ...] = (
    *anthropic.FAMILIES,
    *openai.FAMILIES,
    *google.FAMILIES,
    *bedrock.FAMILIES,
    *openai_compatible.FAMILIES,
    *local.FAMILIES,
    *INSPECTOR,
)
PROVIDERS: tuple[str, ...] = tuple(dict.fromkeys(family.provider for family in FAMILIES))
