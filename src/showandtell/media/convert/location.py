"""Where a picture was taken, overwritten in place: every other byte keeps its value and its offset."""

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
from showandtell.media.pictures import FORMATS, open_picture

Order: TypeAlias = Literal["little", "big"]

#: A TIFF header with EXIF's mark before it, wherever it lies in a file: JPEG, its further pictures, WebP, HEIC.
MARKED = re.compile(rb"Exif\0\0(?=II\*\0|MM\0\*)")
#: XMP writes a property as an attribute or as an element (ISO 16684-1, 7.5); EXIF's places all begin with GPS.
ATTRIBUTE = re.compile(rb"\s[A-Za-z][\w.-]*:GPS\w*\s*=\s*(\"[^\"<]*\"|'[^'<]*')")
ELEMENT = re.compile(rb"<([A-Za-z][\w.-]*:GPS\w*)(?:\s[^>]*)?>[^<]{0,4096}</\1\s*>")
#: Bytes of one value, by EXIF's number of its type (EXIF 3.0, 4.6.2).
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
#: Directories of one EXIF that are looked through: the picture's, its thumbnail's, and some more.
DIRECTORIES = 16


def strip_location(path: str, media_type: str, folder: str) -> str | None:
    """The path of the copy, in `folder`; None where no place is told. Raises `BadFile` where it can't be taken out."""
    whole = Path(path).read_bytes()
    data = bytearray(whole)
    if media_type == "image/png":
        strip_png(data)
    else:
        strip_bytes(data, find_exif(data, path, media_type))
    if bytes(data) == whole:
        refuse_place(path, media_type)
        return None
    stripped = write(bytes(data), Path(folder) / "stripped")
    refuse_place(stripped, media_type)
    return stripped


def find_exif(data: bytearray, path: str, media_type: str) -> set[int]:
    """Where the TIFF headers of EXIF lie."""
    if media_type == "image/tiff":
        return {0}
    found = {mark.end() for mark in MARKED.finditer(data)}
    given = read_info(path, media_type).get("exif") or b""
    at = data.find(given.removeprefix(b"Exif\0\0")) if given else -1
    return found | ({at} if at >= 0 else set())


def strip_bytes(data: bytearray, places: set[int]) -> None:
    """Overwrite GPS in EXIF at these places, and in XMP wherever it stands."""
    for place in places:
        strip_exif(data, place)
    for pattern in (ATTRIBUTE, ELEMENT):
        for found in list(pattern.finditer(data)):
            data[found.start() : found.end()] = b" " * (found.end() - found.start())


def strip_png(data: bytearray) -> None:
    """The same for PNG, whose chunks have checksums."""
    at = 8
    while at + 12 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), bytes(data[at + 4 : at + 8])
        start, end = at + 8, at + 8 + length
        if end + 4 > len(data):
            return
        if kind in {b"eXIf", b"iTXt", b"tEXt"}:
            chunk = data[start:end]
            strip_bytes(chunk, {0} if kind == b"eXIf" else set())
            data[start:end] = chunk
            data[end : end + 4] = struct.pack(">I", zlib.crc32(data[at + 4 : end]))
        at = end + 4


def strip_exif(data: bytearray, start: int) -> None:
    """Take the GPS directory out of an EXIF that begins at `start`, and overwrite what it held."""
    order: Order = "little" if data.startswith(b"II", start) else "big"

    def read(offset: int, length: int) -> int:
        return int.from_bytes(data[start + offset : start + offset + length], order)

    directory = read(4, 4)
    for _ in range(DIRECTORIES):
        count = read(directory, 2) if directory else 0
        if not count:
            return
        for entry in [directory + 2 + 12 * at for at in range(count)]:
            if read(entry, 2) == ExifTags.IFD.GPSInfo:
                erase_directory(data, start, read(entry + 8, 4), order)
                close_gap(data, start, directory, count, entry)
                data[start + directory : start + directory + 2] = (count - 1).to_bytes(2, order)
                count -= 1
                break
        directory = read(directory + 2 + 12 * count, 4)


def close_gap(data: bytearray, start: int, directory: int, count: int, entry: int) -> None:
    """Move the entries behind one, and the pointer behind them, into its place."""
    end = start + directory + 2 + 12 * count + 4
    if end <= len(data):
        data[start + entry : end] = data[start + entry + 12 : end] + bytes(12)


def erase_directory(data: bytearray, start: int, directory: int, order: Order) -> None:
    """Zero the entries of a directory, and the values that lie elsewhere."""
    spans = list(list_spans(bytes(data[start:]), directory, order))
    for offset, length in spans:
        here = data[start + offset : start + offset + length]
        data[start + offset : start + offset + length] = bytes(len(here))


def list_spans(exif: bytes, directory: int, order: Order) -> Iterator[tuple[int, int]]:
    """Offset and length of each value, and of the directory itself."""
    count = int.from_bytes(exif[directory : directory + 2], order)
    for at in range(directory + 2, min(directory + 2 + 12 * count, len(exif) - 11), 12):
        _, kind, number, offset = struct.unpack("<HHII" if order == "little" else ">HHII", exif[at : at + 12])
        if SIZES.get(kind, 1) * number > 4:
            yield offset, SIZES.get(kind, 1) * number
    yield directory, 2 + 12 * count


def refuse_place(path: str, media_type: str) -> None:
    """Raise `BadFile` where a place can still be read."""
    if media_type not in FORMATS:
        return
    with open_picture(path, media_type) as image:
        told = image.getexif().get_ifd(ExifTags.IFD.GPSInfo) if media_type != "image/gif" else {}
        if told or "GPSLatitude" in str(image.info.get("xmp", "")):
            raise BadFile(
                "", "tells where it was taken in a way that can't be taken out", "save it without its location"
            )


def read_info(path: str, media_type: str) -> dict[str, bytes]:
    """What Pillow found beside the pixels; nothing for a type without a decoder."""
    if media_type not in FORMATS:
        return {}
    with open_picture(path, media_type) as image:
        return {str(key): value for key, value in image.info.items() if isinstance(value, bytes)}
