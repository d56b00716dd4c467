"""Recognizes messages of one conversation that are stored in several places, where their ids differ.

A fingerprint covers what a message says and the fingerprint of the message before it. It doesn't cover ids, names of
authors, metadata, or the bytes of files, which an export may lack.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, structs

from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import HostedBlock, Json, Part, Shown, ToolCall

encode = msgspec.json.Encoder(order="sorted").encode


def fingerprint_all(messages: Iterable[Message]) -> list[str]:
    """The fingerprint of each message, in order. A parent comes before the messages that follow it.

    Equal messages after the same parent have different ones.
    """
    by_id: dict[str | None, str] = {None: ""}
    seen: dict[str, int] = {}
    found: list[str] = []
    for message in messages:
        content = hashlib.sha256(by_id[message.parent_id].encode() + encode(without_ids(message))).hexdigest()
        seen[content] = seen.get(content, 0) + 1
        by_id[message.id] = f"{content}-{seen[content]}"
        found.append(by_id[message.id])
    return found


def without_ids(message: Message) -> Message:
    """A message as every copy of it says it."""
    parts = tuple(map(plain, message.parts))
    return structs.replace(
        message, id="", parent_id=None, parts=parts, references=(), author=UNSET, metadata_json=UNSET
    )


def plain(part: Part) -> Part:
    """A part without ids of files, and with JSON in one form."""
    match part:
        case Shown():
            return structs.replace(part, attachment_id="")
        case Json():
            return Json(one_form(part.text), without_file_ids(part.files))
        case HostedBlock():
            texts = {name: one_form(getattr(part, name)) for name in ("block", "input", "output")}
            return structs.replace(part, files=without_file_ids(part.files), **texts)
        case ToolCall():
            return structs.replace(part, arguments=one_form(part.arguments))
        case _:
            return part


def without_file_ids(files: Iterable[tuple[str, Shown]]) -> tuple[tuple[str, Shown], ...]:
    """The files in a part, without their ids."""
    return tuple((pointer, structs.replace(shown, attachment_id="")) for pointer, shown in files)


def one_form(text: str) -> str:
    """JSON text without optional whitespace and with sorted keys; any other text as it is."""
    try:
        value: Any = msgspec.json.decode(text)
        return encode(value).decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return text
