"""JSON schemas of answers: their root as an object, and the subset that every API's own form accepts.

The subset: objects are closed and all their fields required, unions are `anyOf`, references lead to `$defs`. A schema
that can't be written so, such as one with free keys, isn't rewritten with another meaning: the model answers by a tool
instead. Constraints become words of the description, since the APIs differ in them and the answer is validated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from showandtell.core.capabilities.cells import AnswerFormat
from showandtell.errors import BadInput

#: Limits of OpenAI's strict mode: levels of nested objects, and fields (OpenAI guide, structured outputs).
MAX_DEPTH, MAX_FIELDS = 10, 5000
#: Keywords that say nothing about the value.
DROPPED = frozenset(
    ("$schema", "$id", "$comment", "title", "default", "examples", "discriminator", "deprecated", "readOnly")
)
#: Keywords that only restrict a value of a known type.
CONSTRAINTS = frozenset(
    {
        *("format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    }
)
SCALARS: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
DEFINITIONS = "#/$defs/"
#: The field of an answer that isn't an object by itself.
VALUE = "value"

Schema = dict[str, Any]


class _Inexpressible(Exception):
    """The schema is beyond the subset."""


def object_root(schema: Mapping[str, Any]) -> Schema | None:
    """The schema with an object as its root, resolving a reference there. None if the root isn't an object."""
    root = dict(schema)
    definitions = cast("Schema", root.get("$defs", {}))
    seen = 0
    while isinstance(reference := root.get("$ref"), str):
        target = definitions.get(reference.removeprefix(DEFINITIONS))
        if not isinstance(target, Mapping) or seen > len(definitions):
            return None
        root, seen = {**cast("Mapping[str, Any]", target), "$defs": definitions}, seen + 1
    is_object = root.get("type", "object" if "properties" in root else None) == "object"
    return root | {"type": "object"} if is_object else None


def wrap(schema: Mapping[str, Any]) -> Schema:
    """An object with one field that has the schema."""
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in definitions}
    fields = {"properties": {VALUE: inner}, "required": [VALUE], "additionalProperties": False}
    return {"type": "object", **fields, **definitions}


def restrict(schema: Mapping[str, Any], format: AnswerFormat) -> Schema | None:  # noqa: A002 - it is one
    """The schema in the subset of the native form. None if it can't be written so, or is beyond the form's limits.

    Raises `BadInput` for a schema that is nested too deeply to be read.
    """
    try:
        restricted = _node(schema, is_root=True)
        definitions = cast("Mapping[str, Any]", schema.get("$defs", {}))
        if definitions:
            restricted["$defs"] = {name: _node(inner) for name, inner in definitions.items()}
        return restricted if _fits(restricted, format) else None
    except _Inexpressible:
        return None
    except RecursionError as error:
        raise BadInput("output_type: the schema is nested too deeply") from error


def _fits(schema: Schema, format: AnswerFormat) -> bool:  # noqa: A002
    definitions = cast("dict[str, Schema]", schema.get("$defs", {}))
    nodes = [node for part in (schema, *definitions.values()) for node in _walk(part, 0)]
    unions = sum("anyOf" in node for node, _ in nodes)
    fields = sum(len(node.get("properties", ())) for node, _ in nodes)
    is_small = fields <= MAX_FIELDS and all(depth <= MAX_DEPTH for _, depth in nodes)
    few_unions = format.max_unions is None or unions <= format.max_unions
    return is_small and few_unions and (format.recursion or not _is_recursive(definitions))


def _walk(node: Schema, depth: int) -> Iterator[tuple[Schema, int]]:
    """A schema and those within it, without `$defs`, each with the number of objects around it."""
    yield node, depth
    inner = depth + (node.get("type") == "object")
    for child in (*node.get("properties", {}).values(), *node.get("anyOf", ()), *filter(None, [node.get("items")])):
        yield from _walk(child, inner)


def _is_recursive(definitions: Mapping[str, Schema]) -> bool:
    uses = {
        name: {node["$ref"].removeprefix(DEFINITIONS) for node, _ in _walk(inner, 0) if "$ref" in node}
        for name, inner in definitions.items()
    }
    while leaves := [name for name, used in uses.items() if not used & uses.keys()]:
        for name in leaves:
            del uses[name]
    return bool(uses)


def _node(schema: object, *, is_root: bool = False) -> Schema:
    if not isinstance(schema, Mapping):
        raise _Inexpressible
    given = cast("Mapping[str, Any]", schema)
    rest = {key: given[key] for key in given if key not in DROPPED and not (is_root and key == "$defs")}
    description = rest.pop("description", None)
    node = _shape(rest)
    words = [*([description] if isinstance(description, str) else []), *_constraints(rest)]
    if rest:
        raise _Inexpressible
    if words and "$ref" in node:  # a reference has no neighbours
        node = {"anyOf": [node]}
    return node | ({"description": " ".join(words)} if words else {})


def _constraints(rest: Schema) -> Iterator[str]:
    found = [name for name in rest if name in CONSTRAINTS]
    if found:
        yield "(" + ", ".join(f"{name}: {_json(rest.pop(name))}" for name in found) + ")"


def _json(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _shape(rest: Schema) -> Schema:
    """What decides about the value's shape. It is taken out of `rest`."""
    for union in ("anyOf", "oneOf"):
        if union in rest:
            rest.pop("type", None)
            return {"anyOf": [_node(option) for option in _list(rest.pop(union))]}
    if "allOf" in rest:
        match _list(rest.pop("allOf")):
            case [single]:
                rest.pop("type", None)
                return _node(single)
            case _:
                raise _Inexpressible
    if "$ref" in rest:
        reference = rest.pop("$ref")
        if not isinstance(reference, str) or not reference.startswith(DEFINITIONS):
            raise _Inexpressible
        return {"$ref": reference}
    if "const" in rest or "enum" in rest:
        rest.pop("type", None)
        return _options([rest.pop("const")] if "const" in rest else _list(rest.pop("enum")))
    kind = rest.pop("type", None)
    if isinstance(kind, list):
        return {"anyOf": [_typed(name, rest) for name in cast("list[object]", kind)]}
    return _typed(kind, rest)


def _typed(kind: object, rest: Schema) -> Schema:
    match kind:
        case "object":
            return _object(rest)
        case "array":
            return {"type": "array", "items": _node(rest.pop("items", None))}
        case "string" | "integer" | "number" | "boolean" | "null":
            return {"type": kind}
        case _:
            raise _Inexpressible


def _object(rest: Schema) -> Schema:
    properties = rest.pop("properties", None)
    rest.pop("required", None)
    if rest.pop("additionalProperties", False) is not False or not isinstance(properties, Mapping):
        raise _Inexpressible
    fields = {name: _node(inner) for name, inner in cast("Mapping[str, Any]", properties).items()}
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _options(values: list[Any]) -> Schema:
    """One of these values: an `enum` for each type."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        if type(value) not in SCALARS:
            raise _Inexpressible
        by_type.setdefault(SCALARS[type(value)], []).append(value)
    options: list[Schema] = [
        {"type": "null"} if name == "null" else {"type": name, "enum": same} for name, same in by_type.items()
    ]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _list(value: object) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise _Inexpressible
    return [*cast("Sequence[Any]", value)]
