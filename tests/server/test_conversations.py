"""Conversations, settings and examples over HTTP, as a page asks for them."""

import asyncio
from dataclasses import replace
from zipfile import ZipFile

import pytest

from showandtell.agent.tools import as_tool
from showandtell.server.conversations import ConversationShape, FoundShape, newest_behind
from showandtell.server.examples import EXAMPLES
from showandtell.server.models import ModelsShape
from showandtell.storage.conversations.transfer import import_conversation
from support.neighbours import ask, hanging, open_accounts
from support.serving import serving, texts

pytestmark = pytest.mark.anyio


async def listed(house, query=""):
    return (await house.get(f"/api/conversations{query}"))[1]


async def only(house):
    """The id of the one conversation."""
    return (await listed(house))["conversations"][0]["id"]


async def test_a_list_is_searched_and_goes_on(tmp_path):
    async with serving(tmp_path) as house:
        for number in range(5):
            await house.post(f"harbour {number}" if number % 2 else f"kiwi {number}", chat=f"chat {number}")
        first = FoundShape(**await listed(house, "?limit=2"))
        rest = FoundShape(**await listed(house, f"?limit=9&before={first.next}"))
        assert [one.title for one in (*first.conversations, *rest.conversations)] == [
            "kiwi 4",
            "harbour 3",
            "kiwi 2",
            "harbour 1",
            "kiwi 0",
        ]
        assert rest.next is None
        found = (await listed(house, "?q=HARBOUR"))["conversations"]
        assert [one["title"] for one in found] == ["harbour 3", "harbour 1"]
        assert {(one["messages"], one["files"], one["running"]) for one in found} == {(2, 0, False)}


