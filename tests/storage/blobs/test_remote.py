"""Blobs in a bucket: obstore's in memory, and a real S3. What is kept was acknowledged, what is read was checked."""

import hashlib
import io
import tempfile
from importlib import import_module
from pathlib import Path
from uuid import uuid4

import obstore
import pytest

from showandtell import File
from showandtell.core.messages.attachments import Facts
from showandtell.errors import BadInput, FileChanged, StorageFailed
from showandtell.storage.blobs.base import CHUNK_SIZE, owner_key
from showandtell.storage.blobs.bucket import RETRIES, Bucket, open_bucket
from showandtell.storage.blobs.cache import Cache
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.object_store import PackageStore
from showandtell.storage.blobs.open import open_store
from showandtell.storage.blobs.remote import Remote
from showandtell.storage.files.file_cache import FileCache
from support.extensions import import_from
from support.fixtures import png
from support.s3_server import KEYS, start_s3

TEXT = b"a line that comes again\n" * 1000


@pytest.fixture(params=["memory", "s3", "package"])
def bucket(request, tmp_path, monkeypatch):
    if request.param == "package":
        import_from(tmp_path, monkeypatch)
        return PackageStore(import_module("acme_box").open_box(f"box://{tmp_path}/objects.db"))
    if request.param == "memory":
        return open_bucket("memory:")
    for name, value in start_s3().items():
        monkeypatch.setenv(name, value)
    return open_bucket(f"s3://tests/{uuid4().hex}")


@pytest.fixture
def remote(bucket):
    return Remote(bucket).for_owner("ann")


def facts_of(data, media_type="application/octet-stream"):
    return Facts(hashlib.sha256(data).hexdigest(), media_type, len(data))


def put(remote, data, media_type="application/octet-stream"):
    assert remote.store(lambda: io.BytesIO(data), "a file", 1 << 30) == (facts_of(data).sha256, len(data))
    return facts_of(data, media_type)


def elsewhere(remote):
    """The same bucket from another machine, which has nothing cached."""
    return Remote(remote.bucket).for_owner("ann")


def keys(remote):
    return [found.key for found in remote.bucket.list("")]


def overwrite(remote, key, data):
    if isinstance(remote.bucket, PackageStore):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            remote.bucket.put(key, Path(file.name))
    else:
        obstore.put(remote.bucket._store, key, data)


@pytest.mark.parametrize("size", [0, 1, CHUNK_SIZE + 1, 11_000_000])
def test_what_is_kept_is_read_on_another_machine_by_every_way(remote, size):
    data = hashlib.shake_128(b"x").digest(size)
    facts = put(remote, data)
    for there in (remote, elsewhere(remote)):
        assert b"".join(bytes(piece) for piece in there.chunks(facts, CHUNK_SIZE)) == there.read(facts) == data
        with there.open(facts) as source, there.local(facts) as path:
            assert source.read() == path.read_bytes() == data
        assert there.check(facts) is None


def test_the_keys_hold_an_owners_hash_and_the_blobs_alone(remote):
    facts = put(remote, b"bytes")
    assert keys(remote) == [f"{owner_key('ann')}/{facts.sha256[:2]}/{facts.sha256}"]
    assert list(remote.owners()) == [owner_key("ann")]


def test_owners_are_apart_and_what_one_deletes_the_other_keeps(remote):
    facts, bob = put(remote, b"same"), Remote(remote.bucket).for_owner("bob")
    with pytest.raises(FileChanged, match="is missing or damaged in the store"):
        bob.read(facts)
    put(bob, b"same")
    assert [(blob.sha256, blob.size) for blob in bob.list_blobs()] == [(facts.sha256, 4)]
    remote.delete(facts.sha256)
    remote.delete(facts.sha256)
    assert (remote.check(facts), bob.check(facts), elsewhere(remote).check(facts)) == ("is missing", None, "is missing")
    assert elsewhere(bob.for_key(owner_key("ann"))).bucket.find(keys(bob)[0]).size == 4


class Counted(Bucket):
    """A bucket in memory that counts what is uploaded to it."""

    def __init__(self):
        super().__init__(obstore.store.MemoryStore(), "memory:")
        self.uploads = []

    def put(self, key, path):
        self.uploads.append(key)
        super().put(key, path)


def test_bytes_that_are_there_are_not_uploaded_again_and_short_ones_are():
    bucket = Counted()
    remote = Remote(bucket).for_owner("ann")
    facts = put(remote, b"bytes")
    put(elsewhere(remote), b"bytes")
    assert bucket.uploads == keys(remote)
    overwrite(remote, bucket.uploads[0], b"byt")
    assert elsewhere(remote).check(facts) == "has 3 of 5 bytes"
    put(elsewhere(remote), b"bytes")
    assert (len(bucket.uploads), elsewhere(remote).read(facts)) == (2, b"bytes")


class Believed(Bucket):
    """A bucket that never tells that an object was replaced."""

    def __init__(self):
        super().__init__(obstore.store.MemoryStore(), "memory:")
        self.first = {}

    def find(self, key):
        return self.first.setdefault(key, super().find(key))


def test_an_object_whose_tag_tells_no_change_is_found_when_nothing_is_trusted():
    remote = Remote(Believed()).for_owner("ann")
    facts = put(remote, TEXT)
    remote.bucket.first.clear()
    assert remote.check(facts) is None
    overwrite(remote, keys(remote)[0], b"X" + TEXT[1:])
    assert remote.check(facts) is None
    assert remote.check(facts, rehash=True) == "no longer matches its hash"


