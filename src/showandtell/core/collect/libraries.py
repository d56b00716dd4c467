"""Other libraries' results and files, known by class name or exact shape; no such library is imported here.

MCP results are untrusted: an address in one is words. An object of google-genai, pydantic-ai or LangChain was made by
the program's own code, so its address becomes a file for the provider to open.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from showandtell.core.collect.base64_text import file_from_base64
from showandtell.core.collect.blocks import name_of, read_block, read_content, read_file_block, say
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Text

#: What stands for a foreign value: parts, or ordinary values that are still to be collected.
Stands: TypeAlias = tuple[object, ...]
Read: TypeAlias = Callable[[Any], "Stands | None"]

RESULT_KEYS = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})
MCP_MODELS = ("CallToolResult", "TextContent", "ImageContent", "AudioContent", "EmbeddedResource", "ResourceLink")
#: PNG has no such modes; these keep most of what each holds.
PNG_MODES = {"I": "I;16", "F": "L", "La": "RGBA", "PA": "RGBA", "RGBa": "RGBA", "RGBX": "RGB"}
PNG_TAKES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})


def recognise(value: object) -> tuple[object, ...] | None:
    """What stands for a value of another library: parts, and ordinary values still to be collected.

    None for everything ordinary. Raises PointerError for a block whose base64 doesn't decode.
    """
    if type(value) is dict:
        return read_dict(cast("dict[str, Any]", value))
    read = find_reader(type(value))
    return read(value) if read else None


def read_aside(value: object) -> tuple[bool, object]:
    """Whether a foreign result is an error, and what it keeps for the program alone."""
    if type(value) is dict:
        result = cast("dict[str, Any]", value)
        is_error = result.get("isError") is True and "content" in result
        return (is_error and read_mcp_result(result) is not None), None
    match find_reader(type(value)), cast("Any", value):
        case reader, result if reader is read_mcp_model:
            return bool(getattr(result, "is_error", getattr(result, "isError", False))), None
        case reader, result if reader is read_tool_return:
            return False, result.metadata
        case reader, result if reader is read_message:
            return getattr(result, "status", "") == "error", getattr(result, "artifact", None)
        case _:
            return False, None


def read_dict(value: dict[str, Any]) -> Stands | None:
    """A dict that is exactly a file block or an MCP result."""
    if "type" in value:
        file = read_file_block(value)
        return None if file is None else (file,)
    return read_mcp_result(value) if "content" in value else None


def read_mcp_result(result: dict[str, Any]) -> Stands | None:
    """The content of an MCP tool result, then its structured content where that says something new."""
    content = result["content"]
    if type(content) is not list or not result.keys() <= RESULT_KEYS or not (content or "isError" in result):
        return None
    try:
        parts = read_content(cast("list[Any]", content)) if content else ()
    except PointerError as misfit:
        misfit.steps.append("content")
        raise
    if parts is None:
        return None
    try:
        return (*parts, *read_structured(result.get("structuredContent"), cast("list[object]", content), parts))
    except RecursionError:
        raise PointerError("structured content nested too deep; return less of it") from None


def read_structured(structured: Any, content: list[object], parts: Stands) -> Stands:
    """What structured content says beyond the texts and files of its result: one value, or nothing."""
    carried = frozenset(map(carry_base64, content)) - {""}
    left = drop_repeated(structured, carried) if carried else structured
    return () if left is None or left == {} or repeats(left, parts) else (left,)


def carry_base64(block: object) -> str:
    """The base64 of an MCP block, empty where it has none."""
    match block:
        case {"data": str(data)} | {"resource": {"blob": str(data)}}:
            return data
        case _:
            return ""


def drop_repeated(value: Any, carried: frozenset[str]) -> Any:
    """A JSON value without what repeats the base64 in `carried`; None where nothing is left of it."""
    match value:
        case str():
            return None if any(len(data) <= len(value) and data in value for data in carried) else value
        case {"type": str(), "data": str(data)} if data in carried:
            return None
        case dict():
            members = cast("dict[str, Any]", value)
            return keep(members, {key: drop_repeated(item, carried) for key, item in members.items()})
        case list():
            items = cast("list[Any]", value)
            left = [(item, drop_repeated(item, carried)) for item in items]
            return [new for old, new in left if new is not None or old is None] or (None if items else items)
        case _:
            return value


def keep(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any] | None:
    """The members that are left; a null that was there before is one of them."""
    left = {key: item for key, item in new.items() if item is not None or old[key] is None}
    return left if left or not old else None


def repeats(structured: Any, parts: Stands) -> bool:
    """Whether structured content says only what the texts say, as servers do for clients that read no structure."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    said = (*texts, *(values := [parse(text) for text in texts]), texts, values)
    match structured:
        case {"result": result, **rest} if not rest:
            return structured in said or result in said
        case _:
            return structured in said


