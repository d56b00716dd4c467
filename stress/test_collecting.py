"""Garbage collection against everybody else: no bytes that a message names go, in thousands of steps (promises F9)."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from showandtell.storage.conversations.store import Store
from support.garbage_collection_machine import CrashingFolder, GarbageCollectionMachine
from support.postgres import each_database, new_database
from support.stores import Place, Time


class Counting(GarbageCollectionMachine):
    """The steps of tests/storage/database/test_garbage_collection.py, counted."""

    steps = 0

    def check_invariants(self, *given, **more):
        type(self).steps += 1
        return super().check_invariants(*given, **more)


class OnPostgres(Counting):
    """The same on PostgreSQL."""

    steps = 0

    async def _open(self):
        self.clock = Time()
        folder = Path(self.there.name)
        self.store = Store(new_database("postgresql", folder), folder / "blobs", terms=self.clock.terms())
        self.store.blobs = CrashingFolder(self.store.blobs.inner.path, durable=False)
        await self.store.__aenter__()


def play(machine, runs):
    """`runs` runs of 50 steps, or a few less."""
    received = settings(max_examples=runs, stateful_step_count=50, suppress_health_check=[*HealthCheck])
    run_state_machine_as_test(machine, settings=received)
    return machine.steps


def test_no_bytes_that_a_message_names_are_deleted_in_ten_thousand_steps():
    assert play(Counting, 240) >= 10_000


def test_nor_on_postgresql():
    assert play(OnPostgres, 12) >= 400


WRITE = """
import asyncio, random, sys
from showandtell.errors import NotFound
from showandtell.storage.conversations.store import Store
from support.stores import note, post, said

async def run(url, blobs, name, times):
    chance = random.Random(name)
    async with Store(url, blobs) as store:
        for _ in range(times):
            conversation = await store.create(name)
            for word in chance.choices(("one", "two", "three"), k=2):
                await post(conversation, said("look", note(word), note(name + word)))
            if chance.random() < 0.5:
                await store.delete(conversation.id, name)

asyncio.run(run(*sys.argv[1:4], int(sys.argv[4])))
"""


def start(place, folder, names, times):
    """Processes that write, each for its owner."""
    paths = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "tests")}
    command = [sys.executable, "-c", WRITE, place.url, folder / "blobs"]
    pipes = {"stderr": subprocess.PIPE, "env": paths}
    return [subprocess.Popen([*command, name, str(times)], **pipes) for name in names]  # noqa: S603 - our own words


@each_database
def test_processes_that_write_while_others_collect_lose_no_bytes(database, tmp_path):
    names, place = ("ann", "ann", "bob"), Place(database, tmp_path)

    async def run():
        async with place.store() as store:
            running = start(place, tmp_path, names, 40)
            passes = 0
            while any(item.poll() is None for item in running):
                await store.collect(grace=0)
                passes += 1
            assert [item.communicate()[1].decode() for item in running] == [""] * 3
            assert {item.kind for item in await store.fsck()} <= {"leftover"}
            problems = kept = 0
            for owner in {*names}:
                for item in await store.list(owner, limit=1000):
                    conversation = await store.open(item.id, owner)
                    for file in conversation.attachments.values():
                        problems += file.facts is None
                        kept += file.facts is not None and bool(conversation.file(file.number).read())
            return passes, kept, problems

    passes, kept, problems = asyncio.run(run())
    assert passes >= 10
    assert kept >= 50
    print(f"{database}: {passes} collections, {kept} files there, {problems} cleared before their message")  # noqa: T201
