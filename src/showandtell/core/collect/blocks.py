"""Content blocks as plain dicts: the exact shapes of MCP, OpenAI, Anthropic and LangChain, each read as one part.

A dict that isn't one of these shapes to the last key is data. An address in a block is words and is never fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from showandtell.core.collect.base64_text import file_from_base64, is_data_uri, join_surrogates
from showandtell.core.collect.data_uris import read_data_uri
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Audience, Text

Block: TypeAlias = Text | File
Rest: TypeAlias = dict[str, Any]

BLOCK_TYPES = frozenset(
    {
        *("text", "input_text", "output_text", "text-plain"),
        *("image", "image_url", "input_image", "audio", "input_audio", "video"),
        *("file", "input_file", "document", "resource", "resource_link"),
    }
)
#: Keys that a block may carry besides what its shape names; any other key makes the dict data.
EXTRAS = frozenset(
    {
        *("annotations", "_meta", "meta", "metadata", "id", "index", "extras"),
        *("detail", "cache_control", "citations", "context", "logprobs"),
    }
)
AUDIO_FORMATS = {"mp3": "audio/mpeg", "m4a": "audio/mp4"}


def read_file_block(block: Rest) -> File | None:
    """The file of a dict that is exactly a block with a file in it; PointerError where its base64 doesn't decode."""
    if not is_typed(block):
        return None
    return read_openai_file(block) or read_anthropic_file(block) or read_langchain_file(block) or read_mcp_file(block)


def is_typed(block: Rest) -> bool:
    """Whether a dict says one of the types that blocks have."""
    said = block.get("type")
    return type(said) is str and said in BLOCK_TYPES


def is_exact(*rests: Rest) -> bool:
    """Whether what a shape left over is only what blocks may carry besides."""
    return all(rest.keys() <= EXTRAS for rest in rests)


def read_openai_file(block: Rest) -> File | None:
    """OpenAI's blocks, of both its apis."""
    match block:
        case {"type": "image_url", "image_url": {"url": str(url), **inner}, **rest} if is_exact(inner, rest):
            return read_inline(url)
        case {"type": "input_image" | "image_url", "image_url": str(url), **rest} if is_exact(rest):
            return read_inline(url)
        case {"type": "input_file", "file_data": str(data), **rest} if is_exact(drop(rest, "filename")):
            return file_from_base64(data, None, name_of(rest.get("filename")))
        case {"type": "file", "file": {"file_data": str(data), **inner}, **rest} if is_exact(
            drop(inner, "filename"), rest
        ):
            return file_from_base64(data, None, name_of(inner.get("filename")))
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form), **inner}, **rest} if (
            is_exact(inner, rest)
        ):
            return file_from_base64(data, AUDIO_FORMATS.get(form, f"audio/{form}"))
        case _:
            return None


def read_anthropic_file(block: Rest) -> File | None:
    """Anthropic's image and document blocks with a base64 or text source."""
    match block:
        case {
            "type": "image" | "document",
            "source": {"type": "base64", "media_type": str(media_type), "data": str(data), **inner},
            **rest,
        } if is_exact(inner, drop(rest, "title")):
            return file_from_base64(data, media_type, name_of(rest.get("title")))
        case {
            "type": "document",
            "source": {"type": "text", "media_type": str(media_type), "data": str(data), **inner},
            **rest,
        } if is_exact(inner, drop(rest, "title")):
            return File(join_surrogates(data).encode(), media_type, name_of(rest.get("title")))
        case _:
            return None


def read_langchain_file(block: Rest) -> File | None:
    """LangChain's standard blocks, and those of its versions before 1."""
    match block:
        case {"type": "image" | "audio" | "video" | "file", "base64": str(data), **rest} if is_exact(
            drop(rest, "mime_type", "filename")
        ):
            return file_from_base64(data, name_of(rest.get("mime_type")), name_langchain(rest))
        case {
            "type": "image" | "audio" | "video" | "file",
            "source_type": "base64",
            "data": str(data),
            "mime_type": str(media_type),
            **rest,
        } if is_exact(drop(rest, "filename", "name")):
            return file_from_base64(data, media_type, name_of(rest.get("name")) or name_langchain(rest))
        case _:
            return None


