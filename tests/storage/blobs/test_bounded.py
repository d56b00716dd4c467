"""A store that hangs: callers get an error in time, at once while it hangs, and everything is released when it responds."""

import io
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from showandtell.core.messages.attachments import Facts
from showandtell.errors import FileChanged, StorageFailed
from showandtell.storage.blobs import deadlines
from showandtell.storage.blobs.base import CHUNK_SIZE
from showandtell.storage.blobs.bounded import SMALL, Bounded
from showandtell.storage.blobs.deadlines import progress
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.threads import DaemonThreads

#: Seconds: a deadline to wait for, and one that must not expire on a busy machine.
SHORT, LONG = 0.3, 30.0
DATA = b"bytes" * 100_000


class FreezableFolder(Folder):
    """A folder on a disk that can be frozen: nothing answers until it is thawed."""

    responds = threading.Event()

    def for_key(self, key):
        return FreezableFolder(self.path / key, spools=self._spools)

    def freeze_here(self):
        assert self.responds.wait(60)


def freezable(name):
    def operation(self, *values, **more):
        self.freeze_here()
        return getattr(Folder, name)(self, *values, **more)

    return operation


for operation_name in ("spool", "commit", "open", "read", "check", "has", "delete", "receive", "_hardlink"):
    setattr(FreezableFolder, operation_name, freezable(operation_name))


@contextmanager
def frozen(store):
    """Freeze the store's folder inside the context, then wait until the store knows that it responds."""
    store.inner.responds.clear()
    try:
        yield
    finally:
        store.inner.responds.set()
        until(lambda: not store.deadlines.hangs)


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(deadlines, "RETRY_SECONDS", 0.01)
    folder = FreezableFolder(tmp_path)
    folder.responds.set()
    bounded = Bounded(folder, "here")
    bounded.deadlines.seconds = SHORT
    return bounded


def put(store, data=DATA):
    sha256, size = store.store(lambda: io.BytesIO(data), "a.bin", 1 << 30)
    return Facts(sha256, "application/octet-stream", size)


def descriptors(store):
    """The number of open files of a store. Other tests of this process may leave theirs to be closed at any time."""
    opened: list[str] = []
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of this loop, for example
            opened.append(str(file.readlink()))
    return sum(name.startswith(str(store.inner.path)) for name in opened)


