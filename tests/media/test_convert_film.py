import io
import math

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.convert import film
from support.films import grey, write_silence
from support.fixtures import mp4, png
from support.properties import examples


def frames(folder, data, media_type="video/mp4", recipe="frames?as=image/png"):
    path = folder / "film"
    path.write_bytes(data)
    return gate.make(path, media_type, recipe, folder)


def brightness(path):
    """How bright the left half and the right half are, 0 to 255."""
    with Image.open(path) as image:
        small = image.convert("L").resize((2, 1), Image.Resampling.BOX)
        return small.getpixel((0, 0)), small.getpixel((1, 0))


@pytest.mark.parametrize("every", [1, 10, 250], ids=["all key frames", "some", "one key frame"])
def test_frames_are_spread_evenly_and_their_times_are_true(tmp_path, every):
    made = frames(tmp_path, grey(every=every), recipe="frames?as=image/png&most=4")
    assert made.total == 8
    assert [math.floor(one / 2) for one in made.times] == [0, 1, 2, 3]
    for path, time in zip(made.files, made.times, strict=True):
        assert brightness(path)[0] == pytest.approx(16 + 200 * time / 8, abs=14)


@pytest.mark.parametrize(
    ("codec", "form", "media_type"),
    [
        ("libx264", "matroska", "video/x-matroska"),
        ("mpeg4", "avi", "video/x-msvideo"),
        ("libvpx", "webm", "video/webm"),
        ("mpeg2video", "mpeg", "video/mpeg"),
        ("libx265", "mov", "video/quicktime"),
        ("flv", "flv", "video/x-flv"),
    ],
)
def test_every_container_gives_eight_frames_in_order(tmp_path, codec, form, media_type):
    made = frames(tmp_path, grey(codec=codec, form=form, rate=25, seconds=4), media_type)
    assert len(made.files) == 8
    assert list(made.times) == sorted(set(made.times))
    assert [brightness(one)[0] for one in made.files] == sorted(brightness(one)[0] for one in made.files)


@examples(20)
@given(most=st.integers(1, 12), every=st.sampled_from([1, 7, 40]), seconds=st.integers(1, 8))
def test_there_are_never_more_frames_than_asked_for_and_no_time_twice(tmp_path_factory, most, every, seconds):
    recipe = f"frames?as=image/png&most={most}"
    made = frames(tmp_path_factory.mktemp("film"), grey(every=every, seconds=seconds), recipe=recipe)
    assert 1 <= len(made.files) == len(made.times) <= most
    assert all(0 <= one <= seconds for one in made.times)
    assert list(made.times) == sorted(set(made.times))


@pytest.mark.parametrize("turned", [90, 180, -90])
def test_a_film_that_was_held_upright_stands_upright(tmp_path, turned):
    made = frames(tmp_path, grey(turned=turned, size=(128, 64)), recipe="frames?as=image/png&most=1")
    with Image.open(made.files[0]) as image:
        assert image.size == ((128, 64) if turned == 180 else (64, 128))
        # What was bright on the right is on the left, at the top (turned counterclockwise) or at the bottom.
        halves = image.convert("L").resize((1, 2) if abs(turned) == 90 else (2, 1), Image.Resampling.BOX).tobytes()
    assert (halves[0] > halves[1]) == (turned != -90)


def test_wide_pixels_are_shown_wide(tmp_path):
    made = frames(tmp_path, grey(ratio=2), recipe="frames?as=image/png&most=1")
    with Image.open(made.files[0]) as image:
        assert image.size == (128, 48)


def test_4k_is_scaled_to_the_side_and_the_bytes_that_are_taken(tmp_path):
    data = grey(size=(3840, 2160), seconds=2, rate=10)
    made = frames(tmp_path, data, recipe="frames?as=image/jpeg&side=768&bytes=20000&most=3")
    for path in made.files:
        assert path.stat().st_size <= 20_000
        with Image.open(path) as image:
            assert (image.format, image.size) == ("JPEG", (768, 432))
    assert made.scale == 0.2


def test_the_sound_track_follows_the_frames(tmp_path):
    recipe = "frames?as=image/png&most=2&sound=audio/wav"
    made = frames(tmp_path, grey(track=3.0), recipe=recipe)
    assert [one.suffix for one in made.files] == [".png", ".png", ".wav"]
    assert gate.prove(made.files[2], claimed=None, name="track").seconds == pytest.approx(3, abs=0.1)
    assert len(frames(tmp_path, mp4(), recipe=recipe).files) == 2


def test_a_cover_is_no_film(tmp_path):
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as out:
        sound, cover = out.add_stream("libmp3lame", rate=48000, layout="mono"), out.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 16, 16, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        with Image.open(io.BytesIO(png())) as image:
            out.mux(cover.encode(av.VideoFrame.from_image(image.convert("RGB").resize((16, 16)))))
            out.mux(cover.encode())
        write_silence(out, sound, 0.5)
    with pytest.raises(BadFile, match="has no moving pictures"):
        frames(tmp_path, buffer.getvalue(), "video/mp4")


def test_half_a_film_shows_what_is_there(tmp_path):
    whole = grey(form="matroska", every=5)
    made = frames(tmp_path, whole[: len(whole) * 2 // 3], "video/x-matroska", "frames?as=image/png&most=4")
    assert 1 <= len(made.files) <= 4


def test_a_film_of_too_many_pixels_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(film, "MOST_PIXELS", 64 * 48 - 1)
    (tmp_path / "film").write_bytes(mp4())
    with pytest.raises(BadFile, match="megapixels"):
        film.make_frames(str(tmp_path / "film"), "video/mp4", Conversion("frames"), str(tmp_path))


def test_when_too_much_was_decoded_key_frames_must_do(tmp_path, monkeypatch):
    monkeypatch.setattr(film, "PIXELS_DECODED", 64 * 48 * 3)
    (tmp_path / "film").write_bytes(grey(every=10))
    made = film.make_frames(
        str(tmp_path / "film"), "video/mp4", Conversion("frames", ("image/png",), most=4), str(tmp_path)
    )
    assert made["times"][1:] == [2.0, 4.0, 6.0]


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    from showandtell.media.convert import sound

    monkeypatch.setattr(sound, "av", None)
    with pytest.raises(BadFile, match=r"needs showandtell\[av\]"):
        film.make_frames(str(tmp_path), "video/mp4", Conversion("frames"), str(tmp_path))
