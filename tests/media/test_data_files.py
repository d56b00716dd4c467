"""Data files that no model reads, and icons, are proved by their first bytes, and by their last ones where these say more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.media_types.signatures import detect_type
from showandtell.media import gate
from support.data_files import DATA_FILES, arrow, parquet, sqlite, tar
from support.fixtures import png
from support.properties import examples


def detected(data):
    return detect_type(lambda offset, length: data[max(offset, 0) :][: max(length, 0)], len(data))


@pytest.mark.parametrize("name", DATA_FILES)
def test_a_data_file_is_recognized_whatever_its_name(tmp_path, name):
    data, media_type = DATA_FILES[name]
    (tmp_path / name).write_bytes(data)
    assert gate.probe(tmp_path / name, claimed=None, name=name) == gate.ProbeResult(media_type)
    assert gate.probe(tmp_path / name, claimed="application/octet-stream", name="file").media_type == media_type


@pytest.mark.parametrize("name", DATA_FILES)
def test_a_data_file_that_claims_to_be_a_picture_is_corrected(tmp_path, name):
    data, media_type = DATA_FILES[name]
    (tmp_path / name).write_bytes(data)
    assert gate.probe(tmp_path / name, claimed="image/png", name="a.png") == gate.ProbeResult(
        media_type, corrected="image/png"
    )


def test_a_name_alone_makes_no_data_file(tmp_path):
    (tmp_path / "a").write_bytes(png())
    assert gate.probe(tmp_path / "a", claimed=None, name="sales.parquet") == gate.ProbeResult(
        "image/png", corrected="application/vnd.apache.parquet", pixels=(8, 8)
    )


@pytest.mark.parametrize("data", [parquet(), arrow()], ids=["parquet", "arrow"])
def test_a_table_whose_end_is_missing_is_unknown(data):
    assert detected(data) is not None
    assert {detected(data[:end]) for end in range(len(data))} == {None}


def test_a_database_with_an_impossible_header_is_unknown():
    data = sqlite()
    assert detected(data[:16] + b"\x03\x00" + data[18:]) is None
    assert detected(data[:21] + b"\0" + data[22:]) is None
    assert detected(data[:20]) is None


def icon(count=1, reserved=0, length=40, offset=22, size=62):
    """An icon of one picture, as its directory has it."""
    entry = bytes((16, 16, 0, reserved, 1, 0, 32, 0)) + length.to_bytes(4, "little") + offset.to_bytes(4, "little")
    return (b"\0\0\1\0" + count.to_bytes(2, "little") + entry).ljust(size, b"\x28")


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 0},
        {"count": 300},
        {"reserved": 1},
        {"offset": 21},
        {"count": 2},
        {"length": 0},
        {"length": 41},
        {"size": 61},
    ],
    ids=str,
)
def test_an_icon_whose_directory_is_impossible_is_unknown(wrong):
    assert detected(icon()) == "image/vnd.microsoft.icon"
    assert detected(icon(**wrong)) is None


@given(place=st.integers(0, 511), value=st.integers(0, 255))
@examples(50)
def test_a_tar_whose_first_header_changed_is_unknown(place, value):
    data = bytearray(tar())
    data[place] = value
    same = bytes(data) == tar() or place in range(148, 156)  # the sum may be written in several ways
    assert same or detected(bytes(data)) is None


@given(st.sampled_from([b"PAR1", b"ARROW1\0\0", b"SQLite format 3\0"]), st.binary(max_size=64))
@examples(50)
def test_any_bytes_after_a_name_are_read_without_an_error(head, rest):
    assert detected(head + rest) in {None, *(media_type for _, media_type in DATA_FILES.values())}
