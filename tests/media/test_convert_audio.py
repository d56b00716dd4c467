import io
import socket
import wave
from contextlib import closing

import av
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.convert import audio, speech
from support.fixtures import flac, mp3, mp4, recoded, wav
from support.paths import TESTS
from support.properties import examples

#: "He might even have been made amiable himself": LibriVox, Sense and Sensibility, chapter 1, in the public domain.
SPEECH = TESTS / "support" / "speech.ogg"


def make(folder, data, media_type, conversion):
    path = folder / "file"
    path.write_bytes(data)
    return gate.make(path, media_type, conversion, folder)


def try_make(folder, data, media_type, conversion):
    """The output or the error."""
    try:
        return make(folder, data, media_type, conversion)
    except BadFile as error:
        return error


def stereo(seconds, rate=44100):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(wav(seconds, rate)[44:] * 2)
    return buffer.getvalue()


def quiet(seconds):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(16000 * seconds))
    return buffer.getvalue()


@pytest.mark.parametrize("to", ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/aac"])
@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (wav(2), "audio/wav"),
        (mp3(2), "audio/mpeg"),
        (flac(2), "audio/flac"),
        (recoded("ogg", "libopus", 2), "audio/ogg"),
    ],
    ids=["wav", "mp3", "flac", "opus"],
)
def test_audio_becomes_an_accepted_type_of_the_same_length(tmp_path, data, media_type, to):
    output = make(tmp_path, data, media_type, f"audio?as=video/none,{to}&bytes=900000")
    result = gate.probe(output.files[0], claimed=None, name="made")
    assert result.media_type == to
    # ADTS has no length; FFmpeg estimates it by the bit rate.
    assert result.seconds == pytest.approx(2, abs=0.7 if to == "audio/aac" else 0.1)
    assert (output.total, output.cut) == (pytest.approx(2, abs=0.1), False)


def test_rate_and_channels_are_lowered_to_fit_the_bytes(tmp_path):
    formats = []
    for limit in (400_000, 200_000, 100_000, 70_000):
        output = make(tmp_path, stereo(2), "audio/wav", f"audio?as=audio/wav&bytes={limit}")
        with wave.open(str(output.files[0])) as file:
            formats.append((file.getnchannels(), file.getframerate(), output.cut))
    assert formats == [(2, 44100, False), (2, 24000, False), (1, 24000, False), (1, 16000, False)]


@example(limit=6257, to="audio/aac")  # all but the last 16 ms fit: the end is missing
@examples(25)
@given(limit=st.integers(1, 120_000), to=st.sampled_from(sorted(audio.FORMATS)))
def test_audio_stays_within_its_bytes_and_reports_a_cut(tmp_path_factory, limit, to):
    output = try_make(tmp_path_factory.mktemp("sound"), stereo(2), "audio/wav", f"audio?as={to}&bytes={limit}")
    if isinstance(output, BadFile):
        assert f"as small as {limit} bytes" in output.problem
        assert limit < 12_000
        return
    assert 0 < output.files[0].stat().st_size <= limit
    assert output.total == 2
    with av.open(str(output.files[0])) as file:
        seconds = sum(frame.samples / frame.sample_rate for frame in file.decode(audio=0))
    assert output.cut == (round(seconds, 3) < 2), seconds


def test_long_audio_becomes_mono(tmp_path, monkeypatch):
    monkeypatch.setattr(audio, "LONG_SECONDS", 1.9)
    (tmp_path / "long.wav").write_bytes(stereo(2))
    arguments = (str(tmp_path / "long.wav"), "audio/wav", Conversion("audio", ("audio/wav",)), str(tmp_path))
    with wave.open(audio.make_audio(*arguments)["files"][0]) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, 24000)


def test_a_file_without_audio_or_an_unknown_type_is_rejected(tmp_path):
    with pytest.raises(BadFile, match="has no sound"):
        make(tmp_path, mp4(), "video/mp4", "audio?as=audio/wav")
    with pytest.raises(BadFile, match="can't be written as audio/midi"):
        make(tmp_path, wav(), "audio/wav", "audio?as=audio/midi")


