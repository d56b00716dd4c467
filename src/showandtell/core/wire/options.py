"""What a request says besides its messages: instructions, tools, temperature and the like, the same for every api."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from showandtell.errors import BadInput

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


def apart(body: Mapping[str, Any], own: Container[str]) -> dict[str, Any]:
    """An SDK's arguments from a body: what it has no word for goes into `extra_body`."""
    named = {key: value for key, value in body.items() if key in own}
    extra = {key: value for key, value in body.items() if key not in own}
    return named | {"extra_body": extra} if extra else named


def choose(
    *,
    instructions: str = "",
    tools: Sequence[ToolSpec] = (),
    tool_choice: str = "auto",
    temperature: float | None = None,
    max_tokens: int | None = None,
    reasoning_effort: Effort | None = None,
    schema: Mapping[str, Any] | None = None,
    extra_body: Mapping[str, Any] | None = None,
    stream: bool = False,
) -> Options:
    """Options from a program's own values. Raises `BadInput`, which names the field, for what no api takes."""
    if temperature is not None and not isfinite(temperature):
        raise BadInput(f"temperature is {temperature}: give a number, or None")
    if max_tokens is not None and max_tokens < 1:
        raise BadInput(f"max_tokens is {max_tokens}: give at least 1, or None")
    if reasoning_effort is not None and reasoning_effort not in get_args(Effort):
        raise BadInput(f"reasoning_effort is {reasoning_effort!r}: give one of {', '.join(get_args(Effort))}")
    if tool_choice not in {"auto", "none", "required", *(tool.name for tool in tools)}:
        raise BadInput(f"tool_choice is {tool_choice!r}: give auto, none, required, or the name of one of the tools")
    return Options(
        instructions=instructions,
        tools=tuple(tools),
        tool_choice=tool_choice,
        temperature=temperature,
        max_tokens=max_tokens,
        effort=reasoning_effort,
        schema=_json("output_type", schema),
        extra=_json("extra_body", extra_body),
        stream=stream,
    )


def _json(field: str, value: Mapping[str, Any] | None) -> str | None:
    """A JSON object as text; the standard library's encoder, for it alone refuses NaN."""
    if value is None:
        return None
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{field} is no JSON object: {error}") from error
