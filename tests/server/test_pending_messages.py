"""Messages that wait for the end of an answer: they are stored, can be changed, and are sent once, in order."""

import os

import pytest
from aiohttp import web
from sqlalchemy import update

from showandtell.agent.tools import tool
from showandtell.server.send_pending import MAX_TEXT
from showandtell.storage.conversations.pending_messages import MAX_PENDING
from showandtell.storage.database.tables import blobs, pending_files, pending_messages, uploads
from support.pending_messages import (
    add,
    added,
    answering,
    change,
    count,
    has_none,
    is_empty,
    is_paused,
    questions,
    queue,
    remove,
    send,
    until,
)
from support.postgres import postgresql_if_thorough, ready_database
from support.serving import chunks_of, serving
from support.two_users import ask, upload
from support.vllm import vllm

pytestmark = pytest.mark.anyio


@postgresql_if_thorough
async def test_messages_are_sent_in_order_once_each_answer_has_ended(database, tmp_path):
    async with answering(tmp_path, database=ready_database(database, tmp_path)) as (site, conversation, slow):
        for text in ("one", "two", "three"):
            assert (await add(site, conversation, text))[0] == 201
        assert await queue(site, conversation) == (["one", "two", "three"], None)
        slow.may_end.set()
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/wait", "one", "two", "three"]


