"""Results and files of other libraries, by class name, exact shape or protocol. None of the libraries is imported.

An MCP result is untrusted: an address in it becomes text. An object of google-genai, pydantic-ai or LangChain comes
from the program's own code: its address becomes a file for the provider to open.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from showandtell.core.collect.arrays import has_array, read_array, read_scalar
from showandtell.core.collect.base64_text import file_from_base64
from showandtell.core.collect.blocks import (
    read_block,
    read_content,
    read_file_block,
    read_marked,
    string_or_none,
    text_or_file,
)
from showandtell.core.collect.charts import read_altair, read_axes, read_figure, read_grid, read_plotly, refuse_part
from showandtell.core.collect.displays import has_display, read_html, read_picture
from showandtell.core.collect.mcp_results import read_mcp_result
from showandtell.core.collect.open_files import base_name, is_open_file, read_open_file
from showandtell.core.collect.tables import read_lazy, read_pandas, read_polars, read_series
from showandtell.core.messages.file import File

#: What replaces a value of another library: parts, and ordinary values still to be collected.
Replacement: TypeAlias = tuple[object, ...]
Reader: TypeAlias = Callable[[Any], "Replacement | None"]

MCP_MODELS = ("CallToolResult", "TextContent", "ImageContent", "AudioContent", "EmbeddedResource", "ResourceLink")
#: Modes that PNG lacks, and the mode that loses least.
PNG_REPLACEMENTS = {"I": "I;16", "F": "L", "La": "RGBA", "PA": "RGBA", "RGBa": "RGBA", "RGBX": "RGB"}
PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})


def recognize(value: object) -> Replacement | None:
    """What replaces a value of another library: parts, and ordinary values still to be collected.

    None for ordinary values. Raises `PointerError` for a block whose base64 doesn't decode.
    """
    if type(value) is dict:
        return read_dict(cast("dict[str, Any]", value))
    reader = find_reader(type(value))
    return reader(value) if reader else None


def read_error_and_metadata(value: object) -> tuple[bool, object]:
    """Whether the result of another library is an error, and its metadata for the program alone."""
    if type(value) is dict:
        result = cast("dict[str, Any]", value)
        is_error = result.get("isError") is True and "content" in result
        return (is_error and read_mcp_result(result) is not None), None
    reader = find_reader(type(value))
    if reader is read_mcp_model:
        return bool(getattr(value, "is_error", getattr(value, "isError", False))), None
    if reader is read_tool_return:
        return False, cast("Any", value).metadata
    if reader is read_message:
        return getattr(value, "status", "") == "error", getattr(value, "artifact", None)
    return False, None


def read_dict(value: dict[str, Any]) -> Replacement | None:
    """A dict that is exactly a file block or an MCP result, or a block that is marked for one audience."""
    if "type" in value:
        block = read_file_block(value) or read_marked(value)
        return None if block is None else (block,)
    return read_mcp_result(value) if "content" in value else None


def read_mcp_model(value: Any) -> Replacement | None:
    """An MCP result or content block, read from its wire form."""
    wire = value.model_dump(by_alias=True, mode="json")
    if "content" in wire:
        return read_mcp_result(wire)
    block = read_block(wire)
    return None if block is None else (block,)


def read_mcp_media(value: Any) -> Replacement:
    """The image, audio and file classes of MCP server SDKs: bytes, or a path of the program."""
    media_type = string_or_none(getattr(value, "_mime_type", None))
    if value.path:
        return (File.from_path(value.path, media_type, getattr(value, "_name", None)),)
    return (File.from_bytes(value.data, media_type, getattr(value, "_name", None)),)


def read_google_part(value: Any) -> Replacement | None:
    """A google-genai Part with text, a file or a function response. A thought is dropped, other kinds are data."""
    if getattr(value, "thought", None):
        return ()
    if getattr(value, "text", None):
        return (text_or_file(value.text),)
    content = value.inline_data or value.file_data or getattr(value, "function_response", None)
    return None if content is None else (content,)


def read_google_blob(value: Any) -> Replacement:
    """A google-genai Blob: bytes, type, and display name."""
    return (File(value.data or b"", value.mime_type, getattr(value, "display_name", None)),)


def read_google_address(value: Any) -> Replacement:
    """A google-genai FileData: an address that the provider opens."""
    return (File.from_uri(value.file_uri, value.mime_type, getattr(value, "display_name", None)),)


def read_google_image(value: Any) -> Replacement:
    """A google-genai Image: bytes, or an address in Google's storage."""
    if value.image_bytes:
        return (File.from_bytes(value.image_bytes, value.mime_type),)
    return (File.from_uri(value.gcs_uri or "", value.mime_type),)


def read_google_response(value: Any) -> Replacement:
    """A google-genai FunctionResponse: its values, then its files."""
    return (value.response, *(value.parts or ()))


def read_google_content(value: Any) -> Replacement:
    """A google-genai Content: its parts."""
    return tuple(value.parts or ())


def read_tool_return(value: Any) -> Replacement:
    """A pydantic-ai ToolReturn: the value, then its content."""
    content = (value.content,) if isinstance(value.content, str) else tuple(value.content or ())
    return (value.return_value, *content)


def read_binary(value: Any) -> Replacement:
    """A pydantic-ai BinaryContent or BinaryImage."""
    return (File.from_bytes(value.data, value.media_type, read_identifier(value)),)


