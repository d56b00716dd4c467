"""Open files, binary or text, in memory or on disk, and uploads of web frameworks are read when they are collected."""

import io
import os
import tempfile
from unittest.mock import MagicMock

import anyio
import pytest
from starlette.datastructures import Headers, UploadFile
from werkzeug.datastructures import FileStorage

from showandtell.core.collect import open_files
from showandtell.core.collect.entry import collect
from showandtell.core.collect.libraries import recognize
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Text
from showandtell.errors import BadValue
from support.fixtures import png

PNG = png()


def named(stream, name):
    stream.name = name
    return stream


class Stream:
    """A file that gives these pieces, whatever size is asked for, or raises them."""

    def __init__(self, *pieces, closed=False):
        self.pieces, self.closed = iter(pieces), closed

    def seek(self, _):
        return 0

    def read(self, _):
        piece = next(self.pieces)
        if isinstance(piece, BaseException):
            raise piece
        return piece


def test_an_open_file_is_a_file_with_the_last_part_of_its_path_as_name(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    assert collect({"photo": path.open("rb")})[0].files == (("/photo", File(PNG, None, "a.png")),)
    assert collect(named(Stream(PNG, b""), os.fsencode(path)))[0].name == "a.png"


def test_an_open_file_is_read_from_its_start_and_closed(tmp_path):
    stream = (tmp_path / "a.txt").open("w+", encoding="utf-16")
    stream.write("grün")
    assert collect(stream) == (File("grün".encode(), None, "a.txt"),)
    assert stream.closed


def test_a_buffer_in_memory_is_what_it_holds_and_stays_open():
    for stream, part in [
        (io.BytesIO(PNG), File(PNG, "image/png")),
        (io.BytesIO(b"words"), Text("words")),
        (io.StringIO("words"), Text("words")),
        (named(io.BytesIO(b"a,b"), r"C:\secret\a.csv"), File(b"a,b", None, "a.csv")),
        (named(io.StringIO("a,b"), "/secret/a.csv"), File(b"a,b", None, "a.csv")),
    ]:
        stream.read()
        assert collect(stream) == collect(stream) == (part,)
        assert not stream.closed


def test_json_in_an_open_text_is_read_like_json_text():
    assert collect({"rows": io.StringIO('{"a": 1}')}) == (Json('{"rows":"{\\"a\\": 1}"}'),)


def test_temporary_files_are_read_and_closed(tmp_path):
    for stream, name in [
        (tempfile.TemporaryFile(), None),  # noqa: SIM115 - collecting closes it, as the next two
        (tempfile.SpooledTemporaryFile(), None),  # noqa: SIM115
        (tempfile.NamedTemporaryFile(prefix="chart", suffix=".png", dir=tmp_path), "chart"),  # noqa: SIM115
    ]:
        stream.write(PNG)
        (file,) = collect(stream)
        assert (file.read(), (file.name or "chart")[:5]) == (PNG, name or "chart")
        assert stream.closed
    assert not list(tmp_path.iterdir())


class Stuck(io.FileIO):
    """A file whose first attempt to close it fails."""

    tries = 0

    def close(self):
        super().close()
        self.tries += 1
        if self.tries == 1:
            raise OSError("stale handle")


def test_a_file_that_can_not_be_closed_is_read_all_the_same(tmp_path):
    (tmp_path / "a.txt").write_text("words")
    stream = Stuck(tmp_path / "a.txt")
    assert collect(stream) == (File(b"words", None, "a.txt"),)
    assert stream.tries == 1


def test_uploads_keep_their_name_and_type_and_stay_open():
    stream = io.BytesIO(b"a,b")
    expected = (File(b"a,b", "text/csv", "a.csv"),)
    assert collect(UploadFile(stream, filename="../a.csv", headers=Headers({"content-type": "text/csv"}))) == expected
    assert collect(FileStorage(stream, "/secret/a.csv", content_type="text/csv")) == expected
    assert not stream.closed


def test_a_pipe_is_read_from_where_it_is():
    reader, writer = os.pipe()
    os.write(writer, b"words")
    os.close(writer)
    assert collect(os.fdopen(reader, "rb")) == (Text("words"),)


def closed_file(tmp_path):
    with (tmp_path / "a.png").open("wb") as stream:
        stream.write(PNG)
    return stream


def test_a_closed_file_is_refused_with_advice(tmp_path):
    for stream in (closed_file(tmp_path), Stream(closed=True)):
        with pytest.raises(BadValue, match=r"^/a: a file that is closed already; return it open, without `with`"):
            collect({"a": stream})


@pytest.mark.parametrize("piece", [OSError("/secret"), None, 3, MagicMock(), [b"x"], StopIteration()])
def test_a_file_that_can_not_be_read_is_refused_without_its_path_and_closed(piece, tmp_path):
    with pytest.raises(BadValue, match=r"^the value: an open file that can't be read \(\w+\); return its bytes$"):
        collect(Stream(b"x", piece))
    unreadable = (tmp_path / "a.png").open("wb")
    with pytest.raises(BadValue, match=r"\(UnsupportedOperation\)"):
        collect(unreadable)
    assert unreadable.closed


def test_a_file_that_never_ends_or_gives_more_than_it_says_is_read_up_to_the_limit(monkeypatch):
    monkeypatch.setattr(open_files, "MAX_READ", 1000)
    endless = Stream(*[b"x" * 300] * 10_000)
    with pytest.raises(BadValue, match=r"an open file of more than 1,000 bytes; return File\.from_path"):
        collect(endless)
    assert len(list(endless.pieces)) == 10_000 - 4
    assert collect(named(Stream(b"x" * 1000, b""), "a.bin")) == (File(b"x" * 1000, None, "a.bin"),)


@pytest.mark.anyio
async def test_an_async_file_is_refused_with_advice(tmp_path):
    async with await anyio.open_file(tmp_path / "a.png", "wb") as stream:
        with pytest.raises(BadValue, match=r"an async file; return what `await file.read\(\)` gives"):
            collect(stream)


def test_a_mock_with_any_attribute_is_no_open_file():
    assert recognize(MagicMock()) is None
    assert recognize(MagicMock(spec=io.BytesIO)) is None


@pytest.mark.parametrize("name", [3, None, "<stdin>", "/tmp/", b"\xff/", MagicMock(), ""])
def test_a_name_that_is_none_is_left_out(name):
    assert collect(named(Stream(PNG, b""), name)) == (File(PNG, "image/png"),)


def test_an_attribute_that_raises_is_left_out():
    class Odd(Stream):
        name = content_type = property(lambda _: 1 / 0)

    assert collect(Odd(PNG, b"")) == (File(PNG, "image/png"),)
