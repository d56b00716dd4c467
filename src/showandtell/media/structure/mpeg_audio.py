"""MP3: seconds by the frame with which encoders begin, otherwise by the bit rate, as players do."""

from __future__ import annotations

from typing import Final

from showandtell.core.media_types.signatures import LAYER_3_FULL, LAYER_3_HALF, measure_frame
from showandtell.media.structure.measured import Measured
from showandtell.media.structure.scan import EndMissing, Scan, Unusual

RATES: Final = (44_100, 48_000, 32_000)
MPEG_1, MPEG_25 = 3, 0
#: Bytes between the head of a frame and its encoder's mark: by version, for stereo and mono.
SIDES: Final = {True: (32, 17), False: (17, 9)}
MONO: Final = 3
#: Flags of an encoder's mark: which fields follow, and their bytes.
FRAMES, BYTES, INDEX, QUALITY = 1, 2, 4, 8
WIDTHS: Final = {FRAMES: 4, BYTES: 4, INDEX: 100, QUALITY: 4}
#: Where the samples are counted that an encoder added, after its name (LAME's tag, revision 1).
DELAYS: Final = 21
FRAME_LIMIT: Final = 256
#: In less without a mark the decoder may find no whole frame.
MIN_BYTES: Final = 4096
#: Of its bytes a file may have as many more, behind them: tags.
MAX_SURPLUS: Final = 1.25


def measure_mpeg_audio(scan: Scan) -> Measured:
    """Seconds. Raises `EndMissing` if an encoder counted more bytes than there are."""
    if (tag := scan.take(10)).startswith(b"ID3"):
        scan.skip(tag[6] << 21 | tag[7] << 14 | tag[8] << 7 | tag[9])
    else:
        scan.read_at(0, 0)
    size = scan.left
    frame = scan.take(min(FRAME_LIMIT, size))
    known = measure_frame(frame[:8])
    if known is None or known[0] != "audio/mpeg":
        raise Unusual
    version, bit_rate, rate, channels = frame[1] >> 3 & 3, frame[2] >> 4, frame[2] >> 2 & 3, frame[3] >> 6
    full = version == MPEG_1
    hertz = RATES[rate] // (1 if full else 4 if version == MPEG_25 else 2)
    mark = frame[4 + SIDES[full][channels == MONO] :]
    is_marked = mark[:4] in {b"Xing", b"Info"}
    if b"VBRI" in frame or (size < MIN_BYTES and not (is_marked and size >= FRAME_LIMIT)):
        raise Unusual
    if not is_marked:
        kilobits = (LAYER_3_FULL if full else LAYER_3_HALF)[bit_rate]
        return Measured(seconds=round(size * 8 / kilobits / 1000, 3), is_audio=True)
    samples = count_samples(mark, 1152 if full else 576, size)
    return Measured(seconds=round(samples / hertz, 3), is_audio=True)


def count_samples(mark: bytes, per_frame: int, size: int) -> int:
    """The samples that are heard, by an encoder's mark."""
    flags, at = mark[7], 8
    fields = dict[int, int]()
    for flag, width in WIDTHS.items():
        if flags & flag:
            fields[flag] = int.from_bytes(mark[at : at + width], "big")
            at += width
    counted = fields.get(BYTES, 0)
    if counted > size:
        raise EndMissing
    delays = int.from_bytes(mark[at + DELAYS : at + DELAYS + 3], "big") if len(mark) >= at + DELAYS + 3 else 0
    samples = fields.get(FRAMES, 0) * per_frame - (delays >> 12) - (delays & 0xFFF)
    if samples <= 0 or counted * MAX_SURPLUS < size:
        raise Unusual
    return samples