def read_identifier(value: Any) -> str | None:
    """The name that the program gave to a pydantic-ai file. Its default is a hash, which says nothing."""
    return string_or_none(getattr(value, "_identifier", None))


def read_file_url(value: Any) -> Replacement:
    """A pydantic-ai ImageUrl, AudioUrl, VideoUrl or DocumentUrl: a data URI's file, else an address."""
    media_type = string_or_none(getattr(value, "_media_type", None))
    if value.url.startswith("data:"):
        return (file_from_base64(value.url, media_type, read_identifier(value)),)
    return (File.from_uri(value.url, media_type, read_identifier(value)),)


def read_uploaded(value: Any) -> Replacement:
    """A pydantic-ai UploadedFile: a file id of the provider."""
    provider = value.provider_name.partition("-")[0]
    media_type = string_or_none(getattr(value, "_media_type", None))
    return (File.from_uri(f"{provider}:{value.file_id}", media_type, read_identifier(value)),)


def read_text_content(value: Any) -> Replacement:
    """A pydantic-ai TextContent, without its metadata for the program."""
    return (text_or_file(value.content),)


def read_nothing(_: Any) -> Replacement:
    """A marker without content."""
    return ()


def read_message(value: Any) -> Replacement:
    """A LangChain message: its text and blocks, without its artifact for the program."""
    if isinstance(value.content, str):
        return (text_or_file(value.content),)
    content: list[Any] = value.content
    return read_content(content) or tuple(content)


def read_document(value: Any) -> Replacement:
    """A LangChain Document: its text, then its metadata."""
    return (text_or_file(value.page_content), value.metadata) if value.metadata else (text_or_file(value.page_content),)


def read_blob(value: Any) -> Replacement:
    """A LangChain Blob: bytes, text, or a path of the program. Its name may be in its metadata."""
    named = (base_name(value.metadata.get(key)) for key in ("filename", "file_name", "name"))
    name = next(filter(None, named), Path(value.path).name if value.path else None)
    if value.data is None:
        return (File.from_path(value.path, value.mimetype, name),)
    if isinstance(value.data, str):
        return (text_or_file(value.data),)
    return (File.from_bytes(value.data, value.mimetype, name),)


def read_pillow_image(value: Any) -> Replacement:
    """A Pillow image as PNG, named like the file that it was opened from."""
    mode: str = value.mode
    image = value if mode in PNG_MODES else value.convert(PNG_REPLACEMENTS.get(mode, "RGB"))
    stream = io.BytesIO()
    image.save(stream, format="PNG")
    name = string_or_none(getattr(value, "filename", None))
    return (File(stream.getvalue(), "image/png", f"{Path(name).stem}.png" if name else None),)


READERS: dict[tuple[str, str], Reader] = {
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
    ("pydantic_ai", "TextContent"): read_text_content,
    ("pydantic_ai", "CachePoint"): read_nothing,
    ("langchain_core", "BaseMessage"): read_message,
    ("langchain_core", "Document"): read_document,
    ("langchain_core", "Blob"): read_blob,
    ("PIL", "Image"): read_pillow_image,
    ("tempfile", "_TemporaryFileWrapper"): read_open_file,
    ("werkzeug", "FileStorage"): read_open_file,
    ("matplotlib", "Figure"): read_figure,
    ("matplotlib", "Axes"): read_axes,
    ("seaborn", "Grid"): read_grid,
    ("plotly", "BaseFigure"): read_plotly,
    ("altair", "TopLevelMixin"): read_altair,
    ("numpy", "generic"): read_scalar,
    ("pandas", "DataFrame"): read_pandas,
    ("pandas", "Series"): read_series,
    ("pandas", "NAType"): read_nothing,
    ("pandas", "NaTType"): read_nothing,
    ("polars", "DataFrame"): read_polars,
    ("polars", "LazyFrame"): read_lazy,
    ("polars", "Series"): read_series,
}


@lru_cache(maxsize=1024)
def find_reader(kind: type) -> Reader | None:
    """The reader of a class or of its nearest known base class. A module in `READERS` includes its submodules.

    Classes that aren't known are read by what their objects can do: show themselves, or give an array.
    """
    for ancestor in kind.__mro__:
        module = ancestor.__module__
        while module:
            reader = READERS.get((module, ancestor.__qualname__))
            if reader:
                return reader
            module = module.rpartition(".")[0]
    readers = [reader for has_protocol, reader in PROTOCOLS if has_protocol(kind)]
    return partial(read_first, readers) if readers else None


def is_part_of_chart(kind: type) -> bool:
    """Whether objects of a class are what plotting functions return, such as lines, bars, or a pie."""
    return kind.__module__.partition(".")[0] == "matplotlib"


#: Readers by what objects of a class can do, best first.
PROTOCOLS: tuple[tuple[Callable[[type], bool], Reader], ...] = (
    (has_display, read_picture),
    (has_array, read_array),
    (has_display, read_html),
    (is_open_file, read_open_file),
    (is_part_of_chart, refuse_part),
)


def read_first(readers: Sequence[Reader], value: object) -> Replacement | None:
    """What the first reader gives that gives anything."""
    return next((replacement for reader in readers if (replacement := reader(value)) is not None), None)
