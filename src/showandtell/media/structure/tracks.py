"""WAV and ISO base media (MP4, M4A, MOV, 3GP): their ends, seconds, and whether there is only audio."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from showandtell.media.structure.measured import Measured
from showandtell.media.structure.scan import EndMissing, Scan, Unusual

CHUNK, BOX = struct.Struct("<4sI"), struct.Struct(">I4s")
#: WAV's fields of PCM: format, channels, samples a second, bytes a second, bytes of a frame (of all channels).
FORMAT: Final = struct.Struct("<HHIIH")
PCM: Final = 1
#: Programs that write to a pipe don't know a length, and declare about the largest one, or none.
UNKNOWN_LENGTH: Final = 0x7FFF_0000
#: Boxes at the top of a file; behind others there may be anything.
BOXES: Final = frozenset(
    {b"ftyp", b"styp", b"moov", b"mdat", b"moof", b"mfra", b"sidx", b"free", b"skip", b"wide", b"uuid", b"meta"}
)
#: Bytes that are read of what describes the tracks.
MOVIE_LIMIT: Final = 1 << 20
#: Formats of samples that decoders know (mp4ra.org); files with others are left to theirs.
SAMPLES: Final = frozenset(
    {b"mp4a", b"alac", b"Opus", b"fLaC", b"ac-3", b"ec-3", b".mp3", b"sowt", b"twos", b"samr", b"sawb"}
    | {b"avc1", b"avc3", b"hvc1", b"hev1", b"av01", b"vp08", b"vp09", b"mp4v", b"s263", b"jpeg", b"mjpg"}
)
KINDS: Final = {b"soun": "audio", b"vide": "video"}


def list_chunks(scan: Scan, head: struct.Struct) -> Iterator[tuple[bytes, int]]:
    """Type and length of each chunk of RIFF or IFF; the caller may take bytes of it, and no more than it has."""
    _, length = head.unpack(scan.take(head.size))
    scan.skip(4)
    if 4 <= length <= scan.left + 4:  # it may be off by its own head
        scan.end_at(head.size + length)
    while scan.left >= head.size:
        kind, length = head.unpack(scan.take(head.size))
        if not kind.isascii() or length >= UNKNOWN_LENGTH or (kind == b"data" and not length):
            return
        if length > scan.left:
            raise EndMissing
        end = scan.left - length
        yield kind, length
        scan.skip(scan.left - end)
        scan.skip(min(length % 2, scan.left))


def measure_wav(scan: Scan) -> Measured:
    """Seconds of PCM."""
    form = frame = rate = size = 0
    for kind, length in list_chunks(scan, CHUNK):
        if kind == b"fmt " and length >= FORMAT.size:
            form, _, rate, _, frame = FORMAT.unpack(scan.take(FORMAT.size))
        elif kind == b"data":
            size = length
    if form != PCM or not (frame and rate and size):
        raise Unusual
    return Measured(seconds=round(size // frame / rate, 3), is_audio=True)


def measure_movie(scan: Scan) -> Measured:
    """Seconds, and whether all tracks are audio. Raises `Unusual` for movies in fragments, and for other samples."""
    movie, has_data = b"", False
    while scan.left >= BOX.size:
        length, kind = BOX.unpack(scan.take(BOX.size))
        head = BOX.size
        if length == 1:
            length = int.from_bytes(scan.take(8), "big")
            head += 8
        if kind not in BOXES or length < head:  # 0: up to the end of the file
            has_data = has_data or kind == b"mdat"
            break
        if length - head > scan.left:
            raise EndMissing
        has_data = has_data or kind == b"mdat"
        if kind == b"moov" and length <= MOVIE_LIMIT:
            movie = scan.take(length - head)
        else:
            scan.skip(length - head)
    if not movie or not has_data:
        raise Unusual
    boxes = list(list_boxes(movie))
    return measure_tracks(dict(boxes).get(b"mvhd", b""), [box for kind, box in boxes if kind == b"trak"])


def list_boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Type and content of the boxes that fill a box."""
    at = 0
    while at + BOX.size <= len(data):
        length, kind = BOX.unpack_from(data, at)
        if not BOX.size <= length <= len(data) - at or kind == b"mvex":
            raise Unusual
        yield kind, data[at + BOX.size : at + length]
        at += length


def measure_tracks(header: bytes, tracks: list[bytes]) -> Measured:
    """By the movie's header (ISO 14496-12, 8.2.2) and each track's handler and samples (8.4.3, 8.5.2)."""
    if len(header) < 32:
        raise Unusual
    scale = int.from_bytes(header[20:24] if header[0] else header[12:16], "big")
    duration = int.from_bytes(header[24:32] if header[0] else header[16:20], "big")
    kinds: set[str] = set()
    for track in tracks:
        media = dict(list_boxes(dict(list_boxes(track)).get(b"mdia", b"")))
        kind = KINDS.get(media.get(b"hdlr", b"")[8:12])
        samples = dict(list_boxes(dict(list_boxes(media.get(b"minf", b""))).get(b"stbl", b""))).get(b"stsd", b"")
        if kind is not None and samples[12:16] not in SAMPLES:
            raise Unusual
        kinds |= {kind} if kind else set()
    if not scale or not duration or duration >> 32 or not kinds:
        raise Unusual
    return Measured(seconds=round(duration / scale, 3), is_audio="video" not in kinds)
