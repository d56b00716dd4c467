"""File names and ids that programs keep beside OpenAI's messages: `metadata` of a part, `attachments` of a message.

Only names and ids are read. An address in them is never opened and never becomes a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, cast

from showandtell.core.histories.reading import Parts
from showandtell.core.media_types.claims import normalize_claim
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.file import File, Uri
from showandtell.core.messages.parts import DraftPart, Text

#: A part as OpenAI's API writes it, and what was read from it.
ReadPart: TypeAlias = tuple[Any, DraftPart]
#: Keys of names and ids in LangChain's content blocks, OpenAI's threads, the AI SDK and common chat programs.
NAME_KEYS = ("filename", "file_name", "fileName", "name", "title")
ID_KEYS = ("attachment_id", "attachmentId", "file_id", "fileId", "id")
TYPE_KEYS = ("media_type", "mediaType", "mime_type", "mimeType", "content_type", "contentType", "type")
#: Keys of a part that may hold names: LangChain moved them from `metadata` to `extras`.
TAG_KEYS = ("metadata", "extras")
MAX_ATTACHMENTS = 100
MAX_CHARS = 200


class Tag(NamedTuple):
    """The name and id of a file. `keys` are what it can be recognized by: name, id and addresses."""

    name: str
    id: str
    media_type: str | None
    keys: frozenset[str]

    def __str__(self) -> str:
        return f"{self.name or 'a file'} (attachment id {self.id})" if self.id else self.name or "a file"


def read_tag(fields: object) -> Tag | None:
    """The name and id in a mapping or a plain name. None without both."""
    if isinstance(fields, str):
        fields = {"name": fields}
    if not isinstance(fields, dict):
        return None
    values = cast("dict[str, Any]", fields)
    name, identifier = _first(values, NAME_KEYS), _first(values, ID_KEYS)
    if not name and not identifier:
        return None
    addresses = (value for value in values.values() if isinstance(value, str) and ":" in value)
    keys = frozenset(filter(None, (name, identifier, *addresses)))
    return Tag(name, identifier, normalize_claim(_first(values, TYPE_KEYS)), keys)


def _first(fields: dict[str, Any], keys: Iterable[str]) -> str:
    """The first of these fields that holds a text or a number, in one line and with bounded length."""
    values = (fields.get(key) for key in keys)
    texts = (" ".join(str(value).split())[:MAX_CHARS] for value in values if type(value) in {str, int})
    return next(filter(None, texts), "")


def tag_parts(parts: Sequence[ReadPart], attachments: object) -> Parts:
    """The parts of a message, with the names and ids of their metadata and of the message's attachments.

    An attachment belongs to the part with the same address, id or name. The others belong to the remaining files in
    order if there are as many; otherwise a text names them.
    """
    tagged = [_tag(part, _tag_of(item)) for item, part in parts]
    entries = cast("list[object]", attachments)[:MAX_ATTACHMENTS] if isinstance(attachments, list) else []
    tags = [tag for tag in map(read_tag, entries) if tag is not None]
    files = [index for index, part in enumerate(tagged) if isinstance(part, File)]
    remaining: list[Tag] = []
    for tag in tags:
        match = next((index for index in files if _is_same(tag, parts[index][0])), None)
        if match is None:
            remaining.append(tag)
        else:
            files.remove(match)
            tagged[match] = _tag(tagged[match], tag)
    if not remaining:
        return tagged
    if len(remaining) == len(files) and all(map(_fits, remaining, (tagged[index] for index in files))):
        for index, tag in zip(files, remaining, strict=True):
            tagged[index] = _tag(tagged[index], tag)
        return tagged
    return [*tagged, Text(f"Attached, but not included: {', '.join(map(str, remaining))}")]


def _tag_of(item: object) -> Tag | None:
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    return next(filter(None, (read_tag(fields[key]) for key in TAG_KEYS if isinstance(fields.get(key), dict))), None)


def _tag(part: DraftPart, tag: Tag | None) -> DraftPart:
    """A file with the name and id of a tag, unless it has its own."""
    if tag is None or not isinstance(part, File):
        return part
    description = part.description or (f"attachment id {tag.id}" if tag.id else None)
    own = None if isinstance(part.source, Uri) and _is_of_address(part.name, part.source.value) else part.name
    return replace(part, name=own or tag.name or part.name, description=description)


def _is_of_address(name: str | None, address: str) -> bool:
    """Whether a name was only taken from an address."""
    return name in {None, address, File.from_uri(address).name}


def _is_same(tag: Tag, item: object) -> bool:
    """Whether a part has the address, id or name of an attachment."""
    own = _tag_of(item)
    return not tag.keys.isdisjoint((*_texts(item), *(own.keys if own else ())))


def _texts(item: object) -> Iterator[str]:
    """The texts of a part, one level deep: `image_url` may be a text or hold a `url`."""
    for value in cast("dict[str, Any]", item).values() if isinstance(item, dict) else ():
        inner = cast("dict[str, Any]", value).values() if isinstance(value, dict) else (value,)
        yield from (text for text in inner if isinstance(text, str))


def _fits(tag: Tag, part: DraftPart) -> bool:
    """Whether the types of an attachment and a file don't contradict each other."""
    declared = part.media_type if isinstance(part, File) else None
    if tag.media_type is None or "/" not in tag.media_type or declared is None:
        return True
    return kind_of(tag.media_type) == kind_of(declared)
