"""The files of all conversations: listed with their places, filtered, paged, private, counted, and deleted."""

import asyncio

import pytest

from support.fixtures import pdf, png
from support.serving import serving, texts
from support.two_users import ask, make_hanging_tool

pytestmark = pytest.mark.anyio
TABLE = b"name,size\nred,4\n"


async def upload(site, data, name):
    async with site.session.put("/api/attachments", params={"name": name}, data=data) as answer:
        return (await answer.json())["id"]


async def ask_with(site, chat, **files):
    ids = [await upload(site, data, name.replace("_", ".")) for name, data in files.items()]
    status, _ = await site.post("Look", chat, id=f"m-{chat}", files=ids)
    assert status == 200


async def names(site, query=""):
    _, found = await site.get(f"/api/files{query}")
    return [file["name"] for file in found["files"]]


async def test_equal_files_are_listed_once_with_their_places(tmp_path):
    async with serving(tmp_path) as site:
        await ask_with(site, "one", red_png=png())
        await ask_with(site, "two", red_png=png(), table_csv=TABLE)
        _, found = await site.get("/api/files?q=red")
        (file,) = found["files"]
        assert ([place["number"] for place in file["places"]], file["more_places"]) == ([1, 1], 0)
        async with site.session.get(file["thumbnail"]) as answer:
            assert answer.status == 200


async def test_files_are_found_by_kind_and_sorted_by_size_in_pages(tmp_path):
    async with serving(tmp_path) as site:
        await ask_with(site, "one", red_png=png(), table_csv=TABLE, letter_pdf=pdf("Dear Ann"))
        assert await names(site, "?kind=document") == ["letter.pdf"]
        largest, pages, before = await names(site, "?sort=largest"), [], ""
        while before is not None:
            _, page = await site.get(f"/api/files?sort=largest&limit=1{before and '&before=' + before}")
            pages, before = [*pages, *(file["name"] for file in page["files"])], page["next"]
        assert (pages, sorted(pages)) == (largest, ["letter.pdf", "red.png", "table.csv"])


async def test_a_deleted_file_leaves_the_list_and_the_storage(tmp_path):
    async with serving(tmp_path) as site:
        await ask_with(site, "one", table_csv=TABLE)
        _, use = await site.get("/api/files/use")
        assert (use["bytes"], use["limit"], use["files"], use["conversations"]) == (len(TABLE), None, 1, 1)
        _, found = await site.get("/api/files")
        async with site.session.delete(f"/api/attachments/{found['files'][0]['id']}") as answer:
            assert answer.status == 204
        assert await names(site) == []
        assert (await site.get("/api/files/use"))[1]["bytes"] == 0


@pytest.mark.parametrize("query", ["?sort=best", "?limit=0", "?limit=1000", "?kind=stone", "?since=yesterday"])
async def test_invalid_filters_are_refused(query, tmp_path):
    async with serving(tmp_path) as site:
        assert (await site.get(f"/api/files{query}"))[0] == 422


async def ids_in(site, query=""):
    _, found = await site.get(f"/api/files{query}")
    return [file["id"] for file in found["files"]]


async def states(site):
    """The states of all files by name, as their conversations have them."""
    _, listed = await site.get("/api/conversations")
    opened = [(await site.get(f"/api/conversations/{one['id']}"))[1] for one in listed["conversations"]]
    return sorted((file["name"], file["state"]) for one in opened for file in one["attachments"])


async def test_a_file_is_deleted_in_all_of_its_conversations(tmp_path):
    async with serving(tmp_path) as site:
        await ask_with(site, "one", red_png=png(), table_csv=TABLE)
        await ask_with(site, "two", red_png=png())
        (red,) = await ids_in(site, "?kind=image")
        _, found = await site.get("/api/files?kind=image")
        assert (await ask(site.session, "GET", found["files"][0]["thumbnail"]))[0] == 200
        for _ in range(2):
            assert await ask(site.session, "DELETE", f"/api/files/{red}") == (204, b"")
        assert await states(site) == [("red.png", "deleted"), ("red.png", "deleted"), ("table.csv", "ready")]
        assert (await ask(site.session, "GET", found["files"][0]["thumbnail"]))[0] in {404, 410}
        _, use = await site.get("/api/files/use")
        assert (use["bytes"], use["files"]) == (len(TABLE), 1)


async def test_several_files_are_deleted_in_one_request(tmp_path):
    async with serving(tmp_path) as site:
        await ask_with(site, "one", red_png=png(), table_csv=TABLE, letter_pdf=pdf("Dear Ann"))
        ids = await ids_in(site, "?sort=name")
        assert (await ask(site.session, "DELETE", "/api/files", params=[("ids", each) for each in ids[:2]]))[0] == 204
        assert await names(site) == ["table.csv"]
        for wrong in ({}, {"ids": ""}, [("ids", ids[2])] * 101):
            assert (await ask(site.session, "DELETE", "/api/files", params=wrong))[0] in {404, 422}
        assert await names(site) == ["table.csv"]


async def test_a_file_is_deleted_while_a_run_uses_its_conversation(tmp_path):
    tool, begun = make_hanging_tool()
    async with serving(tmp_path, tools=(tool,)) as site:
        file = await upload(site, TABLE, "table.csv")
        running = asyncio.create_task(site.post("/hang", chat="one", files=[file]))
        await begun.wait()
        assert (await ask(site.session, "DELETE", f"/api/files/{file}"))[0] == 204
        assert (await ask(site.session, "POST", "/api/chat/one/stop"))[0] == 204
        assert (await running)[0] == 200
        assert await states(site) == [("table.csv", "deleted")]
        status, chunks = await site.post("/list_files", chat="one", id="m2")
        assert status == 200
        assert "was deleted by the user" in texts(chunks)
