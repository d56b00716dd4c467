"""Blobs in a folder: complete or missing, named by their hash, also after failures and with concurrent writers."""

import gc
import hashlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.messages.attachments import Facts
from showandtell.errors import BadFile, BadInput, FileChanged, StorageFailed, StorageFull
from showandtell.storage.blobs import spool, zstd
from showandtell.storage.blobs.base import CHUNK_SIZE, owner_key
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.open import open_store

SIZES = (0, 1, CHUNK_SIZE - 1, CHUNK_SIZE, CHUNK_SIZE + 1, 2 * CHUNK_SIZE, 3 * CHUNK_SIZE, 3 * CHUNK_SIZE + 1)
TEXT = b"a line that comes again\n" * 1000
NAMES = (
    "../../etc/passwd",
    "a\0b",
    "CON",
    "x" * 5000,
    "a\r\nb: c",
    "\u202egnp.exe",
    "/etc/passwd",
    "~/x",
    "\udc80",
    "",
)


def facts_of(data, media_type="application/octet-stream"):
    return Facts(hashlib.sha256(data).hexdigest(), media_type, len(data))


def noise(size, seed=1):
    """Bytes that don't shrink, the same for the same seed."""
    return hashlib.shake_128(bytes([seed])).digest(size)


def put(folder, data, name="a file"):
    assert folder.store(lambda: io.BytesIO(data), name, 1 << 30) == (facts_of(data).sha256, len(data))
    return facts_of(data, "text/plain")


def files_below(path):
    return sorted(str(item.relative_to(path)) for item in path.rglob("*") if item.is_file())


def overwrite(path, data):
    """Other bytes in the same file, written later: clocks of file systems may be coarse."""
    path.chmod(0o600)
    path.write_bytes(data)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "blobs")


@given(
    size=st.sampled_from(SIZES), seed=st.integers(0, 3), packed=st.booleans(), step=st.sampled_from((1000, CHUNK_SIZE))
)
def test_what_is_stored_is_read_back_by_every_way(tmp_path_factory, size, seed, packed, step):
    folder = Folder(tmp_path_factory.mktemp("blobs"))
    data = noise(size, seed) if seed else bytes(size)
    facts = put(folder, data)
    if packed:
        folder.compress(facts)
    assert b"".join(bytes(piece) for piece in folder.chunks(facts, step)) == folder.read(facts) == data
    with folder.open(facts) as source, folder.local(facts) as path:
        assert source.read() == path.read_bytes() == data
    assert folder.check(facts) is None
    assert [kept.sha256 for kept in folder.list_blobs()] == [facts.sha256]
    assert files_below(folder.path / "spool") == []


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_reaches_the_disk(folder, name):
    facts = put(folder.for_owner(name), b"bytes", name)
    assert files_below(folder.path.parent) == [f"blobs/{owner_key(name)}/{facts.sha256[:2]}/{facts.sha256}"]


def test_bytes_are_on_the_disk_before_their_name_and_that_before_it_is_kept(folder, monkeypatch):
    done = []
    for step in ("sync", "link"):
        real = getattr(spool, step)
        monkeypatch.setattr(
            spool, step, lambda *paths, step=step, real=real: done.append((step, *paths)) or real(*paths)
        )
    spooled = folder.spool(lambda: io.BytesIO(b"bytes"), "x", 10)
    folder.commit(spooled)
    blob = folder.blob(spooled.sha256)
    assert done[-4:] == [
        ("sync", folder.path),
        ("sync", spooled.path),
        ("link", spooled.path, blob),
        ("sync", blob.parent),
    ]
    folder.discard(spooled)
    done.clear()
    put(folder, b"bytes")
    assert done == []
    put(Folder(folder.path), b"bytes")
    assert done[-1] == ("sync", blob.parent)


class Endless(io.RawIOBase):
    """Zeros without end, which counts what was read."""

    def __init__(self):
        self.given = 0

    def read(self, size=-1):
        self.given += size
        return bytes(size)


def test_threads_that_store_the_first_files_share_one_temporary_folder(monkeypatch):
    made, blobs, all_here = [], Folder(), threading.Barrier(8)

    def make(**options):
        made.append(original(**options))
        threading.Event().wait(0.05)  # so that others come in the meantime
        return made[-1]

    def first(number):
        all_here.wait()
        return blobs.store(lambda: io.BytesIO(b"%d" % number), "a", 100)

    original = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", make)
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(first, range(8)))) == 8
    assert len(made) == 1


