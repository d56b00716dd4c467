"""Images are measured by their structure, without their decoder, and one that isn't whole is never accepted."""

import io
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image

from showandtell.errors import BadFile
from showandtell.media import gate, structure
from showandtell.media.structure import scan
from support import fixtures
from support.properties import examples

FORMS = {"GIF": "image/gif", "JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
each_form = pytest.mark.parametrize("form", FORMS)


def measure(data: bytes, form: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        return structure.measure(path, FORMS[form])


def save(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def photo(width: int = 40, height: int = 24) -> Image.Image:
    return Image.linear_gradient("L").resize((width, height)).convert("RGB")


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def with_chunk(kind: bytes, data: bytes) -> bytes:
    """A PNG with one more chunk after its header."""
    whole = fixtures.png(9, 5)
    return whole[:33] + chunk(kind, data) + whole[33:]


@each_form
@examples(120)
@given(data=st.data())
def test_an_image_cut_anywhere_is_torn(form, data):
    whole = save(photo(), form)
    with pytest.raises(BadFile, match=r"is torn: .*its end is missing"):
        measure(whole[: data.draw(st.integers(16, len(whole) - 1))], form)


@examples(120)
@given(st.integers(8, len(fixtures.png(30, 30)) - 1), st.integers(0, 7))
def test_one_wrong_bit_anywhere_in_a_png_is_found(at, bit):
    data = bytearray(fixtures.png(30, 30))
    data[at] ^= 1 << bit
    with pytest.raises(BadFile, match="is torn"):
        measure(bytes(data), "PNG")


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_image_has_the_size_that_is_displayed(form, orientation):
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "A camera"
    exif[ExifTags.Base.Orientation] = orientation
    displayed = (24, 40) if orientation >= 5 else (40, 24)
    assert measure(save(photo(), form, exif=exif.tobytes()), form).pixels == displayed


@pytest.mark.parametrize("form", ["JPEG", "WEBP"])
def test_xmp_turns_an_image_without_exif(form):
    xmp = b'<x:xmpmeta><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    assert measure(save(photo(), form, xmp=xmp), form).pixels == (24, 40)


def test_xmp_turns_a_png_and_compressed_xmp_is_left_to_the_decoder():
    xmp = b"XML:com.adobe.xmp\0%b\0\0\0" + b'<x tiff:Orientation="8"/>'
    assert measure(with_chunk(b"iTXt", xmp % b"\0"), "PNG").pixels == (5, 9)
    assert measure(with_chunk(b"iTXt", xmp % b"\1"), "PNG") is None


@pytest.mark.parametrize(
    "options", [{"progressive": True}, {"restart_marker_rows": 1}, {"quality": 100, "optimize": True}]
)
def test_every_usual_jpeg_is_measured(options):
    assert measure(save(photo(300, 200), "JPEG", **options), "JPEG").pixels == (300, 200)


def test_bytes_after_the_end_of_an_image_are_not_looked_at():
    for form in FORMS:
        assert measure(save(photo(), form) + b"more", form).pixels == (40, 24)


def test_a_jpeg_of_12_bits_is_refused_by_its_bits():
    data = save(photo(), "JPEG")
    at = data.index(b"\xff\xc0")
    with pytest.raises(BadFile, match="is a JPEG of 12 bits a colour"):
        measure(data[: at + 4] + b"\x0c" + data[at + 5 :], "JPEG")


def test_a_gif_without_an_image_is_torn():
    with pytest.raises(BadFile, match="is torn"):
        measure(b"GIF89a" + bytes(7) + b";", "GIF")


def test_a_file_of_very_many_pieces_is_left_to_its_decoder(monkeypatch):
    monkeypatch.setattr(scan, "MAX_PIECES", 100)
    assert measure(fixtures.png(), "PNG").pixels == (8, 8)
    assert measure(fixtures.png()[:33] + chunk(b"tEXt", b"a") * 100 + fixtures.png()[33:], "PNG") is None
    assert measure(fixtures.gif()[:-2] + b"\1\0" * 100 + b"\0;", "GIF") is None


def test_no_process_is_needed_for_usual_images(tmp_path, monkeypatch):
    monkeypatch.setattr(gate, "MEDIA", gate.WorkerPool((sys.executable, "-c", "raise SystemExit"), 1))
    for form, media_type in FORMS.items():
        path = tmp_path / form
        path.write_bytes(save(photo(), form))
        assert gate.probe(path, claimed=None, name=form) == gate.ProbeResult(media_type, pixels=(40, 24))
