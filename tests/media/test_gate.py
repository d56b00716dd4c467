# A union, or JSON whose types the test knows.
# pyright: reportGeneralTypeIssues=false
"""The gate: what files turn out to be, which are rejected by name, and that a bad file affects no other."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av
import pytest
from av.stream import Disposition
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image, ImageDraw, ImageFont
from pillow_heif import register_heif_opener

from showandtell.core.media_types.claims import normalize_type, read_claim
from showandtell.core.media_types.signatures import detect_type, list_names
from showandtell.errors import BadFile, DecoderBusy
from showandtell.media import documents, gate
from showandtell.media.child import MEDIA_MEMORY, handle_request
from showandtell.media.describe import name_colour
from showandtell.media.worker import ChildFailed, MediaWorker, WorkerPool
from support import fixtures
from support.properties import examples

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

KINDS = [
    (fixtures.png, gate.ProbeResult("image/png", pixels=(8, 8))),
    (fixtures.jpeg, gate.ProbeResult("image/jpeg", pixels=(8, 8))),
    (fixtures.gif, gate.ProbeResult("image/gif", pixels=(8, 8))),
    (fixtures.webp, gate.ProbeResult("image/webp", pixels=(8, 8))),
    (fixtures.bmp, gate.ProbeResult("image/bmp", pixels=(8, 8))),
    (fixtures.tiff, gate.ProbeResult("image/tiff", pixels=(8, 8))),
    (fixtures.svg, gate.ProbeResult("image/svg+xml")),
    (fixtures.wav, gate.ProbeResult("audio/wav", seconds=0.2)),
    (fixtures.mp3, gate.ProbeResult("audio/mpeg", seconds=0.5)),
    (fixtures.flac, gate.ProbeResult("audio/flac", seconds=0.5)),
    (fixtures.mp4, gate.ProbeResult("video/mp4", seconds=1.0)),
    (fixtures.docx, gate.ProbeResult(DOCX)),
    (fixtures.bomb, gate.ProbeResult("application/zip")),
]
PACKINGS = [
    ("adts", "aac", "audio/aac"),
    ("aiff", "pcm_s16be", "audio/aiff"),
    ("ipod", "aac", "audio/mp4"),
    ("mp4", "aac", "audio/mp4"),
    ("ogg", "libopus", "audio/ogg"),
    ("webm", "libopus", "audio/webm"),
    ("matroska", "libopus", "video/x-matroska"),
    ("mov", "pcm_s16be", "video/quicktime"),
    ("avi", "pcm_s16le", "video/x-msvideo"),
]
CLAIMS = [
    ("image/jpg", "image/jpeg"),
    ("IMAGE/PNG", "image/png"),
    ("audio/x-wav", "audio/wav"),
    ("audio/mp3", "audio/mpeg"),
    ("text/csv; charset=utf-8", "text/csv"),
    ("picture", None),
    ("image/", None),
    ("a/b/c", None),
    ("image/png\n", "image/png"),
    ("image /png", None),
]
TEXTS = [
    ("notes.txt", None, b"plain words\n", "text/plain", None),
    ("notes.md", None, b"# words", "text/markdown", None),
    ("rows", "text/csv;charset=utf-8", b"a,b\n1,2\n", "text/csv", None),
    ("data.json", None, b'{"a": [1]}', "application/json", None),
    ("cut.json", None, b'{"a": [1', "text/plain", None),
    ("cut", "application/json", b'{"a": [1', "text/plain", "application/json"),
    ("page.png", "image/png", b"\n <!DOCTYPE html><p>hi", "text/html", "image/png"),
    ("page.txt", None, b"<!-- x --><script>alert(1)</script>", "text/html", None),
    ("mark.xml", None, b'<?xml version="1.0"?><svg/>', "image/svg+xml", None),
    ("list.xml", None, b'<?xml version="1.0"?><list/>', "application/xml", None),
    ("words", "picture", b"words", "text/plain", "'picture', which is no media type"),
    ("raw", None, b"a\0b", "application/octet-stream", None),
    ("raw.txt", None, b"caf\xe9\1", "application/octet-stream", "text/plain"),
]
REFUSED = [
    ("empty.png", b"", "is empty"),
    ("torn.png", fixtures.truncated(fixtures.png(60, 60)), "is torn: it begins as PNG"),
    ("torn.jpg", fixtures.truncated(fixtures.jpeg(60, 60)), "is torn: it begins as JPEG"),
    ("torn.heic", fixtures.heic(), "is torn: it begins as HEIF"),
    ("torn.mp4", fixtures.truncated(fixtures.mp4()), "is torn: it begins as video/mp4"),
    ("script.gif", b"GIF89a/*  */=1;alert(1)//", "is torn: it begins as GIF"),
    ("huge.png", fixtures.huge_png(), "is too large (12000 x 12000 pixels, 144 megapixels)"),
    (
        "huge.webp",
        b"RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\xe0\x2e\xe0\x2e",
        "is too large (12000 x 12000",
    ),
    ("blank.pdf", fixtures.pdf(), "has no pages"),
    ("locked.pdf", fixtures.locked_pdf(), "is locked with a password"),
    ("torn.pdf", b"%PDF-1.7\n" + bytes(200), "can't be opened"),
]
NO_DECODER = WorkerPool((sys.executable, "-c", "input()"), 1)


def save(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def flicker(frames: int) -> bytes:
    """An animation of one pixel."""
    frame = b"\x21\xf9\x04\0\x0a\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0"
    return b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff" + frame * frames + b";"


def warm() -> MediaWorker:
    """The child that handles the next request."""
    return gate.MEDIA.free[-1]


def probe(folder: Path, data: bytes, name: str = "file", claimed: str | None = None) -> gate.ProbeResult:
    return gate.probe(save(folder, name, data), claimed=claimed, name=name)


def try_probe(data: bytes) -> gate.ProbeResult | BadFile:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return probe(Path(folder), data)
        except BadFile as error:
            return error


@pytest.mark.parametrize(("build", "result"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_bytes_alone_say_what_a_file_is(tmp_path, build, result):
    assert probe(tmp_path, build()) == result


def test_a_heic_is_measured_upright_if_it_can_be_decoded(tmp_path):
    register_heif_opener()
    upright = Image.Exif()
    upright[ExifTags.Base.Orientation] = 6
    Image.new("RGB", (80, 64), "red").save(tmp_path / "a", "HEIF", exif=upright.tobytes())
    assert gate.probe(tmp_path / "a", claimed=None, name="a.heic") == gate.ProbeResult("image/heic", pixels=(64, 80))


def test_without_its_decoder_a_heic_is_known_by_its_signature(tmp_path):
    without = "import sys; sys.modules['pillow_heif'] = None; from showandtell.media import child; child.main([])"
    worker = MediaWorker((sys.executable, "-c", without))
    path = str(save(tmp_path, "a.heic", fixtures.heic()))
    assert worker.ask({"task": "probe", "path": path, "media_type": "image/heic"}, 10) == {
        "result": {"media_type": "image/heic"}
    }
    worker.stop()


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF", "AVIF"])
def test_several_frames_are_counted(tmp_path, form):
    frames = [Image.new("RGB", (16, 16), (40 * at, 0, 0)) for at in range(5)]
    frames[0].save(tmp_path / "many", form, save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / "one", form)
    counts = [gate.probe(tmp_path / name, claimed=None, name=name).frames for name in ("many", "one")]
    assert counts == [5, None]


def test_at_most_ten_thousand_frames_are_counted(tmp_path):
    assert probe(tmp_path, flicker(12_000)).frames == 10_000


def test_an_animation_that_ends_in_a_later_frame_is_torn(tmp_path):
    with pytest.raises(BadFile, match="is torn: it begins as GIF but can't be decoded: its end is missing"):
        probe(tmp_path, flicker(3)[:-9])


@pytest.mark.parametrize(("form", "codec", "media_type"), PACKINGS)
def test_audio_is_probed_in_every_container(tmp_path, form, codec, media_type):
    result = probe(tmp_path, fixtures.recoded(form, codec))
    assert (result.media_type, result.corrected) == (media_type, None)
    assert result.seconds == pytest.approx(0.5, abs=0.1)


def test_a_decoder_that_needs_more_memory_has_a_lower_pixel_limit(tmp_path):
    data = fixtures.picture("WEBP", 5400, 5400, fixtures.RED, quality=1, method=0)
    with pytest.raises(BadFile, match=r"is too large \(5400 x 5400 pixels, 29 megapixels\): .* at most 28 megapixels"):
        probe(tmp_path, data)


def test_a_page_with_endless_strokes_is_probed_without_drawing_it(tmp_path):
    packer, pages = (
        zlib.compressobj(),
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    )
    strokes = b"".join([*(packer.compress(b"0 0 m 1 1 l S\n" * 20_000) for _ in range(1000)), packer.flush()])
    pages.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R >>")
    pages.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(strokes), strokes))
    assert probe(tmp_path, fixtures.pdf_file(pages)).pages == 1


def song_with_cover(form, codec):
    """A second of silence with a cover."""
    buffer, silence = io.BytesIO(), av.AudioFrame(format="fltp", layout="mono", samples=1024)
    silence.sample_rate = 16000
    silence.planes[0].update(bytes(silence.planes[0].buffer_size))
    with av.open(buffer, "w", format=form) as song:
        sound, cover = song.add_stream(codec, rate=16000, layout="mono"), song.add_stream("mjpeg")
        cover.width, cover.height, cover.pix_fmt = 64, 48, "yuvj420p"
        cover.disposition = Disposition.attached_pic
        song.mux(cover.encode(av.VideoFrame.from_image(Image.new("RGB", (64, 48)))) + cover.encode(None))
        for at in range(16):
            silence.pts = at * 1024
            song.mux(sound.encode(silence))
        song.mux(sound.encode(None))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("form", "codec", "media_type"), [("mp4", "aac", "audio/mp4"), ("mp3", "libmp3lame", "audio/mpeg")]
)
def test_a_song_with_a_cover_is_audio(tmp_path, form, codec, media_type):
    assert probe(tmp_path, song_with_cover(form, codec)).media_type == media_type
    kinds = {stream["kind"] for stream in gate.describe(next(tmp_path.iterdir()), media_type)["streams"]}
    assert kinds == {"audio", "cover"}


@pytest.mark.parametrize(("name", "data", "problem"), REFUSED, ids=[row[0] for row in REFUSED])
def test_an_unusable_file_is_rejected_by_name(tmp_path, name, data, problem):
    with pytest.raises(BadFile) as caught:
        probe(tmp_path, data, name)
    assert str(caught.value).startswith(f"{name} {problem}")
    assert caught.value.advice
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: row[0])
def test_text_is_what_it_claims_unless_it_shows_otherwise(tmp_path, row):
    name, claimed, data, media_type, corrected = row
    assert probe(tmp_path, data, name, claimed) == gate.ProbeResult(media_type, corrected=corrected)


@pytest.mark.parametrize(("claimed", "normalized"), CLAIMS)
def test_media_types_are_normalized_or_invalid(claimed, normalized):
    assert normalize_type(claimed) == normalized


def test_a_false_claim_is_corrected_and_recorded(tmp_path):
    assert probe(tmp_path, fixtures.png(), "photo.jpg", "image/jpeg").corrected == "image/jpeg"
    assert probe(tmp_path, fixtures.png(), "photo.jpg").corrected is None
    assert probe(tmp_path, fixtures.png(), "photo.pdf").corrected == "application/pdf"
    assert probe(tmp_path, fixtures.png(), "photo.png", "image/jpg").corrected == "image/jpeg"
    assert probe(tmp_path, fixtures.png(), "photo.jpg", "image/png").corrected is None


def test_a_claim_that_says_nothing_gives_way_to_the_name():
    assert read_claim("application/octet-stream", "a.md") == "text/markdown"
    assert read_claim(None, "a.unheard") is None


def test_a_zip_bomb_named_pdf_is_a_zip_and_stays_small(tmp_path):
    assert probe(tmp_path, fixtures.bomb(), "bomb.pdf") == gate.ProbeResult(
        "application/zip", corrected="application/pdf"
    )


def test_an_office_file_is_reported_by_its_folders_alone(tmp_path):
    both = fixtures.zipped({"[Content_Types].xml": b"", "word/a": b"", "xl/a": b""})
    assert probe(tmp_path, both).media_type == "application/zip"
    assert probe(tmp_path, fixtures.docx(), "a.zip").corrected is None


def test_an_mpeg_frame_must_be_followed_by_another(tmp_path):
    sound = fixtures.mp3()
    start = 10 + sound[9]
    assert probe(tmp_path, sound[start:]).media_type == "audio/mpeg"
    assert probe(tmp_path, sound[start : start + 40]).media_type == "application/octet-stream"


@given(st.binary(max_size=400))
def test_no_bytes_upset_the_signature_table(data):
    def peek(offset, length):
        return data[max(offset, 0) :][: max(length, 0)]

    output = detect_type(peek, len(data))
    assert output is None or "/" in output
    assert isinstance(list_names(b"PK\1\2" + data), dict)


@examples(60)
@given(st.integers(1, len(fixtures.png()) - 1))
def test_a_truncated_png_is_never_an_image(length):
    output = try_probe(fixtures.png()[:length])
    assert isinstance(output, BadFile) or output.media_type == "application/octet-stream"


@examples(80)
@given(
    st.sampled_from([fixtures.gif(), fixtures.webp(), fixtures.tiff(), fixtures.pdf("a"), fixtures.wav(0.01)]),
    st.integers(0, 400),
    st.binary(min_size=1, max_size=8),
)
def test_a_damaged_file_gives_a_result_or_an_error(data, place, damage):
    place %= len(data)
    output = try_probe(data[:place] + damage + data[place + len(damage) :])
    assert isinstance(output, gate.ProbeResult | BadFile)


def test_a_decoder_that_dies_affects_one_file_only(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(gate, "MEDIA", NO_DECODER)
        with pytest.raises(BadFile, match=r"killer\.bmp stopped the decoder"):
            probe(tmp_path, fixtures.bmp(), "killer.bmp")
    assert probe(tmp_path, fixtures.bmp()).pixels == (8, 8)


def test_a_decoder_that_hangs_is_killed_and_replaced(tmp_path, monkeypatch):
    probe(tmp_path, fixtures.bmp())
    hung = warm().process
    os.kill(hung.pid, signal.SIGSTOP)
    with monkeypatch.context() as patched:
        patched.setattr(gate, "SECONDS", 0.05)
        with pytest.raises(BadFile, match=r"slow\.bmp could not be decoded within 0\.05 s"):
            probe(tmp_path, fixtures.bmp(), "slow.bmp")
    assert hung.returncode == -signal.SIGKILL
    assert probe(tmp_path, fixtures.bmp()).pixels == (8, 8)


def test_a_decoder_killed_between_two_files_is_restarted(tmp_path):
    probe(tmp_path, fixtures.bmp())
    warm().process.kill()
    warm().process.wait()
    assert probe(tmp_path, fixtures.bmp()).pixels == (8, 8)


def test_the_child_has_limits_and_no_keys(tmp_path, monkeypatch):
    probe(tmp_path, fixtures.bmp())
    child = warm().process.pid
    assert resource.prlimit(child, resource.RLIMIT_AS)[0] == MEDIA_MEMORY
    assert resource.prlimit(child, resource.RLIMIT_FSIZE)[0] == 0
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    echo = MediaWorker((sys.executable, "-c", "import json, os; input(); print(json.dumps(dict(os.environ)))"))
    assert "OPENAI_API_KEY" not in echo.ask({}, 10)
    echo.stop()


@pytest.mark.parametrize("media_type", ["image/png", "application/pdf", "audio/wav", "video/mp4"])
def test_no_error_contains_the_path_of_a_file(media_type):
    request = {"task": "describe", "path": "/nowhere/at/all", "media_type": media_type, "seconds": 5}
    assert "/nowhere" not in handle_request(request)["problem"]


def test_an_image_beyond_the_childs_memory_is_rejected_by_name(tmp_path):
    request = {"task": "probe", "path": str(save(tmp_path, "a.png", fixtures.png())), "media_type": "image/png"}
    small = "import resource, sys; from showandtell.media import child; child.MEDIA_MEMORY = 96 << 20; child.main([])"
    wide = {**request, "path": str(save(tmp_path, "b.png", fixtures.png(5000, 5000)))}
    worker = MediaWorker((sys.executable, "-c", small))
    assert worker.ask(request, 10)["result"]["pixels"] == [8, 8]
    assert worker.ask(wide, 10)["problem"].startswith("needs more memory")
    worker.stop()


def test_many_threads_share_the_children(tmp_path):
    paths = [save(tmp_path, f"{width}.bmp", fixtures.bmp(width)) for width in range(1, 25)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda path: gate.probe(path, claimed=None, name=path.name), paths))
    assert [result.pixels[0] for result in results] == list(range(1, 25))


def test_a_forked_process_starts_a_child_of_its_own(tmp_path):
    probe(tmp_path, fixtures.bmp())
    ours = warm().process.pid
    with gate.MEDIA.turns.taken("", 5), gate.MEDIA.free_worker():  # as another thread may, at that moment
        fork = os.fork()
        if fork == 0:
            signal.alarm(20)
            result = probe(tmp_path, fixtures.bmp(3))
            mine = warm().process.pid
            gate.close()
            os._exit(0 if result.pixels == (3, 8) and mine != ours else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert probe(tmp_path, fixtures.bmp()).pixels == (8, 8)
    assert warm().process.pid == ours


def test_a_slow_file_leaves_a_child_for_the_others(tmp_path):
    with gate.MEDIA.turns.taken("another user", 5), gate.MEDIA.free_worker():
        assert probe(tmp_path, fixtures.bmp()).pixels == (8, 8)


def test_a_request_without_a_free_child_is_rejected_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(gate, "MEDIA", WorkerPool((sys.executable, "-c", "input()"), 0, timeout=0.01))
    with pytest.raises(
        DecoderBusy, match=r"late\.bmp was not read \(waited 0\.01 s behind other files\): try again"
    ) as late:
        probe(tmp_path, fixtures.bmp(), "late.bmp")
    assert late.value.passing


def test_no_decoder_is_imported_outside_the_child():
    code = "import json, sys; import showandtell.media.gate; print(json.dumps(list(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # noqa: S603 - our own words
    names = json.loads(run.stdout)
    assert not {"PIL", "pypdfium2", "av", "rapidocr", "numpy", "wave"} & set(names)


def test_an_endless_response_is_not_read():
    endless = MediaWorker((sys.executable, "-c", "input()\nwhile True: print('x' * 65536, end='')"))
    with pytest.raises(ChildFailed, match="stopped the decoder"):
        endless.ask({}, 30)


def test_an_image_is_described_by_size_and_colours(tmp_path):
    image = Image.new("RGB", (100, 50), (20, 60, 220))
    image.paste((250, 250, 250), (0, 0, 25, 50))
    image.save(tmp_path / "flag.png")
    output = gate.describe(tmp_path / "flag.png", "image/png")
    assert output == {"pixels": [100, 50], "colours": [["blue", 0.75], ["white", 0.25]]}


def test_a_pdf_is_described_by_its_text(tmp_path):
    path = save(tmp_path, "a.pdf", fixtures.pdf("Hello (you)\nthere", "", "World"))
    assert gate.describe(path, "application/pdf") == {"pages": 3, "text": "Hello (you)\nthere\n\nWorld"}


def test_audio_video_and_text_are_described(tmp_path):
    sound, film = save(tmp_path, "a.wav", fixtures.wav()), save(tmp_path, "a.mp4", fixtures.mp4())
    stream = {"kind": "video", "codec": "mpeg4", "pixels": [64, 48]}
    assert gate.describe(sound, "audio/wav") == {"seconds": 0.2, "channels": 1, "rate": 16000}
    assert gate.describe(film, "video/mp4") == {"seconds": 1.0, "streams": [stream]}
    assert gate.describe(save(tmp_path, "a.md", b"# hi"), "text/markdown") == {"text": "# hi"}
    assert gate.describe(save(tmp_path, "a.docx", fixtures.docx()), DOCX) == {}


@pytest.mark.parametrize(
    ("colour", "word"),
    [
        ((200, 30, 30), "red"),
        ((255, 150, 20), "orange"),
        ((120, 78, 40), "brown"),
        ((250, 230, 60), "yellow"),
        ((40, 160, 60), "green"),
        ((40, 200, 210), "cyan"),
        ((30, 60, 200), "blue"),
        ((130, 40, 190), "purple"),
        ((250, 170, 190), "pink"),
        ((0, 0, 0), "black"),
        ((128, 128, 130), "grey"),
        ((255, 255, 255), "white"),
    ],
)
def test_colours_have_the_names_people_use(colour, word):
    assert name_colour(*colour) == word


def test_text_is_read_in_an_image_and_in_a_scan(tmp_path):
    image = Image.new("RGB", (500, 140), "white")
    ImageDraw.Draw(image).text((40, 40), "GATE 42", font=ImageFont.load_default(48), fill="black")
    image.save(tmp_path / "sign.png")
    image.save(tmp_path / "scan.pdf")
    assert gate.read_text_in(tmp_path / "sign.png", "image/png") == "GATE 42"
    assert gate.read_text_in(tmp_path / "scan.pdf", "application/pdf") == "GATE 42"
    assert gate.read_text_in(save(tmp_path, "a.wav", fixtures.wav()), "audio/wav") is None


def test_a_chart_is_drawn_without_pyav():
    code = "import sys; from showandtell.media import draw; draw.draw_chart('', [1.0], []); print('av' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # noqa: S603 - our own words
    assert run.stdout.strip() == b"False"


def test_fonts_are_loaded_by_a_page_of_our_own(tmp_path):
    path = save(tmp_path, "sample.pdf", documents.SAMPLE)
    assert gate.describe(path, "application/pdf") == {"pages": 1, "text": "a"}
    documents.load_fonts()
