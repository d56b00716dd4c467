"""Blobs that are read one after the other, from memory where they are, a few open at a time."""

import os
from contextlib import closing
from io import BytesIO

import pytest

from showandtell.core.messages.attachments import Facts
from showandtell.errors import FileChanged, StorageFailed
from showandtell.storage.blobs import deadlines, sequential
from showandtell.storage.blobs.bounded import Bounded
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.sequential import OPEN_BLOBS
from support.disk import folder_on_disk

COUNT, SIZE = 20, 5000


class CountingFolder(Folder):
    """A folder that records which blobs are open."""

    def __init__(self, path):
        super().__init__(path)
        self.opened = []

    def open(self, facts):
        self.opened.append(super().open(facts))
        return self.opened[-1]

    @property
    def open_now(self):
        return sum(not source.closed for source in self.opened)


@pytest.fixture
def folder(tmp_path):
    return CountingFolder(tmp_path)


@pytest.fixture
def counting_folder():
    with folder_on_disk() as path:
        yield CountingFolder(path)


def put(folder, data, media_type="image/png"):
    sha256, size = folder.store(lambda: BytesIO(data), "a file", 1 << 20)
    return Facts(sha256, media_type, size)


def several(folder):
    return [put(folder, os.urandom(SIZE)) for _ in range(COUNT)]


def read_all(folder, files):
    """All bytes, and how often the reader had to wait."""
    with closing(folder.reader(files)) as reader:
        return read_on(reader, files)


def read_on(reader, files, size=3000):
    data, waits, buffer = bytearray(), 0, memoryview(bytearray(size))
    for facts in files:
        left = facts.size
        while left:
            chunk = buffer[:left]
            if (count := reader.read_cached(chunk)) < len(chunk):
                reader.readinto(chunk[count:])
                waits += 1
            data += chunk
            left -= len(chunk)
    return bytes(data), waits


@pytest.mark.skipif(not sequential.NOWAIT, reason="this system can't read from memory alone")
def test_files_that_are_in_memory_are_waited_for_only_when_they_are_opened(counting_folder):
    files = several(counting_folder)
    data, waits = read_all(counting_folder, files)
    assert data == b"".join(map(counting_folder.read, files))
    assert waits == -(-COUNT // OPEN_BLOBS)


def test_a_few_files_are_open_at_a_time_and_none_in_the_end(folder):
    files = several(folder)
    reader = folder.reader(files)
    for facts in files:
        read_on(reader, [facts])
        assert 0 < folder.open_now <= OPEN_BLOBS
    reader.close()
    assert (len(folder.opened), folder.open_now) == (COUNT, 0)


def test_systems_without_reads_from_memory_wait_for_each_chunk(folder, monkeypatch):
    monkeypatch.setattr(sequential, "NOWAIT", 0)
    files = several(folder)
    data, waits = read_all(folder, files)
    assert data == b"".join(map(folder.read, files))
    assert waits == COUNT * 2


def test_compressed_files_are_read_between_others(folder):
    text = put(folder, b"a line that comes again\n" * 1000, "text/plain")
    folder.compress(text)
    files = [put(folder, b"before" * 100), text, put(folder, b"behind" * 100)]
    data, _ = read_all(folder, files)
    assert data == b"before" * 100 + b"a line that comes again\n" * 1000 + b"behind" * 100


@pytest.mark.parametrize("change", [lambda file: file.truncate(SIZE - 1), lambda file: os.utime(file.fileno(), (0, 0))])
def test_a_file_that_changes_while_it_is_read_is_refused(folder, change):
    facts = put(folder, os.urandom(SIZE))
    with closing(folder.reader([facts])) as reader:
        reader.readinto(memoryview(bytearray(1000)))
        folder.blob(facts.sha256).chmod(0o600)
        with folder.blob(facts.sha256).open("r+b") as file:
            change(file)
        with pytest.raises(FileChanged, match="changes while it is read"):
            reader.readinto(memoryview(bytearray(SIZE - 1000)))


def test_a_file_that_is_gone_is_refused_when_it_is_opened(folder):
    facts = put(folder, b"gone")
    folder.delete(facts.sha256)
    reader = folder.reader([facts])
    assert reader.read_cached(memoryview(bytearray(4))) == 0
    with pytest.raises(FileChanged, match="is missing"):
        reader.readinto(memoryview(bytearray(4)))


def test_a_store_that_hangs_is_left_in_time(folder, monkeypatch):
    monkeypatch.setattr(deadlines, "RETRY_SECONDS", 0.01)
    facts, store = put(folder, b"frozen"), Bounded(folder, "here")
    pipe = folder.blob(facts.sha256)
    pipe.unlink()
    os.mkfifo(pipe)
    store.deadlines.seconds = 0.1
    with pytest.raises(StorageFailed, match="has not responded"):
        store.reader([facts]).readinto(memoryview(bytearray(6)))
    with pipe.open("wb"):
        pass


def test_a_read_that_comes_too_late_opens_nothing(folder):
    facts = put(folder, b"late")
    reader = folder.reader([facts])
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.readinto(memoryview(bytearray(4)))
    assert folder.opened == []
