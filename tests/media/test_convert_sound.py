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
from showandtell.media.convert import sound, speech
from support.fixtures import flac, mp3, mp4, recoded, wav
from support.paths import TESTS
from support.properties import examples

#: "He might even have been made amiable himself": LibriVox, Sense and Sensibility, chapter 1, in the public domain.
SPOKEN = TESTS / "support" / "spoken.ogg"


def make(folder, data, media_type, recipe):
    path = folder / "file"
    path.write_bytes(data)
    return gate.make(path, media_type, recipe, folder)


def attempt(folder, data, media_type, recipe):
    """What is made, or why nothing is."""
    try:
        return make(folder, data, media_type, recipe)
    except BadFile as error:
        return error


def stereo(seconds, rate=44100):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as written:
        written.setnchannels(2)
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes(wav(seconds, rate)[44:] * 2)
    return buffer.getvalue()


def quiet(seconds):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(8000)
        written.writeframes(bytes(16000 * seconds))
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
def test_a_sound_becomes_the_type_that_is_taken_and_lasts_as_long(tmp_path, data, media_type, to):
    made = make(tmp_path, data, media_type, f"audio?as=video/none,{to}&bytes=900000")
    proof = gate.prove(made.files[0], claimed=None, name="made")
    assert proof.media_type == to
    # ADTS tells no length, and FFmpeg guesses it by the bit rate.
    assert proof.seconds == pytest.approx(2, abs=0.7 if to == "audio/aac" else 0.1)
    assert (made.total, made.cut) == (pytest.approx(2, abs=0.1), False)


def test_stereo_stays_stereo_while_the_bytes_allow_it_then_rate_and_channels_go(tmp_path):
    found = []
    for limit in (400_000, 200_000, 100_000, 70_000):
        made = make(tmp_path, stereo(2), "audio/wav", f"audio?as=audio/wav&bytes={limit}")
        with wave.open(str(made.files[0])) as written:
            found.append((written.getnchannels(), written.getframerate(), made.cut))
    assert found == [(2, 44100, False), (2, 24000, False), (1, 24000, False), (1, 16000, False)]


@example(limit=6257, to="audio/aac")  # all but the last 16 ms fit: the end is missing
@examples(25)
@given(limit=st.integers(1, 120_000), to=st.sampled_from(sorted(sound.FORMS)))
def test_a_sound_is_never_larger_than_allowed_and_says_when_its_end_is_missing(tmp_path_factory, limit, to):
    made = attempt(tmp_path_factory.mktemp("sound"), stereo(2), "audio/wav", f"audio?as={to}&bytes={limit}")
    if isinstance(made, BadFile):
        assert f"as small as {limit} bytes" in made.problem
        assert limit < 12_000
        return
    assert 0 < made.files[0].stat().st_size <= limit
    assert made.total == 2
    with av.open(str(made.files[0])) as written:
        heard = sum(frame.samples / frame.sample_rate for frame in written.decode(audio=0))
    assert made.cut == (round(heard, 3) < 2), heard


def test_a_long_sound_becomes_mono_to_be_done_in_time(tmp_path, monkeypatch):
    monkeypatch.setattr(sound, "LONG_SECONDS", 1.9)
    (tmp_path / "long.wav").write_bytes(stereo(2))
    asked = (str(tmp_path / "long.wav"), "audio/wav", Conversion("audio", ("audio/wav",)), str(tmp_path))
    with wave.open(sound.make_audio(*asked)["files"][0]) as written:
        assert (written.getnchannels(), written.getframerate()) == (1, 24000)


def test_what_has_no_sound_or_can_not_be_written_is_refused(tmp_path):
    with pytest.raises(BadFile, match="has no sound"):
        make(tmp_path, mp4(), "video/mp4", "audio?as=audio/wav")
    with pytest.raises(BadFile, match="can't be written as audio/midi"):
        make(tmp_path, wav(), "audio/wav", "audio?as=audio/midi")


