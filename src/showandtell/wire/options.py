"""What a request says besides its messages: instructions, tools, temperature and the like, the same for every api."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high"]


class ToolSpec(Struct, frozen=True):
    """A tool as the model is told of it; `parameters` is a JSON schema, as JSON text so that it is a value."""

    name: str
    description: str
    parameters: str


def is_strict(schema: str) -> bool:
    """Whether a schema can be asked for strictly: OpenAI answers 400 to one whose top takes other properties."""
    found = msgspec.json.decode(schema)
    return isinstance(found, dict) and found.get("additionalProperties") is False  # pyright: ignore[reportUnknownMemberType] - any JSON


class Options(Struct, frozen=True):
    """Each field is left out of the body where it is None or empty.

    tool_choice: "auto", "none", "required", or a tool's name. schema: a JSON schema (text) that the answer must fit.
    extra: provider's own fields (JSON text of an object), merged into the top of the body as they are.
    """

    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    effort: Effort | None = None
    schema: str | None = None
    extra: str | None = None
    stream: bool = False
