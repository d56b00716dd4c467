"""A user has a few downloads open at a time: more wait, then get a 429; other requests and users don't."""

import asyncio
import io
import os
import tempfile
from contextlib import AsyncExitStack

import pytest
from starlette.responses import Response

from showandtell.server.downloads import Downloads, LimitedDownload
from support.fixtures import png
from support.serving import serving

pytestmark = pytest.mark.anyio
#: More bytes than the buffers of a connection hold.
LARGE = bytes(12_000_000)


async def put(site, data, name):
    async with site.session.put("/api/attachments", params={"name": name}, data=io.BytesIO(data)) as response:
        assert response.status == 201
        return await response.json()


async def open_downloads(stack, site, url, count=6):
    """Responses whose bodies nobody reads."""
    return [await stack.enter_async_context(site.session.get(url)) for _ in range(count)]


async def test_one_download_too_many_gets_a_429(tmp_path):
    async with serving(tmp_path) as site, AsyncExitStack() as stack:
        site.server.downloads.seconds = 0.2
        url = (await put(site, LARGE, "a.bin"))["url"]
        first, *_ = await open_downloads(stack, site, url)
        async with site.session.get(url) as response:
            assert (response.status, response.headers["retry-after"]) == (429, "1")
            assert (await response.json())["error"]["text"].startswith("6 downloads are open: wait until one")
        first.close()
        site.server.downloads.seconds = 60
        async with site.session.get(url) as response:
            assert (response.status, await response.read()) == (200, LARGE)


async def test_thumbnails_and_requests_without_a_body_need_no_slot(tmp_path):
    async with serving(tmp_path) as site, AsyncExitStack() as stack:
        site.server.downloads.seconds = 0
        large, image = await put(site, LARGE, "a.bin"), await put(site, png(400, 300), "a.png")
        await open_downloads(stack, site, large["url"])
        async with site.session.get(f"/api/attachments/{image['id']}/thumbnail") as response:
            assert response.status == 200
        async with site.session.head(large["url"]) as response:
            assert (response.status, response.headers["content-length"]) == (200, str(len(LARGE)))
            tag = response.headers["etag"]
        async with site.session.get(large["url"], headers={"if-none-match": tag}) as response:
            assert response.status == 304


async def test_an_export_is_a_download_that_is_packed_when_its_turn_has_come(tmp_path, monkeypatch):
    (tmp_path / "exports").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "exports"))
    async with serving(tmp_path) as site, AsyncExitStack() as stack:
        site.server.downloads.seconds = 0
        file = await put(site, os.urandom(len(LARGE)), "a.bin")
        await site.post("look", files=[file["id"]])
        _, found = await site.get("/api/conversations")
        path = f"/api/conversations/{found['conversations'][0]['id']}/export"
        await open_downloads(stack, site, path)
        assert [*(tmp_path / "exports").glob("showandtell-*")] == []
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))  # nothing more can be packed
        async with site.session.get(path) as response:
            assert response.status == 429


async def test_slots_are_those_of_one_user_and_wait_for_each_other():
    downloads, sent, held = Downloads(1, 60), [], asyncio.Event()

    class Held(Response):
        async def __call__(self, scope, *_, **__):
            sent.append(scope["user"])
            await held.wait()

    def start(user):
        return asyncio.create_task(LimitedDownload(Held(), downloads, user)({"user": user}, None, None))

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        tasks = [start("ann"), start("ann"), start("bob")]
        while len(sent) < 2:  # noqa: ASYNC110 - they count themselves
            await asyncio.sleep(0)  # until those with a slot have started
        assert sent == ["ann", "bob"]
        held.set()
        for task in tasks:
            group.create_task(asyncio.wait_for(task, 60))
    assert sent == ["ann", "bob", "ann"]