def parse(text: str) -> Any:
    """A text as the JSON value it spells, else itself."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text


def read_mcp_model(value: Any) -> Stands | None:
    """An MCP result or content block, by its wire form."""
    wire = value.model_dump(by_alias=True, mode="json")
    if "content" in wire:
        return read_mcp_result(wire)
    block = read_block(wire)
    return None if block is None else (block,)


def read_mcp_media(value: Any) -> Stands:
    """The image, audio and file classes that MCP servers give to tool authors: bytes, or a path of the program's."""
    media_type = name_of(getattr(value, "_mime_type", None))
    if value.path:
        return (File.from_path(value.path, media_type, getattr(value, "_name", None)),)
    return (File.from_bytes(value.data, media_type, getattr(value, "_name", None)),)


def read_google_part(value: Any) -> Stands | None:
    """A google-genai Part with words, a file or a function's response; its other sorts are data, thoughts nothing."""
    if getattr(value, "thought", None):
        return ()
    if getattr(value, "text", None):
        return (say(value.text),)
    held = value.inline_data or value.file_data or getattr(value, "function_response", None)
    return None if held is None else (held,)


def read_google_blob(value: Any) -> Stands:
    """A google-genai Blob: bytes, type, and a name to show."""
    return (File(value.data or b"", value.mime_type, getattr(value, "display_name", None)),)


def read_google_address(value: Any) -> Stands:
    """A google-genai FileData: an address that the provider opens."""
    return (File.from_uri(value.file_uri, value.mime_type, getattr(value, "display_name", None)),)


def read_google_image(value: Any) -> Stands:
    """A google-genai Image: bytes, or an address in Google's storage."""
    if value.image_bytes:
        return (File.from_bytes(value.image_bytes, value.mime_type),)
    return (File.from_uri(value.gcs_uri or "", value.mime_type),)


def read_google_response(value: Any) -> Stands:
    """A google-genai FunctionResponse: its values, then its files."""
    return (value.response, *(value.parts or ()))


def read_google_content(value: Any) -> Stands:
    """A google-genai Content: its parts."""
    return tuple(value.parts or ())


def read_tool_return(value: Any) -> Stands:
    """A pydantic-ai ToolReturn: the value, then what is shown beside it."""
    beside = (value.content,) if isinstance(value.content, str) else tuple(value.content or ())
    return (value.return_value, *beside)


def read_binary(value: Any) -> Stands:
    """A pydantic-ai BinaryContent or BinaryImage."""
    return (File.from_bytes(value.data, value.media_type),)


def read_file_url(value: Any) -> Stands:
    """A pydantic-ai ImageUrl, AudioUrl, VideoUrl or DocumentUrl: a data URI's file, else an address."""
    media_type = name_of(getattr(value, "_media_type", None))
    if value.url.startswith("data:"):
        return (file_from_base64(value.url, media_type),)
    return (File.from_uri(value.url, media_type),)


def read_uploaded(value: Any) -> Stands:
    """A pydantic-ai UploadedFile: the provider's own file id."""
    provider = value.provider_name.partition("-")[0]
    return (File.from_uri(f"{provider}:{value.file_id}", name_of(getattr(value, "_media_type", None))),)


