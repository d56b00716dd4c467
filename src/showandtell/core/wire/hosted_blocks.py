"""Blocks of tools that a provider runs itself, and blocks of unknown types, as every API's parser keeps them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import Struct

from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import BlockRead, StreamEvent
from showandtell.core.messages.file import File, missing_file
from showandtell.core.messages.json_pointers import escape_key
from showandtell.core.messages.parts import HostedBlock, HostedState
from showandtell.core.wire.opaque import arguments_json
from showandtell.core.wire.response_files import read_base64

Fields: TypeAlias = dict[str, Any]
#: Maximum characters of a text, and items of a list, in what people see of a block. The block itself is kept whole.
MAX_TEXT, MAX_ITEMS = 4_000, 50
#: Maximum levels of what people see.
MAX_LEVELS = 6
#: The head of a data URL of a file, and the names of fields beside bare base64.
DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)[^,]{0,200};base64,")
MEDIA_TYPES = ("media_type", "mimeType", "mime_type")
NO_FILES: Mapping[str, str] = {}
OWN = ("", "")
#: Starts of the names of fields that only the provider can read.
PRIVATE = ("encrypted", "signature", "thoughtSignature", "obfuscation")


def hosted_block(
    block: Fields,
    call_id: str,
    tool: str,
    *,
    given: object = None,
    output: object = None,
    state: HostedState = "done",
    bare: Mapping[str, str] = NO_FILES,
    made_by: tuple[str, str] | None = OWN,
) -> HostedBlock:
    """A block, with its input and output for people. Its files are taken out: they are stored like a tool's.

    `bare` has the media types of fields that are base64: pictures of the model's own, which no code made. `made_by` is
    what made the files of other blocks: by default the tool itself, None for the model.
    """
    files: list[tuple[str, File]] = []
    for name, media_type in bare.items():
        made = read_base64(str(block.get(name) or ""), media_type)
        problem = for_people(block.get("error")) or made.problem
        files.append((f"/{name}", missing_file(problem, media_type) if problem else File(made.data, media_type)))
        block = {**block, name: None}
    own = _without_files(block, "", (tool, call_id) if made_by is OWN else made_by, files)
    given, output = (None if value is None else _without_files(value, "", ("", ""), []) for value in (given, output))
    return HostedBlock(
        "", to_json(own) if own else "", call_id, tool, for_people(given), for_people(output), state, tuple(files)
    )


def read_block(block: HostedBlock, calls: HostedCalls, events: list[StreamEvent]) -> None:
    """Append the events of a complete block. One without a tool is a file alone."""
    events.append(BlockRead(block))
    if block.tool:
        events.append(calls.follow(block))


def for_people(value: object) -> str:
    """A value as JSON for people, without what only the provider can read; empty for None and empty values."""
    readable = _readable(value, MAX_LEVELS)
    return "" if readable in (None, "", {}, []) else to_json(readable)


def parsed(text: str) -> object:
    """The value of a JSON text, or the text itself if it isn't JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def read_arguments(text: str) -> Fields:
    """A call's arguments in a stream, as the object that every API requires in its block."""
    return msgspec.json.decode(arguments_json(text))


def to_json(value: object) -> str:
    """JSON text of a plain value."""
    return msgspec.json.encode(value).decode()


def _without_files(value: Any, pointer: str, made_by: tuple[str, str] | None, files: list[tuple[str, File]]) -> Any:
    """A value without its files, whose JSON pointers are added to `files`.

    A data URL keeps its head, `data:image/png;base64,`, and bare base64 becomes null.
    """
    match value:
        case {"data": str() as data} if media_type := _media_type(value):
            file = _file(data, media_type, made_by)
            if file is None:
                return value
            files.append((f"{pointer}/data", file))
            return {**value, "data": None}
        case str() if (found := DATA_URL.match(value)) and (file := _file(value[found.end() :], found[1], made_by)):
            files.append((pointer, file))
            return found[0]
        case dict():
            fields = cast("Fields", value).items()
            return {key: _without_files(item, f"{pointer}/{escape_key(key)}", made_by, files) for key, item in fields}
        case list():
            items = enumerate(cast("list[object]", value))
            return [_without_files(item, f"{pointer}/{index}", made_by, files) for index, item in items]
        case _:
            return value


def _media_type(fields: Fields) -> str | None:
    """The media type beside base64, unless it is that of a text."""
    found = next((value for key in MEDIA_TYPES if isinstance(value := fields.get(key), str)), None)
    is_text = fields.get("type") == "text" or (found or "").startswith("text/")
    return None if is_text else found


def _file(data: str, media_type: str, made_by: tuple[str, str] | None) -> File | None:
    made = read_base64(data, media_type, lenient=True)
    return None if made.problem else File(made.data, media_type, made_by=made_by)


class _Citations(Struct, forbid_unknown_fields=True):
    citations: msgspec.Raw


def format_citations(citations: Sequence[Fields]) -> str | None:
    """Return the opaque part that follows a text with citations; None if it has none."""
    return to_json({"citations": citations}) if citations else None


def read_citations(opaque: str) -> msgspec.Raw | None:
    """Return the citations that go back with the text before them, or None if the opaque part is a block."""
    try:
        return msgspec.json.decode(opaque, type=_Citations).citations
    except msgspec.MsgspecError:
        return None


def _readable(value: object, levels: int) -> object:
    match value:
        case str():
            return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}… ({len(value) - MAX_TEXT} more characters)"
        case dict() | list() if levels == 0:
            return "…"
        case dict():
            fields = cast("Fields", value).items()
            return {name: _readable(item, levels - 1) for name, item in fields if not name.startswith(PRIVATE)}
        case list():
            items = cast("list[object]", value)
            more = [f"… ({len(items) - MAX_ITEMS} more)"] if len(items) > MAX_ITEMS else []
            return [*(_readable(item, levels - 1) for item in items[:MAX_ITEMS]), *more]
        case _:
            return value
