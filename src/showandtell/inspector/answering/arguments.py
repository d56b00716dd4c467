"""Arguments for a tool's JSON schema, from `/tool key=value` commands or from the text of a message."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from showandtell.inspector.request import OfferedTool

COMMAND = re.compile(r"(?:^|(?<=\s))/([A-Za-z_][\w-]*)(?=\s|$)")
KEY = re.compile(r"([A-Za-z_]\w*)=")
VALUE = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|(\S+)')
END = re.compile(r"[,;]?(?=\s|$)")
PATH = re.compile(r"(?<![\w/.-])[\w./-]*\w\.[A-Za-z]\w{0,5}\b")
#: Bounded, so that many opening quotes don't make matching slow.
QUOTED = re.compile(r'"([^"]{1,500})"|“([^”]{1,500})”|(?<!\w)\'([^\']{1,500})\'(?!\w)|`([^`]{1,500})`')
PATH_NAME = re.compile(r"path|file|image|name")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
FULL_TEXT_NAMES = frozenset({"query", "question", "text", "prompt", "message", "topic", "description", "q"})


class Command(Struct, frozen=True):
    """`/name` and the text after it, up to the next command."""

    name: str
    text: str


class Series(Struct, frozen=True):
    """Numbers with a label each."""

    numbers: Sequence[int | float]
    labels: Sequence[str]


def read_commands(text: str, known: frozenset[str]) -> list[Command]:
    """The commands of a message: any at the start of a line, and known names after whitespace."""
    matches = [
        match
        for match in COMMAND.finditer(text)
        if match[1] in known or not text[: match.start()].rpartition("\n")[2].strip()
    ]
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return [Command(match[1], text[match.end() : end].strip()) for match, end in zip(matches, ends, strict=False)]


def read_arguments(command: Command, tool: OfferedTool) -> dict[str, Any]:
    """Parse `key=value` pairs by the schema. Other values fill the remaining required arguments in order."""
    arguments: dict[str, Any] = {}
    unnamed: list[Any] = []
    at = 0
    while at < len(command.text):
        if command.text[at].isspace():
            at += 1
            continue
        key = KEY.match(command.text, at)
        value, at = _read_value(command.text, key.end() if key else at)
        if key:
            arguments[key[1]] = coerce(value, properties(tool).get(key[1], {}))
        else:
            unnamed.append(value)
    missing = [name for name in required(tool) if name not in arguments]
    for name, value in zip(missing, unnamed, strict=False):
        arguments[name] = coerce(value, properties(tool)[name])
    return arguments


def properties(tool: OfferedTool) -> dict[str, Any]:
    """The schema of each argument."""
    return {name: _as_schema(schema) for name, schema in _as_schema(tool.schema.get("properties")).items()}


def required(tool: OfferedTool) -> list[str]:
    """The required arguments."""
    known = properties(tool)
    return [name for name in _as_list(tool.schema.get("required")) if isinstance(name, str) and name in known]


def json_types(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema allows; empty if it doesn't restrict them."""
    declared = schema.get("type")
    own = {declared} if isinstance(declared, str) else {name for name in _as_list(declared) if isinstance(name, str)}
    return own.union(*(json_types(branch) for branch in _branches(schema))) - {"null"}


def items_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of an array's items, also from an anyOf or oneOf branch."""
    schemas = [_as_schema(branch["items"]) for branch in (schema, *_branches(schema)) if "items" in branch]
    return schemas[0] if schemas else {}


def _branches(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_as_schema(branch) for key in ("anyOf", "oneOf") for branch in _as_list(schema.get(key))]


def _as_schema(value: Any) -> dict[str, Any]:
    """A nested schema. `true` and invalid schemas count as empty."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


class Unquoted(str):
    """An unquoted value, which may be a number."""

    __slots__ = ()


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_float(text: str) -> float:
    """Raise `ValueError` for numbers that JSON can't encode, such as `1e999`: they stay text."""
    if math.isinf(number := float(text)):
        raise ValueError(text)
    return number


_json = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_read_float)


def _decode(text: str, at: int) -> tuple[Any, int]:
    """A JSON value and its end. Raises `ValueError` if it can't be encoded again: half of a surrogate pair."""
    value, end = _json.raw_decode(text, at)
    msgspec.json.encode(value)
    return value, end


