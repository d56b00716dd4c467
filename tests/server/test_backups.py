"""All conversations of a user at once: exported, imported again, deleted."""

import asyncio
import io
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from aiohttp import ClientPayloadError

from showandtell.errors import StorageFailed
from showandtell.server.routes import backups
from showandtell.storage.conversations.store import Store
from support.fixtures import png
from support.serving import serving
from support.two_users import ask

pytestmark = pytest.mark.anyio

PATH = "/api/conversations"


async def export(site):
    async with site.session.get(f"{PATH}/export") as answer:
        assert (answer.status, answer.content_type) == (200, "application/zip")
        assert answer.headers["content-disposition"].startswith('attachment; filename="showandtell-20')
        archive = ZipFile(io.BytesIO(await answer.read()))
    return {name: archive.read(name) for name in archive.namelist()}


async def send(site, data, session=None):
    headers = {"content-type": "application/zip"}
    async with (session or site.session).post(f"{PATH}/import", data=data, headers=headers) as answer:
        return answer.status, await answer.json()


async def listed(site):
    return (await site.get(PATH))[1]["conversations"]


async def three(site):
    upload = (await ask(site.session, "PUT", "/api/attachments?name=kiwi.png", data=png()))[1]
    await site.post("the first", "one", files=[upload["id"]])
    await site.post("the second", "two")
    await site.post("the third", "three")
    first = (await listed(site))[-1]["id"]
    change = {"title": "Kiwis", "pinned": True, "tags": ["fruit"]}
    assert (await ask(site.session, "PATCH", f"{PATH}/{first}", json=change))[0] == 200


def without_id(conversation):
    return conversation | {"id": ""}


def like(conversation):
    """A conversation that comes back: archives have microseconds."""
    times = {name: pytest.approx(conversation[name], abs=0.001) for name in ("created", "changed")}
    return conversation | {"id": ""} | times


async def test_everything_is_exported_deleted_and_imported_again(tmp_path):
    async with serving(tmp_path) as site:
        await three(site)
        before = [*map(like, await listed(site))]
        files = await export(site)
        assert (await ask(site.session, "DELETE", PATH))[1] == {"deleted": 3, "left": 0}
        assert await listed(site) == []
        for name in sorted(files, reverse=True):
            status, found = await send(site, files[name])
            assert (status, found["new"], found["problems"]) == (200, True, [])
        assert [*map(without_id, await listed(site))] == before
        assert before[0]["title"] == "Kiwis"
        (kiwi,) = (await site.get("/api/files"))[1]["files"]
        assert kiwi["name"] == "kiwi.png"


async def test_the_same_file_is_imported_once_also_when_it_is_sent_twice_at_once(tmp_path):
    async with serving(tmp_path) as site:
        await three(site)
        data = next(iter((await export(site)).values()))
        await ask(site.session, "DELETE", PATH)
        twice = await asyncio.gather(send(site, data), send(site, data))
        again = await send(site, data)
        assert len({found["id"] for _, found in (*twice, again)}) == 1
        assert [found["new"] for _, found in (*twice, again)].count(True) == 1
        assert len(await listed(site)) == 1


async def test_ones_own_export_doubles_nothing_and_the_answer_counts_messages(tmp_path):
    async with serving(tmp_path) as site:
        await three(site)
        before = await listed(site)
        old = await export(site)
        await site.post("and then?", before[0]["id"], id="m9")
        for data in old.values():
            found = (await send(site, data))[1]
            assert (found["new"], found["added_messages"], found["known_messages"]) == (False, 0, 2)
        assert [one["id"] for one in await listed(site)] == [one["id"] for one in before]


async def test_a_request_deletes_a_batch_and_says_how_many_are_left(tmp_path):
    async with serving(tmp_path) as site:
        for turn in range(backups.BATCH + 2):
            await site.store.create("local", f"talk {turn}")
        await site.store.create("eve", "of somebody else")
        counts = [(await ask(site.session, "DELETE", PATH))[1] for _ in range(3)]
        assert counts == [{"deleted": backups.BATCH, "left": 2}, {"deleted": 2, "left": 0}, {"deleted": 0, "left": 0}]
        assert len(await site.store.list("eve")) == 1


async def test_two_requests_that_delete_everything_at_once_both_succeed(tmp_path):
    async with serving(tmp_path) as site:
        for turn in range(6):
            await site.store.create("local", f"talk {turn}")
        answers = await asyncio.gather(*(ask(site.session, "DELETE", PATH) for _ in range(2)))
        assert [status for status, _ in answers] == [200, 200]
        assert await site.store.list() == ()


async def test_an_export_that_fails_in_the_middle_breaks_off(tmp_path, monkeypatch):
    async with serving(tmp_path) as site:
        await three(site)
        opened = []

        async def open_two(*arguments):
            opened.append(arguments)
            if len(opened) == 2:
                raise StorageFailed("the disk is gone")
            return await Store.open(site.store, *arguments)

        monkeypatch.setattr(site.store, "open", open_two)
        async with site.session.get(f"{PATH}/export") as answer:
            assert answer.status == 200
            with pytest.raises(ClientPayloadError):
                await answer.read()


def zipped(*entries):
    sink = io.BytesIO()
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return sink.getvalue()


ESCAPE = '{"version": 1, "messages": [{"role": "user", "parts": [{"type": "file", "path": "../../etc/passwd"}]}]}'
REFUSED = {
    "no zip": (b'{"version": 1, "messages": []}', "this is not a zip file"),
    "several": (zipped(("conversations/0001.zip", b"x")), "send the files in it one by one"),
    "another zip": (zipped(("readme.txt", b"x")), "has no conversation.json"),
    "a path outside": (zipped(("conversation.json", ESCAPE)), "outside the folder"),
    "nothing": (b"", "this is not a zip file"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_other_files_are_refused_in_words_and_leave_nothing(tmp_path, case):
    data, words = REFUSED[case]
    async with serving(tmp_path) as site:
        status, found = await send(site, data)
        assert status == 422
        assert words in found["error"]["text"]
        assert await listed(site) == []


async def test_a_bomb_is_refused_by_what_it_unpacks_to(tmp_path, monkeypatch):
    monkeypatch.setattr(backups, "MAX_UNPACKED", 1_000_000)
    talk = '{"version": 1, "messages": []}'
    async with serving(tmp_path) as site:
        status, found = await send(site, zipped(("conversation.json", talk), ("files/1.png", bytes(2_000_000))))
        assert status == 422
        assert "expands to far more" in found["error"]["text"]


async def test_a_body_over_the_limit_or_of_another_type_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(backups, "MAX_IMPORT", 1000)
    async with serving(tmp_path) as site:
        assert (await send(site, bytes(1001)))[0] == 413

        async def pieces():
            for _ in range(20):
                yield bytes(100)

        assert (await send(site, pieces()))[0] == 413
        async with site.session.post(f"{PATH}/import", json={}) as answer:
            assert answer.status == 415


async def test_an_imported_conversation_can_be_continued(tmp_path):
    async with serving(tmp_path) as site:
        await three(site)
        data = next(iter((await export(site)).values()))
        found = (await send(site, data))[1]
        assert (await site.post("and then?", found["id"], id="m9"))[0] == 200
        assert len((await site.get(f"{PATH}/{found['id']}"))[1]["messages"]) == 4
