"""Converters of other packages: which files they are for, what becomes of their output, and their mistakes."""

import pytest
from msgspec.structs import replace

from showandtell import Agent, File
from showandtell.errors import BadInput
from showandtell.extending import Converter, register_converter
from support.extensions import STL, converting
from support.fixtures import pdf, png, zipped

#: Runs as other people's code does, in the process that decodes.
CODE = """
import os, socket
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

BESIDE = Path(__file__).with_name("acme_stl.py")
LOADED = BESIDE.read_bytes()

def read_beside(source, target):
    Path(target).write_bytes(BESIDE.read_bytes())

def make_folder(source, target):
    TemporaryDirectory()

def rename(source, target):
    Path(target).write_bytes(b"x")
    os.rename(target, target + "2")

def write_loaded(source, target):
    with NamedTemporaryFile(delete=False) as other:
        other.write(LOADED)
    Path(target).write_bytes(Path(other.name).read_bytes())

def copy(source, target):
    Path(target).write_bytes(Path(source).read_bytes()[8:])

def nothing(source, target):
    pass

def call_home(source, target):
    socket.create_connection(("127.0.0.1", 9), timeout=1)

def crash(source, target):
    os.abort()

def stop(source, target):
    os._exit(0)

def leave(source, target):
    raise SystemExit("no licence")

def steal(source, target):
    Path(target).write_bytes(Path("/etc/passwd").read_bytes())

def get_out(source, target):
    Path("/tmp/acme-was-here").write_text("x")
"""
BOX = Converter(
    media_type="application/x-acme-box", becomes="application/pdf", function="acme_boxes:copy", signature=b"ACMEBOX\0"
)


@pytest.fixture(autouse=True)
def acme(tmp_path, monkeypatch):
    with converting(tmp_path, monkeypatch, acme_boxes=CODE):
        yield


def show(data, name="it.box"):
    """Let a tool show a file to the model. Returns the receipt."""

    def get() -> File:
        """Return the file."""
        return File.from_bytes(data, name=name)

    return Agent("inspector", [get]).run_sync("/get").receipts[0]


def test_a_file_is_known_by_its_signature_and_given_as_what_it_becomes():
    register_converter(BOX)
    receipt = show(b"ACMEBOX\0" + pdf("hello"))
    assert (receipt.media_type, receipt.converted, receipt.place) == ("application/x-acme-box", True, "tool_result")
    assert [file.media_type for file in receipt.variant.files] == ["application/pdf"]


def test_a_picture_is_fitted_to_the_limits_of_the_model():
    register_converter(replace(BOX, becomes="image/png"))
    receipt = show(b"ACMEBOX\0" + png(9_000, 40))
    assert receipt.place == "tool_result"
    assert receipt.variant.files[0].pixels == (2_000, 8)


@pytest.mark.parametrize(("start", "suffix"), [(b"ply\nascii ", ".ply"), (b"PK\x03\x04" + bytes(4), ".kmz")])
def test_text_with_a_signature_and_archives_are_known_by_signature_and_suffix(start, suffix):
    kind = {"becomes": "text/plain", "function": "acme_boxes:copy", "suffix": suffix}
    register_converter(Converter(media_type="model/x-acme", signature=start[:4], **kind))
    data = start[:8] + b" the words" if suffix == ".ply" else zipped({"doc.kml": b"the words"})
    assert show(data, f"it{suffix}").media_type == "model/x-acme"
    assert show(data, "it.dat").media_type != "model/x-acme"
    assert show(b"other " + data, f"it{suffix}").media_type != "model/x-acme"


def test_text_is_known_by_its_suffix():
    register_converter(Converter(media_type="model/stl", becomes="image/png", function="acme_stl:draw", suffix=".stl"))
    receipt = show(STL.encode(), name="part.stl")
    assert receipt.variant.files[0].pixels == (800, 800)
    other = show(STL.encode(), name="part.txt")
    assert (other.media_type, other.variant.text) == ("text/plain", STL)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("nothing", "became nothing when it was converted"),
        ("call_home", "can't be converted: "),
        ("leave", "can't be converted: SystemExit: no licence"),
        ("steal", "can't be converted: PermissionError"),
        ("get_out", "can't be converted: PermissionError"),
        ("read_beside", "can't be converted: PermissionError"),
        ("make_folder", "can't be converted: "),
        ("rename", "can't be converted: "),
        ("missing", "acme_boxes:missing can't be imported: AttributeError"),
    ],
)
def test_a_converter_stays_behind_the_walls_and_its_mistakes_are_reasons(function, words):
    register_converter(replace(BOX, function=f"acme_boxes:{function}"))
    assert words in show(b"ACMEBOX\0 and more").reason


def test_a_converter_has_what_its_module_loaded_and_may_write_beside_its_file():
    register_converter(replace(BOX, becomes="text/plain", function="acme_boxes:write_loaded"))
    assert show(b"ACMEBOX\0 and more").variant.text.startswith('"""Draws models of 3D printers')


@pytest.mark.parametrize("function", ["crash", "stop"])
def test_a_converter_that_crashes_is_named_beside_the_file(function):
    register_converter(replace(BOX, function=f"acme_boxes:{function}"))
    reason = show(b"ACMEBOX\0 and more").reason
    assert f"it may be damaged or hostile, or its converter acme_boxes:{function} has a mistake" in reason


def test_a_file_that_becomes_another_kind_than_promised_is_refused():
    register_converter(replace(BOX, becomes="image/png"))
    reason = show(b"ACMEBOX\0" + pdf("hello")).reason
    assert "can't be shown: the image/png that its converter made" in reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"media_type": "image/png"}, "files of 'image/png' are read here without a converter: leave it out"),
        ({"media_type": "Application/DICOM"}, "no media type in its usual form"),
        ({"becomes": "application/x-other"}, "are not read here"),
        ({"function": "os.system"}, "write MODULE:NAME"),
        ({"function": print}, "takes its function as text: write 'MODULE:NAME'"),
        ({"signature": "ACMEBOX"}, "signature is 'ACMEBOX': give bytes"),
        ({"offset": "8"}, "offset is '8': give an int"),
        ({"signature": b"A"}, "give 2 bytes or more"),
        ({"offset": -8}, "the offset -8 is before the start of the file"),
        ({"signature": b"", "suffix": ".csv"}, "are read here as text/csv"),
        ({"signature": b""}, "give their signature or their suffix"),
        ({"suffix": "stl"}, "write it as in"),
    ],
)
def test_a_converter_that_can_not_work_is_refused(change, words):
    with pytest.raises(BadInput, match=words):
        register_converter(replace(BOX, **change))


@pytest.mark.parametrize(
    ("change", "shared"),
    [
        ({"function": "acme_boxes:nothing"}, "of 'application/x-acme-box'"),
        ({"media_type": "application/x-acme-crate", "signature": b"ACMECRATE"}, "with the suffix .box"),
        ({"media_type": "application/x-acme-crate", "suffix": ".crate"}, "with the signature b'ACMEBOX"),
    ],
)
def test_a_converter_that_takes_the_files_of_another_is_refused(change, shared):
    register_converter(first := replace(BOX, suffix=".box"))
    with pytest.raises(BadInput, match="have the converter acme_boxes:copy already: leave out one") as refused:
        register_converter(replace(first, **change))
    assert f"files {shared}" in str(refused.value)
    register_converter(first)
    register_converter(replace(first, media_type="application/x-acme-crate", suffix=".crate", offset=512))
