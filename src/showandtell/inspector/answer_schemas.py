"""The schemas that APIs take for an answer: OpenAI's strict mode, and Claude's structured outputs.

The messages are from reports of 400s, except those marked (ours), which are made up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from showandtell.inspector.request import ApiError

NOT_CLOSED = "'additionalProperties' is required to be supplied and to be false."
#: Keywords that Claude's structured outputs reject, by the type of the value.
UNSUPPORTED = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems"),
}


def check_openai_schema(schema: dict[str, Any], names: tuple[str, str, str], *, strict: bool) -> None:
    """Raise `ApiError` for a schema that OpenAI rejects. `names` are its owner, its place, and the error's code."""
    owner, place, code = names
    if schema.get("type") != "object":
        message = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
        raise ApiError(f"Invalid schema for {owner}: {message}", parameter=place, code=code)
    for context, problem in _find_loose(schema, ()) if strict else ():
        message = f"Invalid schema for {owner}: In context={context}, {problem}"
        raise ApiError(message, parameter=place, code=code)


def check_claude_schema(schema: object, place: str) -> None:
    """Raise `ApiError` for a schema that Claude's structured outputs reject."""
    nodes = [*_walk(schema)]
    for node in nodes:
        kind = node.get("type")
        if kind == "object" and node.get("additionalProperties") is not False:
            raise ApiError(f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false")
        wrong = [key for key in UNSUPPORTED.get(str(kind), ()) if key in node]
        if wrong:
            raise ApiError(f"{place}: For '{kind}' type, properties {', '.join(wrong)} are not supported")
        if "oneOf" in node:
            raise ApiError(f"{place}: Schema type 'oneOf' is not supported")
        if not node.keys() & {"type", "anyOf", "allOf", "$ref", "enum", "const"}:
            raise ApiError(f"{place}: Schema type is missing")  # ours
    if not nodes or nodes[0].get("type") != "object":
        raise ApiError(f"{place}: The root must be an object")  # ours
    if _is_recursive(_entries(nodes[0].get("$defs"))):
        raise ApiError(f"{place}: Circular reference detected in schema definitions")  # ours


def _is_recursive(definitions: dict[str, Any]) -> bool:
    uses = {
        name: {str(node.get("$ref")).rpartition("/")[2] for node in _walk(inner)} for name, inner in definitions.items()
    }
    for name, own in uses.items():
        reached, waiting = set[str](), {*own}
        while waiting:
            used = waiting.pop()
            if used == name:
                return True
            waiting |= uses.get(used, set()) - reached
            reached.add(used)
    return False


def _walk(schema: object) -> Iterator[dict[str, Any]]:
    """A schema, and all within it."""
    if not isinstance(schema, dict):
        return
    node = cast("dict[str, Any]", schema)
    yield node
    inner: list[Any] = [*_entries(node.get("properties")).values(), *_entries(node.get("$defs")).values()]
    for key in ("anyOf", "oneOf", "allOf"):
        options = node.get(key)
        inner += cast("list[Any]", options) if isinstance(options, list) else []
    for child in (*inner, node.get("items")):
        yield from _walk(child)


def _find_loose(schema: dict[str, Any], context: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each object of a schema that strict mode rejects: it allows other fields, or does not require all of its own."""
    properties = _entries(schema.get("properties"))
    if schema.get("type") == "object" or properties:
        if schema.get("additionalProperties") is not False:
            yield context, NOT_CLOSED
        required = schema.get("required")
        for name in properties:
            if not isinstance(required, list) or name not in required:
                message = "to be an array including every key in properties."
                yield context, f"'required' is required to be supplied and {message} Missing '{name}'."
    if "$ref" in schema and len(schema) > 1:
        yield context, f"$ref cannot have keywords {sorted(schema.keys() - {'$ref'})}."
    if not schema.keys() & {"type", "anyOf", "$ref", "enum", "const", "allOf", "oneOf"}:
        yield context, "schema must have a 'type' key."
    for key in ("oneOf", "allOf", "default", "prefixItems"):
        if key in schema:
            yield context, f"'{key}' is not permitted."
    for key in ("properties", "$defs", "definitions"):
        for name, inner in _entries(schema.get(key)).items():
            yield from _find_loose(_entries(inner), (*context, key, name))
    yield from _find_loose(_entries(schema["items"]), (*context, "items")) if "items" in schema else ()
    options = schema.get("anyOf")
    for at, inner in enumerate(cast("list[Any]", options) if isinstance(options, list) else ()):
        yield from _find_loose(_entries(inner), (*context, "anyOf", str(at)))


def _entries(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
