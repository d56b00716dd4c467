"""A strict table from first bytes to media type. A signature gives a candidate, which a decoder must confirm.

All functions read through `peek(offset, length)` and decode nothing but the list of types in an Office file, at most
256 KiB of it. No image is opened.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import TypeAlias

from showandtell.core.media_types.compound import detect_compound

Peek: TypeAlias = Callable[[int, int], bytes]
Detector: TypeAlias = Callable[[Peek, int], str | None]

OFFICE = "application/vnd.openxmlformats-officedocument."
#: A ZIP file of no known format.
ARCHIVE = "application/zip"
DIRECTORY_LIMIT = 1 << 20
OFFICE_FOLDERS = {
    b"word/": OFFICE + "wordprocessingml.document",
    b"xl/": OFFICE + "spreadsheetml.sheet",
    b"ppt/": OFFICE + "presentationml.presentation",
}
#: Media type by the content type of the main part, without its ending ".main+xml" (ECMA-376, part 1, 11.3 to 13.3;
#: [MS-OFFMACRO2], 2.2). Those not listed are like their media type, such as "…presentationml.slideshow".
MACRO_TYPES = {
    b"vnd.ms-word.document.macroEnabled": "application/vnd.ms-word.document.macroenabled.12",
    b"vnd.ms-word.template.macroEnabledTemplate": "application/vnd.ms-word.template.macroenabled.12",
    b"vnd.ms-excel.sheet.macroEnabled": "application/vnd.ms-excel.sheet.macroenabled.12",
    b"vnd.ms-excel.template.macroEnabled": "application/vnd.ms-excel.template.macroenabled.12",
    b"vnd.ms-excel.sheet.binary.macroEnabled": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    b"vnd.ms-powerpoint.presentation.macroEnabled": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    b"vnd.ms-powerpoint.slideshow.macroEnabled": "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
    b"vnd.ms-powerpoint.template.macroEnabled": "application/vnd.ms-powerpoint.template.macroenabled.12",
}
MAIN_PART = re.compile(
    rb"""["']application/(vnd\.(?:openxmlformats-officedocument\.(?:wordprocessing|spreadsheet|presentation)ml|ms-(?:word|excel|powerpoint))"""
    rb"""\.[A-Za-z.]{1,40})\.main(?:\+xml)?["']"""
)
CONTENT_TYPES, CONTENT_LIMIT = b"[Content_Types].xml", 1 << 18
#: Formats that start with a stored `mimetype` entry (EPUB OCF 3.3, ODF 1.3 part 2).
MIMETYPE_ZIPS = frozenset(
    {
        "application/epub+zip",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
    }
)
#: ISO base media brands (mp4ra.org). The first known one decides.
BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis"), "image/heic"),
    **dict.fromkeys((b"mif1", b"msf1"), "image/heif"),
    **dict.fromkeys((b"avif", b"avis"), "image/avif"),
    **dict.fromkeys((b"M4A ", b"M4B ", b"M4P "), "audio/mp4"),
    **dict.fromkeys((b"3gp4", b"3gp5", b"3gp6", b"3gp7", b"3g2a"), "video/3gpp"),
    **dict.fromkeys((b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"avc1"), "video/mp4"),
    **dict.fromkeys((b"mp41", b"mp42", b"M4V ", b"dash", b"MSNV"), "video/mp4"),
    b"qt  ": "video/quicktime",
}
RIFFS = {b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo", b"WEBP": "image/webp"}


def detect_type(peek: Peek, size: int) -> str | None:
    """The candidate type of bytes with a known signature. None for text and unknown bytes."""
    head = peek(0, 16)
    for magic, entry in SIGNATURES:
        if head.startswith(magic):
            media_type = entry if isinstance(entry, str) else entry(peek, size)
            if media_type is not None:
                return media_type
    if head[4:8] == b"ftyp":
        return detect_boxes(peek, size)
    return detect_frames(peek, size) or detect_tar(peek, size)


def detect_riff(peek: Peek, _size: int) -> str | None:
    """RIFF names its content at byte 8."""
    return RIFFS.get(peek(8, 4))


def detect_aiff(peek: Peek, _size: int) -> str | None:
    """An IFF FORM is audio only if its type is AIFF or AIFC."""
    return "audio/aiff" if peek(8, 4) in {b"AIFF", b"AIFC"} else None


def detect_bitmap(peek: Peek, _size: int) -> str | None:
    """The two letters alone prove nothing: reserved fields must be 0 and the header of a known size."""
    head = peek(0, 18)
    known = int.from_bytes(head[14:18], "little") in {12, 40, 52, 56, 64, 108, 124}
    return "image/bmp" if known and head[6:10] == bytes(4) else None


def detect_icon(peek: Peek, size: int) -> str | None:
    """The first entry of an icon lies inside the file, after the directory."""
    head = peek(0, 22)
    count, reserved = int.from_bytes(head[4:6], "little"), head[9:10]
    length, offset = int.from_bytes(head[14:18], "little"), int.from_bytes(head[18:22], "little")
    is_valid = 0 < count < 256 and reserved == b"\0" and offset >= 6 + 16 * count and 0 < length <= size - offset
    return "image/vnd.microsoft.icon" if is_valid else None


def detect_flac(peek: Peek, _size: int) -> str | None:
    """FLAC's first block is STREAMINFO, 34 bytes long."""
    block = peek(4, 4)
    return "audio/flac" if block[:1] in {b"\0", b"\x80"} and block[1:] == b"\0\0\x22" else None


def detect_ogg(peek: Peek, _size: int) -> str | None:
    """Ogg holds audio, or video if its first packet is Theora's."""
    page = peek(0, 64)
    if page[4:5] != b"\0":
        return None
    return "video/ogg" if b"\x80theora" in page else "audio/ogg"


def detect_matroska(peek: Peek, _size: int) -> str | None:
    """The DocType of EBML is within the first bytes."""
    head = peek(0, 64)
    at = head.find(b"\x42\x82")
    kind = head[at + 3 : at + 11] if at > 0 else b""
    if kind.startswith(b"webm"):
        return "video/webm"
    return "video/x-matroska" if kind == b"matroska" else None


def detect_pdf(peek: Peek, _size: int) -> str | None:
    """A PDF starts with its version at byte 0. Accepting it further on would admit polyglot files."""
    version = peek(5, 3)
    return "application/pdf" if version[:1] in {b"1", b"2"} and version[1:2] == b"." else None


def detect_boxes(peek: Peek, size: int) -> str | None:
    """ISO base media: the major brand, else the first known compatible one. The box must fit in the file."""
    length = int.from_bytes(peek(0, 4), "big")
    if not 16 <= length <= min(size, 4096):
        return None
    box = peek(8, length - 8)
    brands = [box[:4], *(box[at : at + 4] for at in range(8, len(box), 4))]
    return next((BRANDS[brand] for brand in brands if brand in BRANDS), None)


def detect_tagged(peek: Peek, size: int) -> str | None:
    """An ID3v2 tag with a valid header, followed by a first audio frame."""
    head = peek(0, 10)
    if head[3:4] not in {b"\2", b"\3", b"\4"} or len(head) < 10 or any(byte > 0x7F for byte in head[6:10]):
        return None
    start = 10 + (head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9])
    return detect_frames(lambda at, length: peek(start + at, length), size - start)