async def test_without_a_running_answer_a_message_is_sent_at_once(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("hello")
        conversation = (await site.store.newest()).id
        await add(site, conversation, "and now?")
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["hello", "and now?"]


async def test_the_same_message_again_is_the_same_pending_message(tmp_path):
    async with answering(tmp_path) as (site, conversation, _):
        first, again = await added(site, conversation, "one"), await added(site, conversation, "one")
        assert first["id"] == again["id"]
        assert (await add(site, conversation, "/wait", message_id="m1"))[0] == 409
        assert await queue(site, conversation) == (["one"], None)


async def test_an_edit_of_an_older_revision_is_refused_with_a_sentence(tmp_path):
    async with answering(tmp_path) as (site, conversation, _):
        seen = await added(site, conversation, "one")
        status, edited = await change(site, seen, text="two")
        assert (status, edited["text"], edited["revision"]) == (200, "two", 2)
        for answer in (await change(site, seen, text="three"), await remove(site, seen), await send(site, seen)):
            assert (answer[0], answer[1]["error"]["kind"]) == (409, "Busy")
            assert answer[1]["error"]["text"].startswith("this message was changed elsewhere meanwhile")
        assert await queue(site, conversation) == (["two"], None)
        assert (await remove(site, edited))[0] == 204
        assert (await change(site, edited, text="three"))[0] == 404


async def test_messages_change_places(tmp_path):
    async with answering(tmp_path) as (site, conversation, slow):
        messages = [await added(site, conversation, text) for text in ("one", "two", "three")]
        assert (await change(site, messages[2], place=0))[0] == 200
        assert await queue(site, conversation) == (["three", "one", "two"], None)
        slow.may_end.set()
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/wait", "three", "one", "two"]


async def test_the_queue_is_bounded_in_number_and_size(tmp_path):
    async with answering(tmp_path) as (site, conversation, slow):
        assert [(await add(site, conversation, text))[0] for text in ("", "x" * (MAX_TEXT + 1))] == [422, 422]
        statuses = [(await add(site, conversation, f"{number}"))[0] for number in range(MAX_PENDING + 1)]
        assert statuses == [201] * MAX_PENDING + [409]
        for message in (await ask(site.session, "GET", f"/api/conversations/{conversation}/pending"))[1]["pending"]:
            await remove(site, message)
        slow.may_end.set()


async def test_files_wait_with_their_message_longer_than_other_uploads(tmp_path):
    now = [1e9]
    async with answering(tmp_path, clock=lambda: now[0]) as (site, conversation, slow):
        kept, lost = [await upload(site.session, name.encode(), f"{name}.txt") for name in ("kept", "lost")]
        await added(site, conversation, "look", [kept])
        now[0] += 3 * 86_400
        await site.store.collect(grace=0)
        assert (await ask(site.session, "GET", f"/api/attachments/{lost}"))[0] == 404
        slow.may_end.set()
        await until(is_empty, site, conversation)
        stored = await site.store.open(conversation)
        assert [file.name for file in stored.attachments.values()] == ["kept.txt"]
        assert (await count(site, uploads), await count(site, pending_files)) == (0, 0)


async def test_files_leave_with_their_message_or_conversation(tmp_path):
    async with answering(tmp_path) as (site, conversation, slow):
        files = [await upload(site.session, name.encode(), f"{name}.txt") for name in "abc"]
        one, _ = await added(site, conversation, "one", files[:2]), await added(site, conversation, "two", files[2:])
        assert (await add(site, conversation, "three", files[2:]))[0] == 422
        one = (await change(site, one, files=files[:1]))[1]
        assert [file["name"] for file in one["files"]] == ["a.txt"]
        assert (await count(site, uploads), await count(site, blobs)) == (2, 2)
        await remove(site, one)
        assert (await count(site, uploads), await count(site, blobs)) == (1, 1)
        await ask(site.session, "DELETE", f"/api/conversations/{conversation}")
        slow.may_end.set()  # not before: the queue could be sending the last message while it is deleted
        assert [await count(site, table) for table in (pending_messages, uploads, blobs)] == [0, 0, 0]


async def test_pending_files_count_against_the_quota(tmp_path):
    async with answering(tmp_path, place={"quota": 1000}) as (site, conversation, _):
        file = await upload(site.session, os.urandom(700), "a.bin")
        message = await added(site, conversation, "one", [file])
        data = {"params": {"name": "b.bin"}, "data": os.urandom(700)}
        assert (await ask(site.session, "PUT", "/api/attachments", **data))[0] == 507
        await remove(site, message)
        assert (await ask(site.session, "PUT", "/api/attachments", **data))[0] == 201


async def test_a_stopped_answer_pauses_the_queue_until_a_person_sends_the_next(tmp_path):
    async with answering(tmp_path) as (site, conversation, _):
        one, _ = await added(site, conversation, "one"), await added(site, conversation, "two")
        await ask(site.session, "POST", f"/api/chat/{conversation}/stop")
        await until(is_paused, site, conversation)
        assert await queue(site, conversation) == (["one", "two"], "incomplete")
        assert (await send(site, one))[0] == 204
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/wait", "one", "two"]


async def test_an_answer_that_failed_pauses_the_queue(tmp_path, monkeypatch):
    failing = vllm(lambda _: web.Response(status=400), monkeypatch)
    async with failing, answering(tmp_path) as (site, conversation, slow):
        await add(site, conversation, "one", model="vllm:any")
        await added(site, conversation, "two")
        slow.may_end.set()
        await until(is_paused, site, conversation)
        assert await queue(site, conversation) == (["two"], "error")


async def test_a_call_that_waits_for_approval_holds_the_queue(tmp_path):
    @tool(approval=True)
    def erase() -> str:
        """Erase."""
        return "erased"

    async with serving(tmp_path, tools=(erase,)) as site:
        _, chunks = await site.post("/erase")
        conversation = (await site.store.newest()).id
        await added(site, conversation, "one")
        assert await queue(site, conversation) == (["one"], "waiting")
        call = next(one["toolCallId"] for one in chunks if one["type"] == "tool-approval-request")
        part = {"type": "tool-erase", "state": "approval-responded", "approval": {"id": call, "approved": True}}
        body = {"id": conversation, "messages": [{"id": "a", "role": "assistant", "parts": [part]}]}
        async with site.session.post("/api/chat", json=body) as response:
            await chunks_of(response)
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/erase", "", "one"]


async def test_sending_a_message_now_stops_the_running_answer(tmp_path):
    async with answering(tmp_path) as (site, conversation, _):
        _, two = await added(site, conversation, "one"), await added(site, conversation, "two")
        assert (await send(site, two))[0] == 204
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/wait", "two", "one"]


async def test_a_message_that_cannot_be_sent_says_why_and_holds_the_others(tmp_path):
    async with answering(tmp_path) as (site, conversation, slow):
        file = await upload(site.session, b"a", "a.txt")
        one, _ = await added(site, conversation, "one", [file]), await added(site, conversation, "two")
        await ask(site.session, "DELETE", f"/api/attachments/{file}")
        slow.may_end.set()

        async def problem():
            _, found = await ask(site.session, "GET", f"/api/conversations/{conversation}/pending")
            return found["pending"][0]["problem"]

        assert f"there is no file '{file}'" in await until(problem)
        assert await queue(site, conversation) == (["one", "two"], None)
        assert (await change(site, one, files=[]))[0] == 200
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/wait", "one", "two"]


async def test_a_user_sees_and_changes_only_own_pending_messages(tmp_path):
    async with answering(tmp_path, user="bob") as (site, conversation, _slow):
        ann, bob = site.as_user("ann"), site.as_user("bob")
        await ask(ann, "GET", "/api/me")
        await ask(bob, "PUT", f"/api/conversations/{conversation}/shares/ann", json={"right": "writer"})
        _, message = await add(site, conversation, "one", session=bob)
        assert await queue(site, conversation, ann) == ([], None)
        for answer in (await change(site, message, ann, text="mine"), await remove(site, message, ann)):
            assert answer[0] == 404
        status, problem = await add(site, conversation, "two", session=ann)
        assert status == 409
        assert "another person's message is being answered" in problem["error"]["text"]
        assert await queue(site, conversation, bob) == (["one"], None)


async def test_a_message_of_somebody_who_may_no_longer_write_is_dropped(tmp_path):
    async with answering(tmp_path, user="bob") as (site, conversation, slow):
        ann, bob = site.as_user("ann"), site.as_user("bob")
        await ask(ann, "GET", "/api/me")
        await ask(bob, "PUT", f"/api/conversations/{conversation}/shares/ann", json={"right": "writer"})
        await add(site, conversation, "one", session=bob)
        statement = update(pending_messages).values(user_id="ann")
        await site.store.database.write(lambda connection: connection.execute(statement))
        await ask(bob, "PUT", f"/api/conversations/{conversation}/shares/ann", json={"right": None})
        slow.may_end.set()
        await until(lambda: has_none(site))
        assert await questions(site, conversation, "bob") == ["/wait"]
