"""Seconds of MP3 by structure: by the encoder's mark, or by the bit rate."""

import sys

import pytest

from showandtell.errors import BadFile
from showandtell.media import gate, structure
from support import fixtures

#: Muxed by FFmpeg, whose first frame is a mark without sound.
MARKED = fixtures.mp3(3.0)
START = 10 + MARKED[9]


def measure(folder, data):
    path = folder / "file"
    path.write_bytes(data)
    return structure.measure(path, "audio/mpeg")


@pytest.mark.parametrize("tag", [MARKED[:START], b""])
def test_an_encoders_mark_gives_the_seconds_that_are_heard(tmp_path, monkeypatch, tag):
    monkeypatch.setattr(gate, "MEDIA", gate.WorkerPool((sys.executable, "-c", "raise SystemExit"), 1))
    (tmp_path / "a").write_bytes(tag + MARKED[START:])
    assert gate.probe(tmp_path / "a", claimed=None, name="a") == gate.ProbeResult("audio/mpeg", seconds=3.0)


def test_without_a_mark_the_bit_rate_gives_the_seconds(tmp_path):
    at = next(at for at in range(START + 4, len(MARKED)) if MARKED[at : at + 2] == MARKED[START : START + 2])
    assert measure(tmp_path, MARKED[at:]).seconds == pytest.approx(3.0, abs=0.1)
    assert measure(tmp_path, MARKED[at : at + 2000]) is None


def test_fewer_bytes_than_an_encoder_counted_are_refused(tmp_path):
    with pytest.raises(BadFile, match="its end is missing"):
        measure(tmp_path, MARKED[:-1])


def test_more_bytes_than_tags_have_or_another_mark_are_left_to_the_decoder(tmp_path):
    assert measure(tmp_path, MARKED + bytes(128)).seconds == 3.0
    assert measure(tmp_path, MARKED + MARKED[START:]) is None
    assert (
        measure(tmp_path, MARKED[:START] + MARKED[START:].replace(b"Info", b"VBRI", 1).replace(b"Xing", b"VBRI", 1))
        is None
    )
