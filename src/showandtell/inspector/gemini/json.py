"""Read JSON as Google's protobuf parser does, and report every problem in its words, one per line.

The parser accepts camelCase and snake_case, a single object for a list, numbers as text, and null for missing fields.
Its messages have paths in snake_case.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import Struct, inspect

from showandtell.inspector.gemini import schema as wire
from showandtell.inspector.request import ApiError

JSON_FAULT = "Invalid JSON payload received."
TYPES = "type.googleapis.com/google.ai.generativelanguage.v1beta"


class Problem(Struct, frozen=True):
    """A message of the parser, and the path in it."""

    place: str
    message: str


def read_json(body: bytes, host: wire.Host) -> wire.Body:
    """Read a body. Raises `ApiError` with all problems, one per line."""
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(f"{JSON_FAULT} {error}") from None
    problems: list[Problem] = []
    read = _fit(value, _type_of_bodies(), "", _Context(host, problems))
    if problems:
        raise ApiError("\n".join(problem.message for problem in problems), parameter=problems[0].place or None)
    return read


@cache
def _type_of_bodies() -> inspect.Type:
    return inspect.type_info(wire.Body)


class _Context(Struct, frozen=True):
    """The host, and the problems so far."""

    host: wire.Host
    problems: list[Problem]

    def add(self, place: str, message: str) -> None:
        self.problems.append(Problem(place, message))


def _fit(value: Any, expected: inspect.Type, place: str, context: _Context) -> Any:
    """Convert a value to the expected type. If it doesn't fit, add a problem and return a meaningless value."""
    match expected:
        case inspect.UnionType(types=types):
            item_type = next(kind for kind in types if not isinstance(kind, inspect.NoneType))
            return _fit(value, item_type, place, context)
        case inspect.StructType():
            return _fit_object(value, expected, place, context)
        case inspect.ListType(item_type=item):
            if not isinstance(value, list):
                return [_fit(value, item, place, context)]
            values = cast("list[Any]", value)
            return [_fit(item_type, item, f"{place}[{at}]", context) for at, item_type in enumerate(values)]
        case inspect.DictType(value_type=item):
            return _fit_map(value, item, place, context)
        case inspect.LiteralType(values=values):
            return _fit_name(value, values, place, context)
        case inspect.AnyType():
            return value
        case _:
            return _fit_scalar(value, expected, place, context)


def _fit_object(value: Any, expected: inspect.StructType, place: str, context: _Context) -> Any:
    name = expected.cls.__name__
    if not isinstance(value, dict):
        if not place:
            context.add("", f'{JSON_FAULT} Unknown name "": Root element must be a message.')
        else:
            context.add(place, f"Invalid value at '{place}' ({TYPES}.{name}), {_quote(value)}")
        return None
    fields = _fields_of(expected.cls)
    values: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        field = fields.get(key)
        if field is None or f"{name}.{field.name}" in wire.ABSENT[context.host]:
            at = f" at '{place}'" if place else ""
            context.add(place, f'{JSON_FAULT} Unknown name "{key}"{at}: Cannot find field.')
        elif item is not None:
            _check_only(field.name, values, name, place, context)
            values[field.name] = _fit(item, field.type, f"{place}.{field.name}".removeprefix("."), context)
    return None if context.problems else expected.cls(**values)


def _check_only(field: str, values: dict[str, Any], name: str, place: str, context: _Context) -> None:
    """Check that no field is set twice, and only one data field of a part."""
    if field in values or (name == "Part" and field in wire.DATA and any(other in values for other in wire.DATA)):
        union = f"oneof field 'data' is already set. Cannot set '{_camel(field)}'"
        context.add(place, f"Invalid value at '{place}' (oneof), {union}")


@cache
def _fields_of(kind: type) -> dict[str, inspect.Field]:
    """The fields of an object by name in snake_case and camelCase."""
    known = cast("inspect.StructType", inspect.type_info(kind))
    return {key: field for field in known.fields for key in (field.name, _camel(field.name))}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _fit_map(value: Any, item: inspect.Type, place: str, context: _Context) -> Any:
    if not isinstance(value, dict):
        context.add(place, f"Invalid value at '{place}' (type.googleapis.com/google.protobuf.Struct), {_quote(value)}")
        return None
    entries = cast("dict[str, Any]", value)
    if isinstance(item, inspect.AnyType):
        return entries
    pairs = enumerate(entries.items())
    return {key: _fit(entry, item, f"{place}[{at}].value", context) for at, (key, entry) in pairs}


def _fit_name(value: Any, names: tuple[Any, ...], place: str, context: _Context) -> Any:
    """A name of an enumeration. The parser ignores case."""
    if isinstance(value, str) and value.upper() in names:
        return value.upper()
    context.add(place, f"Invalid value at '{place}' (TYPE_ENUM), {_quote(value)}")
    return None


def _fit_scalar(value: Any, expected: inspect.Type, place: str, context: _Context) -> Any:
    name, read = wire.SCALARS[type(expected)]
    result = read(value)
    if result is None:
        reason = "Base64 decoding failed for " if name == "TYPE_BYTES" and isinstance(value, str) else ""
        context.add(place, f"Invalid value at '{place}' ({name}), {reason}{_quote(value)}")
    return result


def _quote(value: Any) -> str:
    """The value as in the parser's messages, but long ones are cut."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 100 else f"{text[:100]}…"
