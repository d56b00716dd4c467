"""Objects of any class that hold a file: a media type, and bytes or base64 as `content` or `data`; or a `file_path`.

A path is only read below the folder that the program has named for it, and never becomes text. Objects are recognized
by attributes that they or their classes really have, since a proxy answers to any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any, cast

from showandtell.core.collect.base64_text import MIN_BASE64
from showandtell.core.collect.data_uris import decode_base64, read_data_uri
from showandtell.core.collect.objects import unfold
from showandtell.core.collect.open_files import attribute, base_name
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.media_types.claims import normalize_type
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.file import File
from showandtell.errors import BadFile

TYPES = frozenset({"media_type", "mime_type", "content_type", "mimetype"})
CONTENTS = ("content", "data")
NAMES = ("filename", "file_name", "name", "display_name")
PATH = "file_path"
UNNAMED_FOLDER = "a file_path, and files_from= of the tool names no folder that it may come from; return File.from_path"
NAMED = frozenset({*TYPES, PATH})
#: Fields that describe the file itself. An object with others is JSON with a file in it.
OWN_FIELDS = frozenset({*TYPES, *CONTENTS, *NAMES, PATH, "description", "id", "identifier", "kind", "size", "type"})


def read_file_object(value: object, folder: Path | None) -> object:
    """The file of an object, or its fields by name with the file among them. None for other objects.

    folder: the folder that its `file_path` may name a file of. Raises `PointerError` for one outside of it.
    """
    if not has_any(value, NAMED):
        return None
    claims = attributes(value, sorted(TYPES)).values()
    media_type = next((media_type for claim in claims if (media_type := read_type(claim))), None)
    name = next(filter(None, map(base_name, attributes(value, NAMES).values())), None)
    text = attributes(value, ["description"]).get("description")
    description = text if isinstance(text, str) else None
    for field, content in attributes(value, CONTENTS).items() if media_type else ():
        data = read_data(content, media_type or "")
        if data is not None:
            return beside_fields(value, field, File(data, media_type, name, description))
    file = read_path(attributes(value, [PATH]).get(PATH), media_type, name, folder)
    return None if file is None else beside_fields(value, PATH, replace(file, description=description))


def read_path(path: object, media_type: str | None, name: str | None, folder: Path | None) -> File | None:
    """The file at a path in the folder. None for what isn't a path, and for a relative one if there is no folder."""
    if not isinstance(path, str | PurePath) or not str(path):
        return None
    if folder is None:
        if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
            raise PointerError(UNNAMED_FOLDER)
        return None
    try:
        return File.from_path(Path(path), media_type, name, within=folder)
    except BadFile as error:
        raise PointerError(f"a file_path: {error}") from None
    except (OSError, ValueError):
        raise PointerError("a file_path that is no path, or too long; return File.from_path") from None


def beside_fields(value: object, field: str, file: File) -> object:
    """The file, or the other fields of the object by name with the file among them, if they say more."""
    fields = read_fields(value)
    says_more = any(fields[name] is not None for name in fields.keys() - OWN_FIELDS)
    shown = {name: item for name, item in fields.items() if name != PATH or field == PATH}
    return {**shown, field: file} if says_more else file


def has_any(value: object, names: frozenset[str]) -> bool:
    """Whether an object or its class has one of these attributes. Quick, since most objects have none."""
    return not (names.isdisjoint(names_of(type(value))) and names.isdisjoint(own_attributes(value)))


def own_attributes(value: object) -> Mapping[str, object]:
    """The attributes that an object has besides those of its class."""
    fields = attribute(value, "__dict__")
    return cast("dict[str, object]", fields) if type(fields) is dict else {}


def attributes(value: object, names: Iterable[str]) -> dict[str, object]:
    """Those of these attributes that the object or its class has."""
    on_class, on_object = names_of(type(value)), own_attributes(value)
    return {name: attribute(value, name) for name in names if name in on_class or name in on_object}


@lru_cache(maxsize=1024)
def names_of(kind: type) -> frozenset[str]:
    """Those of the attributes of a class and of its bases that may be of a file."""
    return OWN_FIELDS & {name for ancestor in kind.__mro__ for name in vars(ancestor)}


def read_type(claim: object) -> str | None:
    """A claim that is a media type."""
    return normalize_type(claim) if isinstance(claim, str) else None


def read_data(content: object, media_type: str) -> bytes | None:
    """Bytes, or those of a data URI, or of base64 if that isn't the text itself."""
    match content:
        case bytes() | bytearray() | memoryview():
            return bytes(cast("bytes", content))
        case str():
            file = read_data_uri(content)
            if file is not None:
                return file.read()
            may_be_base64 = len(content) >= MIN_BASE64 and kind_of(media_type) != "text"
            return (decode_base64(content) or None) if may_be_base64 else None
        case _:
            return None


def read_fields(value: object) -> dict[str, Any]:
    """The fields of a model, a dataclass or the like by name; empty for objects of other classes."""
    try:
        fields = unfold(value)
    except PointerError:
        return {}
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}
