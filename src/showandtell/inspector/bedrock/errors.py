"""Where a Converse body leaves its schema, as the service says it: bounds by its validator, the rest by its reader."""

from __future__ import annotations

import re

import msgspec
from msgspec import inspect

from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.request import OUT_OF_RANGE, Fault, fault_of

TYPES = {"str": "String", "int": "Integer", "float": "Number", "bool": "Boolean", "array": "JSONArray", "null": "Null"}
BOUND = re.compile(r"Expected `\w+` (?:of length|matching regex|[<>]=)")


def spell_fault(error: msgspec.ValidationError) -> str:
    """Say a fault as the service does: bounds as its own validator, the rest as its schema's reader."""
    fault = fault_of(error)
    path = ".".join(map(str, fault.path))
    if fault.shape == "missing":
        return spell_bound(f"{path}.{fault.detail}".removeprefix("."), "not be null")
    if fault.shape == "value" or BOUND.match(str(error)):
        return spell_bound(path, _demand(fault, str(error)))
    place = "#" + "".join(f"/{step}" for step in fault.path)
    if fault.shape == "unknown":
        problem = f"extraneous key [{fault.detail}] is not permitted"
    else:
        wanted, got = (TYPES.get(name.split(" | ")[0], "JSONObject") for name in (fault.detail, fault.got))
        problem = f"expected type: {wanted}, found: {got}"
    return f"Malformed input request: {place}: {problem}, please reformat your input and try again."


def spell_bound(path: str, demand: str) -> str:
    """A bound that a value breaks. This validator counts from 1: `messages.1.member.content.2.member.image`."""
    place = ".".join(f"{int(step) + 1}.member" if step.isdigit() else step for step in path.split("."))
    return f"1 validation error detected: Value at '{place}' failed to satisfy constraint: Member must {demand}"


def _demand(fault: Fault, words: str) -> str:
    """What a value had to be, from its type."""
    if fault.detail == OUT_OF_RANGE:
        return "be a finite number"
    if fault.shape == "value":
        allowed = _type_at(fault.path)
        values = ", ".join(map(str, allowed.values)) if isinstance(allowed, inspect.LiteralType) else "known values"
        return f"satisfy enum value set: [{values}]"
    bound = words.partition(" - at ")[0]
    if found := re.search(r"of length ([<>])= (\d+)", bound):
        return f"have length {'less' if found[1] == '<' else 'greater'} than or equal to {found[2]}"
    if found := re.search(r"([<>])= ([\d.]+)", bound):
        return f"have value {'less' if found[1] == '<' else 'greater'} than or equal to {found[2]}"
    pattern = re.search(r"matching regex '\^?(.*?)(?:\\\\Z)?'$", bound)
    return f"satisfy regular expression pattern: {pattern[1]}" if pattern else bound


def _type_at(path: tuple[str | int, ...]) -> inspect.Type | None:
    """The type that a place of the body has."""
    here: inspect.Type | None = inspect.type_info(wire.Body)
    for step in path:
        if isinstance(here, inspect.StructType):
            here = next((field.type for field in here.fields if field.encode_name == step), None)
        elif isinstance(here, inspect.ListType):
            here = here.item_type
    return here