def test_half_a_sound_is_still_heard(tmp_path):
    whole = mp3(4)
    made = make(tmp_path, whole[: len(whole) // 2], "audio/mpeg", "audio?as=audio/wav")
    with wave.open(str(made.files[0])) as written:
        assert 1.5 < written.getnframes() / written.getframerate() < 2.5


def test_speech_becomes_words_that_call_themselves_a_machines(tmp_path):
    made = make(tmp_path, SPOKEN.read_bytes(), "audio/ogg", "transcript")
    heading, _, words = made.text.partition("\n\n")
    assert heading.startswith("Machine transcript by PocketSphinx")
    assert "may be wrong" in heading
    assert words.startswith("[0:00] he might even have been made amiable")
    assert (made.total, made.cut) == (pytest.approx(3.1, abs=0.1), False)


@pytest.mark.parametrize("data", [quiet(5), wav(5)], ids=["silence", "a tone"])
def test_where_nobody_speaks_no_words_are_made_up(tmp_path, data):
    assert make(tmp_path, data, "audio/wav", "transcript").text.endswith("\n\nNo words were made out.")


def test_only_ten_minutes_are_listened_to(tmp_path):
    made = make(tmp_path, quiet(601), "audio/wav", "transcript")
    assert (made.total, made.cut) == (601, True)


def test_work_that_takes_too_long_is_left_with_what_is_done(tmp_path):
    said, _, _ = speech.read_samples(str(SPOKEN), "audio/ogg")
    with wave.open(str(tmp_path / "twice.wav"), "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(speech.RATE)
        written.writeframes(said + bytes(speech.BYTES_A_SECOND * 2) + said)
    times = iter((0.0, 1.0, speech.MOST_WORK + 1))
    asked = (str(tmp_path / "twice.wav"), "audio/wav", Conversion("transcript"), str(tmp_path))
    made = speech.make_transcript(*asked, clock=lambda: next(times))
    assert made["cut"]
    assert made["text"].count("amiable") == 1


def test_lines_begin_about_every_half_minute():
    said = [(0.5, "a"), (20.0, "b"), (31.0, "c"), (65.0, "d"), (3700.0, "e")]
    assert speech.write_lines(said) == "[0:00] a b\n[0:31] c\n[1:05] d\n[1:01:40] e"


def test_without_the_extras_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(sound, "av", None)
    with pytest.raises(BadFile, match=r"needs showandtell\[av\]"):
        sound.make_audio(str(SPOKEN), "audio/ogg", Conversion("audio", ("audio/wav",)), str(tmp_path))
    monkeypatch.setattr(speech, "sphinx", None)
    with pytest.raises(BadFile, match=r"needs showandtell\[asr\]"):
        speech.make_transcript(str(SPOKEN), "audio/ogg", Conversion("transcript"), str(tmp_path))


RECIPES = {"audio": "audio?as=audio/wav", "video": "frames?as=image/jpeg&most=2&sound=audio/wav"}


def test_playlists_under_any_name_open_nothing(tmp_path):
    canary = tmp_path / "canary.wav"
    canary.write_bytes(wav(1))
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0)
        for target in (f"http://127.0.0.1:{server.getsockname()[1]}/canary.wav", str(canary), canary.as_uri()):
            for playlist in list_playlists(target):
                for media_type in ("audio/wav", "audio/mpeg", "audio/aac", "audio/mp4", "video/mp4", "video/mpeg"):
                    with pytest.raises(BadFile):
                        make(tmp_path, playlist, media_type, RECIPES[media_type.partition("/")[0]])
        with pytest.raises(BlockingIOError):
            server.accept()


def list_playlists(target):
    yield f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{target}\n#EXT-X-ENDLIST\n".encode()
    yield f'#EXTM3U\n#EXT-X-MAP:URI="{target}"\n#EXTINF:9,\n{target}\n'.encode()
    yield f"ffconcat version 1.0\nfile '{target}'\n".encode()
    yield f'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>{target}</BaseURL></MPD>'.encode()
    yield f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\na=control:{target}\n".encode()


WHOLE = [
    (wav(0.5), "audio/wav"),
    (mp3(), "audio/mpeg"),
    (flac(), "audio/flac"),
    (recoded("ogg", "libopus"), "audio/ogg"),
    (recoded("mp4", "aac"), "audio/mp4"),
    (recoded("matroska", "libopus"), "audio/webm"),
    (mp4(), "video/mp4"),
]


@pytest.mark.parametrize(("data", "media_type"), WHOLE, ids=[media_type for _, media_type in WHOLE])
def test_a_header_cut_anywhere_gives_a_sound_or_a_reason(tmp_path, data, media_type):
    cuts = sorted({*range(1, 64, 7), *range(64, min(len(data), 1024), 97), len(data) // 2, len(data) - 1})
    for at in cuts:
        made = attempt(tmp_path, data[:at], media_type, RECIPES[media_type.partition("/")[0]])
        assert "stopped the decoder" not in getattr(made, "problem", "")
        assert getattr(made, "problem", None) or all(one.stat().st_size for one in made.files)
