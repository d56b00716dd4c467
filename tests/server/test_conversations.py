"""The routes of conversations, settings and examples, as the page uses them."""

import asyncio
import datetime as dt
import json
from dataclasses import replace
from urllib.parse import quote
from zipfile import ZipFile

import pytest
from msgspec.structs import replace as replace_fields

from showandtell import File, Text, ToolResult
from showandtell.agent.tools import as_tool
from showandtell.core.messages.message import Draft
from showandtell.hosted import HostedBlock, Source
from showandtell.server.routes.conversations import ConversationShape, FoundShape, newest_descendant
from showandtell.server.routes.examples import EXAMPLES
from showandtell.server.routes.models import ModelsShape
from showandtell.storage.conversations.transfer import import_conversation
from support.fixtures import png
from support.serving import serving, texts
from support.two_users import ask, make_hanging_tool, open_accounts

pytestmark = pytest.mark.anyio
ROLES = ("user", "assistant")
#: Settings of the page.
OTHER_SETTINGS = {"language": None, "titles": False, "favourites": []}


async def listed(site, query=""):
    return (await site.get(f"/api/conversations{query}"))[1]


async def only(site):
    """The id of the one conversation."""
    return (await listed(site))["conversations"][0]["id"]


async def test_the_list_is_searched_and_paged(tmp_path):
    async with serving(tmp_path) as site:
        for number in range(5):
            await site.post(f"harbour {number}" if number % 2 else f"kiwi {number}", chat=f"chat {number}")
        first = FoundShape(**await listed(site, "?limit=2"))
        rest = FoundShape(**await listed(site, f"?limit=9&before={first.next}"))
        assert [one.title for one in (*first.conversations, *rest.conversations)] == [
            "kiwi 4",
            "harbour 3",
            "kiwi 2",
            "harbour 1",
            "kiwi 0",
        ]
        assert rest.next is None
        found = (await listed(site, "?q=HARBOUR"))["conversations"]
        assert [one["title"] for one in found] == ["harbour 3", "harbour 1"]
        assert {(one["messages"], one["files"], one["running"]) for one in found} == {(2, 0, False)}