def _read_value(text: str, at: int) -> tuple[Any, int]:
    """Read JSON, a quoted string, or everything up to the next whitespace."""
    if text[at : at + 1] in {"[", "{", '"'}:
        try:
            value, end = _decode(text, at)
        except (ValueError, RecursionError):
            pass
        else:
            if close := END.match(text, end):
                return value, close.end()
    match = VALUE.match(text, at)
    if match is None:
        return Unquoted(""), at
    if match[3] is None:
        return (match[1] or match[2] or "").replace('\\"', '"'), match.end()
    return Unquoted(match[3].rstrip(",;") or match[3]), match.end()


def _parse(text: str) -> Any:
    try:
        value, end = _decode(text.strip(), 0)
    except (ValueError, RecursionError):
        value, end = None, -1
    if end != len(text.strip()):
        return {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}.get(
            text.lower(), str(text)
        )
    return value


def coerce(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert a value to a type that the schema allows, if that needs no guessing."""
    types = json_types(schema)
    if isinstance(value, list):
        return cast("list[Any]", value)
    if "array" in types:
        pieces = [piece.strip() for piece in value.split(",")] if isinstance(value, str) else [value]
        return [coerce(Unquoted(piece) if isinstance(piece, str) else piece, items_of(schema)) for piece in pieces]
    parsed: Any
    if not isinstance(value, Unquoted):
        parsed = _parse(value) if isinstance(value, str) and types and "string" not in types else value
    else:
        parsed = str(value) if "string" in types and not types - {"string"} else _parse(value)
    if types == {"integer"} and isinstance(parsed, float) and parsed.is_integer():
        return int(parsed)
    return parsed


def fill_arguments(tool: OfferedTool, text: str, series: Series | None = None) -> dict[str, Any] | None:
    """Fill the required arguments from the text, using each word once. None if an argument stays empty.

    A list of numbers is filled from the `series` if there is one, and a list of texts with its labels.
    """
    paths = [match[0] for match in PATH.finditer(text)]
    quoted = [next(group for group in match.groups() if group) for match in QUOTED.finditer(text)]
    numbers = [_parse(match[0]) for match in NUMBER.finditer(PATH.sub(" ", text))]
    filled: dict[str, Any] = {}
    for name in required(tool):
        schema = properties(tool)[name]
        drawn = series if _is_list_of(schema, {"integer", "number"}) else None
        value = list(drawn.numbers) if drawn else _fill(name, schema, text, (paths, quoted, numbers))
        if value is None:
            return None
        filled[name] = value
        filled |= _label(tool, drawn) if drawn else {}
    return filled


def _is_list_of(schema: Mapping[str, Any], types: set[str]) -> bool:
    return "array" in json_types(schema) and bool(json_types(items_of(schema)) & types)


def _label(tool: OfferedTool, series: Series) -> dict[str, Any]:
    """The labels of a series as the tool's list of texts, if it takes one that it does not require."""
    taken = (name for name, schema in properties(tool).items() if _is_list_of(schema, {"string"}))
    return {name: list(series.labels) for name in taken if name not in required(tool)}


def _fill(name: str, schema: Mapping[str, Any], text: str, pools: tuple[list[str], list[str], list[Any]]) -> Any:
    paths, quoted, numbers = pools
    if "const" in schema or "enum" in schema:
        options: Sequence[Any] = _as_list(schema.get("enum")) or [schema.get("const")]
        return next((option for option in options if str(option).lower() in text.lower()), None)
    types = json_types(schema)
    if "array" in types:
        return _fill_array(items_of(schema), pools)
    if "string" in types:
        first, second = (paths, quoted) if PATH_NAME.search(name) else (quoted, paths)
        pool = first or second
        return pool.pop(0) if pool else text if name in FULL_TEXT_NAMES else None
    if types & {"integer", "number"}:
        candidates = [number for number in numbers if "number" in types or isinstance(number, int)]
        return numbers.pop(numbers.index(candidates[0])) if candidates else None
    return None


def _fill_array(items: Mapping[str, Any], pools: tuple[list[str], list[str], list[Any]]) -> list[Any] | None:
    paths, quoted, numbers = pools
    pool = numbers if json_types(items) & {"integer", "number"} else quoted or paths
    values = list(pool)
    pool.clear()
    return values or None
