"""Read JSON as the parser of protobuf bodies does, and refuse in its words: every complaint, a line each.

The parser takes camelCase and snake_case, one object where a list is wanted, numbers as text, and null for what is left
out; its complaints name a place in snake_case.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import Struct, inspect

from showandtell.inspector.gemini import schema as wire
from showandtell.inspector.request import Refusal

JSON_FAULT = "Invalid JSON payload received."
TYPES = "type.googleapis.com/google.ai.generativelanguage.v1beta"


class Problem(Struct, frozen=True):
    """A complaint and the place it names."""

    place: str
    words: str


def read_json(body: bytes, host: wire.Host) -> wire.Body:
    """Read a body. Raises `Refusal` with every complaint of the api's parser, a line each."""
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{JSON_FAULT} {error}") from None
    problems: list[Problem] = []
    read = _fit(value, _type_of_bodies(), "", _Notes(host, problems))
    if problems:
        raise Refusal("\n".join(problem.words for problem in problems), parameter=problems[0].place or None)
    return read


@cache
def _type_of_bodies() -> inspect.Type:
    return inspect.type_info(wire.Body)


class _Notes(Struct, frozen=True):
    """What goes along while a body is read: whose api it is, and what was wrong so far."""

    host: wire.Host
    problems: list[Problem]

    def add(self, place: str, words: str) -> None:
        self.problems.append(Problem(place, words))


def _fit(value: Any, wanted: inspect.Type, place: str, notes: _Notes) -> Any:
    """The value as the wanted type; what doesn't fit is noted, and something of no meaning stands for it."""
    match wanted:
        case inspect.UnionType(types=types):
            one = next(kind for kind in types if not isinstance(kind, inspect.NoneType))
            return _fit(value, one, place, notes)
        case inspect.StructType():
            return _fit_object(value, wanted, place, notes)
        case inspect.ListType(item_type=item):
            if not isinstance(value, list):
                return [_fit(value, item, place, notes)]
            items = cast("list[Any]", value)
            return [_fit(one, item, f"{place}[{at}]", notes) for at, one in enumerate(items)]
        case inspect.DictType(value_type=item):
            return _fit_map(value, item, place, notes)
        case inspect.LiteralType(values=values):
            return _fit_name(value, values, place, notes)
        case inspect.AnyType():
            return value
        case _:
            return _fit_scalar(value, wanted, place, notes)


def _fit_object(value: Any, wanted: inspect.StructType, place: str, notes: _Notes) -> Any:
    name = wanted.cls.__name__
    if not isinstance(value, dict):
        if not place:
            notes.add("", f'{JSON_FAULT} Unknown name "": Root element must be a message.')
        else:
            notes.add(place, f"Invalid value at '{place}' ({TYPES}.{name}), {_quote(value)}")
        return None
    fields = _fields_of(wanted.cls)
    found: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        field = fields.get(key)
        if field is None or f"{name}.{field.name}" in wire.ABSENT[notes.host]:
            at = f" at '{place}'" if place else ""
            notes.add(place, f'{JSON_FAULT} Unknown name "{key}"{at}: Cannot find field.')
        elif item is not None:
            _check_only(field.name, found, name, place, notes)
            found[field.name] = _fit(item, field.type, f"{place}.{field.name}".removeprefix("."), notes)
    return None if notes.problems else wanted.cls(**found)


def _check_only(field: str, found: dict[str, Any], name: str, place: str, notes: _Notes) -> None:
    """Of a part's data one field alone may be set, and no field twice."""
    if field in found or (name == "Part" and field in wire.DATA and any(other in found for other in wire.DATA)):
        union = f"oneof field 'data' is already set. Cannot set '{_camel(field)}'"
        notes.add(place, f"Invalid value at '{place}' (oneof), {union}")


@cache
def _fields_of(kind: type) -> dict[str, inspect.Field]:
    """The fields of an object in both spellings."""
    known = cast("inspect.StructType", inspect.type_info(kind))
    return {key: field for field in known.fields for key in (field.name, _camel(field.name))}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _fit_map(value: Any, item: inspect.Type, place: str, notes: _Notes) -> Any:
    if not isinstance(value, dict):
        notes.add(place, f"Invalid value at '{place}' (type.googleapis.com/google.protobuf.Struct), {_quote(value)}")
        return None
    entries = cast("dict[str, Any]", value)
    if isinstance(item, inspect.AnyType):
        return entries
    pairs = enumerate(entries.items())
    return {key: _fit(one, item, f"{place}[{at}].value", notes) for at, (key, one) in pairs}


def _fit_name(value: Any, names: tuple[Any, ...], place: str, notes: _Notes) -> Any:
    """A name of an enumeration; the parser minds no case."""
    if isinstance(value, str) and value.upper() in names:
        return value.upper()
    notes.add(place, f"Invalid value at '{place}' (TYPE_ENUM), {_quote(value)}")
    return None


def _fit_scalar(value: Any, wanted: inspect.Type, place: str, notes: _Notes) -> Any:
    name, read = wire.SCALARS[type(wanted)]
    found = read(value)
    if found is None:
        why = "Base64 decoding failed for " if name == "TYPE_BYTES" and isinstance(value, str) else ""
        notes.add(place, f"Invalid value at '{place}' ({name}), {why}{_quote(value)}")
    return found


def _quote(value: Any) -> str:
    """The value as the complaint shows it; the api shows all of it, here long ones are cut."""
    spelled = msgspec.json.encode(value).decode()
    return spelled if len(spelled) <= 100 else f"{spelled[:100]}…"
