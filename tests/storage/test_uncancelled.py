"""A write that has started is finished, even if its caller is cancelled."""

import asyncio

import pytest

from showandtell.storage.uncancelled import run_to_completion


def test_work_goes_on_through_cancellations_and_they_are_reported_afterwards():
    async def main():
        going_on, done = asyncio.Event(), []

        async def work():
            await going_on.wait()
            done.append("stored")
            return 7

        task = asyncio.create_task(run_to_completion(work()))
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
        going_on.set()
        cancelled, value = await task
        assert (type(cancelled), value, done) == (asyncio.CancelledError, 7, ["stored"])

    asyncio.run(main())


def test_work_that_nobody_cancels_gives_its_value_and_its_error():
    async def main():
        assert await run_to_completion(asyncio.sleep(0, "value")) == (None, "value")
        with pytest.raises(OSError, match="full"):
            await run_to_completion(fail())

    async def fail():
        raise OSError("full")

    asyncio.run(main())
