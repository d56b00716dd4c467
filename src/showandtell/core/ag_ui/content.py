"""Files in AG-UI: parts of a tool's result, references in the state, and words for peers of 0.0.x."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import msgspec

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import format_label
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.chunks import Record

#: Kinds of files that have a part of their own. All others are documents.
PART_TYPES = frozenset({"image", "audio", "video"})
#: What a client learns of a file.
FIELDS = ("id", "number", "name", "kind", "media_type", "size", "problem", "url")


def is_shown(record: Record) -> bool:
    """Whether people may see a file, and it has bytes."""
    is_ready = record.get("state", "ready") == "ready" and record.get("problem") is None
    return is_ready and record.get("audience", "both") != "assistant"


def is_visible(record: Record) -> bool:
    """Whether people may see a file, and its bytes can be fetched."""
    return is_shown(record) and bool(record.get("url"))


def is_for_user(record: Record) -> bool:
    """Whether a file is for the user alone: then no message of a tool or a user names it."""
    return record.get("audience") == "user"


def file_record(record: Record) -> Record:
    """A reference to a file: what it is, and its address if it has one."""
    return {key: record[key] for key in FIELDS if record.get(key) is not None}


def label(record: Record) -> str:
    """What a file is called: "image 1: kiwi.jpg"."""
    return f"{format_label(kind_of(record['media_type']), record['number'])}: {record['name']}"


def call_text(text: str, records: Iterable[Record]) -> str:
    """A result in words: its text, and a line for each file."""
    return "\n".join(filter(None, (text, *map(label, records))))


def call_parts(text: str, records: Iterable[Record]) -> str | list[Record]:
    """A result as parts, or as text if it has no files. A file without an address is named in words."""
    parts: list[Record] = [file_part(record) if is_visible(record) else _text(label(record)) for record in records]
    if not parts:
        return text
    return [_text(text), *parts] if text else parts


def result_content(
    text: str, records: Sequence[Record], *, is_legacy: bool
) -> tuple[str | list[Record], list[str], list[Record]]:
    """A result with its files: its content, the ids of the files that have no part there, and what goes beside it.

    A file for the user alone has its id alone here: clients give results to models.
    """
    open_to_all = [record for record in records if not is_for_user(record)]
    shown = [record for record in records if is_shown(record)]
    if is_legacy:
        beside = [file_record(record) for record in open_to_all if is_visible(record)]
        return call_text(text, open_to_all), [record["id"] for record in shown], beside
    without_part = [record["id"] for record in shown if is_for_user(record) or not is_visible(record)]
    return call_parts(text, open_to_all), without_part, []


def hosted_record(chunk: ui.Input | ui.Output | ui.OutputError, before: Record) -> Record:
    """What a client learns of a tool that the provider runs itself: its input, then its output or error."""
    match chunk:
        case ui.Input(call_id, tool, given):
            return {"call_id": call_id, "tool": tool, "input": msgspec.json.decode(given), "state": "running"}
        case ui.Output(_, output):
            return {**before, "output": msgspec.json.decode(output), "state": "done"}
        case ui.OutputError(_, text):
            return {**before, "error": text, "state": "error"}


def source_record(chunk: ui.UrlSource | ui.DocumentSource) -> Record:
    """What a client learns of the source of a text."""
    return chunk.provider_metadata["showandtell"]


def output_of(chunk: ui.Output) -> tuple[str, Sequence[int]]:
    """The text of a tool's result, and the numbers of its files. An object stays JSON, with references to its files."""
    own: Record = chunk.tool_metadata["showandtell"]
    output = bytes(chunk.output)
    if "text" in own:
        is_object = output.startswith(b"{") and own["text"].startswith("{")
        return output.decode() if is_object else own["text"], own["files"]
    value: object = msgspec.json.decode(output)
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return "\n".join(item for item in values if isinstance(item, str)), own["files"]


def file_part(record: Record) -> Record:
    """A file as a media part, by its address."""
    kind = kind_of(record["media_type"])
    metadata = {key: value for key, value in file_record(record).items() if key != "url"}
    return {
        "type": kind if kind in PART_TYPES else "document",
        "id": record["id"],
        "source": {"type": "url", "value": record["url"], "mimeType": record["media_type"]},
        "metadata": metadata,
    }


def _text(text: str) -> Record:
    return {"type": "text", "text": text}
