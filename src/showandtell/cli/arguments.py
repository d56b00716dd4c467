"""Arguments of the command line, looked up and checked: what is in a module, files, folders, conversations."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

import msgspec

from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, History
from showandtell.core.messages.parts import ToolCall
from showandtell.errors import BadConversation, BadFile, BadInput, UsageError
from showandtell.storage.files import conversation_file

T = TypeVar("T")
#: What a path never starts with: a scheme and two slashes.
ADDRESS = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")


def imported(import_it: Callable[[str, str], T], option: str, name: str) -> T:
    """What MODULE:NAME names, also from the current folder. Raises `UsageError`, which names the option."""
    try:
        return import_it(option, name)
    except BadInput as error:
        raise UsageError(str(error)) from error


def existing(path: Path, what: str = "") -> Path:
    """The path of an existing, readable file. Raises `UsageError`."""
    try:
        if path.is_dir():
            raise UsageError(f"{what}{path} is a folder: name a file in it")
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{what}there is no file {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{what}{path} can't be read: {reason}") from None
    if not os.access(path, os.R_OK):
        raise UsageError(f"{what}{path} can't be read: permission denied")
    return path


def attached(name: str, max_bytes: int) -> File:
    """The file of `--attach`: a path, or an address, which is fetched as the page does. Raises `UsageError`."""
    if not ADDRESS.match(name):
        return File.from_path(existing(Path(name).expanduser(), "--attach: "))
    from showandtell.network.attach import fetch_attachment  # noqa: PLC0415 - few commands fetch

    async def fetch() -> File:
        with TemporaryDirectory(prefix="showandtell-") as folder:
            file = await fetch_attachment(name, Path(folder), max_bytes=max_bytes)
            return File.from_bytes(file.read(), file.media_type, file.name)

    try:
        return asyncio.run(fetch())
    except BadFile as error:
        raise UsageError(f"--attach: {error}") from None


def split_paths(text: str) -> list[Path]:
    """Paths as typed or dropped: quoted or backslash-escaped, `~` for home, several separated by spaces."""
    if Path(text).expanduser().is_file():
        return [Path(text).expanduser()]
    try:
        words = shlex.split(text)
    except ValueError:  # an unclosed quote is part of the name
        words = [text]
    return [Path(word).expanduser() for word in words]


def starts_with(path: Path, prefix: bytes) -> bool:
    """Whether the JSON in a file starts with `prefix`."""
    with path.open("rb") as stream:
        return stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(prefix)


def check_conversation(path: Path, wants: str) -> None:
    """Raise `BadConversation` for a file that is no conversation by its start, with what the command takes."""
    if starts_with(path, b"PK") or starts_with(path, b"{"):
        return
    if starts_with(path, b"["):
        raise BadConversation(f"{path.name} is a list of messages: `showandtell import --from` takes those of an API")
    raise BadConversation(f"{path.name} is not a conversation file: {wants}")


def is_request(path: Path) -> bool:
    """Whether a file is a request to an API, with its messages: JSON of ours has a version beside them."""
    try:
        value: object = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    keys = cast("dict[str, object]", value).keys() if isinstance(value, dict) else set[str]()
    return "version" not in keys and not {"messages", "input", "contents"}.isdisjoint(keys)


def is_conversation(path: Path) -> bool:
    """Whether to read a file as a conversation file, so that its mistakes are reported.

    That is a JSON object with `version` and `messages`; with the suffix .json one of them is enough, or invalid JSON.
    """
    named = path.suffix.lower() == ".json"
    if not named and not starts_with(path, b"{"):
        return False
    data = path.read_bytes()
    try:
        value: object = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return named
    if not isinstance(value, dict):
        return False
    keys = cast("dict[str, object]", value)
    return {"version", "messages"} <= keys.keys() or (named and ("messages" in keys or keys.get("version") == 1))


def conversation(paths: list[Path]) -> History | None:
    """The conversation in a single path, if it is a conversation file."""
    return conversation_file.load(paths[0]) if len(paths) == 1 and is_conversation(existing(paths[0])) else None


def files_from_user(paths: Iterable[Path]) -> History:
    """A conversation in which the user sends these files."""
    return History([Draft("user", tuple(File.from_path(existing(path)) for path in paths))])


def files_from_tool(paths: Iterable[Path]) -> History:
    """A conversation in which a tool returns these files."""
    files = tuple(File.from_path(existing(path)) for path in paths)
    call = ToolCall("call_1", "tool", "{}")
    return History((Draft("user"), Draft("assistant", (call,)), Draft("tool", files, call.call_id, call.tool)))
