"""Pictures, PDFs, sounds and films whose structure is walked in the server's own process; PNGs get right checksums."""

import io

from atheris import FuzzedDataProvider
from corpora import PNG, renew_checksums
from given import choose, read_rest, seed

from showandtell.errors import BadFile
from showandtell.media import structure
from showandtell.media.structure.scan import Damaged, EndMissing, Scan, Unusual
from support import fixtures

WALKS = {**structure.MEASURES, **structure.CHECKS}
TYPES = sorted(WALKS)
#: Types without a file here begin with one of another type.
FILES = {
    "application/pdf": fixtures.pdf("a", "b"),
    "audio/aiff": fixtures.recoded("aiff", "pcm_s16be", 0.05),
    "audio/mp4": fixtures.recoded("ipod", "aac", 0.2),
    "audio/mpeg": fixtures.mp3(0.2),
    "audio/ogg": fixtures.recoded("ogg", "libopus", 0.2),
    "audio/wav": fixtures.wav(0.05),
    "audio/webm": fixtures.recoded("webm", "libopus", 0.2),
    "image/gif": fixtures.gif(),
    "image/jpeg": fixtures.jpeg(),
    "image/png": fixtures.png(),
    "image/webp": fixtures.webp(),
    "video/mp4": fixtures.mp4(),
    "video/x-flv": fixtures.recoded("flv", "aac", 0.2),
    "video/x-msvideo": fixtures.recoded("avi", "pcm_s16le", 0.05),
}


def try_structure(data: bytes) -> None:
    """Walk a file as one of the types: it is measured, refused or left to the decoder."""
    given = FuzzedDataProvider(data)
    media_type = TYPES[choose(given, len(TYPES))]
    payload = bytearray(read_rest(given))
    if payload.startswith(PNG):
        renew_checksums(payload)
    try:
        measured = WALKS[media_type](Scan(io.BytesIO(payload), len(payload)))
    except (BadFile, Damaged, EndMissing, Unusual):
        return
    if measured is not None:
        assert measured.pixels is not None or measured.pages or measured.seconds is not None
        assert all(0 <= side < 1 << 32 for side in measured.pixels or ())


SEEDS = [seed(payload[:9_000], TYPES.index(media_type)) for media_type, payload in FILES.items()]
RUN = try_structure