OPERATIONS = {
    "spool": lambda store, _: put(store, b"other"),
    "open": lambda store, facts: store.open(facts),
    "read": lambda store, facts: store.read(facts),
    "check": lambda store, facts: store.check(facts),
    "has": lambda store, facts: store.has(facts),
    "delete": lambda store, facts: store.delete(facts.sha256),
    "local": lambda store, facts: store.local(facts).__enter__(),
    "receive": lambda store, _: store.receive("a.bin", 99),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_hangs_fails_in_time_and_says_what_to_do(name, store):
    facts, before = put(store), descriptors(store)
    with (
        frozen(store),
        pytest.raises(StorageFailed, match=r"the store here has not responded for 0\.3 s: check the disk"),
    ):
        OPERATIONS[name](store, facts)
    until(lambda: descriptors(store) == before and not any((store.inner.path / "spool").iterdir()))


def test_while_it_hangs_operations_fail_at_once_and_then_work_again(store):
    facts = put(store)
    with frozen(store):
        with pytest.raises(StorageFailed):
            store.read(facts)
        store.deadlines.seconds = LONG  # waiting for it would fail the test
        for operation in OPERATIONS.values():
            with pytest.raises(StorageFailed):
                operation(store.for_owner("bob"), facts)
    assert store.read(facts) == DATA


def test_many_waiting_callers_occupy_a_bounded_number_of_threads_which_end(store, monkeypatch):
    monkeypatch.setattr("showandtell.storage.blobs.threads.IDLE_SECONDS", 0.1)
    store.deadlines._threads = DaemonThreads(4, "few")
    facts = put(store)
    with frozen(store), ThreadPoolExecutor(50) as callers:
        waiting = [callers.submit(store.read, facts) for _ in range(50)]
        assert all(isinstance(one.exception(60), StorageFailed) for one in waiting)
        assert sum(thread.name == "few" for thread in threading.enumerate()) <= 4
    assert store.read(facts) == DATA
    until(lambda: not any(thread.name == "few" for thread in threading.enumerate()))


def test_an_operation_that_makes_progress_takes_as_long_as_it_needs(store):
    def slow():
        for _ in range(4):
            threading.Event().wait(SHORT / 2)
            progress()
        return "done"

    assert store.deadlines.run(slow) == "done"


def test_a_step_that_may_take_longer_has_more_time_unless_the_store_hangs(store):
    ready = threading.Event()

    def large():
        progress(LONG)
        ready.wait(SHORT * 2)
        return "done"

    assert store.deadlines.run(large) == "done"
    with frozen(store), ThreadPoolExecutor(1) as callers:
        waiting = callers.submit(store.deadlines.run, lambda: (progress(LONG), store.inner.freeze_here()))
        with pytest.raises(StorageFailed):
            store.has(Facts("0" * 64, "text/plain", 1))
        assert isinstance(waiting.exception(60), StorageFailed)


@pytest.mark.parametrize("size", [10, SMALL + CHUNK_SIZE * 2 + 1])
def test_a_slow_source_does_not_count_against_the_store(size, store):
    class Slow(io.BytesIO):
        def read(self, *size):
            threading.Event().wait(SHORT * 1.5)
            return super().read(*size)

    data = bytes(size)
    spooled = store.spool(lambda: Slow(data), "a.bin", size)
    assert (spooled.size, spooled.path.read_bytes()) == (size, data)
    store.discard(spooled)


def test_a_read_that_hangs_leaves_the_file_open_until_it_returns(store, monkeypatch):
    before = descriptors(store)
    facts, release = put(store), threading.Event()
    source = store.open(facts)
    raw = source.raw._source
    monkeypatch.setattr(source.raw, "_source", HangingReader(raw, release))
    with pytest.raises(StorageFailed):
        source.read(10)
    source.close()
    assert not raw.closed
    release.set()
    until(lambda: descriptors(store) == before)


class HangingReader:
    """A file whose reads hang until an event."""

    def __init__(self, source, release):
        self._source, self._release = source, release

    def read(self, size):
        self._release.wait(60)
        return self._source.read(size)

    def close(self):
        self._source.close()


def test_an_upload_whose_write_hangs_is_discarded_when_the_disk_responds(store, monkeypatch):
    before, release = descriptors(store), threading.Event()
    writer = store.receive("a.bin", 1 << 20)
    write = store.inner._spools.write
    monkeypatch.setattr(store.inner._spools, "write", lambda *values: release.wait(60) and write(*values))
    with pytest.raises(StorageFailed):
        writer.write(b"bytes")
    writer.discard()
    release.set()
    until(lambda: descriptors(store) == before and not [*(store.inner.path / "spool").iterdir()])


def test_a_real_file_that_never_opens_delays_only_its_own_readers(store):
    facts, other = put(store), put(store, b"other")
    blob = store.inner.blob(facts.sha256)
    blob.unlink()
    os.mkfifo(blob)  # opening it for reading waits for a writer
    with pytest.raises(StorageFailed):
        store.read(facts)
    until(lambda: not store.deadlines.hangs)
    assert store.read(other) == b"other"
    with blob.open("wb"), pytest.raises(FileChanged):
        store.read(facts)


def test_chunks_and_paths_are_those_of_the_store_and_released(store):
    before, facts = descriptors(store), put(store)
    assert b"".join(bytes(chunk) for chunk in store.chunks(facts, 1000)) == DATA
    chunks = store.chunks(facts, 1000)
    next(chunks)
    chunks.close()
    with store.local(facts) as path:
        assert path.read_bytes() == DATA
    assert not path.exists()
    assert descriptors(store) == before
    assert store.is_same(Bounded(Folder(store.inner.path)))
    assert next(store.list_blobs()).sha256 == facts.sha256
