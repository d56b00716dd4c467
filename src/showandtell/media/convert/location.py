"""Overwrites the location of an image in place: every other byte keeps its value and its offset."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from PIL import ExifTags

from showandtell.errors import BadFile
from showandtell.media.convert.writing import write
from showandtell.media.pictures import FORMATS, open_image

Order: TypeAlias = Literal["little", "big"]

#: A TIFF header after EXIF's mark, anywhere in a file: JPEG, its further images, WebP, HEIC.
MARKED = re.compile(rb"Exif\0\0(?=II\*\0|MM\0\*)")
#: XMP writes a property as an attribute or as an element (ISO 16684-1, 7.5); EXIF's location properties begin with GPS.
ATTRIBUTE = re.compile(rb"\s[A-Za-z][\w.-]*:GPS\w*\s*=\s*(\"[^\"<]*\"|'[^'<]*')")
ELEMENT = re.compile(rb"<([A-Za-z][\w.-]*:GPS\w*)(?:\s[^>]*)?>[^<]{0,4096}</\1\s*>")
#: Bytes of one value, by EXIF's number of its type (EXIF 3.0, 4.6.2).
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
#: Maximum number of directories in one EXIF to search: the image's, its thumbnail's, and some more.
DIRECTORIES = 16


def strip_location(path: str, media_type: str, folder: str) -> str | None:
    """The path of the copy in `folder`; None if there is no location. Raises `BadFile` if it can't be removed."""
    original = Path(path).read_bytes()
    data = bytearray(original)
    if media_type == "image/png":
        strip_png(data)
    else:
        strip_bytes(data, find_exif(data, path, media_type))
    if bytes(data) == original:
        refuse_location(path, media_type)
        return None
    stripped = write(bytes(data), Path(folder) / "stripped")
    refuse_location(stripped, media_type)
    return stripped


def find_exif(data: bytearray, path: str, media_type: str) -> set[int]:
    """The offsets of EXIF's TIFF headers."""
    if media_type == "image/tiff":
        return {0}
    offsets = {mark.end() for mark in MARKED.finditer(data)}
    exif = read_info(path, media_type).get("exif") or b""
    offset = data.find(exif.removeprefix(b"Exif\0\0")) if exif else -1
    return offsets | ({offset} if offset >= 0 else set())


def strip_bytes(data: bytearray, offsets: set[int]) -> None:
    """Overwrite GPS in EXIF at these offsets, and in XMP anywhere."""
    for offset in offsets:
        strip_exif(data, offset)
    for pattern in (ATTRIBUTE, ELEMENT):
        for match in list(pattern.finditer(data)):
            data[match.start() : match.end()] = b" " * (match.end() - match.start())


def strip_png(data: bytearray) -> None:
    """Overwrite GPS in a PNG, whose chunks have checksums."""
    offset = 8
    while offset + 12 <= len(data):
        length, kind = int.from_bytes(data[offset : offset + 4], "big"), bytes(data[offset + 4 : offset + 8])
        start, end = offset + 8, offset + 8 + length
        if end + 4 > len(data):
            return
        if kind in {b"eXIf", b"iTXt", b"tEXt"}:
            chunk = data[start:end]
            strip_bytes(chunk, {0} if kind == b"eXIf" else set())
            data[start:end] = chunk
            data[end : end + 4] = struct.pack(">I", zlib.crc32(data[offset + 4 : end]))
        offset = end + 4


def strip_exif(data: bytearray, start: int) -> None:
    """Remove the GPS directory from the EXIF that begins at `start`, and overwrite its values."""
    order: Order = "little" if data.startswith(b"II", start) else "big"

    def read(offset: int, length: int) -> int:
        return int.from_bytes(data[start + offset : start + offset + length], order)

    directory = read(4, 4)
    for _ in range(DIRECTORIES):
        count = read(directory, 2) if directory else 0
        if not count:
            return
        for entry in [directory + 2 + 12 * index for index in range(count)]:
            if read(entry, 2) == ExifTags.IFD.GPSInfo:
                erase_directory(data, start, read(entry + 8, 4), order)
                close_gap(data, start, directory, count, entry)
                data[start + directory : start + directory + 2] = (count - 1).to_bytes(2, order)
                count -= 1
                break
        directory = read(directory + 2 + 12 * count, 4)


def close_gap(data: bytearray, start: int, directory: int, count: int, entry: int) -> None:
    """Move the entries after this one, and the pointer after them, to its offset."""
    end = start + directory + 2 + 12 * count + 4
    if end <= len(data):
        data[start + entry : end] = data[start + entry + 12 : end] + bytes(12)


def erase_directory(data: bytearray, start: int, directory: int, order: Order) -> None:
    """Zero the entries of a directory, and the values outside of it."""
    spans = list(list_spans(bytes(data[start:]), directory, order))
    for offset, length in spans:
        value = data[start + offset : start + offset + length]
        data[start + offset : start + offset + length] = bytes(len(value))


def list_spans(exif: bytes, directory: int, order: Order) -> Iterator[tuple[int, int]]:
    """Offset and length of each value, and of the directory itself."""
    count = int.from_bytes(exif[directory : directory + 2], order)
    for entry in range(directory + 2, min(directory + 2 + 12 * count, len(exif) - 11), 12):
        _, kind, number, offset = struct.unpack("<HHII" if order == "little" else ">HHII", exif[entry : entry + 12])
        if SIZES.get(kind, 1) * number > 4:
            yield offset, SIZES.get(kind, 1) * number
    yield directory, 2 + 12 * count


def refuse_location(path: str, media_type: str) -> None:
    """Raise `BadFile` if a location can still be read."""
    if media_type not in FORMATS:
        return
    with open_image(path, media_type) as image:
        gps = image.getexif().get_ifd(ExifTags.IFD.GPSInfo) if media_type != "image/gif" else {}
        if gps or "GPSLatitude" in str(image.info.get("xmp", "")):
            raise BadFile(
                "", "tells where it was taken in a way that can't be taken out", "save it without its location"
            )


def read_info(path: str, media_type: str) -> dict[str, bytes]:
    """Pillow's metadata of an image, as far as it is bytes; empty for a type without a decoder."""
    if media_type not in FORMATS:
        return {}
    with open_image(path, media_type) as image:
        return {str(key): value for key, value in image.info.items() if isinstance(value, bytes)}
