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
from showandtell.media.convert import video
from support.fixtures import mp4, png
from support.properties import examples
from support.videos import grey, write_silence


def frames(folder, data, media_type="video/mp4", conversion="frames?as=image/png"):
    path = folder / "film"
    path.write_bytes(data)
    return gate.make(path, media_type, conversion, folder)


def brightness(path):
    """Brightness of the left and the right half, 0 to 255."""
    with Image.open(path) as image:
        small = image.convert("L").resize((2, 1), Image.Resampling.BOX)
        return small.getpixel((0, 0)), small.getpixel((1, 0))


@pytest.mark.parametrize("every", [1, 10, 250], ids=["all key frames", "some", "one key frame"])
def test_frames_are_spread_evenly_and_have_correct_times(tmp_path, every):
    output = frames(tmp_path, grey(every=every), conversion="frames?as=image/png&most=4")
    assert output.total == 8
    assert [math.floor(time / 2) for time in output.times] == [0, 1, 2, 3]
    for path, time in zip(output.files, output.times, strict=True):
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
    output = frames(tmp_path, grey(codec=codec, form=form, rate=25, seconds=4), media_type)
    assert len(output.files) == 8
    assert list(output.times) == sorted(set(output.times))
    assert [brightness(path)[0] for path in output.files] == sorted(brightness(path)[0] for path in output.files)


@examples(20)
@given(max_count=st.integers(1, 12), every=st.sampled_from([1, 7, 40]), seconds=st.integers(1, 8))
def test_no_more_frames_than_requested_and_no_time_twice(tmp_path_factory, max_count, every, seconds):
    conversion = f"frames?as=image/png&most={max_count}"
    output = frames(tmp_path_factory.mktemp("film"), grey(every=every, seconds=seconds), conversion=conversion)
    assert 1 <= len(output.files) == len(output.times) <= max_count
    assert all(0 <= time <= seconds for time in output.times)
    assert list(output.times) == sorted(set(output.times))


@pytest.mark.parametrize("turned", [90, 180, -90])
def test_a_rotated_video_is_shown_upright(tmp_path, turned):
    output = frames(tmp_path, grey(turned=turned, size=(128, 64)), conversion="frames?as=image/png&most=1")
    with Image.open(output.files[0]) as image:
        assert image.size == ((128, 64) if turned == 180 else (64, 128))
        # The bright right half moves to the left, to the top (rotated counterclockwise) or to the bottom.
        halves = image.convert("L").resize((1, 2) if abs(turned) == 90 else (2, 1), Image.Resampling.BOX).tobytes()
    assert (halves[0] > halves[1]) == (turned != -90)


def test_wide_pixels_are_shown_wide(tmp_path):
    output = frames(tmp_path, grey(ratio=2), conversion="frames?as=image/png&most=1")
    with Image.open(output.files[0]) as image:
        assert image.size == (128, 48)


def test_4k_is_scaled_to_the_accepted_side_and_bytes(tmp_path):
    data = grey(size=(3840, 2160), seconds=1, rate=4)
    output = frames(tmp_path, data, conversion="frames?as=image/jpeg&side=768&bytes=20000&most=3")
    for path in output.files:
        assert path.stat().st_size <= 20_000
        with Image.open(path) as image:
            assert (image.format, image.size) == ("JPEG", (768, 432))
    assert output.scale == 0.2


def test_the_audio_track_follows_the_frames(tmp_path):
    conversion = "frames?as=image/png&most=2&sound=audio/wav"
    output = frames(tmp_path, grey(track=3.0), conversion=conversion)
    assert [path.suffix for path in output.files] == [".png", ".png", ".wav"]
    assert gate.probe(output.files[2], claimed=None, name="track").seconds == pytest.approx(3, abs=0.1)
    assert len(frames(tmp_path, mp4(), conversion=conversion).files) == 2


def test_a_cover_is_not_a_video(tmp_path):
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as out:
        song, cover = out.add_stream("libmp3lame", rate=48000, layout="mono"), out.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 16, 16, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        with Image.open(io.BytesIO(png())) as image:
            out.mux(cover.encode(av.VideoFrame.from_image(image.convert("RGB").resize((16, 16)))))
            out.mux(cover.encode())
        write_silence(out, song, 0.5)
    with pytest.raises(BadFile, match="has no moving pictures"):
        frames(tmp_path, buffer.getvalue(), "video/mp4")


def test_half_a_video_shows_the_available_frames(tmp_path):
    data = grey(form="matroska", every=5)
    output = frames(tmp_path, data[: len(data) * 2 // 3], "video/x-matroska", "frames?as=image/png&most=4")
    assert 1 <= len(output.files) <= 4


def test_a_video_with_too_many_pixels_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "MAX_PIXELS", 64 * 48 - 1)
    (tmp_path / "film").write_bytes(mp4())
    with pytest.raises(BadFile, match="megapixels"):
        video.make_frames(str(tmp_path / "film"), "video/mp4", Conversion("frames"), str(tmp_path))


def test_after_the_decoding_limit_key_frames_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "MAX_DECODED_PIXELS", 64 * 48 * 3)
    (tmp_path / "film").write_bytes(grey(every=10))
    output = video.make_frames(
        str(tmp_path / "film"), "video/mp4", Conversion("frames", ("image/png",), max_count=4), str(tmp_path)
    )
    assert output["times"][1:] == [2.0, 4.0, 6.0]


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    from showandtell.media.convert import audio

    monkeypatch.setattr(audio, "av", None)
    with pytest.raises(BadFile, match=r"needs showandtell\[av\]"):
        video.make_frames(str(tmp_path), "video/mp4", Conversion("frames"), str(tmp_path))
