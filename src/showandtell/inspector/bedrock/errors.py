"""Error messages of Converse for schema violations."""

from __future__ import annotations

import re

import msgspec
from msgspec import inspect

from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.request import OUT_OF_RANGE, Violation, read_violation

TYPES = {"str": "String", "int": "Integer", "float": "Number", "bool": "Boolean", "array": "JSONArray", "null": "Null"}
BOUND = re.compile(r"Expected `\w+` (?:of length|matching regex|[<>]=)")


def format_violation(error: msgspec.ValidationError) -> str:
    """The message of the service: its validator reports violated bounds, its JSON schema reader everything else."""
    violation = read_violation(error)
    path = ".".join(map(str, violation.path))
    if violation.kind == "missing":
        return format_bound(f"{path}.{violation.detail}".removeprefix("."), "not be null")
    if violation.kind == "value" or BOUND.match(str(error)):
        return format_bound(path, _demand(violation, str(error)))
    place = "#" + "".join(f"/{step}" for step in violation.path)
    if violation.kind == "unknown":
        problem = f"extraneous key [{violation.detail}] is not permitted"
    else:
        expected, received = (
            TYPES.get(name.split(" | ")[0], "JSONObject") for name in (violation.detail, violation.got)
        )
        problem = f"expected type: {expected}, found: {received}"
    return f"Malformed input request: {place}: {problem}, please reformat your input and try again."


def format_bound(path: str, demand: str) -> str:
    """The message for a violated bound. The validator counts from 1: `messages.1.member.content.2.member.image`."""
    place = ".".join(f"{int(step) + 1}.member" if step.isdigit() else step for step in path.split("."))
    return f"1 validation error detected: Value at '{place}' failed to satisfy constraint: Member must {demand}"


def _demand(violation: Violation, message: str) -> str:
    """The constraint in the validator's words, from the expected type."""
    if violation.detail == OUT_OF_RANGE:
        return "be a finite number"
    if violation.kind == "value":
        allowed = _type_at(violation.path)
        values = ", ".join(map(str, allowed.values)) if isinstance(allowed, inspect.LiteralType) else "known values"
        return f"satisfy enum value set: [{values}]"
    bound = message.partition(" - at ")[0]
    if match := re.search(r"of length ([<>])= (\d+)", bound):
        return f"have length {'less' if match[1] == '<' else 'greater'} than or equal to {match[2]}"
    if match := re.search(r"([<>])= ([\d.]+)", bound):
        return f"have value {'less' if match[1] == '<' else 'greater'} than or equal to {match[2]}"
    pattern = re.search(r"matching regex '\^?(.*?)(?:\\\\Z)?'$", bound)
    return f"satisfy regular expression pattern: {pattern[1]}" if pattern else bound


def _type_at(path: tuple[str | int, ...]) -> inspect.Type | None:
    """The type at a path of the body."""
    current: inspect.Type | None = inspect.type_info(wire.Body)
    for step in path:
        if isinstance(current, inspect.StructType):
            current = next((field.type for field in current.fields if field.encode_name == step), None)
        elif isinstance(current, inspect.ListType):
            current = current.item_type
    return current
