"""Pending messages in tests: an answer that ends when the test says so, and what is sent after it."""

import asyncio
from contextlib import asynccontextmanager

from sqlalchemy import func, select, update

from showandtell.storage.database.tables import pending_messages
from support.slow_answers import slow_answer
from support.two_users import ask


@asynccontextmanager
async def answering(folder, user=None, **settings):
    """A server on which an answer to "m1" runs: the site, the conversation's id, and the tool that it waits for."""
    async with slow_answer(folder, user, **settings) as (site, session, _, slow):
        yield site, (await ask(session, "GET", "/api/conversations"))[1]["conversations"][0]["id"], slow


async def add(site, conversation, text, files=(), session=None, **more):
    """Add a message; the status and what the server answers."""
    body = {"conversation_id": conversation, "message_id": text or "m", "text": text, "files": [*files], **more}
    return await ask(session or site.session, "POST", "/api/pending", json=body)


async def added(site, conversation, text, files=()):
    """Add a message, and return it."""
    status, message = await add(site, conversation, text, files)
    assert status == 201, message
    return message


async def change(site, message, session=None, **changes):
    body = {"revision": message["revision"], **changes}
    return await ask(session or site.session, "PATCH", f"/api/pending/{message['id']}", json=body)


async def remove(site, message, session=None):
    revision = {"revision": message["revision"]}
    return await ask(session or site.session, "DELETE", f"/api/pending/{message['id']}", params=revision)


async def send(site, message):
    return await ask(site.session, "POST", f"/api/pending/{message['id']}/send", json={"revision": message["revision"]})


async def count(site, table):
    return (await site.store.database.read(select(func.count()).select_from(table)))[0][0]


async def queue(site, conversation, session=None):
    """The texts of the pending messages, and why they wait."""
    _, found = await ask(session or site.session, "GET", f"/api/conversations/{conversation}/pending")
    return [message["text"] for message in found["pending"]], found["hold"]


async def questions(site, conversation, user="local"):
    stored = await site.store.open(conversation, user)
    return [one.text for one in stored.messages if one.role == "user"]


async def until(is_so, *arguments):
    """Wait until a coroutine function returns a true value."""
    async with asyncio.timeout(60):
        while not (found := await is_so(*arguments)):  # noqa: ASYNC110 - many tasks may make it true
            await asyncio.sleep(0.02)
    return found


async def is_empty(site, conversation):
    running = (await ask(site.session, "GET", f"/api/conversations/{conversation}"))[1]["running"]
    return not running and await queue(site, conversation) == ([], None)


async def is_paused(site, conversation):
    return (await queue(site, conversation))[1]


async def claim(site, sender, claimed):
    """Claim all messages, as another process does."""
    statement = update(pending_messages).values(sender=sender, claimed=claimed)
    await site.store.database.write(lambda connection: connection.execute(statement))


async def lives(site):
    return not site.server.runs.live_count


async def has_none(site):
    return await count(site, pending_messages) == 0
