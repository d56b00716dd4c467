"""Saving a file, and its size."""

import io
import os

import pytest

from showandtell import Agent, BadFile, BadInput, File
from support.fixtures import png


def test_a_file_is_saved_under_a_path_or_in_a_folder_under_its_own_name(tmp_path):
    file = File.from_bytes(b"a,b", name="../table.csv")
    assert file.save(tmp_path) == tmp_path / "table.csv"
    assert file.save(str(tmp_path / "other.csv")) == tmp_path / "other.csv"
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"a,b", b"a,b"]
    assert File.from_bytes(b"new").save(tmp_path / "other.csv").read_bytes() == b"new"


def test_a_file_that_fails_halfway_leaves_the_old_one(tmp_path):
    class Torn(io.BytesIO):
        def read(self, *_):
            raise OSError(5, "torn")

    (tmp_path / "a.txt").write_bytes(b"old")
    with pytest.raises(BadInput, match=r"a\.txt can't be written: torn"):
        File.from_reader(Torn, None, "text/plain", "a.txt").save(tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (File.from_uri("https://example.com/a.png"), "is an address"),
        (File.from_path("/nowhere/a.png"), "can't be read"),
        (File.from_path(os.devnull), "is no regular file"),
    ],
)
def test_a_file_without_bytes_is_not_saved(tmp_path, file, problem):
    with pytest.raises(BadFile, match=problem):
        file.save(tmp_path / "a.png")
    assert [*tmp_path.iterdir()] == []


def test_the_size_is_known_of_bytes_paths_and_stored_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"four")
    run = Agent("inspector").run_sync("look", files=[File.from_bytes(png(), name="a.png")])
    assert File.from_bytes(b"abc").size == 3
    assert File.from_path(tmp_path / "a.txt").size == 4
    assert run.file(1).size == run.conversation.file(1).size == len(png())
    assert File.from_reader(io.BytesIO, 3, "text/plain").size is None
    assert File.from_uri("https://example.com/a.png").size is None
