"""Audio and video whose structure says that their end is missing is refused before a decoder sees it."""

import pytest

from showandtell.errors import BadFile
from showandtell.media import structure
from support import fixtures

#: Muxer, codec and media type of audio whose container says how long it is.
CONTAINERS = [
    ("aiff", "pcm_s16be", "audio/aiff"),
    ("ipod", "aac", "audio/mp4"),
    ("mp3", "libmp3lame", "audio/mpeg"),
    ("ogg", "libopus", "audio/ogg"),
    ("wav", "pcm_s16le", "audio/wav"),
    ("webm", "libopus", "audio/webm"),
    ("matroska", "libopus", "video/x-matroska"),
    ("mov", "pcm_s16be", "video/quicktime"),
    ("avi", "pcm_s16le", "video/x-msvideo"),
    ("flv", "aac", "video/x-flv"),
    ("asf", "mp2", "video/x-ms-wmv"),
]


def write(folder, data):
    path = folder / "file"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("form", "codec", "media_type"), CONTAINERS)
def test_audio_and_video_are_whole_or_refused(tmp_path, form, codec, media_type):
    whole = fixtures.recoded(form, codec)
    structure.measure(write(tmp_path, whole), media_type)
    for size in (len(whole) // 2, len(whole) * 9 // 10):
        with pytest.raises(BadFile, match=f"is torn: it begins as {media_type} but can't be read: its end is missing"):
            structure.measure(write(tmp_path, whole[:size]), media_type)


@pytest.mark.parametrize("length", [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x00\xf0\xff\x7f"])
def test_a_wav_written_to_a_pipe_has_no_length_and_is_accepted(tmp_path, length):
    whole = bytearray(fixtures.wav())
    whole[4:8] = whole[40:44] = length
    assert structure.measure(write(tmp_path, bytes(whole)), "audio/wav") is None


def test_a_recording_of_unknown_length_is_accepted(tmp_path):
    data = b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01" + b"\xff" * 7 + b"cluster"
    assert structure.measure(write(tmp_path, data), "video/webm") is None


def test_bytes_behind_the_last_page_of_an_ogg_are_not_looked_at(tmp_path):
    whole = fixtures.recoded("ogg", "libopus")
    assert structure.measure(write(tmp_path, whole + b"a tag"), "audio/ogg") is None
