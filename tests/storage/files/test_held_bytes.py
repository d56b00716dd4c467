"""Bytes objects that are known by identity, as long as they are held."""

import hashlib

from showandtell import Draft, File, FileCache, Text, render
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.files import file_cache
from showandtell.storage.files.held_bytes import HeldBytes
from support.fixtures import png

FIRST, SECOND, THIRD = (bytes([number]) * 100 for number in range(3))


def copy_of(data):
    return bytes(bytearray(data))


def test_an_object_is_known_and_an_equal_one_is_not():
    held = HeldBytes()
    held.add(FIRST, "first")
    assert held.sha256_of(FIRST) == "first"
    assert held.sha256_of(copy_of(FIRST)) is None
    assert held.get("first") is FIRST


def test_the_oldest_are_released_beyond_the_limit():
    held = HeldBytes(max_bytes=250)
    held.add(FIRST, "first")
    held.add(SECOND, "second")
    held.add(FIRST, "first")
    held.add(THIRD, "third")
    assert [held.get(name) for name in ("first", "second", "third")] == [FIRST, None, THIRD]
    assert held.sha256_of(SECOND) is None
    held.add(bytes(251), "too large")
    assert held.get("too large") is None


class CountingFolder(Folder):
    """A folder that counts the blobs that are opened."""

    opened = 0

    def _open(self, facts, **more):
        self.opened += 1
        return super()._open(facts, **more)


def test_bytes_that_are_rendered_again_are_neither_hashed_nor_read(tmp_path, monkeypatch):
    hashed, hash_of = [], file_cache.hash_of
    monkeypatch.setattr(file_cache, "hash_of", lambda file: hashed.append(file.name) or hash_of(file))
    folder, data = CountingFolder(tmp_path), [png(20 + number, 20) for number in range(5)]
    cache = FileCache(folder)

    def body(copy=lambda data: data):
        files = [File.from_bytes(copy(item), name=f"{at}.png") for at, item in enumerate(data)]
        request = render([Draft("user", (Text("Look."), *files))], model="openai:gpt-5.2", cache=cache)
        return b"".join(request.chunks())

    first = body()
    assert body() == first
    hashed.clear()
    folder.opened = 0
    assert body() == first
    assert (hashed, folder.opened) == ([], 0)
    assert body(copy_of) == first
    assert (len(hashed), folder.opened) == (5, 0)


def test_a_file_that_is_gone_from_the_store_is_stored_again(tmp_path):
    folder, data = Folder(tmp_path), png(30)
    cache = FileCache(folder)
    known = [cache.recall(File.from_bytes(data, name="a.png")), cache.probe(File.from_bytes(data, name="a.png"))]
    assert known[0] is None
    assert cache.recall(File.from_bytes(data, name="a.png")) == known[1]
    folder.delete(hashlib.sha256(data).hexdigest())
    assert cache.recall(File.from_bytes(data, name="a.png")) is None


def test_photos_without_their_location_are_not_known_by_their_bytes(tmp_path):
    cache, file = FileCache(Folder(tmp_path), strip_location=True), File.from_bytes(png(31), name="a.png")
    cache.probe(file)
    assert cache.recall(file) is None
