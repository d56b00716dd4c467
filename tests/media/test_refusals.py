"""What people read about unusual and damaged files: never a library's words, classes, objects or paths."""

import io
import re
import struct
import sys
import zipfile

import pytest
from PIL import Image

from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.refusals import explain
from support import fixtures
from support.docx import word_file

#: What must not reach people: names of exceptions, addresses, objects, code, paths, error numbers.
MACHINE_WORDS = re.compile(
    r"\w+(Error|Exception|Warning)\b|0x[0-9a-f]+|<[\w.]+ |object at|\bb'|\[Errno|/tmp|\{|\(\)|::|None\b"
)
OPENXML = "application/vnd.openxmlformats-officedocument."
ASKED = {"image": "image", "application/pdf": "pages", "video": "frames", "audio": "audio"}


def encoded(mode, form, **options):
    buffer = io.BytesIO()
    Image.new(mode, (40, 30)).save(buffer, form, **options)
    return buffer.getvalue()


def jpeg_of(bits, marker=0xC1):
    """A JPEG whose frame header says this many bits and this kind."""
    data = bytearray(fixtures.jpeg(40, 30))
    at = data.index(b"\xff\xc0")
    data[at + 1], data[at + 4] = marker, bits
    return bytes(data)


def bitmap(bits, samples, compression=0):
    head = struct.pack("<IiiHHIIiiII", 40, 4, 4, 1, bits, compression, len(samples), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(samples), 0, 0, 54) + head + samples


def zipped(name, data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("[Content_Types].xml", "<Types/>")
        packed.writestr(name, data)
    return buffer.getvalue()


#: Images that are unusual and valid.
UNUSUAL = {
    "16-bit grey.tiff": lambda: encoded("I;16", "TIFF"),
    "16-bit grey, big-endian.tiff": lambda: encoded("I;16B", "TIFF"),
    "16-bit grey.png": lambda: encoded("I;16", "PNG"),
    "32-bit.tiff": lambda: encoded("I", "TIFF"),
    "float.tiff": lambda: encoded("F", "TIFF"),
    "bits.tiff": lambda: encoded("1", "TIFF"),
    "cmyk.jpg": lambda: encoded("CMYK", "JPEG"),
    "lab.tiff": lambda: encoded("LAB", "TIFF"),
    "palette.png": lambda: encoded("P", "PNG"),
    "grey and alpha.png": lambda: encoded("LA", "PNG"),
    "16-bit.bmp": lambda: bitmap(16, bytes(32)),
    "stereo.jpg": lambda: encoded("RGB", "MPO", save_all=True, append_images=[Image.new("RGB", (40, 30))]),
}
#: Files that can't be decoded.
DAMAGED = {
    "12-bit.jpg": lambda: jpeg_of(12),
    "lossless.jpg": lambda: jpeg_of(8, 0xC3),
    "odd.bmp": lambda: bitmap(7, bytes(64)),
    "odd packing.bmp": lambda: bitmap(24, bytes(64), 9),
    "torn.tiff": lambda: encoded("RGB", "TIFF")[:60],
    "endless.tiff": lambda: b"II*\0\x08\0\0\0" + b"\xff" * 40,
    "torn.webp": lambda: fixtures.webp()[:40],
    "torn.gif": lambda: fixtures.gif()[:20],
    "torn.ico": lambda: b"\0\0\1\0\1\0\x10\x10\0\0\1\0\x20\0\x10\0\0\0\x16\0\0\0" + bytes(16),
    "torn.png": lambda: fixtures.png(40, 30)[:60],
    "torn.avif": lambda: b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf" + bytes(40),
    "torn.heic": fixtures.heic,
    "torn.pdf": lambda: fixtures.pdf("a")[:80],
    "torn.mp4": lambda: fixtures.mp4()[:900],
    "torn.mp3": lambda: fixtures.mp3()[:200],
    "torn.flac": lambda: fixtures.flac()[:60],
    "odd.wav": lambda: fixtures.wav(0.1)[:20] + b"\xff" * 30,
    "torn.docx": lambda: word_file("x")[:-30],
    "odd.docx": lambda: zipped("word/document.xml", b"<w:document"),
    "empty.docx": lambda: zipped("word/x.xml", b"<a/>"),
    "odd.xlsx": lambda: zipped("xl/workbook.xml", b"<workbook>"),
    "odd.pptx": lambda: zipped("ppt/presentation.xml", b"<p/>"),
    "odd.svg": lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M0'",
    "no.svg": lambda: b"<svg xmlns='http://www.w3.org/2000/svg' width='1e999'/>",
}


def ask_all(folder, name, data):
    """The errors of every question about a file."""
    path = folder / name
    path.write_bytes(data)
    try:
        media_type = gate.probe(path, claimed=None, name=name).media_type
    except BadFile as error:
        return [error]
    conversion = ASKED.get(media_type) or ASKED.get(media_type.partition("/")[0], "text")
    questions = [
        lambda: gate.describe(path, media_type),
        lambda: gate.strip_location(path, media_type, folder),
        lambda: gate.make(path, media_type, conversion, folder),
        lambda: gate.make(path, media_type, "thumbnail", folder),
        lambda: gate.make(path, media_type, "text", folder),
    ]
    errors = []
    for question in questions:
        try:
            question()
        except BadFile as error:
            errors.append(error)
    return errors


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_image_is_described_and_converted(tmp_path, name):
    errors = ask_all(tmp_path, name, UNUSUAL[name]())
    assert [str(error) for error in errors if "can't be made into words" not in str(error)] == []


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_in_words_for_people(tmp_path, name):
    errors = ask_all(tmp_path, name, DAMAGED[name]())
    for error in errors:
        assert MACHINE_WORDS.search(str(error)) is None, str(error)
        assert error.problem
        assert error.advice


def test_a_jpeg_of_12_bits_is_named_as_that(tmp_path):
    (error,) = ask_all(tmp_path, "scan.jpg", jpeg_of(12))
    assert str(error) == (
        "scan.jpg is a JPEG of 12 bits a colour, and only 8 can be decoded: save it as a JPEG of 8 bits, or as PNG"
    )


def test_a_file_that_may_not_be_read_is_not_called_damaged():
    problem, advice = explain(PermissionError(13, "Permission denied", "/tmp/x"), "image/jpeg")
    assert (problem, advice) == (
        "can't be decoded as JPG: the user of this program may not read it",
        "change its owner or mode",
    )


@pytest.mark.parametrize(
    "error",
    [KeyError("MPO"), OSError(f"cannot identify {io.BytesIO()!r}"), MemoryError(), EOFError(), RecursionError(),
     NotImplementedError("x"), ValueError(f"bad file {sys.prefix}/x"), AttributeError("'NoneType' object has no x")],
)  # fmt: skip
def test_no_exception_of_a_library_shows_in_the_words(error):
    problem, advice = explain(error, "image/jpeg")
    assert MACHINE_WORDS.search(f"{problem}: {advice}") is None
    assert not str(error) or str(error) not in problem