async def test_a_conversation_is_told_whole_with_its_files(tmp_path):
    async with serving(tmp_path) as house:
        upload = (await ask(house.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await house.post("what does it say?", files=[upload["id"]])
        status, told = await house.get(f"/api/conversations/{await only(house)}")
        assert status == 200
        found = ConversationShape(**told)
        assert (found.alias, found.model, found.right, found.running, found.waiting) == (
            "chat",
            "inspector",
            "owner",
            False,
            False,
        )
        assert [(one.id, one.number, one.name) for one in found.attachments] == [(upload["id"], 1, "a.txt")]
        assert [one.role for one in found.messages] == ["user", "assistant"]
        assert found.messages[1].id == found.messages[0].id.replace("msg_", "ans_")


RUNS = {
    "words": ("hello", "complete"),
    "a tool": ('/chart title="visitors" values=[1,2]', "complete"),
    "a tool that needs a yes": ("/permitted", "waiting"),
}


async def permitted() -> str:
    """Do what a person has to allow."""
    return "done"


@pytest.mark.parametrize("kind", RUNS)
async def test_what_is_known_of_an_answer_is_what_its_stream_said(tmp_path, kind):
    words, status = RUNS[kind]
    async with serving(tmp_path, tools=(replace(as_tool(permitted), approval=True),)) as house:
        _, chunks = await house.post(words)
        told = (await house.get(f"/api/conversations/{await only(house)}"))[1]
        said = {}
        for chunk in chunks:
            said |= chunk.get("messageMetadata", {})
        assert said["status"] == status
        known = told["messages"][1]["metadata"]
        assert {**known, "finished": 0} == {**said, "finished": 0}
        assert abs(known["finished"] - said["finished"]) < 5
        assert told["waiting"] is (status == "waiting")


async def test_an_answer_that_was_stopped_says_so_after_a_reload(tmp_path):
    tool, begun = hanging()
    async with serving(tmp_path, tools=(tool,)) as house, asyncio.timeout(60):
        talking = asyncio.create_task(house.post("/hang"))
        await begun.wait()
        assert (await ask(house.session, "POST", "/api/chat/chat/stop"))[0] == 204
        await talking
        told = (await house.get(f"/api/conversations/{await only(house)}"))[1]
        known = told["messages"][1]["metadata"]
        assert (known["status"], known["reason"], told["running"]) == ("incomplete", "cancelled", False)


async def test_a_title_can_be_changed(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("hello")
        path = f"/api/conversations/{await only(house)}"
        assert await ask(house.session, "PATCH", path, json={"title": " The \n invoice "}) == (
            200,
            {"title": "The invoice"},
        )
        assert (await listed(house))["conversations"][0]["title"] == "The invoice"
        for wrong in (
            {"title": ""},
            {"title": " "},
            {"title": "x" * 201},
            {"title": 3},
            {},
            {"title": "x", "owner": "eve"},
        ):
            status, told = await ask(house.session, "PATCH", path, json=wrong)
            assert (status, set(told["error"])) == (422, {"kind", "text"}), wrong


async def test_what_is_deleted_is_gone_with_its_files(tmp_path):
    async with serving(tmp_path) as house:
        upload = (await ask(house.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await house.post("look", files=[upload["id"]])
        path = f"/api/conversations/{await only(house)}"
        assert await ask(house.session, "DELETE", path) == (204, b"")
        assert (await listed(house))["conversations"] == []
        stream = f"/api/chat/{path.rpartition('/')[2]}/stream"
        for gone in (path, f"{path}/export", f"/api/attachments/{upload['id']}", stream):
            assert (await ask(house.session, "GET", gone))[0] == 404
        assert not [one for one in house.store.blobs.path.rglob("*") if one.is_file() and len(one.name) == 64]


async def test_a_conversation_that_is_deleted_while_it_is_answered_stops(tmp_path):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait for ever."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serving(tmp_path, tools=(as_tool(wait),)) as house, asyncio.timeout(60):
        talking = asyncio.create_task(house.post("/wait"))
        await begun.wait()
        path = f"/api/conversations/{await only(house)}"
        assert (await listed(house))["conversations"][0]["running"]
        assert (await house.get(path))[1]["running"]
        assert (await ask(house.session, "DELETE", path))[0] == 204
        await ended.wait()
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        assert (await house.get(path))[0] == 404


async def test_one_may_go_on_at_another_branch(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("first question")
        path = f"/api/conversations/{await only(house)}"
        asked = (await house.get(path))[1]["messages"][0]["id"]
        await house.post("another question", id="m2", messageId=asked)
        await house.post("and then", id="m3")
        assert said(await house.get(path)) == ["another question", "and then"]
        status, told = await ask(house.session, "POST", f"{path}/branch", json={"message_id": asked})
        assert (status, said((200, told))) == (200, ["first question"])
        other = told["messages"][0]["metadata"]["branches"]["others"]
        back = next(one for one in other if one != asked).replace("msg_", "ans_")
        await ask(house.session, "POST", f"{path}/branch", json={"message_id": back})
        assert said(await house.get(path)) == ["another question", "and then"]


def said(told):
    """The words of the user's messages."""
    messages = [one for one in told[1]["messages"] if one["role"] == "user"]
    return [part["text"] for one in messages for part in one["parts"] if part["type"] == "text"]


async def test_an_export_is_what_import_reads(tmp_path):
    async with serving(tmp_path) as house:
        upload = (await ask(house.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await house.post("look: «это»", files=[upload["id"]])
        async with house.session.get(f"/api/conversations/{await only(house)}/export") as answer:
            assert answer.status == 200
            assert answer.content_type == "application/zip"
            assert answer.headers["content-disposition"].endswith("''look%3A%20%C2%AB%D1%8D%D1%82%D0%BE%C2%BB.zip")
            (tmp_path / "it.zip").write_bytes(await answer.read())
        assert len(ZipFile(tmp_path / "it.zip").namelist()) >= 2
        again = await import_conversation(house.store, tmp_path / "it.zip", "eve")
        assert again.file(1).read() == b"hello"


async def test_a_share_lets_another_read_or_write_and_is_taken_back(tmp_path):
    async with serving(tmp_path) as house:
        user = open_accounts(house)
        ann, bob = user("ann"), user("bob")
        await house.post("hello", session=ann)
        path = f"/api/conversations/{(await house.get('/api/conversations', ann))[1]['conversations'][0]['id']}"
        for right, reads in (("reader", 200), ("writer", 200), (None, 404)):
            assert (await ask(ann, "PUT", f"{path}/shares/bob", json={"right": right}))[0] == 204
            status, told = await house.get(path, bob)
            assert (status, told.get("right")) == (reads, right)
        assert (await ask(bob, "PUT", f"{path}/shares/bob", json={"right": "writer"}))[0] == 404
        assert (await ask(ann, "PUT", f"{path}/shares/bob", json={"right": "owner"}))[0] == 422


async def test_settings_are_checked_and_kept(tmp_path):
    usual = {"model": None, "instructions": "", "theme": "system"}
    wanted = {"model": "inspector:gemini", "instructions": "Be brief.", "theme": "dark"}
    async with serving(tmp_path) as house:
        assert await house.get("/api/settings") == (200, usual)
        assert await ask(house.session, "PATCH", "/api/settings", json=wanted) == (200, wanted)
        assert await house.get("/api/settings") == (200, wanted)
        wrong = (
            {"model": "nobody:x"},
            {"model": "gpt"},
            {"theme": "pink"},
            {"instructions": "x" * 20_001},
            {"owner": "e"},
        )
        for one in wrong:
            status, told = await ask(house.session, "PATCH", "/api/settings", json=one)
            assert (status, set(told["error"])) == (422, {"kind", "text"}), one
        assert await house.get("/api/settings") == (200, wanted)
        assert ModelsShape(**(await house.get("/api/models"))[1]).default == "inspector:gemini"


async def test_a_setting_that_is_not_named_stays_as_it_is(tmp_path):
    wanted = {"model": "inspector:gemini", "instructions": "Be brief.", "theme": "system"}
    async with serving(tmp_path) as house:
        for change in ({"instructions": "Be brief."}, {"model": "inspector:gemini"}, {}):
            status, told = await ask(house.session, "PATCH", "/api/settings", json=change)
            assert status == 200
        assert told == wanted
        dark = {**wanted, "theme": "dark"}
        assert await ask(house.session, "PATCH", "/api/settings", json={"theme": "dark"}) == (200, dark)
        own = {**dark, "model": None}
        assert await ask(house.session, "PATCH", "/api/settings", json={"model": None}) == (200, own)
        assert await house.get("/api/settings") == (200, own)


async def test_models_and_the_matrix_are_listed(tmp_path):
    async with serving(tmp_path) as house:
        found = ModelsShape(**(await house.get("/api/models"))[1])
        assert (found.default, found.models[0].provider) == ("inspector:anthropic-messages", "inspector")
        rows = (await house.get("/api/matrix"))[1]["rows"]
        assert {row["provider"] for row in rows} >= {one.provider for one in found.models}
        assert {"tool_result", "user", "known_by", "cells"} <= set(rows[0])


ANSWERS = {
    "chart": ["I run chart", "720 x 420 pixels"],
    "invoice": ["Total: 184.50 EUR", "Due date: 2 April 2025"],
    "pictures": ["image 1 (harbour.png), image 2 (kiwi.jpg) compared", "640 x 400 pixels", "480 x 360 pixels"],
}


@pytest.mark.parametrize("name", [one.name for one in EXAMPLES])
async def test_every_example_is_answered_well_without_a_key(tmp_path, name):
    async with serving(tmp_path) as house:
        shown = {one["name"]: one for one in (await house.get("/api/examples"))[1]["examples"]}
        status, ready = await ask(house.session, "POST", f"/api/examples/{name}")
        assert (status, ready["text"]) == (201, shown[name]["text"])
        assert [one["name"] for one in ready["attachments"]] == shown[name]["files"]
        assert {one["state"] for one in ready["attachments"]} <= {"pending"}
        _, chunks = await house.post(ready["text"], files=[one["id"] for one in ready["attachments"]])
        answer = texts(chunks)
        assert [one for one in ANSWERS[name] if one not in answer] == []


async def test_an_example_that_is_none_is_not_found(tmp_path):
    async with serving(tmp_path) as house:
        status, told = await ask(house.session, "POST", "/api/examples/nothing")
        assert (status, "chart, invoice, pictures" in told["error"]["text"]) == (404, True)


async def test_the_newest_message_behind_another_ends_its_branch():
    from showandtell.core.messages.messages import Message

    tree = [("a", None), ("b", "a"), ("c", "a"), ("d", "b"), ("e", "c"), ("f", "d")]
    said = [Message(one, "user", parent_id=parent) for one, parent in tree]
    assert [newest_behind(one, said) for one in "abcdef"] == ["f", "f", "e", "f", "e", "f"]