BREAKS = {
    "is missing": lambda remote, key, _: remote.bucket.delete(key),
    "has 23999 of 24000 bytes": lambda remote, key, data: overwrite(remote, key, data[:-1]),
    "has 24001 of 24000 bytes": lambda remote, key, data: overwrite(remote, key, data + b"x"),
    "no longer matches its hash": lambda remote, key, data: overwrite(remote, key, b"X" + data[1:]),
}


@pytest.mark.parametrize(("problem", "damage"), BREAKS.items(), ids=BREAKS)
def test_a_damaged_object_is_found_by_hash_and_never_read(remote, problem, damage):
    facts = put(remote, TEXT)
    damage(remote, keys(remote)[0], TEXT)
    there = elsewhere(remote)
    with pytest.raises(FileChanged, match="add the file again"):
        there.read(facts)
    assert there.check(facts) == remote.check(facts) == problem
    assert list(there._cache.folder.list_blobs()) == []


def test_compressed_objects_replace_plain_ones_and_are_read_as_the_original(remote):
    facts = put(remote, TEXT, "text/plain")
    remote.compress(facts)
    remote.compress(facts)
    (kept,) = remote.list_blobs()
    assert keys(remote) == [f"{owner_key('ann')}/{facts.sha256[:2]}/{facts.sha256}.zst"]
    assert kept.sha256 == facts.sha256
    assert kept.size < 2000
    assert elsewhere(remote).read(facts) == TEXT
    put(elsewhere(remote), TEXT)
    assert len(keys(remote)) == 1


def test_a_damaged_compressed_object_is_found_and_made_good(remote):
    facts = put(remote, TEXT, "text/plain")
    remote.compress(facts)
    overwrite(remote, keys(remote)[0], b"nothing that zstd made")
    there = elsewhere(remote)
    with pytest.raises(FileChanged):
        there.read(facts)
    assert there.check(facts) == "no longer matches its hash"
    put(there, TEXT)
    assert there.check(facts) is None
    assert elsewhere(remote).read(facts) == TEXT


def test_the_cache_lets_go_of_what_was_used_longest_ago_and_never_of_what_is_in_use():
    cache = Cache(max_bytes=250)
    remote = Remote(open_bucket("memory:"), cache)
    first, second, third, fourth = (put(remote, bytes([number]) * 100) for number in range(4))
    held = {kept.sha256 for kept in cache.folder.list_blobs()}
    assert held == {third.sha256, fourth.sha256}
    with remote.local(third) as path:
        assert (remote.read(first), remote.read(second), path.read_bytes()) == (bytes(100), b"\1" * 100, b"\2" * 100)
        assert third.sha256 in {kept.sha256 for kept in cache.folder.list_blobs()}
    assert {kept.sha256 for kept in cache.folder.list_blobs()} == {second.sha256, third.sha256}


def test_a_cache_that_was_there_before_is_checked_before_it_is_believed(tmp_path):
    bucket = open_bucket("memory:")
    facts = put(Remote(bucket, Cache(Folder(tmp_path, durable=False))), b"bytes")
    path = Folder(tmp_path).blob(facts.sha256)
    path.chmod(0o600)
    path.write_bytes(b"bytez")
    assert Remote(bucket, Cache(Folder(tmp_path, durable=False))).read(facts) == b"bytes"


def test_a_file_cache_stores_in_a_bucket_like_in_a_folder(remote):
    held = []
    file_cache = FileCache(remote, reference=lambda sha256, size: held.append((sha256, size, keys(remote))))
    proved = file_cache.probe(File.from_bytes(png(), name="a.png"))
    text = file_cache.probe(File.from_bytes(TEXT, name="a.txt"))
    assert held[0] == (proved.facts.sha256, len(png()), [])
    assert elsewhere(remote).read(proved.facts) == png()
    assert elsewhere(remote).read(text.facts) == TEXT
    assert sum(key.endswith(".zst") for key in keys(remote)) == remote.durable


def test_a_store_that_is_down_is_named_with_what_to_do_and_nothing_secret(monkeypatch):
    monkeypatch.setitem(RETRIES, "max_retries", 0)
    for name, value in {**KEYS, "AWS_ENDPOINT": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(name, value)
    remote = open_store("s3://tests/folder")
    asks = (lambda: put(remote, b"x"), lambda: remote.read(facts_of(b"x")), lambda: remote.check(facts_of(b"x")))
    for ask in (*asks, lambda: list(remote.list_blobs()), lambda: remote.delete(facts_of(b"x").sha256)):
        with pytest.raises(StorageFailed, match=r"^the store s3://tests/folder: connection refused: check") as it:
            ask()
        assert not any(secret in str(it.value) for secret in KEYS.values())
        assert it.value.__cause__ is None


def test_credentials_that_are_refused_are_reported_so(monkeypatch):
    for name, value in {**start_s3(), "AWS_SECRET_ACCESS_KEY": "wrong"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StorageFailed, match="the credentials were rejected: check them"):
        put(open_store("s3://tests/x"), b"bytes")
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(StorageFailed, match="its address is http: use https, or set AWS_ALLOW_HTTP=true"):
        put(open_store("s3://tests/x"), b"bytes")


def test_a_file_cache_raises_if_its_store_is_down(monkeypatch):
    monkeypatch.setitem(RETRIES, "max_retries", 0)
    for name, value in {**KEYS, "AWS_ENDPOINT": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StorageFailed, match="connection refused"):
        FileCache(open_store("s3://tests/x")).probe(File.from_bytes(png(), name="a.png"))


@pytest.mark.parametrize("url", ["s3://", "az://container/x", "s3://user:secret@bucket/x", "s3://bucket/x?sig=secret"])
def test_a_url_that_says_too_little_or_too_much_is_refused_without_repeating_secrets(url):
    with pytest.raises(
        BadInput, match=r"can't be opened \(.+\): use a form like|keep credentials out of URLs"
    ) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
