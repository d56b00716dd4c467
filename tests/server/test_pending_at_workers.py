"""Pending messages at several workers: one of them sends each, also after another has died."""

import asyncio
import signal
from contextlib import suppress

import aiohttp
import pytest

from showandtell.server.send_pending import send_claimed
from showandtell.storage.conversations.pending_messages import CLAIM_SECONDS, read_queue
from showandtell.storage.database.lease import machine, this_process
from support.pending_messages import (
    added,
    answering,
    change,
    claim,
    has_none,
    is_empty,
    lives,
    questions,
    queue,
    remove,
    send,
    until,
)
from support.postgres import postgresql_if_thorough, ready_database
from support.server_process import running
from support.serving import chat_body, serving
from support.two_users import ask

pytestmark = pytest.mark.anyio


@postgresql_if_thorough
async def test_a_message_is_sent_once_by_either_worker(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with answering(tmp_path, database=url) as (one, conversation, slow), serving(tmp_path, database=url) as two:
        for number in range(6):
            await added((one, two)[number % 2], conversation, f"{number}")
        slow.may_end.set()
        while await queue(two, conversation) != ([], None):  # both look, as often as they can
            await asyncio.gather(
                *(ask(site.session, "GET", f"/api/conversations/{conversation}") for site in (one, two))
            )
        await until(is_empty, two, conversation)
        assert await questions(two, conversation) == ["/wait", *(f"{number}" for number in range(6))]


@pytest.mark.parametrize("database", [pytest.param("sqlite", marks=pytest.mark.thorough), "postgresql"])
async def test_the_next_message_is_sent_after_the_worker_of_the_answer_was_killed(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with running(tmp_path, "--database", url) as one, running(tmp_path, "--database", url) as two:
        answer = await one.session.post(f"{one.url}/api/chat", json=chat_body("/hold name=one"))
        await answer.content.readuntil(b"tool-input-available")
        conversation = answer.headers["x-conversation-id"]
        body = {"conversation_id": conversation, "message_id": "m2", "text": "and then?"}
        assert (await ask(one.session, "POST", f"{one.url}/api/pending", json=body))[0] == 201
        await one.end(signal.SIGKILL)

        async def answered():
            stored = (await ask(two.session, "GET", f"{two.url}/api/conversations/{conversation}"))[1]
            return not stored["running"] and not stored["pending"] and stored["messages"]

        (tmp_path / "one.go").touch()
        texts = [part["text"] for one in await until(answered) for part in one["parts"] if one["role"] == "user"]
        assert texts == ["/hold name=one", "and then?"]
        with suppress(aiohttp.ClientError):
            await answer.read()


async def test_a_claimed_message_cannot_be_changed_and_a_void_claim_is_taken_over(tmp_path):
    async with answering(tmp_path) as (site, conversation, slow):
        one = await added(site, conversation, "one")
        now = site.server.clock()
        await claim(site, this_process(), now)
        for answer in (await change(site, one, text="two"), await remove(site, one), await send(site, one)):
            assert answer[0] == 409
            assert "is being sent" in answer[1]["error"]["text"]
        await claim(site, this_process(), now - CLAIM_SECONDS)
        await claim(site, f"{machine()}/{2**22 + 1}/1", now)  # no such process
        slow.may_end.set()
        await until(is_empty, site, conversation)
        assert await questions(site, conversation) == ["/wait", "one"]


async def test_a_message_that_was_sent_by_a_worker_that_died_then_is_not_sent_again(tmp_path):
    async with answering(tmp_path) as (site, conversation, slow):
        one = await added(site, conversation, "one")
        await claim(site, this_process(), site.server.clock())
        slow.may_end.set()
        await until(lambda: lives(site))
        await site.post("one", conversation, id="one")  # what it did last
        assert await queue(site, conversation) == ([], None)
        assert (await change(site, one, text="two"))[0] == 404
        await until(lambda: has_none(site))
        assert await questions(site, conversation) == ["/wait", "one"]


@postgresql_if_thorough
async def test_readers_of_an_answer_at_any_worker_learn_of_changes(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with answering(tmp_path, database=url) as (one, conversation, _), serving(tmp_path, database=url) as two:
        for writer, reader in ((one, two), (two, one)):
            async with reader.session.get(f"/api/chat/{conversation}/stream") as stream:
                await stream.content.readuntil(b"tool-input-available")
                message = await added(writer, conversation, "one")
                async with asyncio.timeout(60):
                    await stream.content.readuntil(b"data-queue")
            await remove(writer, message)


@postgresql_if_thorough
async def test_a_message_that_two_workers_send_is_sent_once(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with answering(tmp_path, database=url) as (one, conversation, slow), serving(tmp_path, database=url) as two:
        await added(one, conversation, "one")
        await claim(one, this_process(), one.server.clock())
        (message,) = (await read_queue(one.store.database, conversation)).messages
        slow.may_end.set()
        await until(lives, one)
        for site in (one, two):
            await send_claimed(site.server, message)
            await until(lives, site)
        assert await questions(two, conversation) == ["/wait", "one"]