def detect_frames(peek: Peek, size: int) -> str | None:
    """MPEG audio or ADTS: a valid frame header, and the next one (or the end) exactly after its frame."""
    first = measure_frame(peek(0, 8))
    if first is None:
        return None
    media_type, length = first
    following = measure_frame(peek(length, 8))
    return media_type if length == size or (following and following[0] == media_type) else None


def measure_frame(head: bytes) -> tuple[str, int] | None:
    """Type and length in bytes of the frame with this header (ISO 11172-3 2.4.1.3, ISO 13818-7 6.2)."""
    if len(head) < 7 or head[0] != 0xFF or head[1] < 0xE0:
        return None
    if head[1] & 0xF6 == 0xF0:
        length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        return ("audio/aac", length) if length > 7 and (head[2] >> 2) & 15 < 13 else None
    version, layer = (head[1] >> 3) & 3, (head[1] >> 1) & 3
    bit_rate, rate = head[2] >> 4, (head[2] >> 2) & 3
    if version == 1 or layer != 1 or rate == 3 or not 0 < bit_rate < 15:
        return None
    kilobits = (LAYER_3_FULL if version == 3 else LAYER_3_HALF)[bit_rate]
    hertz = (44100, 48000, 32000)[rate] >> {3: 0, 2: 1, 0: 2}[version]
    samples = 144000 if version == 3 else 72000
    return "audio/mpeg", samples * kilobits // hertz + (head[2] >> 1 & 1)


LAYER_3_FULL = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
LAYER_3_HALF = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)


def detect_parquet(peek: Peek, size: int) -> str | None:
    """Parquet ends as it begins, after a footer and its length (parquet-format, README.md, File format)."""
    length = int.from_bytes(peek(size - 8, 4), "little")
    is_whole = size >= 12 and peek(size - 4, 4) == b"PAR1" and 0 < length <= size - 12
    return "application/vnd.apache.parquet" if is_whole else None


