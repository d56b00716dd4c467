"""A server that is asked to stop does so within five seconds, even while clients read from it."""

import time

import pytest

from support.server_process import running, until
from support.server_requests import ENDS, say

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("number", "expected"), ENDS)
async def test_a_signal_ends_it_within_five_seconds(number, expected, tmp_path):
    async with running(tmp_path) as program, say(program, "/hold name=one"):
        await until(lambda: [*tmp_path.glob("one.*")])
        since = time.monotonic()
        assert await program.end(number) == (expected, "")
        assert time.monotonic() - since < 5
