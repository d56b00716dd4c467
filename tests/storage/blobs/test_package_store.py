"""Stores of other packages: what they raise, and URLs that nothing opens."""

import errno
import sys
from importlib import import_module

import pytest

from showandtell.errors import BadInput, StorageFailed, StorageFull
from showandtell.storage.blobs import object_store
from showandtell.storage.blobs.open import open_store
from support.extensions import forget_registered, import_from


@pytest.fixture(autouse=True)
def box(tmp_path, monkeypatch):
    """The store of docs/extending.md, at box:."""
    forget_registered(monkeypatch, object_store.REGISTRY)
    import_from(tmp_path, monkeypatch)
    package = import_module("acme_box")
    object_store.register_store("box", package.open_box)
    return package.Box


def test_a_store_that_can_not_be_opened_is_an_error_without_its_url(tmp_path):
    with pytest.raises(StorageFailed, match=r"box: can't be opened \(OperationalError\): check the URL") as raised:
        open_store(f"box://user:secret@host{tmp_path}/missing/files.db")
    assert "secret" not in str(raised.value)


def test_a_full_store_is_known_by_the_error_of_its_disk(box, tmp_path, monkeypatch):
    def put(_box, _key, _path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(box, "put", put)
    store = object_store.open_package(object_store.REGISTRY.find("box"), f"box://{tmp_path}/files.db")
    with pytest.raises(StorageFull, match=r"files\.db is full: free some space"):
        store.put("a/b", tmp_path / "file")


def test_a_store_that_ends_the_program_is_an_error(box, tmp_path, monkeypatch):
    monkeypatch.setattr(box, "find", lambda _box, _key: sys.exit("no licence"))
    store = object_store.open_package(object_store.REGISTRY.find("box"), f"box://{tmp_path}/files.db")
    with pytest.raises(StorageFailed, match=r"can't be used \(SystemExit\)"):
        store.find("a/b")


def test_what_a_store_says_in_an_error_of_ours_is_kept(box, tmp_path, monkeypatch):
    def find(_box, _key):
        raise StorageFailed("the box is locked: unlock it")

    monkeypatch.setattr(box, "find", find)
    store = object_store.open_package(object_store.REGISTRY.find("box"), f"box://{tmp_path}/files.db")
    with pytest.raises(StorageFailed, match="the box is locked: unlock it"):
        store.find("a/b")


def test_the_schemes_of_packages_are_listed():
    with pytest.raises(BadInput, match=r"bax: is not a file store: .* gs: or az:, box:\. Did you mean 'box'"):
        open_store("bax://host/folder")
