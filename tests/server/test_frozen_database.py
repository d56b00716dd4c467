"""A real server whose PostgreSQL hangs: it answers with errors in time, stops on a signal, and works again after."""

import asyncio
import time
from contextlib import asynccontextmanager

import pytest

from support.freezing import freezing_proxy
from support.postgres import ready_database
from support.server_process import TIMEOUT, running

pytestmark = pytest.mark.anyio
#: Seconds of a request and of a stop. The promises, 10 and 4, are measured in `stress/`: machines of tests are busy.
REQUEST, STOP = 30, 30


@asynccontextmanager
async def frozen(folder):
    """A server whose database has just begun to hang."""
    url = ready_database("postgresql", folder)
    with freezing_proxy(url, folder) as proxy:
        async with running(folder, "--database", proxy.url) as program:
            assert (await get(program, "/api/conversations"))[0] == 200
            proxy.freeze()
            yield program, proxy


async def get(program, path):
    """The status, the JSON and the seconds of an answer."""
    started = time.monotonic()
    async with program.session.get(program.url + path) as response:
        return response.status, await response.json(), time.monotonic() - started


async def send(program, words):
    """Send a message, and give the status of the answer."""
    message = {"id": words, "role": "user", "parts": [{"type": "text", "text": words}]}
    body = {"id": "chat", "messages": [message], "trigger": "submit-message"}
    async with program.session.post(program.url + "/api/chat", json=body) as response:
        await response.read()
        return response.status


async def test_it_answers_with_errors_in_time_works_again_after_and_ends_on_a_signal(tmp_path):
    async with frozen(tmp_path) as (program, proxy):
        for status, body, seconds in await asyncio.gather(*(get(program, "/api/conversations") for _ in range(100))):
            assert (status, body["error"]["kind"]) == (503, "StorageFailed")
            assert "nothing was stored: try again" in body["error"]["text"]
            assert seconds < REQUEST
        status, body, _ = await get(program, "/readyz")
        assert (status, body["ready"]) == (503, False)
        again = [await get(program, "/api/conversations") for _ in range(20)]
        assert {status for status, _, _ in again} == {503}
        assert sum(seconds for _, _, seconds in again) < REQUEST
        async with program.session.get(program.url + "/") as page:  # needs no database
            assert page.status == 200
        assert await asyncio.wait_for(send(program, "Hello"), REQUEST) == 503
        await thaw(program, proxy)
        assert await send(program, "Hello") == 200  # what failed
        _, listed, _ = await get(program, "/api/conversations")
        assert [one["title"] for one in listed["conversations"]] == ["Hello"]
        proxy.freeze()
        await check_end(program)


async def thaw(program, proxy):
    """Let the database go on, and wait until the server is ready."""
    proxy.thaw()
    async with asyncio.timeout(TIMEOUT):
        while (await get(program, "/readyz"))[0] != 200:  # noqa: ASYNC110 - another process makes it so
            await asyncio.sleep(0.1)


async def check_end(program):
    """Check that a signal ends it in time while requests wait."""
    waiting = [asyncio.create_task(get(program, "/api/conversations")) for _ in range(20)]
    await asyncio.sleep(0.5)
    started = time.monotonic()
    status, errors = await program.end()
    assert time.monotonic() - started < STOP
    assert status in {0, 143}
    assert "Traceback" not in errors
    await asyncio.gather(*waiting, return_exceptions=True)