async def test_a_conversation_has_all_messages_and_files(tmp_path):
    async with serving(tmp_path) as site:
        upload = (await ask(site.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await site.post("what does it say?", files=[upload["id"]])
        status, received = await site.get(f"/api/conversations/{await only(site)}")
        assert status == 200
        found = ConversationShape(**received)
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
    """Do something that needs approval."""
    return "done"


@pytest.mark.parametrize("kind", RUNS)
async def test_a_reloaded_response_has_the_metadata_of_its_stream(tmp_path, kind):
    words, status = RUNS[kind]
    async with serving(tmp_path, tools=(replace(as_tool(permitted), approval=True),)) as site:
        _, chunks = await site.post(words)
        received = (await site.get(f"/api/conversations/{await only(site)}"))[1]
        output = {}
        for chunk in chunks:
            output |= chunk.get("messageMetadata", {})
        assert output["status"] == status
        known = received["messages"][1]["metadata"]
        assert {**known, "finished": 0} == {**output, "finished": 0}
        assert abs(known["finished"] - output["finished"]) < 5
        assert received["waiting"] is (status == "waiting")


async def test_a_stopped_response_is_marked_after_a_reload(tmp_path):
    tool, begun = make_hanging_tool()
    async with serving(tmp_path, tools=(tool,)) as site, asyncio.timeout(60):
        talking = asyncio.create_task(site.post("/hang"))
        await begun.wait()
        assert (await ask(site.session, "POST", "/api/chat/chat/stop"))[0] == 204
        await talking
        received = (await site.get(f"/api/conversations/{await only(site)}"))[1]
        known = received["messages"][1]["metadata"]
        assert (known["status"], known["reason"], received["running"]) == ("incomplete", "cancelled", False)


async def test_a_title_can_be_changed(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("hello")
        path = f"/api/conversations/{await only(site)}"
        assert await ask(site.session, "PATCH", path, json={"title": " The \n invoice "}) == (
            200,
            {"title": "The invoice", "pinned": False, "archived": False, "tags": []},
        )
        assert (await listed(site))["conversations"][0]["title"] == "The invoice"
        for wrong in (
            {"title": ""},
            {"title": " "},
            {"title": "x" * 201},
            {"title": 3},
            {"pinned": 1},
            {"tags": ["x" * 41]},
            {"tags": [str(number) for number in range(21)]},
            {"title": "x", "owner": "eve"},
        ):
            status, received = await ask(site.session, "PATCH", path, json=wrong)
            assert (status, set(received["error"])) == (422, {"kind", "text"}), wrong


async def test_a_conversation_is_deleted_with_its_files(tmp_path):
    async with serving(tmp_path) as site:
        upload = (await ask(site.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await site.post("look", files=[upload["id"]])
        path = f"/api/conversations/{await only(site)}"
        assert await ask(site.session, "DELETE", path) == (204, b"")
        assert (await listed(site))["conversations"] == []
        stream = f"/api/chat/{path.rpartition('/')[2]}/stream"
        for gone in (path, f"{path}/export", f"/api/attachments/{upload['id']}", stream):
            assert (await ask(site.session, "GET", gone))[0] == 404
        assert not [one for one in site.store.blobs.inner.path.rglob("*") if one.is_file() and len(one.name) == 64]


async def test_deleting_a_conversation_stops_its_run(tmp_path):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        """Wait for ever."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serving(tmp_path, tools=(as_tool(wait),)) as site, asyncio.timeout(60):
        talking = asyncio.create_task(site.post("/wait"))
        await begun.wait()
        path = f"/api/conversations/{await only(site)}"
        assert (await listed(site))["conversations"][0]["running"]
        assert (await site.get(path))[1]["running"]
        assert (await ask(site.session, "DELETE", path))[0] == 204
        await ended.wait()
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        assert (await site.get(path))[0] == 404


async def test_the_current_branch_can_be_switched(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("first question")
        path = f"/api/conversations/{await only(site)}"
        asked = (await site.get(path))[1]["messages"][0]["id"]
        await site.post("another question", id="m2", messageId=asked)
        await site.post("and then", id="m3")
        assert texts_of(await site.get(path)) == ["another question", "and then"]
        status, received = await ask(site.session, "POST", f"{path}/branch", json={"message_id": asked})
        assert (status, texts_of((200, received))) == (200, ["first question"])
        other = received["messages"][0]["metadata"]["branches"]["others"]
        back = next(one for one in other if one != asked).replace("msg_", "ans_")
        await ask(site.session, "POST", f"{path}/branch", json={"message_id": back})
        assert texts_of(await site.get(path)) == ["another question", "and then"]


async def test_the_branch_of_a_file_can_be_switched_to(tmp_path):
    async with serving(tmp_path) as site:
        upload = (await ask(site.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await site.post("what does it say?", files=[upload["id"]])
        path = f"/api/conversations/{await only(site)}"
        asked = (await site.get(path))[1]["messages"][0]["id"]
        await site.post("another question", id="m2", messageId=asked)
        status, received = await ask(site.session, "POST", f"{path}/branch", json={"file": 1})
        assert (status, texts_of((200, received))) == (200, ["what does it say?"])
        assert (await ask(site.session, "POST", f"{path}/branch", json={"file": 2}))[0] == 404
        for body in ({}, {"file": 1, "message_id": asked}):
            status, received = await ask(site.session, "POST", f"{path}/branch", json=body)
            assert status == 422
            assert "send one of them" in received["error"]["text"]


def texts_of(received):
    """The texts of the user's messages."""
    messages = [one for one in received[1]["messages"] if one["role"] == "user"]
    return [part["text"] for one in messages for part in one["parts"] if part["type"] == "text"]


async def test_an_export_can_be_imported(tmp_path):
    async with serving(tmp_path) as site:
        upload = (await ask(site.session, "PUT", "/api/attachments?name=a.txt", data=b"hello"))[1]
        await site.post("look: «это»", files=[upload["id"]])
        async with site.session.get(f"/api/conversations/{await only(site)}/export") as answer:
            assert answer.status == 200
            assert answer.content_type == "application/zip"
            assert answer.headers["content-disposition"].endswith("''look%3A%20%C2%AB%D1%8D%D1%82%D0%BE%C2%BB.zip")
            (tmp_path / "it.zip").write_bytes(await answer.read())
        assert len(ZipFile(tmp_path / "it.zip").namelist()) >= 2
        again = await import_conversation(site.store, tmp_path / "it.zip", "eve")
        assert again.file(1).read() == b"hello"


async def test_an_export_keeps_what_a_provider_ran_and_the_sources_of_texts(tmp_path):
    block = HostedBlock("anthropic", '{"type":"x","at":null}', "s1", "web_search", '{"query":"kiwi"}', '"A fruit."')
    made = replace_fields(block, files=(("/at", File.from_bytes(png(), name="chart.png")),))
    parts = (
        made,
        HostedBlock("google", "", "s2", "google_search", '"kiwi"'),
        Text("Green."),
        Source("K", quote="Green", end=5),
    )
    async with serving(tmp_path) as site:
        conversation = await site.store.create("local")
        for draft in (Draft("user", (Text("what?"),)), Draft("assistant", parts, stop="end")):
            await conversation.record(draft, await conversation.probe(draft))
        async with site.session.get(f"/api/conversations/{conversation.id}/export") as answer:
            (tmp_path / "it.zip").write_bytes(await answer.read())
        again = await import_conversation(site.store, tmp_path / "it.zip", "eve")
        hosted, *others = again.messages[1].parts
        assert replace_fields(hosted, files=()) == block
        assert [(pointer, again.file(shown.number).read()) for pointer, shown in hosted.files] == [("/at", png())]
        assert others == [*parts[1:]]


async def test_a_text_for_the_model_alone_is_neither_streamed_nor_shown_again(tmp_path):
    def show():
        """Show it."""
        return {"rain": 3, "hint": Text("for people", "user"), "more": Text("psst", "assistant")}

    async with serving(tmp_path, tools=[as_tool(show)]) as site:
        for received in (await site.post("/show"), await site.get(f"/api/conversations/{await only(site)}")):
            assert "for people" in str(received)
            # The inspector's answer repeats what it was sent, in its sentence and in its details; nothing else has it.
            assert str(received).count("psst") == 2


async def test_no_answer_and_no_export_holds_the_metadata_of_the_program(tmp_path):
    def show():
        """Show it."""
        file = File.from_bytes(b"a,b", name="a.csv", id="customer-4711", metadata={"is": "customer-4711"})
        return ToolResult(file, metadata={"is": "customer-4711"})

    async with serving(tmp_path, tools=[as_tool(show)]) as site:
        received = await site.post("/show")
        path = f"/api/conversations/{await only(site)}"
        stored = await site.store.open(path.rpartition("/")[2], "local")
        assert stored.messages[2].metadata == stored.attachments[1].metadata == {"is": "customer-4711"}
        async with site.session.get(f"{path}/export") as answer:
            (tmp_path / "it.zip").write_bytes(await answer.read())
        exported = ZipFile(tmp_path / "it.zip").read("conversation.json")
        assert "4711" not in f"{received} {await site.get(path)} {exported}"


async def test_a_share_grants_reading_or_writing_and_can_be_revoked(tmp_path):
    async with serving(tmp_path) as site:
        user = open_accounts(site)
        ann, bob = user("ann"), user("bob")
        await site.get("/api/me", bob)
        await site.post("hello", session=ann)
        path = f"/api/conversations/{(await site.get('/api/conversations', ann))[1]['conversations'][0]['id']}"
        for right, reads in (("reader", 200), ("writer", 200), (None, 404)):
            assert (await ask(ann, "PUT", f"{path}/shares/bob", json={"right": right}))[0] == 204
            status, received = await site.get(path, bob)
            assert (status, received.get("right")) == (reads, right)
        assert (await ask(bob, "PUT", f"{path}/shares/bob", json={"right": "writer"}))[0] == 404
        assert (await ask(ann, "PUT", f"{path}/shares/bob", json={"right": "owner"}))[0] == 422


async def test_settings_are_validated_and_stored(tmp_path):
    usual = {"model": None, "instructions": "", "theme": "system", **OTHER_SETTINGS}
    changes = {"model": "inspector:gemini", "instructions": "Be brief.", "theme": "dark", "language": "de"}
    wanted = usual | changes
    async with serving(tmp_path) as site:
        assert await site.get("/api/settings") == (200, usual)
        assert await ask(site.session, "PATCH", "/api/settings", json=changes) == (200, wanted)
        assert await site.get("/api/settings") == (200, wanted)
        wrong = (
            {"model": "anonymous:x"},
            {"model": "gpt"},
            {"theme": "pink"},
            {"language": "de-DE"},
            {"language": "de\n"},
            {"instructions": "x" * 20_001},
            {"owner": "e"},
        )
        for one in wrong:
            status, received = await ask(site.session, "PATCH", "/api/settings", json=one)
            assert (status, set(received["error"])) == (422, {"kind", "text"}), one
        assert await site.get("/api/settings") == (200, wanted)
        assert ModelsShape(**(await site.get("/api/models"))[1]).default == "inspector:gemini"


async def test_omitted_settings_keep_their_values(tmp_path):
    wanted = {"model": "inspector:gemini", "instructions": "Be brief.", "theme": "system", **OTHER_SETTINGS}
    async with serving(tmp_path) as site:
        for change in ({"instructions": "Be brief."}, {"model": "inspector:gemini"}, {}):
            status, received = await ask(site.session, "PATCH", "/api/settings", json=change)
            assert status == 200
        assert received == wanted
        dark = {**wanted, "theme": "dark"}
        assert await ask(site.session, "PATCH", "/api/settings", json={"theme": "dark"}) == (200, dark)
        own = {**dark, "model": None}
        assert await ask(site.session, "PATCH", "/api/settings", json={"model": None}) == (200, own)
        assert await site.get("/api/settings") == (200, own)


async def test_models_and_the_matrix_are_listed(tmp_path):
    async with serving(tmp_path) as site:
        found = ModelsShape(**(await site.get("/api/models"))[1])
        assert (found.default, found.models[0].provider) == ("inspector:anthropic-messages", "inspector")
        rows = (await site.get("/api/matrix"))[1]["rows"]
        assert {row["provider"] for row in rows} >= {one.provider for one in found.models}
        assert {"tool_result", "user", "known_by", "cells"} <= set(rows[0])


ANSWERS = {
    "chart": ["I run chart", "Image 2, chart.png: 720 × 420 pixels", '{"bars":5,"smallest":95.0,"largest":230.0}'],  # noqa: RUF001
    "pages": ["Page 1 of 3:", "Page 3 of 3:", "Document 1, guide.pdf, page 3: 1568 × 1107 pixels"],  # noqa: RUF001
    "apis": ["I run view_file", "Image 1, harbour.png: 640 × 400 pixels", "in the tool result of "],  # noqa: RUF001
}


@pytest.mark.parametrize("name", [one.name for one in EXAMPLES])
async def test_every_example_works_without_a_key(tmp_path, name):
    async with serving(tmp_path) as site:
        shown = {one["name"]: one for one in (await site.get("/api/examples"))[1]["examples"]}
        status, ready = await ask(site.session, "POST", f"/api/examples/{name}")
        assert (status, ready["text"]) == (201, shown[name]["text"])
        assert [one["name"] for one in ready["attachments"]] == shown[name]["files"]
        assert {one["state"] for one in ready["attachments"]} <= {"pending"}
        _, chunks = await site.post(ready["text"], files=[one["id"] for one in ready["attachments"]])
        answer = texts(chunks)
        assert [one for one in ANSWERS[name] if one not in answer] == []


async def test_an_unknown_example_is_not_found(tmp_path):
    async with serving(tmp_path) as site:
        status, received = await ask(site.session, "POST", "/api/examples/nothing")
        assert status == 404
        assert "chart, pages, apis" in received["error"]["text"]


async def test_a_branch_ends_at_its_newest_message():
    from showandtell.core.messages.message import Message

    tree = [("a", None), ("b", "a"), ("c", "a"), ("d", "b"), ("e", "c"), ("f", "d")]
    output = [Message(one, "user", parent_id=parent) for one, parent in tree]
    assert [newest_descendant(one, output) for one in "abcdef"] == ["f", "f", "e", "f", "e", "f"]


async def test_a_summary_is_neither_a_message_nor_a_title_and_the_conversation_continues_with_it(tmp_path):
    talked = [
        {"role": role, "parts": [{"type": "text", "text": f"{role} {turn}"}]} for turn in range(3) for role in ROLES
    ]
    summary = {"role": "user", "parts": [{"type": "summary", "text": "They counted.", "replaces": [[1, 4]]}]}
    (tmp_path / "talk.json").write_text(json.dumps({"version": 1, "messages": [*talked, summary]}))
    async with serving(tmp_path / "server") as site:
        talk = await import_conversation(site.store, tmp_path / "talk.json", "local")
        assert (await listed(site))["conversations"][0]["title"] == "user 0"
        _, chunks = await site.post("What have we done?", chat=talk.id)
        received = (await site.get(f"/api/conversations/{talk.id}"))[1]
        shown = json.dumps(received["messages"])
        assert [message["role"] for message in received["messages"]] == ["user", "assistant"] * 4
        assert "They counted." not in shown
        assert "user 1" in shown
        assert chunks[-1]["type"] == "finish"


async def test_a_search_says_where_a_file_is_and_a_pin_comes_first(tmp_path):
    async with serving(tmp_path) as site:
        upload = (await ask(site.session, "PUT", "/api/attachments?name=<i>May.png", data=png(9, 9)))[1]
        await site.post("look", chat="one", files=[upload["id"]])
        one = await only(site)
        await site.post("another", chat="two")
        change = {"pinned": True, "tags": ["tax"]}
        stored = (await ask(site.session, "PATCH", f"/api/conversations/{one}", json=change))[1]
        assert (stored["pinned"], stored["tags"]) == (True, ["tax"])
        assert (await listed(site, "?limit=1"))["conversations"][0]["id"] == one
        (found,) = FoundShape(**await listed(site, "?q=may&kind=image")).conversations
        assert [(file.name, file.number) for file in found.match.files] == [("<i>May.png", 1)]
        assert (await site.get("/api/conversations/tags"))[1] == {"tags": [{"name": "tax", "conversations": 1}]}
        assert (await listed(site, "?q=may&kind=audio"))["conversations"] == []


async def test_a_period_has_days_in_utc_or_moments_of_any_time_zone(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("look")
        (row,) = (await listed(site))["conversations"]
        begin = dt.datetime.fromtimestamp(row["created"] - 60, dt.timezone(dt.timedelta(hours=9)))
        for since, count in ((begin, 1), (begin + dt.timedelta(hours=1), 0), (begin.astimezone(dt.UTC).date(), 1)):
            found = FoundShape(**await listed(site, f"?q=look&since={quote(since.isoformat())}")).conversations
            assert len(found) == count
        assert found[0].match.message_id.startswith(("msg_", "ans_"))
        for wrong in ("2026-05-01T10:00:00", "today", "12345678901234567890"):
            assert (await site.get(f"/api/conversations?since={wrong}"))[0] == 422
