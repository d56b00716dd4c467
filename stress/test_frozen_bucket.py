"""A bucket that is frozen: requests that need files get an error in time, others are answered, and all comes back."""

import asyncio
import os
from pathlib import Path

import pytest
from frozen import DEADLINE, SECONDS, Footprint, Workload, frozen_process, report, running_for_users

from support.s3_server import start_s3

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(SECONDS + 600)]


def s3_process():
    """The id of the S3 server, a child of this process."""
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
    return next(int(pid) for pid in children if b"-s3.config" in Path(f"/proc/{pid}/cmdline").read_bytes())


async def test_a_frozen_bucket_delays_nobody_else(tmp_path):
    environ = await asyncio.to_thread(start_s3)
    bucket = await asyncio.to_thread(s3_process)
    options = ("--blobs", f"s3://tests/{os.urandom(4).hex()}")
    async with running_for_users(tmp_path, *options, **environ) as (program, headers):
        users = [headers(f"user {number}") for number in range(6)]
        async with Workload(program.url, users) as work:
            await work.until(3)
            before = Footprint.of(program.process.pid)
            with frozen_process(bucket), work.during() as frozen:
                await asyncio.sleep(SECONDS)
                during = Footprint.of(program.process.pid)
            await work.until(3)
            report(work.summary(frozen), before, during, await before.returns(program.process.pid))
    assert not work.late(frozen, DEADLINE)
    # Downloads come from the server's own cache, unless the bucket is known to hang.
    assert not work.failed(frozen, {"health", "list", "chat"})
    assert {one.status for one in work.failed(frozen)} == {503}
    assert len(work.failed(frozen, {"upload"})) > len(users)
    assert len(work.in_span(frozen, {"chat"})) > SECONDS
