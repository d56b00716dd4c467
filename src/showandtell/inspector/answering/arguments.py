"""Arguments for a tool's JSON schema: read from `/tool key=value` commands, or filled from the words of a request."""

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
#: Bounded, so that a thousand opening quotes cost no more than one.
QUOTED = re.compile(r'"([^"]{1,500})"|“([^”]{1,500})”|(?<!\w)\'([^\']{1,500})\'(?!\w)|`([^`]{1,500})`')
PATH_NAME = re.compile(r"path|file|image|name")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
WHOLE_TEXT = frozenset({"query", "question", "text", "prompt", "message", "topic", "description", "q"})


class Command(Struct, frozen=True):
    """`/name` and the text behind it, up to the next command."""

    name: str
    text: str


def read_commands(words: str, known: frozenset[str]) -> list[Command]:
    """The commands of a message: those that open a line, and known names anywhere behind a blank."""
    found = [
        match
        for match in COMMAND.finditer(words)
        if match[1] in known or not words[: match.start()].rpartition("\n")[2].strip()
    ]
    ends = [*(match.start() for match in found[1:]), len(words)]
    return [Command(match[1], words[match.end() : end].strip()) for match, end in zip(found, ends, strict=False)]


def read_arguments(command: Command, offer: OfferedTool) -> dict[str, Any]:
    """`key=value` pairs, coerced by the schema; bare words fill required arguments that have no pair, in order."""
    given: dict[str, Any] = {}
    bare: list[Any] = []
    at = 0
    while at < len(command.text):
        if command.text[at].isspace():
            at += 1
            continue
        key = KEY.match(command.text, at)
        value, at = _read_value(command.text, key.end() if key else at)
        if key:
            given[key[1]] = coerce(value, properties(offer).get(key[1], {}))
        else:
            bare.append(value)
    missing = [name for name in required(offer) if name not in given]
    for name, value in zip(missing, bare, strict=False):
        given[name] = coerce(value, properties(offer)[name])
    return given


def properties(offer: OfferedTool) -> dict[str, Any]:
    """The schema of each argument."""
    return {name: _schema(schema) for name, schema in _schema(offer.schema.get("properties")).items()}


def required(offer: OfferedTool) -> list[str]:
    """The arguments that a call must have."""
    known = properties(offer)
    return [name for name in _list(offer.schema.get("required")) if isinstance(name, str) and name in known]


def kinds_of(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema allows; empty where it doesn't say."""
    kind = schema.get("type")
    own = {kind} if isinstance(kind, str) else {one for one in _list(kind) if isinstance(one, str)}
    return own.union(*(kinds_of(branch) for branch in _branches(schema))) - {"null"}


def items_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of an array's items, in a branch of it too."""
    found = [_schema(branch["items"]) for branch in (schema, *_branches(schema)) if "items" in branch]
    return found[0] if found else {}


def _branches(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_schema(branch) for key in ("anyOf", "oneOf") for branch in _list(schema.get(key))]


def _schema(value: Any) -> dict[str, Any]:
    """A schema as it stands in one; `true`, and what is none, says nothing."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


class Raw(str):
    """A value that stood unquoted, so that it may mean a number."""

    __slots__ = ()


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_float(text: str) -> float:
    """A number that JSON can say again; `1e999` stays text."""
    if math.isinf(number := float(text)):
        raise ValueError(text)
    return number


_json = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_read_float)


def _decode(text: str, at: int) -> tuple[Any, int]:
    """A JSON value that can be said again, and where it ends; raises `ValueError` for half of a surrogate pair."""
    value, end = _json.raw_decode(text, at)
    msgspec.json.encode(value)
    return value, end


def _read_value(text: str, at: int) -> tuple[Any, int]:
    """JSON where it parses and ends there, a quoted string, else everything up to the next blank."""
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
        return Raw(""), at
    if match[3] is None:
        return (match[1] or match[2] or "").replace('\\"', '"'), match.end()
    return Raw(match[3].rstrip(",;") or match[3]), match.end()


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
    """Turn what was written into a type that the schema allows, where that is possible without guessing."""
    kinds = kinds_of(schema)
    if isinstance(value, list):
        return cast("list[Any]", value)
    if "array" in kinds:
        pieces = [piece.strip() for piece in value.split(",")] if isinstance(value, str) else [value]
        return [coerce(Raw(piece) if isinstance(piece, str) else piece, items_of(schema)) for piece in pieces]
    parsed: Any
    if not isinstance(value, Raw):
        parsed = _parse(value) if isinstance(value, str) and kinds and "string" not in kinds else value
    else:
        parsed = str(value) if "string" in kinds and not kinds - {"string"} else _parse(value)
    if kinds == {"integer"} and isinstance(parsed, float) and parsed.is_integer():
        return int(parsed)
    return parsed


def fill_arguments(offer: OfferedTool, words: str) -> dict[str, Any] | None:
    """Fill every required argument from the words of a request, each word once; None where one stays empty."""
    paths = [match[0] for match in PATH.finditer(words)]
    quoted = [next(group for group in match.groups() if group) for match in QUOTED.finditer(words)]
    numbers = [_parse(match[0]) for match in NUMBER.finditer(PATH.sub(" ", words))]
    filled: dict[str, Any] = {}
    for name in required(offer):
        value = _fill(name, properties(offer)[name], words, (paths, quoted, numbers))
        if value is None:
            return None
        filled[name] = value
    return filled


def _fill(name: str, schema: Mapping[str, Any], words: str, pools: tuple[list[str], list[str], list[Any]]) -> Any:
    paths, quoted, numbers = pools
    if "const" in schema or "enum" in schema:
        options: Sequence[Any] = _list(schema.get("enum")) or [schema.get("const")]
        return next((option for option in options if str(option).lower() in words.lower()), None)
    kinds = kinds_of(schema)
    if "array" in kinds:
        return _fill_array(items_of(schema), pools)
    if "string" in kinds:
        first, second = (paths, quoted) if PATH_NAME.search(name) else (quoted, paths)
        pool = first or second
        return pool.pop(0) if pool else words if name in WHOLE_TEXT else None
    if kinds & {"integer", "number"}:
        whole = [number for number in numbers if "number" in kinds or isinstance(number, int)]
        return numbers.pop(numbers.index(whole[0])) if whole else None
    return None


def _fill_array(items: Mapping[str, Any], pools: tuple[list[str], list[str], list[Any]]) -> list[Any] | None:
    paths, quoted, numbers = pools
    pool = numbers if kinds_of(items) & {"integer", "number"} else quoted or paths
    taken = list(pool)
    pool.clear()
    return taken or None