def test_half_an_audio_file_is_converted(tmp_path):
    data = mp3(4)
    output = make(tmp_path, data[: len(data) // 2], "audio/mpeg", "audio?as=audio/wav")
    with wave.open(str(output.files[0])) as file:
        assert 1.5 < file.getnframes() / file.getframerate() < 2.5


def test_a_transcript_says_that_it_is_made_by_a_machine(tmp_path):
    output = make(tmp_path, SPEECH.read_bytes(), "audio/ogg", "transcript")
    heading, _, words = output.text.partition("\n\n")
    assert heading.startswith("Machine transcript by PocketSphinx")
    assert "may be wrong" in heading
    assert words.startswith("[0:00] he might even have been made amiable")
    assert (output.total, output.cut) == (pytest.approx(3.1, abs=0.1), False)


@pytest.mark.parametrize("data", [quiet(5), wav(5)], ids=["silence", "a tone"])
def test_audio_without_speech_has_no_words(tmp_path, data):
    assert make(tmp_path, data, "audio/wav", "transcript").text.endswith("\n\nNo words were made out.")


def test_only_ten_minutes_are_transcribed(tmp_path):
    output = make(tmp_path, quiet(601), "audio/wav", "transcript")
    assert (output.total, output.cut) == (601, True)


def test_a_slow_transcript_is_cut_off(tmp_path):
    samples, _, _ = speech.read_samples(str(SPEECH), "audio/ogg")
    with wave.open(str(tmp_path / "twice.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(speech.RATE)
        file.writeframes(samples + bytes(speech.BYTES_A_SECOND * 2) + samples)
    times = iter((0.0, 1.0, speech.MAX_WORK_SECONDS + 1))
    arguments = (str(tmp_path / "twice.wav"), "audio/wav", Conversion("transcript"), str(tmp_path))
    output = speech.make_transcript(*arguments, clock=lambda: next(times))
    assert output["cut"]
    assert output["text"].count("amiable") == 1


def test_lines_start_about_every_half_minute():
    segments = [(0.5, "a"), (20.0, "b"), (31.0, "c"), (65.0, "d"), (3700.0, "e")]
    assert speech.write_lines(segments) == "[0:00] a b\n[0:31] c\n[1:05] d\n[1:01:40] e"


def test_without_the_extras_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(audio, "av", None)
    with pytest.raises(BadFile, match=r"needs showandtell\[av\]"):
        audio.make_audio(str(SPEECH), "audio/ogg", Conversion("audio", ("audio/wav",)), str(tmp_path))
    monkeypatch.setattr(speech, "sphinx", None)
    with pytest.raises(BadFile, match=r"needs showandtell\[asr\]"):
        speech.make_transcript(str(SPEECH), "audio/ogg", Conversion("transcript"), str(tmp_path))


CONVERSIONS_BY_KIND = {"audio": "audio?as=audio/wav", "video": "frames?as=image/jpeg&most=2&sound=audio/wav"}


def test_playlists_of_any_type_open_nothing(tmp_path):
    canary = tmp_path / "canary.wav"
    canary.write_bytes(wav(1))
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0)
        for target in (f"http://127.0.0.1:{server.getsockname()[1]}/canary.wav", str(canary), canary.as_uri()):
            for playlist in list_playlists(target):
                for media_type in ("audio/wav", "audio/mpeg", "audio/aac", "audio/mp4", "video/mp4", "video/mpeg"):
                    with pytest.raises(BadFile):
                        make(tmp_path, playlist, media_type, CONVERSIONS_BY_KIND[media_type.partition("/")[0]])
        with pytest.raises(BlockingIOError):
            server.accept()


def list_playlists(target):
    yield f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{target}\n#EXT-X-ENDLIST\n".encode()
    yield f'#EXTM3U\n#EXT-X-MAP:URI="{target}"\n#EXTINF:9,\n{target}\n'.encode()
    yield f"ffconcat version 1.0\nfile '{target}'\n".encode()
    yield f'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>{target}</BaseURL></MPD>'.encode()
    yield f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\na=control:{target}\n".encode()


FILES = [
    (wav(0.5), "audio/wav"),
    (mp3(), "audio/mpeg"),
    (flac(), "audio/flac"),
    (recoded("ogg", "libopus"), "audio/ogg"),
    (recoded("mp4", "aac"), "audio/mp4"),
    (recoded("matroska", "libopus"), "audio/webm"),
    (mp4(), "video/mp4"),
]


@pytest.mark.parametrize(("data", "media_type"), FILES, ids=[media_type for _, media_type in FILES])
def test_a_truncated_file_gives_audio_or_an_error(tmp_path, data, media_type):
    cuts = sorted({*range(1, 64, 7), *range(64, min(len(data), 1024), 97), len(data) // 2, len(data) - 1})
    for at in cuts:
        output = try_make(tmp_path, data[:at], media_type, CONVERSIONS_BY_KIND[media_type.partition("/")[0]])
        assert "stopped the decoder" not in getattr(output, "problem", "")
        assert getattr(output, "problem", None) or all(file.stat().st_size for file in output.files)
