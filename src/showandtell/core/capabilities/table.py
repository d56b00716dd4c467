"""The whole table in one tuple, and the inspector's rows, which are copies of each api's own house."""

from __future__ import annotations

from msgspec.structs import replace

from showandtell.core.capabilities import anthropic, bedrock, google, local, openai, openai_compatible
from showandtell.core.capabilities.family import Family

#: The inspector speaks every api as strictly as the house that made it.
HOUSES = (anthropic.HOME, openai.CHAT_GPT, openai.RESPONSES_GPT, google.GEMINI_NEWER, bedrock.ON_CLAUDE)
INSPECTOR = tuple(replace(house, provider="inspector", patterns=(house.api,), example=house.api) for house in HOUSES)

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
