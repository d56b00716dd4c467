# A union, or JSON whose types the test knows.
# pyright: reportGeneralTypeIssues=false
"""A message that arrives while an answer runs: it stops that answer, waits for its end, or is refused."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from support.postgres import each_database, postgresql_if_thorough, ready_database
from support.serving import chat_body, chunks_of, kinds, serving
from support.slow_answers import slow_answer
from support.two_users import ask

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def answering(folder, user=None, **settings):
    """A server on which an answer to "m1" runs: the site, the answer, and its tool. `user` is one of several."""
    async with slow_answer(folder, user, **settings) as (site, _, answer, slow):
        yield site, answer, slow
    await answer


async def questions(site):
    conversation = await site.store.open((await site.store.newest()).id)
    return [one.text for one in conversation.messages if one.role == "user"]


async def test_the_message_of_a_stock_client_stops_the_running_answer(tmp_path):
    async with answering(tmp_path) as (site, answer, _):
        body = chat_body("Hello", id="m2")
        del body["if_running"]
        status, chunks = await ask_for_chunks(site, body)
        assert (status, kinds(chunks)[-1]) == (200, "finish")
        _, stopped = await answer
        assert "abort" in kinds(stopped)
        assert await questions(site) == ["/wait", "Hello"]


async def ask_for_chunks(site, body, session=None):
    async with (session or site.session).post("/api/chat", json=body) as response:
        return response.status, await chunks_of(response)


async def test_a_message_can_wait_for_the_end_of_the_running_answer(tmp_path):
    async with answering(tmp_path) as (site, answer, slow):
        async with site.session.post("/api/chat", json=chat_body("Hello", id="m2", if_running="queue")) as second:
            assert (second.status, await second.content.readuntil(b"\n\n")) == (200, b":\n\n")
            assert not answer.done()
            slow.may_end.set()
            chunks = await chunks_of(second)
        assert (kinds((await answer)[1])[-1], kinds(chunks)[-1]) == ("finish", "finish")
        assert await questions(site) == ["/wait", "Hello"]


async def test_waiting_messages_are_answered_in_the_order_of_their_arrival(tmp_path):
    async with answering(tmp_path) as (site, _, slow):
        waiting = []
        for number in range(4):
            response = await site.session.post(
                "/api/chat", json=chat_body(f"Hello {number}", id=f"w{number}", if_running="queue")
            )
            waiting.append(response)
        slow.may_end.set()
        assert {kinds(await chunks_of(response))[-1] for response in waiting} == {"finish"}
        assert await questions(site) == ["/wait", *(f"Hello {number}" for number in range(4))]


async def test_a_waiting_message_is_answered_after_its_client_has_left(tmp_path):
    async with answering(tmp_path) as (site, _, slow):
        left = await site.session.post("/api/chat", json=chat_body("Hello", id="m2", if_running="queue"))
        left.close()
        slow.may_end.set()
        status, chunks = await site.post("Hello", id="m2", if_running="queue")
        assert (status, kinds(chunks)[-1]) == (200, "finish")
        assert await questions(site) == ["/wait", "Hello"]


async def test_too_many_waiting_messages_are_refused(tmp_path):
    async with answering(tmp_path) as (site, _, slow):
        bodies = [chat_body("Hello", id=f"w{number}", if_running="queue") for number in range(9)]
        waiting = [await site.session.post("/api/chat", json=body) for body in bodies]
        assert [response.status for response in waiting] == [200] * 8 + [429]
        slow.may_end.set()
        for response in waiting[:8]:
            await chunks_of(response)


async def test_a_message_that_may_not_interrupt_is_refused(tmp_path):
    async with answering(tmp_path) as (site, answer, slow):
        status, problem = await ask(site.session, "POST", "/api/chat", json=chat_body("Hello", id="m2"))
        assert (status, problem["error"]["kind"], answer.done()) == (409, "Busy", False)
        slow.may_end.set()
        assert kinds((await answer)[1])[-1] == "finish"


@pytest.mark.parametrize("wish", ["stop", "queue", "error"])
async def test_an_answer_to_another_person_is_neither_stopped_nor_waited_for(wish, tmp_path):
    async with answering(tmp_path, user="bob") as (site, answer, _):
        ann, bob = site.as_user("ann"), site.as_user("bob")
        conversation = (await ask(bob, "GET", "/api/conversations"))[1]["conversations"][0]["id"]
        await ask(ann, "GET", "/api/me")
        await ask(bob, "PUT", f"/api/conversations/{conversation}/shares/ann", json={"right": "writer"})
        status, problem = await ask(ann, "POST", "/api/chat", json=chat_body("Hi", conversation, "a1", if_running=wish))
        assert status == 409
        assert "another person's message is being answered" in problem["error"]["text"]
        assert not answer.done()


@each_database
@pytest.mark.parametrize("wish", ["stop", "queue"])
async def test_the_answer_may_run_on_another_server(wish, database, tmp_path):
    url = ready_database(database, tmp_path)
    async with answering(tmp_path, database=url) as (one, answer, slow), serving(tmp_path, database=url) as two:
        async with two.session.post("/api/chat", json=chat_body("Hello", id="m2", if_running=wish)) as second:
            if wish == "queue":
                assert await second.content.readuntil(b"\n\n") == b":\n\n"  # it waits
            else:
                await asyncio.wait({answer})
            slow.may_end.set()
            status, chunks = second.status, await chunks_of(second)
        assert (status, kinds(chunks)[-1], await questions(one)) == (200, "finish", ["/wait", "Hello"])
        assert ("abort" in kinds((await answer)[1])) == (wish == "stop")


@pytest.mark.parametrize("wish", ["later", None, 5, ["stop"]])
async def test_an_unknown_wish_is_refused(wish, tmp_path):
    async with serving(tmp_path) as site:
        for path, body in (
            ("/api/chat", chat_body("Hello", if_running=wish)),
            ("/ag-ui", {"threadId": "t", "runId": "r", "messages": [], "forwardedProps": {"if_running": wish}}),
        ):
            assert (await ask(site.session, "POST", path, json=body))[0] == 422


@pytest.mark.parametrize("wish", ["stop", "queue", "error"])
async def test_ag_ui_has_the_same_wishes(wish, tmp_path):
    async with answering(tmp_path) as (site, answer, slow):
        message = {"id": "a1", "role": "user", "content": "Hello"}
        body = {"threadId": "chat", "runId": "r1", "messages": [message], "forwardedProps": {"if_running": wish}}
        async with site.session.post("/ag-ui", json=body) as response:
            if wish == "queue":
                slow.may_end.set()
            received = (await response.read()).decode()
        assert (response.status, "RUN_FINISHED" in received) == ((409, False) if wish == "error" else (200, True))
        slow.may_end.set()
        assert ("abort" in kinds((await answer)[1])) == (wish == "stop")


@postgresql_if_thorough
async def test_a_waiting_message_is_stored_and_seen_by_other_servers(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with answering(tmp_path, database=url) as (one, answer, slow):
        waiting = await one.session.post("/api/chat", json=chat_body("Hello", id="m2", if_running="queue"))
        await waiting.content.readuntil(b"\n\n")
        async with serving(tmp_path, database=url) as two:
            conversation = (await two.store.newest()).id
            listed = await ask(two.session, "GET", f"/api/conversations/{conversation}/pending")
            assert [message["text"] for message in listed[1]["pending"]] == ["Hello"]
            waiting.close()
            slow.may_end.set()
            await answer
            status, chunks = await two.post("Hello", id="m2", if_running="queue")
            assert (status, kinds(chunks)[-1], await questions(two)) == (200, "finish", ["/wait", "Hello"])


async def test_a_waiting_message_is_sent_after_an_answer_that_was_stopped(tmp_path):
    async with answering(tmp_path) as (site, _, _):
        async with site.session.post("/api/chat", json=chat_body("Hello", id="m2", if_running="queue")) as second:
            await second.content.readuntil(b"\n\n")
            await ask(site.session, "POST", "/api/chat/chat/stop")
            assert kinds(await chunks_of(second))[-1] == "finish"
        assert await questions(site) == ["/wait", "Hello"]


async def test_the_stream_of_a_waiting_message_that_was_removed_says_so(tmp_path):
    async with answering(tmp_path) as (site, _, slow):
        async with site.session.post("/api/chat", json=chat_body("Hello", id="m2", if_running="queue")) as second:
            await second.content.readuntil(b"\n\n")
            path = f"/api/conversations/{(await site.store.newest()).id}/pending"
            (message,) = (await ask(site.session, "GET", path))[1]["pending"]
            await ask(site.session, "DELETE", f"/api/pending/{message['id']}", params={"revision": 1})
            slow.may_end.set()
            (error,) = await chunks_of(second)
        assert error == {"type": "error", "errorText": "this message was removed before it was sent"}
        assert await questions(site) == ["/wait"]
