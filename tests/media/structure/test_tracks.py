"""Seconds of WAV, MP4 and their relatives by structure; what is not usual is left to the decoder."""

import sys

import pytest

from showandtell.media import gate, structure
from support import fixtures


def measure(folder, data, media_type):
    path = folder / "file"
    path.write_bytes(data)
    return structure.measure(path, media_type)


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (fixtures.wav(0.2), gate.ProbeResult("audio/wav", seconds=0.2)),
        (fixtures.mp4(), gate.ProbeResult("video/mp4", seconds=1.0)),
        (fixtures.recoded("mp4", "aac"), gate.ProbeResult("audio/mp4", seconds=0.5)),
        (fixtures.recoded("mov", "pcm_s16be"), gate.ProbeResult("video/quicktime", seconds=0.5)),
    ],
    ids=["wav", "film", "sound in mp4", "sound in mov"],
)
def test_no_process_is_needed_for_usual_audio_and_video(tmp_path, monkeypatch, data, result):
    monkeypatch.setattr(gate, "MEDIA", gate.WorkerPool((sys.executable, "-c", "raise SystemExit"), 1))
    (tmp_path / "a").write_bytes(data)
    assert gate.probe(tmp_path / "a", claimed=None, name="a") == result


@pytest.mark.parametrize("codec", ["adpcm_ima_wav", "pcm_mulaw"])
def test_a_wav_of_other_samples_is_left_to_the_decoder(tmp_path, codec):
    assert measure(tmp_path, fixtures.recoded("wav", codec), "audio/wav") is None


@pytest.mark.parametrize("name", [b"moov", b"mdat", b"stsd", b"mvhd", b"trak"])
def test_a_movie_that_lacks_something_is_left_to_the_decoder(tmp_path, name):
    assert measure(tmp_path, fixtures.mp4().replace(name, b"free", 1), "video/mp4") is None


def test_a_movie_of_unknown_samples_is_left_to_the_decoder(tmp_path):
    whole = fixtures.mp4()
    at = whole.index(b"stsd") + 16
    assert measure(tmp_path, whole[:at] + b"none" + whole[at + 4 :], "video/mp4") is None