def test_ten_sources_beyond_the_cap_are_refused_while_they_are_read(folder):
    sources = [Endless() for _ in range(10)]
    refused = []

    def store(source):
        with pytest.raises(BadFile, match=r"is larger than 5000000 bytes: send a smaller file, or raise the limit"):
            folder.store(lambda: source, "film.mp4", 5_000_000)
        refused.append(source)

    run_all([lambda source=source: store(source) for source in sources])
    assert len(refused) == 10
    assert max(source.given for source in sources) <= 5_000_000 + CHUNK_SIZE
    assert files_below(folder.path) == []


def run_all(calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_bytes_are_stored_once_for_each_owner_and_deleted_for_one_alone(folder):
    ann, bob = folder.for_owner("ann"), folder.for_owner("bob")
    facts = put(ann, b"same")
    before = ann.blob(facts.sha256).stat()
    put(ann, b"same", "another name")
    put(bob, b"same")
    assert ann.blob(facts.sha256).stat() == before
    assert set(folder.owners()) == {owner_key("ann"), owner_key("bob")}
    ann.delete(facts.sha256)
    ann.delete(facts.sha256)
    assert (ann.check(facts), bob.check(facts), bob.read(facts)) == ("is missing", None, b"same")


BREAKS = {
    "is missing": lambda path: path.unlink(),
    "has 3 of 5 bytes": lambda path: overwrite(path, b"byt"),
    "has 6 of 5 bytes": lambda path: overwrite(path, b"bytes!"),
    "no longer matches its hash": lambda path: overwrite(path, b"byteZ"),
}


READERS = {
    "read": lambda folder, facts: folder.read(facts),
    "open": lambda folder, facts: folder.open(facts).close(),
    "chunks": lambda folder, facts: list(folder.chunks(facts, 1000)),
    "local": lambda folder, facts: folder.local(facts).__enter__(),
}


@pytest.mark.parametrize(("problem", "damage"), BREAKS.items(), ids=BREAKS)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_damaged_blob_is_found_and_made_good_by_storing_it_again(folder, problem, damage, restarted):
    facts = put(folder, b"bytes")
    damage(folder.blob(facts.sha256))
    folder = Folder(folder.path) if restarted else folder
    assert folder.check(facts) == problem
    for read in READERS.values():
        with pytest.raises(FileChanged, match=f"{problem}: add the file again"):
            read(folder, facts)
    put(folder, b"bytes")
    assert folder.check(facts) is None
    assert folder.read(facts) == b"bytes"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("reader", READERS)
def test_no_way_of_reading_gives_flipped_bytes_that_nobody_has_checked(folder, packed, reader):
    facts = put(folder, TEXT)
    if packed:
        folder.compress(facts)
        overwrite(folder.blob(facts.sha256).with_suffix(".zst"), zstd.zstd_module().compress(b"X" + TEXT[1:]))
    else:
        overwrite(folder.blob(facts.sha256), b"X" + TEXT[1:])
    with pytest.raises(FileChanged, match="no longer matches its hash: add the file again"):
        READERS[reader](Folder(folder.path), facts)
    assert files_below(folder.path / "spool") == []


def test_a_good_blob_is_hashed_once_and_what_a_stat_cannot_see_is_found_when_nothing_is_trusted(folder):
    facts = put(folder, TEXT)
    blob = folder.blob(facts.sha256)
    before = blob.stat().st_mtime_ns
    overwrite(blob, b"X" + TEXT[1:])
    os.utime(blob, ns=(0, before))
    assert (folder.check(facts), folder.read(facts)[:1]) == (None, b"X")  # so it was not hashed again
    assert folder.check(facts, rehash=True) == folder.check(facts) == "no longer matches its hash"
    put(folder, TEXT)
    assert (folder.check(facts, rehash=True), folder.read(facts)) == (None, TEXT)


def test_a_memory_shared_by_threads_stays_within_its_bound():
    known = LruDict(50)
    run_all([lambda: [(known.add(at % 70, at), known.get(at % 7)) for at in range(5000)]] * 8)
    there = [key for key in range(70) if known.get(key) is not None]
    assert len(there) == 50
    known.drop(there[0])
    assert known.get(there[0]) is None


def test_threads_that_store_and_compress_the_same_bytes_leave_one_good_blob(folder):
    def store():
        for _ in range(20):
            folder.compress(put(folder, TEXT))

    run_all([store] * 4)
    facts = facts_of(TEXT, "text/plain")
    assert folder.read(facts) == TEXT
    assert files_below(folder.path) == [f"{facts.sha256[:2]}/{facts.sha256}.zst"]


STORE_ON = """
import io, sys
from pathlib import Path
from showandtell.storage.blobs.folder import Folder
folder = Folder(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    data = b"%d " % number * 300_000
    print(folder.store(lambda: io.BytesIO(data), "x", 1 << 30)[0], len(data), flush=True)
"""


def storing(path, count):
    return subprocess.Popen([sys.executable, "-B", "-c", STORE_ON, path, str(count)], stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own program


def test_two_processes_store_the_same_bytes_at_once(folder):
    both = [storing(folder.path, 10) for _ in range(2)]
    first, second = (item.communicate()[0].split("\n")[:-1] for item in both)
    assert first == second
    assert len(files_below(folder.path)) == len(first) == 10
    assert all(Folder(folder.path).check(Facts(line.split()[0], "x/y", int(line.split()[1]))) is None for line in first)


@pytest.mark.parametrize("after", [1, 2, 5])
def test_a_killed_process_leaves_all_that_it_acknowledged_and_nothing_torn(folder, after):
    with storing(folder.path, 1000) as process:
        assert process.stdout is not None
        received = [next(process.stdout).split() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        received += [line.split() for line in process.stdout if line.endswith("\n")]
    for sha256, size in received:
        assert folder.check(Facts(sha256, "text/plain", int(size))) is None
    assert all(
        hashlib.sha256(folder.blob(kept.sha256).read_bytes()).hexdigest() == kept.sha256 for kept in folder.list_blobs()
    )
    assert folder.clear_spools(0.0) == 0
    folder.clear_spools(float("inf"))
    assert files_below(folder.path / "spool") == []


FILL_UP = """
import io, resource, sys
from pathlib import Path
from showandtell.storage.blobs.folder import Folder
from showandtell.errors import StorageFull
folder, (soft, hard) = Folder(Path(sys.argv[1])), resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
try:
    folder.store(lambda: io.BytesIO(bytes(3_000_000)), "x", 1 << 30)
except StorageFull as error:
    print(error)
print([one for one in folder.path.rglob("*") if one.is_file()])
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
print(folder.store(lambda: io.BytesIO(bytes(3_000_000)), "x", 1 << 30)[1])
"""


def test_a_full_disk_is_an_error_of_the_store_that_leaves_nothing_and_passes(folder):
    command = [sys.executable, "-B", "-c", FILL_UP, folder.path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    output = done.stdout.split("\n")
    assert output[0].startswith(f"{folder.path} has no room left (")
    assert output[1:3] == ["[]", "3000000"]


def test_a_folder_that_cannot_be_used_is_an_error_of_the_store(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageFailed, match=r"can't be used \(.+\): check the disk and who may write there") as caught:
        put(Folder(tmp_path / "file" / "blobs"), b"bytes")
    assert not isinstance(caught.value, StorageFull)


def test_an_error_of_the_source_stays_the_sources_own(folder):
    def broken():
        raise PermissionError(13, "Permission denied")

    with pytest.raises(PermissionError):
        folder.spool(broken, "x", 10)
    assert files_below(folder.path) == []


def test_a_compressed_blob_is_smaller_and_the_plain_one_is_gone(folder):
    facts = put(folder, TEXT)
    folder.compress(facts)
    folder.compress(facts)
    (kept,) = folder.list_blobs()
    assert kept.sha256 == facts.sha256
    assert kept.size < facts.size / 10
    assert not folder.blob(facts.sha256).exists()
    put(Folder(folder.path), TEXT)
    assert [blob.size for blob in folder.list_blobs()] == [kept.size]


def test_what_does_not_shrink_stays_as_it_is(folder):
    facts = put(folder, noise(100_000))
    folder.compress(facts)
    assert files_below(folder.path) == [f"{facts.sha256[:2]}/{facts.sha256}"]


def test_without_zstd_blobs_stay_plain_and_compressed_ones_say_what_to_install(folder, monkeypatch):
    facts, other = put(folder, TEXT), put(folder, TEXT * 2)
    folder.compress(other)
    monkeypatch.setattr(zstd, "MODULES", ())
    folder.compress(facts)
    assert folder.blob(facts.sha256).read_bytes() == folder.read(facts) == TEXT
    with pytest.raises(StorageFailed, match="showandtell doctor"):
        folder.read(other)


def test_a_damaged_blob_is_not_compressed_away(folder):
    facts = put(folder, TEXT)
    overwrite(folder.blob(facts.sha256), b"X" + TEXT[1:])
    with pytest.raises(FileChanged, match="no longer matches its hash"):
        folder.compress(facts)
    assert files_below(folder.path) == [f"{facts.sha256[:2]}/{facts.sha256}"]


PACKED_BREAKS = {
    "longer": lambda _: zstd.zstd_module().compress(TEXT + bytes(50_000_000)),
    "shorter": lambda _: zstd.zstd_module().compress(TEXT[:-1]),
    "torn": lambda data: data[:-5],
    "flipped": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("damage", PACKED_BREAKS.values(), ids=PACKED_BREAKS)
def test_a_damaged_compressed_blob_gives_no_byte_too_many_and_is_made_good(folder, damage):
    facts = put(folder, TEXT)
    folder.compress(facts)
    packed = folder.blob(facts.sha256).with_suffix(".zst")
    overwrite(packed, damage(packed.read_bytes()))
    for read in (folder.read, lambda of: list(folder.chunks(of, 1000)), lambda of: folder.open(of).read()):
        with pytest.raises(FileChanged):
            read(facts)
    assert folder.check(facts) == "no longer matches its hash"
    put(folder, TEXT)
    assert folder.check(facts) is None
    assert folder.read(facts) == TEXT


def test_a_compressed_blob_can_be_read_from_anywhere(folder):
    facts = put(folder, TEXT)
    folder.compress(facts)
    with folder.open(facts) as source:
        source.seek(-10, io.SEEK_END)
        assert source.read() == TEXT[-10:]
        source.seek(7)
        assert (source.read(9), source.tell()) == (TEXT[7:16], 16)


@pytest.mark.parametrize("packed", [False, True])
def test_a_local_path_and_an_open_file_outlive_the_blob(folder, packed):
    facts = put(folder, TEXT)
    if packed:
        folder.compress(facts)
    with folder.local(facts) as path, folder.open(facts) as source:
        folder.delete(facts.sha256)
        assert path.read_bytes() == source.read() == TEXT
    assert files_below(folder.path) == []


def test_what_was_spooled_may_be_kept_even_where_the_blob_it_repeats_is_deleted_meanwhile(folder):
    facts = put(folder, b"bytes")
    spooled = folder.spool(lambda: io.BytesIO(b"bytes"), "x", 10)
    folder.delete(facts.sha256)
    folder.commit(spooled)
    folder.discard(spooled)
    assert folder.read(facts) == b"bytes"


def test_only_a_hash_names_a_blob_and_only_a_key_an_owner(folder):
    for name in ("../x", "A" * 64, "", "0" * 63, "0" * 64 + "\n"):
        with pytest.raises(BadInput, match="is not a sha256"):
            folder.read(Facts(name, "text/plain", 1))
        with pytest.raises(BadInput, match="is not an owner's key"):
            folder.for_key(name)


def test_a_temporary_folder_goes_with_the_last_of_its_parts():
    part = Folder().for_owner("ann")
    put(part, b"bytes")
    path = part.path.parent
    assert (part.durable, path.is_dir()) == (False, True)
    del part
    gc.collect()
    assert not path.exists()


def test_a_temporary_folder_is_made_when_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = Folder()
    assert [*tmp_path.iterdir()] == []
    put(folder, b"bytes")
    assert [*tmp_path.iterdir()] == [folder.path]


def test_a_temporary_folder_that_can_not_be_made_is_an_error_of_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(StorageFailed, match="missing can't be used"):
        put(Folder(), b"bytes")


def test_an_address_is_a_folder_or_a_bucket(tmp_path):
    for where in (tmp_path, str(tmp_path), tmp_path.as_uri()):
        assert open_store(where).inner.path == tmp_path
    assert type(open_store("memory:").inner).__name__ == "Remote"
    with pytest.raises(BadInput, match=r"ftp: is not a file store: use a path, or a URL with file:, s3:"):
        open_store("ftp://host/x")
    assert open_store(Path("s3:x")).inner.path == Path("s3:x")
