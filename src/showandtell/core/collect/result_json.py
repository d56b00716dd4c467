"""A tool's result as one JSON value: what the tool returned, with references in place of its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Raw

from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.messages.parts import Json, Shown, Text

#: The parts of a result that people may see.
ResultPart: TypeAlias = Text | Json[Shown] | Shown
#: Returns the reference of a file by its number, as a JSON value.
Refer: TypeAlias = Callable[[int], object]
#: The keys of a JSON pointer, and the JSON text that goes there.
Place: TypeAlias = tuple[Sequence[str], Raw]


def result_json(parts: Sequence[ResultPart], refer: Refer) -> Raw:
    """Return a result as JSON text: a string if it is text alone, null if it is empty.

    One value stands alone, several are a list in order. Numbers and keys are written as the tool's JSON has them.
    """
    texts = [part.text for part in parts if isinstance(part, Text)]
    if texts and len(texts) == len(parts):
        return encode(join_surrogates("\n".join(texts)))
    values = [part_json(part, refer) for part in parts]
    return values[0] if len(values) == 1 else encode(values or None)


def part_json(part: ResultPart, refer: Refer) -> Raw:
    """Return one part as JSON text. JSON that can't be read, from an imported conversation, is a string."""
    match part:
        case Text(text):
            return encode(join_surrogates(text))
        case Shown(number):
            return encode(refer(number))
        case Json(text, files):
            places = [(split_pointer(pointer), encode(refer(file.number))) for pointer, file in files]
            try:
                value = Raw(text.encode())
                msgspec.json.decode(value)
                return replace_at(value, places) if places else value
            except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, LookupError, ValueError):
                return encode(join_surrogates(text))


def split_pointer(pointer: str) -> list[str]:
    """Return the keys of a JSON pointer (RFC 6901)."""
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def replace_at(value: Raw, places: Sequence[Place]) -> Raw:
    """Replace values within a JSON text. The rest stays as it is written, since not every number survives reading."""
    inside: dict[str, list[Place]] = {}
    for keys, replacement in places:
        if not keys:
            return replacement
        inside.setdefault(keys[0], []).append((keys[1:], replacement))
    if bytes(value).lstrip().startswith(b"["):
        items = msgspec.json.decode(value, type=list[Raw])
        for key, inner in inside.items():
            items[int(key)] = replace_at(items[int(key)], inner)
        return encode(items)
    fields = msgspec.json.decode(value, type=dict[str, Raw])
    for key, inner in inside.items():
        fields[key] = replace_at(fields[key], inner)
    return encode(fields)


def encode(value: object) -> Raw:
    """Return a value as JSON text."""
    return Raw(msgspec.json.encode(value))
