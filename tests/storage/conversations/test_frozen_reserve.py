"""The disk of the database hangs when a deletion looks for space there: the caller gets an error, and nobody waits."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from showandtell.errors import StorageFailed
from showandtell.storage.conversations import store as stores
from support.stores import Place

pytestmark = pytest.mark.anyio


async def test_a_deletion_on_a_disk_that_hangs_fails_and_takes_no_thread_of_the_loop(tmp_path, monkeypatch):
    thawed = threading.Event()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    async with Place("sqlite", tmp_path).store() as store:
        conversation = await store.create()
        monkeypatch.setattr(stores, "RESERVE_SECONDS", 1)
        monkeypatch.setattr(store.reserve, "give_up", thawed.wait)
        try:
            deletions = [store.delete(conversation.id) for _ in range(20)]
            for error in await asyncio.wait_for(asyncio.gather(*deletions, return_exceptions=True), 60):
                assert isinstance(error, StorageFailed)
                assert "disk of the database did not answer" in str(error)
            assert await asyncio.to_thread(lambda: "free") == "free"
        finally:
            thawed.set()
        monkeypatch.setattr(stores, "RESERVE_SECONDS", 60)
        await store.delete(conversation.id)
        assert await store.list() == ()
