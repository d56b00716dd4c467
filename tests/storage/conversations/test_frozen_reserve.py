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
        monkeypatch.setattr(stores, "RESERVE_SECONDS", 0.01)
        monkeypatch.setattr(store.reserve, "give_up", thawed.wait)
        try:
            for _ in range(20):
                with pytest.raises(StorageFailed, match="disk of the database did not answer"):
                    await asyncio.wait_for(store.delete(conversation.id), 60)
            assert await asyncio.to_thread(lambda: "free") == "free"
        finally:
            thawed.set()
        monkeypatch.setattr(stores, "RESERVE_SECONDS", 60)
        await store.delete(conversation.id)
        assert await store.list() == ()