def detect_arrow(peek: Peek, size: int) -> str | None:
    """An Arrow file ends as it begins (Arrow columnar format, IPC file format)."""
    return "application/vnd.apache.arrow.file" if size >= 20 and peek(size - 6, 6) == b"ARROW1" else None


def detect_sqlite(peek: Peek, _size: int) -> str | None:
    """SQLite's page size is a power of two, and three bytes never differ (sqlite.org/fileformat.html, 1.3)."""
    head = peek(16, 8)
    page = int.from_bytes(head[:2], "big")
    is_valid = (page == 1 or (512 <= page <= 32768 and page & (page - 1) == 0)) and head[5:] == b"\x40\x20\x20"
    return "application/vnd.sqlite3" if is_valid else None


def detect_tar(peek: Peek, size: int) -> str | None:
    """A tar's first header holds the sum of its bytes, with spaces in the place of the sum itself (POSIX pax)."""
    head = peek(0, 512)
    if size < 512 or head[257:262] != b"ustar":
        return None
    text = head[148:156].strip(b" \0")
    total = sum(head[:148]) + 8 * ord(" ") + sum(head[156:])
    return "application/x-tar" if re.fullmatch(rb"[0-7]{1,7}", text) and int(text, 8) == total else None


def detect_zip(peek: Peek, size: int) -> str:
    """A zip, or the format that its central directory and the list of its parts' types show."""
    entry = peek(30, 8 + 64)
    if entry.startswith(b"mimetype"):
        declared = entry[8 : 8 + int.from_bytes(peek(18, 4), "little")].decode("ascii", "replace")
        return declared if declared in MIMETYPE_ZIPS else ARCHIVE
    entries = list_names(read_directory(peek, size))
    if CONTENT_TYPES not in entries:
        return ARCHIVE
    folders = {name[: name.find(b"/") + 1] for name in entries}
    types = [media_type for folder, media_type in OFFICE_FOLDERS.items() if folder in folders]
    if len(types) != 1:
        return ARCHIVE
    main = MAIN_PART.search(inflate_entry(peek, entries[CONTENT_TYPES]))
    return types[0] if main is None else MACRO_TYPES.get(main[1], f"application/{main[1].decode().lower()}")


def read_directory(peek: Peek, size: int) -> bytes:
    """The central directory of a zip, up to 1 MiB. Empty if its end record is missing or points outside the file."""
    start = max(0, size - 22 - 0xFFFF)
    tail = peek(start, size - start)
    at = tail.rfind(b"PK\5\6")
    end = tail[at : at + 22] if at >= 0 else b""
    length, offset = int.from_bytes(end[12:16], "little"), int.from_bytes(end[16:20], "little")
    return peek(offset, min(length, DIRECTORY_LIMIT)) if offset + length <= size else b""


def inflate_entry(peek: Peek, offset: int) -> bytes:
    """The entry of a zip at this offset, up to a limit; empty if it is damaged or packed otherwise (APPNOTE 4.3.7)."""
    head = peek(offset, 30)
    start = offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    data = peek(start, CONTENT_LIMIT)
    if head[8:10] != b"\x08\0":
        return data if head[8:10] == bytes(2) else b""
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, CONTENT_LIMIT)
    except zlib.error:
        return b""


def list_names(directory: bytes) -> dict[bytes, int]:
    """Names and offsets in a central directory, up to the first invalid entry (APPNOTE 4.3.12)."""
    names, at = dict[bytes, int](), 0
    while directory[at : at + 4] == b"PK\1\2" and at + 46 <= len(directory):
        lengths = [int.from_bytes(directory[at + field : at + field + 2], "little") for field in (28, 30, 32)]
        offset = int.from_bytes(directory[at + 42 : at + 46], "little")
        names.setdefault(directory[at + 46 : at + 46 + lengths[0]], offset)
        at += 46 + sum(lengths)
    return names


#: First bytes, and their type or the function that reads further.
SIGNATURES: tuple[tuple[bytes, str | Detector], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF", detect_riff),
    (b"BM", detect_bitmap),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\1\0", detect_icon),
    (b"%PDF-", detect_pdf),
    (b"PK\3\4", detect_zip),
    (b"PK\5\6", ARCHIVE),
    (b"ID3", detect_tagged),
    (b"fLaC", detect_flac),
    (b"OggS", detect_ogg),
    (b"FORM", detect_aiff),
    (b"\x1a\x45\xdf\xa3", detect_matroska),
    (b"\0\0\1\xba", "video/mpeg"),
    (b"FLV\1", "video/x-flv"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c", "video/x-ms-wmv"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PAR1", detect_parquet),
    (b"ARROW1\0\0", detect_arrow),
    (b"SQLite format 3\0", detect_sqlite),
    (b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    (b"\x93NUMPY", "application/x-npy"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", detect_compound),
)