def name_langchain(rest: Rest) -> str | None:
    """The file name that a LangChain block carries at its top, in `extras` or in `metadata`."""
    inside: list[Rest] = [rest[key] for key in ("extras", "metadata") if isinstance(rest.get(key), dict)]
    places: list[Rest] = [rest, *inside]
    found = (place.get(key) for place in places for key in ("filename", "name"))
    return next((name for name in found if isinstance(name, str) and name), None)


def read_mcp_file(block: Rest) -> File | None:
    """MCP's image and audio content, and an embedded resource with a blob, named by the end of its URI."""
    match block:
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(media_type), **rest} if is_exact(rest):
            return file_from_base64(data, media_type)
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data), **inner}, **rest} if is_exact(
            drop(inner, "mimeType"), rest
        ):
            return file_from_base64(data, name_of(inner.get("mimeType")), name_resource(uri))
        case _:
            return None


def read_words(block: Rest) -> Text | File | None:
    """The words of a dict that is exactly a text block; a data URI among them is its file."""
    match block:
        case {"type": "text" | "input_text" | "output_text", "text": str(text), **rest} if is_exact(rest):
            return say(text, read_audience(rest))
        case {"type": "text-plain", "text": str(text), **rest} if is_exact(drop(rest, "mime_type", "title")):
            return say(text)
        case {"type": "resource", "resource": {"uri": str(), "text": str(text), **inner}, **rest} if is_exact(
            drop(inner, "mimeType"), rest
        ):
            return say(text, read_audience(rest))
        case _:
            return None


def read_link(block: Rest) -> Text | None:
    """A block that only points at a file: words, for nobody here may follow an address that a tool hands in."""
    match block:
        case {"type": "resource_link", "uri": str(address), "name": str(name)}:
            return Text(f"{name}: {address}", read_audience(block))
        case (
            {"type": "image_url", "image_url": {"url": str(address)} | str(address)}
            | {"type": "input_image", "image_url": str(address)}
            | {"type": "input_image" | "input_file" | "image" | "audio" | "video" | "file", "file_id": str(address)}
            | {"type": "input_file", "file_url": str(address)}
            | {"type": "file", "file": {"file_id": str(address)}}
            | {"type": "image" | "audio" | "video" | "file", "url": str(address)}
            | {"type": "image" | "document", "source": {"type": "url", "url": str(address)}}
            | {"type": "image" | "document", "source": {"type": "file", "file_id": str(address)}}
        ):
            return Text(f"{block['type']}: {address}")
        case _:
            return None


def read_content(values: Sequence[object]) -> tuple[Block, ...] | None:
    """The parts of a list in which every element is a block or a string, and one is a block; else None."""
    found: list[Block] = []
    place = 0
    try:
        for place, value in enumerate(values):  # noqa: B007 - the place is read where an element is a misfit
            block = say(value) if isinstance(value, str) else read_block(value)
            if block is None:
                return None
            found.append(block)
    except PointerError as misfit:
        misfit.steps.append(place)
        raise
    return tuple(found) if any(not isinstance(value, str) for value in values) else None


def read_block(value: object) -> Block | None:
    """One block as a part; None for data."""
    if type(value) is not dict:
        return None
    block = cast("Rest", value)
    return (read_words(block) or read_file_block(block) or read_link(block)) if is_typed(block) else None


def say(text: str, audience: Audience = "both") -> Text | File:
    """Words for somebody; base64 in a data URI is a file, for it would be no words to anybody."""
    return read_data_uri(text) or Text(text, audience)


def read_audience(block: Rest) -> Audience:
    """Whom MCP's annotations address: the user alone, the model alone, or both."""
    match block.get("annotations"):
        case {"audience": ["user"]}:
            return "user"
        case {"audience": ["assistant"]}:
            return "model"
        case _:
            return "both"


def read_inline(url: str) -> File | None:
    """The file of a data URI; None for an address, which stays data."""
    return file_from_base64(url, None) if is_data_uri(url) else None


def drop(rest: Rest, *names: str) -> Rest:
    """What is left without these keys."""
    return {key: value for key, value in rest.items() if key not in names}


def name_of(value: object) -> str | None:
    """A name where there is one."""
    return value if isinstance(value, str) and value else None


def name_resource(uri: str) -> str | None:
    """The last step of a URI's path; None for words that are no URI."""
    try:
        return Path(urlsplit(uri).path).name or None
    except ValueError:  # brackets around what is no IPv6 address
        return None
