"""Runs without a worker are taken over side by side: one that can't be taken over keeps no other waiting."""

import asyncio

import pytest

from showandtell.server.runs.orphans import Orphans
from showandtell.storage.conversations import runs as rows
from showandtell.storage.conversations.runs import RELEASED, RunRow
from support.stores import Place, add_run

pytestmark = pytest.mark.anyio


async def add_orphan(store, run_id):
    conversation = await store.create()
    row = RunRow(
        run_id, conversation.id, "local", None, None, None, "inspector", "running", 0, "w@x/1/2", 1, 0, 1, None
    )
    await add_run(store.database, row)
    await rows.release(store.database, row.worker)


async def test_a_run_that_fails_or_hangs_keeps_no_other_from_being_taken_over(tmp_path, caplog):
    live, hung = [], asyncio.Event()

    async def adopt(row):
        assert row.beat == RELEASED
        if row.id == "run_1":
            raise ValueError(row.id)
        if row.id == "run_2":
            await hung.wait()
        live.append(row.id)

    async with Place("sqlite", tmp_path).store() as store, asyncio.timeout(60):
        for number in range(1, 5):
            await add_orphan(store, f"run_{number}")
        watch = Orphans(store.database, "mine", live, adopt, lambda *_: None)
        await watch.check()
        while len(live) < 2:  # noqa: ASYNC110 - they are in tasks
            await asyncio.sleep(0)
        await watch.check()  # the one that hangs is not taken over twice
        hung.set()
        await watch.finish()
    assert sorted(live) == ["run_2", "run_3", "run_4"]
    assert "can't take over run run_1" in caplog.text
