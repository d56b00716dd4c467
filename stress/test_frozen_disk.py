"""A disk that is frozen, below the files: requests that need them get an error in time, and all comes back."""

import asyncio
import os
import subprocess
import time
from contextlib import contextmanager

import aiohttp
import pytest
from frozen import DEADLINE, SECONDS, Footprint, Workload, report, running_for_users

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(SECONDS + 600),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts disks"),
]
SIZE = 200 << 20


def call(*command):
    subprocess.run(command, check=True)  # noqa: S603


@contextmanager
def mounted_disk(folder):
    """An ext4 disk of its own, mounted at a folder by a loop device."""
    image, place = folder / "image", folder / "disk"
    with image.open("wb") as file:
        file.truncate(SIZE)
    place.mkdir()
    call("mkfs.ext4", "-q", "-F", image)
    call("mount", "-o", "loop", image, place)
    try:
        yield place
    finally:
        call("umount", place)


@contextmanager
def frozen_disk(place):
    """What is written waits until the end of the context, and can't be ended."""
    call("fsfreeze", "--freeze", place)
    try:
        yield
    finally:
        call("fsfreeze", "--unfreeze", place)


async def test_a_frozen_disk_delays_nobody_else(tmp_path):
    with mounted_disk(tmp_path) as disk:
        data = tmp_path / "data"
        data.mkdir()
        async with running_for_users(data, "--blobs", str(disk / "blobs")) as (program, headers):
            users = [headers(f"user {number}") for number in range(6)]
            async with Workload(program.url, users) as work:
                await work.until(3)
                before = Footprint.of(program.process.pid)
                with frozen_disk(disk), work.during() as frozen:
                    await asyncio.sleep(SECONDS)
                    during = Footprint.of(program.process.pid)
                await work.until(3)
                report(work.summary(frozen), before, during, await before.returns(program.process.pid))
    assert not work.late(frozen, DEADLINE)
    assert not work.failed(frozen, {"health", "list", "chat"})
    assert {one.status for one in work.failed(frozen)} == {503}
    assert len(work.failed(frozen, {"upload"})) > len(users)


async def delete_one(url, headers):
    """The status of a request that deletes one of a user's conversations, and the seconds that it took."""
    async with aiohttp.ClientSession(url, headers=headers) as session:
        async with session.get("/api/conversations") as answer:
            path = f"/api/conversations/{(await answer.json())['conversations'][0]['id']}"
        started = time.monotonic()
        async with session.delete(path) as answer:
            return answer.status, time.monotonic() - started


async def test_a_frozen_disk_with_the_database_holds_no_request(tmp_path):
    with mounted_disk(tmp_path) as disk:
        data = tmp_path / "data"  # its log is written there, from the event loop
        data.mkdir()
        places = "--database", f"sqlite:///{disk}/showandtell.db", "--blobs", str(disk / "blobs")
        async with running_for_users(data, *places) as (program, headers):
            users = [headers(f"user {number}") for number in range(6)]
            async with Workload(program.url, users) as work:
                await work.until(3)
                before = Footprint.of(program.process.pid)
                with frozen_disk(disk), work.during() as frozen:
                    deletions = await asyncio.gather(*(delete_one(program.url, user) for user in users))
                    await asyncio.sleep(SECONDS)
                    during = Footprint.of(program.process.pid)
                await work.until(3)
                report(work.summary(frozen), before, during, await before.returns(program.process.pid), deletions)
            assert (await delete_one(program.url, users[0]))[0] == 204
    assert not work.late(frozen, DEADLINE)
    assert not work.failed(frozen, {"health"})
    assert {status for status, _ in deletions} == {503}
    assert max(seconds for _, seconds in deletions) < DEADLINE
