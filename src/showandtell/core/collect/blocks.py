"""Content blocks as dicts: the exact shapes of MCP, OpenAI, Anthropic and LangChain, each read as one part.

A dict with any other key is data, unless it is marked for one audience. An address in a block becomes text; an agent
may replace it in a tool's result by the file, if the program allows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec

from showandtell.core.collect.base64_text import file_from_base64, for_audience, is_data_uri
from showandtell.core.collect.data_uris import read_data_uri
from showandtell.core.collect.nodes import Link
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.messages.file import Audience, File
from showandtell.core.messages.parts import Text, unfetched

Block: TypeAlias = Text | File
JsonDict: TypeAlias = dict[str, Any]

BLOCK_TYPES = frozenset(
    {
        *("text", "input_text", "output_text", "text-plain"),
        *("image", "image_url", "input_image", "audio", "input_audio", "video"),
        *("file", "input_file", "document", "resource", "resource_link"),
    }
)
#: Optional keys of any block. Any other key beside those of its shape makes the dict data.
OPTIONAL_KEYS = frozenset(
    {
        *("annotations", "_meta", "meta", "metadata", "id", "index", "extras"),
        *("detail", "cache_control", "citations", "context", "logprobs"),
    }
)
AUDIO_FORMATS = {"mp3": "audio/mpeg", "m4a": "audio/mp4"}


def read_file_block(block: JsonDict) -> File | None:
    """The file of a dict that is exactly a file block. Raises `PointerError` if its base64 doesn't decode."""
    if not has_block_type(block):
        return None
    readers = (read_openai_file, read_anthropic_file, read_langchain_file, read_mcp_file)
    file = next((file for reader in readers if (file := reader(block)) is not None), None)
    return file and for_audience(file, read_audience(block))


def has_block_type(block: JsonDict) -> bool:
    """Whether the `type` of a dict is that of a block."""
    block_type = block.get("type")
    return type(block_type) is str and block_type in BLOCK_TYPES


def is_exact(*rests: JsonDict) -> bool:
    """Whether the keys that a shape doesn't name are optional keys of blocks."""
    return all(rest.keys() <= OPTIONAL_KEYS for rest in rests)


def read_openai_file(block: JsonDict) -> File | None:
    """The file blocks of both OpenAI APIs."""
    match block:
        case {"type": "image_url", "image_url": {"url": str(url), **inner}, **rest} if is_exact(inner, rest):
            return read_inline(url)
        case {"type": "input_image" | "image_url", "image_url": str(url), **rest} if is_exact(rest):
            return read_inline(url)
        case {"type": "input_file", "file_data": str(data), **rest} if is_exact(without(rest, "filename")):
            return file_from_base64(data, None, string_or_none(rest.get("filename")))
        case {"type": "file", "file": {"file_data": str(data), **inner}, **rest} if is_exact(
            without(inner, "filename"), rest
        ):
            return file_from_base64(data, None, string_or_none(inner.get("filename")))
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form), **inner}, **rest} if (
            is_exact(inner, rest)
        ):
            return file_from_base64(data, AUDIO_FORMATS.get(form, f"audio/{form}"))
        case _:
            return None


def read_anthropic_file(block: JsonDict) -> File | None:
    """Anthropic's image and document blocks with a base64 or text source."""
    match block:
        case {
            "type": "image" | "document",
            "source": {"type": "base64", "media_type": str(media_type), "data": str(data), **inner},
            **rest,
        } if is_exact(inner, without(rest, "title")):
            return file_from_base64(data, media_type, string_or_none(rest.get("title")))
        case {
            "type": "document",
            "source": {"type": "text", "media_type": str(media_type), "data": str(data), **inner},
            **rest,
        } if is_exact(inner, without(rest, "title")):
            return File(join_surrogates(data).encode(), media_type, string_or_none(rest.get("title")))
        case _:
            return None


def read_langchain_file(block: JsonDict) -> File | None:
    """LangChain's standard blocks, and those before version 1."""
    match block:
        case {"type": "image" | "audio" | "video" | "file", "base64": str(data), **rest} if is_exact(
            without(rest, "mime_type", "filename")
        ):
            return file_from_base64(data, string_or_none(rest.get("mime_type")), langchain_file_name(rest))
        case {
            "type": "image" | "audio" | "video" | "file",
            "source_type": "base64",
            "data": str(data),
            "mime_type": str(media_type),
            **rest,
        } if is_exact(without(rest, "filename", "name")):
            return file_from_base64(data, media_type, string_or_none(rest.get("name")) or langchain_file_name(rest))
        case _:
            return None


def langchain_file_name(rest: JsonDict) -> str | None:
    """The file name in a LangChain block, its `extras` or its `metadata`."""
    nested: list[JsonDict] = [rest[key] for key in ("extras", "metadata") if isinstance(rest.get(key), dict)]
    dicts: list[JsonDict] = [rest, *nested]
    names = (holder.get(key) for holder in dicts for key in ("filename", "name"))
    return next((name for name in names if isinstance(name, str) and name), None)


