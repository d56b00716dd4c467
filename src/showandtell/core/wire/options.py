"""Request options other than messages: instructions, tools, temperature and so on, shared by all APIs."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from showandtell.checking.checked import Checked
from showandtell.core.wire.hosted_tools import HostedTool
from showandtell.errors import BadInput

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high"]


class ToolSpec(Checked, Struct, frozen=True):
    """A tool's declaration. `parameters` is a JSON schema, stored as text so that the struct is hashable."""

    name: str
    description: str
    parameters: str


def is_strict(schema: str) -> bool:
    """Whether OpenAI accepts a schema as strict. It replies 400 if the top level allows additional properties."""
    value = msgspec.json.decode(schema)
    return isinstance(value, dict) and value.get("additionalProperties") is False  # pyright: ignore[reportUnknownMemberType] - any JSON


class Options(Checked, Struct, frozen=True):
    """Options of one request. None and empty values are left out of the body.

    `tool_choice` is "auto", "none", "required" or a tool's name. `schema` is a JSON schema, as text, that the answer
    must match. `hosted` are tools that the provider runs. `extra` is a JSON object, as text, of provider-specific
    fields that are merged into the body.
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
    hosted: tuple[HostedTool, ...] = ()


def split_extra_body(body: Mapping[str, Any], own: Container[str]) -> dict[str, Any]:
    """Return an SDK's arguments for a body. Fields that the SDK has no parameter for go into `extra_body`."""
    named = {key: value for key, value in body.items() if key in own}
    extra = {key: value for key, value in body.items() if key not in own}
    return named | {"extra_body": extra} if extra else named


def build_options(
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
    hosted: tuple[HostedTool, ...] = (),
) -> Options:
    """Build options from a caller's values. Raises `BadInput`, naming the field, for values that no API accepts."""
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
        schema=None if schema is None else encode_object("output_type", schema),
        extra=None if extra_body is None else encode_object("extra_body", extra_body),
        stream=stream,
        hosted=hosted,
    )


def encode_object(field: str, value: Mapping[str, Any]) -> str:
    """A JSON object as text. Raises `BadInput`, naming the field, for values that JSON doesn't have.

    The standard library's encoder is used because msgspec's doesn't reject NaN.
    """
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{field} is not a JSON object: {error}") from error
