"""Check a file of a Converse body: its size, its pixels, and whether its bytes match its format."""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET

from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.bedrock.errors import format_bound
from showandtell.inspector.bedrock.families import MODEL_ERROR
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.request import ApiError, decode_base64, matches_type

#: Maximum bytes of a file. The limit of a video is on its base64.
MAX_BYTES = {"image": 3_750_000, "document": 4_500_000, "video": 18_750_000}
ZIP, OLE = re.compile(rb"PK\x03\x04"), re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
ISO, MATROSKA = re.compile(rb"....ftyp", re.DOTALL), re.compile(rb"\x1a\x45\xdf\xa3")
#: The first bytes of each format. Other formats can't be recognized by them.
MAGIC: dict[str, re.Pattern[bytes]] = {
    "pdf": re.compile(rb"%PDF-"),
    "docx": ZIP,
    "xlsx": ZIP,
    "doc": OLE,
    "xls": OLE,
    "mp4": ISO,
    "mov": ISO,
    "three_gp": ISO,
    "m4a": ISO,
    "mkv": MATROSKA,
    "webm": MATROSKA,
    "mka": MATROSKA,
    "flv": re.compile(rb"FLV"),
    "wmv": re.compile(rb"\x30\x26\xb2\x75"),
    "wav": re.compile(rb"RIFF.{4}WAVE", re.DOTALL),
    "mp3": re.compile(rb"ID3|\xff[\xe2-\xff]"),
    "flac": re.compile(rb"fLaC"),
    "ogg": re.compile(rb"OggS"),
    "opus": re.compile(rb"OggS"),
}
PLAIN = frozenset({"csv", "html", "txt", "md"})


def check_file(
    block: wire.Image | wire.Document | wire.Video | wire.Audio, path: str, side: int, *, claude: bool
) -> None:
    """Raise `ApiError` if the service or model rejects a file. `side` is the maximum side of an image in pixels."""
    kind, content = wire.member_of(block.source)
    if kind in {"bytes", "s3Location"} and block.format is UNSET:
        raise ApiError(format_bound(f"{path}.format", "not be null"))
    if kind != "bytes":
        return
    data = decode_base64(content)
    if data is None:
        raise ApiError(f"Malformed input request: #/{path.replace('.', '/')}/source/bytes: the value is not valid "
                       "base64, please reformat your input and try again.")  # fmt: skip
    name = path.rpartition(".")[2]
    limit = MAX_BYTES.get(name, MAX_BYTES["video"])
    if len(data) > limit:
        raise ApiError(format_bound(f"{path}.source.bytes", f"have length less than or equal to {limit}"))
    if not _matches_format(data, block):
        raise ApiError(_format_mismatch(name, str(block.format), path, claude=claude))
    if isinstance(block, wire.Image) and max(read_pixels(data) or (0, 0)) > side:
        words = "max allowed size" if side > 2000 else "max allowed size for many-image requests"
        raise ApiError(f"{MODEL_ERROR}{path}.source.base64.data: At least one of the image dimensions exceed {words}: "
                       f"{side} pixels")  # fmt: skip


def _matches_format(data: bytes, block: Any) -> bool:
    if isinstance(block, wire.Image):
        return matches_type(data, f"image/{block.format}")
    if block.format in PLAIN:
        return _is_text(data)
    beginning = MAGIC.get(block.format)
    return beginning is None or beginning.match(data) is not None


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _format_mismatch(name: str, form: str, path: str, *, claude: bool) -> str:
    match name:
        case "image" if claude:
            return f"{MODEL_ERROR}{path}.source.base64.data: Image does not match the provided media type image/{form}"
        case "document" if claude and form == "pdf":
            return f"{MODEL_ERROR}{path}.source.base64.data: The PDF specified was not valid."
        case _:
            return f"{MODEL_ERROR}The provided {name} does not match the specified {name} format."