def read_mcp_file(block: JsonDict) -> File | None:
    """MCP's image and audio content, and an embedded resource with a blob, named by the end of its URI."""
    match block:
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(media_type), **rest} if is_exact(rest):
            return file_from_base64(data, media_type)
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data), **inner}, **rest} if is_exact(
            without(inner, "mimeType"), rest
        ):
            return file_from_base64(data, string_or_none(inner.get("mimeType")), resource_name(uri))
        case _:
            return None


def read_text(block: JsonDict) -> Text | File | None:
    """The text of a dict that is exactly a text block, or its file if the text is a data URI."""
    match block:
        case {"type": "text" | "input_text" | "output_text", "text": str(text), **rest} if is_exact(rest):
            return text_or_file(text, read_audience(block))
        case {"type": "text-plain", "text": str(text), **rest} if is_exact(without(rest, "mime_type", "title")):
            return text_or_file(text, read_audience(block))
        case {"type": "resource", "resource": {"uri": str(), "text": str(text), **inner}, **rest} if is_exact(
            without(inner, "mimeType"), rest
        ):
            return text_or_file(text, read_audience(block))
        case _:
            return None


def read_link(block: JsonDict) -> Text | None:
    """The address in a block, as text: an address from a tool is not fetched unless the program allows it."""
    match block:
        case {"type": "resource_link", "uri": str(address), "name": str(name)}:
            return make_link(name, address, string_or_none(block.get("mimeType")), read_audience(block))
        case (
            {"type": "image_url", "image_url": {"url": str(address)} | str(address)}
            | {"type": "input_image", "image_url": str(address)}
            | {"type": "input_file", "file_url": str(address)}
            | {"type": "image" | "audio" | "video" | "file", "url": str(address)}
            | {"type": "image" | "document", "source": {"type": "url", "url": str(address)}}
        ):
            return make_link(block["type"], address, string_or_none(block.get("mime_type")), read_audience(block))
        case (
            {"type": "input_image" | "input_file" | "image" | "audio" | "video" | "file", "file_id": str(address)}
            | {"type": "file", "file": {"file_id": str(address)}}
            | {"type": "image" | "document", "source": {"type": "file", "file_id": str(address)}}
        ):
            return Text(f"{block['type']}: {address}", read_audience(block))
        case _:
            return None


def make_link(name: str, address: str, media_type: str | None, audience: Audience = "both") -> Link:
    """An address with its text."""
    return Link(unfetched(name, address), audience, name, address, media_type)


def read_content(values: Sequence[object]) -> tuple[Block, ...] | None:
    """The parts of a list of blocks and strings with at least one block. None for other lists."""
    blocks: list[Block] = []
    index = 0
    try:
        for index, value in enumerate(values):  # noqa: B007 - read in the except clause
            block = text_or_file(value) if isinstance(value, str) else read_block(value)
            if block is None:
                return None
            blocks.append(block)
    except PointerError as error:
        error.steps.append(index)
        raise
    return tuple(blocks) if any(not isinstance(value, str) for value in values) else None


def read_block(value: object) -> Block | None:
    """One block as a part. None for data."""
    if type(value) is not dict:
        return None
    block = cast("JsonDict", value)
    return (read_text(block) or read_file_block(block) or read_link(block)) if has_block_type(block) else None


def read_marked(value: JsonDict) -> Block | None:
    """A block that is marked for one audience, also where blocks without a mark are data. None for any other dict.

    One of a shape that isn't known is a text for that audience: a mark is never lost.
    """
    audience = read_audience(value) if has_block_type(value) else "both"
    if audience == "both":
        return None
    return read_block(value) or Text(msgspec.json.encode(value, enc_hook=repr).decode(), audience)


def text_or_file(text: str, audience: Audience = "both") -> Text | File:
    """A text part, or the file of a text that is one data URI."""
    file = read_data_uri(text)
    return Text(text, audience) if file is None else for_audience(file, audience)


def read_audience(block: JsonDict) -> Audience:
    """The audience in MCP's annotations, of the block or of the resource in it. "user" wins over anything else."""
    audiences = {annotated_audience(block), annotated_audience(block.get("resource"))}
    return "user" if "user" in audiences else "assistant" if "assistant" in audiences else "both"


def annotated_audience(holder: Any) -> Audience:
    """The audience in the annotations of a block or a resource, where it is a list of roles."""
    match holder:
        case {"annotations": {"audience": [*roles]}} if "user" in roles:
            return "both" if "assistant" in roles else "user"
        case {"annotations": {"audience": [*roles]}} if "assistant" in roles:
            return "assistant"
        case _:
            return "both"


def read_inline(url: str) -> File | None:
    """The file of a data URI. None for an address, which stays data."""
    return file_from_base64(url, None) if is_data_uri(url) else None


def without(rest: JsonDict, *names: str) -> JsonDict:
    """A copy without these keys."""
    return {key: value for key, value in rest.items() if key not in names}


def string_or_none(value: object) -> str | None:
    """A non-empty string, else None."""
    return value if isinstance(value, str) and value else None


def resource_name(uri: str) -> str | None:
    """The last segment of a URI's path. None for text that isn't a URI."""
    try:
        return Path(urlsplit(uri).path).name or None
    except ValueError:  # brackets without an IPv6 address in them
        return None