def read_marked_text(value: Any) -> Stands:
    """A pydantic-ai TextContent; what it keeps beside the words is for the program."""
    return (say(value.content),)


def read_nothing(_: Any) -> Stands:
    """A mark that says nothing."""
    return ()


def read_message(value: Any) -> Stands:
    """A LangChain message: its words and blocks; its artifact is for the program."""
    if isinstance(value.content, str):
        return (say(value.content),)
    content: list[Any] = value.content
    return read_content(content) or tuple(content)


def read_document(value: Any) -> Stands:
    """A LangChain Document: its words, then what is known about them."""
    return (say(value.page_content), value.metadata) if value.metadata else (say(value.page_content),)


def read_blob(value: Any) -> Stands:
    """A LangChain Blob: bytes, words, or a path of the program's."""
    name = Path(value.path).name if value.path else None
    if value.data is None:
        return (File.from_path(value.path, value.mimetype),)
    if isinstance(value.data, str):
        return (say(value.data),)
    return (File.from_bytes(value.data, value.mimetype, name),)


def read_picture(value: Any) -> Stands:
    """A Pillow image as PNG, under the name of the file it was opened from."""
    mode: str = value.mode
    written = value if mode in PNG_TAKES else value.convert(PNG_MODES.get(mode, "RGB"))
    stream = io.BytesIO()
    written.save(stream, format="PNG")
    name = name_of(getattr(value, "filename", None))
    return (File(stream.getvalue(), "image/png", f"{Path(name).stem}.png" if name else None),)


def read_figure(value: Any) -> Stands:
    """A matplotlib Figure as PNG; pyplot, which keeps state of its own, is left alone."""
    stream = io.BytesIO()
    value.savefig(stream, format="png", bbox_inches="tight")
    return (File(stream.getvalue(), "image/png"),)


def read_array(value: Any) -> Stands:
    """A numpy array or scalar as Python values."""
    return (value.tolist(),)


READERS: dict[tuple[str, str], Read] = {
    **{(library, name): read_mcp_model for library in ("mcp", "mcp_types") for name in MCP_MODELS},
    **{
        (f"{library}.types", name): read_mcp_media
        for library in ("mcp.server.mcpserver.utilities", "mcp.server.fastmcp.utilities", "fastmcp.utilities")
        for name in ("Image", "Audio", "File")
    },
    ("google.genai.types", "Part"): read_google_part,
    ("google.genai.types", "FunctionResponsePart"): read_google_part,
    ("google.genai.types", "Blob"): read_google_blob,
    ("google.genai.types", "FunctionResponseBlob"): read_google_blob,
    ("google.genai.types", "FileData"): read_google_address,
    ("google.genai.types", "FunctionResponseFileData"): read_google_address,
    ("google.genai.types", "Image"): read_google_image,
    ("google.genai.types", "FunctionResponse"): read_google_response,
    ("google.genai.types", "Content"): read_google_content,
    ("pydantic_ai", "ToolReturn"): read_tool_return,
    ("pydantic_ai", "BinaryContent"): read_binary,
    ("pydantic_ai", "FileUrl"): read_file_url,
    ("pydantic_ai", "UploadedFile"): read_uploaded,
    ("pydantic_ai", "TextContent"): read_marked_text,
    ("pydantic_ai", "CachePoint"): read_nothing,
    ("langchain_core", "BaseMessage"): read_message,
    ("langchain_core", "Document"): read_document,
    ("langchain_core", "Blob"): read_blob,
    ("PIL", "Image"): read_picture,
    ("matplotlib", "Figure"): read_figure,
    ("numpy", "generic"): read_array,
    ("numpy", "ndarray"): read_array,
}


@lru_cache(maxsize=1024)
def find_reader(kind: type) -> Read | None:
    """The reader of a class or of the nearest class it derives from, by the longest known part of its module."""
    for ancestor in kind.__mro__:
        module = ancestor.__module__
        while module:
            read = READERS.get((module, ancestor.__qualname__))
            if read:
                return read
            module = module.rpartition(".")[0]
    return None
