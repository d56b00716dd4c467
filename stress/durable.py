"""What programs do before they are killed, and what must be there afterwards, whenever that was."""

import asyncio
import hashlib
import random
import time

import alembic.command
import alembic.config  # noqa: F401 - so that a forked program needn't
import disk
import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401

from showandtell import File, tool
from showandtell.agent.decide import UNKNOWN
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Shown, Text, ToolCall
from showandtell.errors import StorageFailed
from showandtell.storage.blobs.zstd import zstd_module
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.lease import Terms
from support.scripted import CLAUDE, check_usable, say, scripted, watch

zstd_module()
#: Leftovers are younger than a program may take to write them; the check comes later.
LATER = 3 * 3600.0
TURNS = 2


def words(name, size=20_000):
    """Text, which is compressed as it is stored."""
    return File.from_bytes((f"{name}, line after line\n" * size)[:size].encode(), name=f"{name}.txt")


def noise(name, size=30_000):
    """Bytes that nobody compresses."""
    return File.from_bytes(b"\0" + random.Random(name).randbytes(size), name=f"{name}.bin")  # noqa: S311 - for tests


class Teller:
    """Does one step after the other. If the store fails it reports that, the disk recovers, and the step is repeated."""

    def __init__(self, tell):
        self.tell = tell

    async def do(self, make):
        try:
            return await make()
        except StorageFailed as error:
            self.tell("failed", error=type(error).__name__, words=str(error), calls=disk.disarm())
            return await make()

    async def post(self, conversation, draft):
        async def make():
            return await conversation.record(draft, await conversation.probe(draft))

        self.tell_of(conversation, await self.do(make))

    def tell_of(self, conversation, message):
        """It is acknowledged from here on."""
        files = [(item.number, item.facts.sha256) for item in shown(conversation, message) if item.facts]
        self.tell("message", id=message.id, files=files, conversation=conversation.id)


def shown(conversation, message):
    """The attachments of a message."""
    return [conversation.attachments[part.number] for part in message.parts if isinstance(part, Shown)]


def play(scenario, folder, tell):
    """Play one of the scenes below."""
    asyncio.run(SCENES[scenario](folder, Teller(tell)))


async def opened(folder, teller):
    """An open store, whatever becomes of the first try."""

    async def make():
        # Nobody else is there to wait for: what keeps this one waiting is a lease that it lost sight of.
        store = Store.at(folder, terms=Terms(time.time, timeout=0))
        try:
            return await store.__aenter__()
        except BaseException:
            await store.__aexit__()
            raise

    store = await teller.do(make)
    teller.tell("opened")
    return store


async def posts(folder, teller):
    """Upload, user's message, model's call, begin, result with a file, model's answer; twice."""
    store = await opened(folder, teller)
    conversation = await teller.do(store.create)
    teller.tell("conversation", id=conversation.id)
    for turn in range(TURNS):
        call = ToolCall(f"call_{turn}", "draw", "{}")
        await teller.post(conversation, Draft("user", (Text(f"draw {turn}"), words(f"upload {turn}"))))
        await teller.post(conversation, Draft("assistant", (call,), stop="tool_calls"))
        await teller.do(lambda call=call: conversation.start_calls([call]))
        teller.tell("begun", call=call.call_id)
        result = (Text("drawn"), noise(f"result {turn}"), words("the same each time"))
        await teller.post(conversation, Draft("tool", result, call.call_id, call.tool))
        await teller.post(conversation, Draft("assistant", (Text("there"),), stop="end"))
    await store.__aexit__()


def drawing(folder, *answers):
    """An agent whose tool notes that it ran."""

    @tool(name="draw")
    def draw() -> File:
        """Draw."""
        with (folder / "ran").open("ab", buffering=0) as ran:
            ran.write(b"x")
        return noise("drawn")

    return scripted(*answers, tools=[draw])[0]


CALLS, SEES = say("Drawing.", ("call_0", "draw", "{}")), say("Seen.")


async def run(folder, teller):
    """A whole run of an agent, with an upload and a tool."""
    store = await opened(folder, teller)
    conversation = await store.create()
    teller.tell("conversation", id=conversation.id)
    known = 0
    async for _ in drawing(folder, CALLS, SEES).run("Draw this.", files=[words("upload")], conversation=conversation):
        for message in conversation.messages[known:]:
            teller.tell_of(conversation, message)
        known = len(conversation.messages)
    await store.__aexit__()


SCENES = {"posts": posts, "run": run}


def check(folder, received, *, resume=None):
    """Check that acknowledged writes are there, nothing is torn and the conversation continues. Returns its messages."""
    assert not [item["error"] for item in received if item["what"] == "raised"]
    return asyncio.run(check_all(folder, received, resume))


async def check_all(folder, received, resume):
    async with Store.at(folder, clock=lambda: time.time() + LATER) as store:
        assert {item.kind for item in await store.fsck()} <= {"leftover"}
        check_bytes(folder)
        ids = [item["id"] for item in received if item["what"] == "conversation"]
        there = [item.id for item in await store.list()]
        assert set(ids) <= set(there)
        conversation = await store.open(there[0]) if there else await store.create()
        await check_messages(conversation, received)
        agent, text = resume(conversation) if resume else (scripted(say("Still here."))[0], "Are you?")
        run = agent.run(text, conversation=conversation)
        await watch(run)
        assert (run.status, run.error) == ("complete", None)
        check_usable(conversation, CLAUDE)
        await store.collect(grace=0)
        assert await store.fsck() == ()
        assert [*(folder / "blobs" / "spool").glob("*")] == []
        return conversation.messages


async def check_messages(conversation, received):
    """Check all acknowledged messages, in order, with their files; no number and no position is missing."""
    ids = [message.id for message in conversation.messages]
    acknowledged = [item for item in received if item["what"] == "message"]
    assert [id_ for id_ in ids if id_ in {received["id"] for received in acknowledged}] == [
        item["id"] for item in acknowledged
    ]
    assert len(ids) <= len(acknowledged) + 1
    for item in acknowledged:
        for number, sha256 in item["files"]:
            assert hashlib.sha256(conversation.file(number).read()).hexdigest() == sha256
    assert sorted(conversation.attachments) == [*range(1, len(conversation.attachments) + 1)]
    facts = [attachment.facts for attachment in conversation.attachments.values()]
    assert None not in facts
    assert await conversation.check(facts) == {}
    answered = {message.call_id for message in conversation.messages if message.role == "tool"}
    assert {item["call"] for item in received if item["what"] == "begun"} <= conversation.view().started | answered


def check_bytes(folder):
    """Whatever stands under a hash has it, also where no row names it."""
    for path in (folder / "blobs").glob("?" * 32 + "/??/*"):
        data = path.read_bytes()
        whole = zstd_module().decompress(data) if path.suffix else data
        assert hashlib.sha256(whole).hexdigest() == path.stem


def ran(folder):
    """How often the tool did its work."""
    path = folder / "ran"
    return path.stat().st_size if path.exists() else 0


def resumed(folder):
    """Continues a killed run: the model sends what was missing, and no user message is repeated."""

    def resume(conversation):
        called = any(message.role == "assistant" for message in conversation.messages)
        agent = drawing(folder, SEES) if called else drawing(folder, CALLS, SEES)
        return agent, None if conversation.messages else "Draw this."

    return resume


def is_unknown(messages):
    """Whether the model received the notice that the outcome of its call is unknown."""
    return [message.text for message in messages if message.role == "tool"] == [UNKNOWN]
