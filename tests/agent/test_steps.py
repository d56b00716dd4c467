"""What the steps of a run have in common is done once: threads, checks of stored files, known bytes."""

import threading

import pytest

from showandtell import File, FileCache, RunLimits
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.fixtures import png
from support.scripted import say, scripted

PICTURE = png(40, 40)


def draw() -> File:
    """Draw a picture."""
    return File.from_bytes(PICTURE, name="drawn.png")


class CountingFolder(Folder):
    """Counts the files that are stored, and the checks of stored ones."""

    stored = checked = 0

    def spool(self, *args, **more):
        self.stored += 1
        return super().spool(*args, **more)

    def check(self, *args, **more):
        self.checked += 1
        return super().check(*args, **more)


def calls_of(count, tool="draw"):
    """A model that calls a tool in `count` steps."""
    return [*(say("", (f"{tool}{at}", tool, "{}")) for at in range(count)), say("Drawn.")]


async def run(count, tool=draw, blobs=None):
    """A run of `count` steps with a call each."""
    agent, _ = scripted(*calls_of(count), tools=[tool], limits=RunLimits(steps=count + 1))
    conversation = MemoryConversation(FileCache(blobs or Folder()))
    done = await agent.run("draw", conversation=conversation)
    assert done.status == "complete", done.error
    return done


@pytest.mark.anyio
async def test_a_run_of_many_steps_starts_no_more_threads_than_a_short_one(monkeypatch):
    started, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: started.append(self) or start(self))
    await run(2)
    begun = len(started)
    await run(40)
    # Processes that decode files end by a timer that belongs to no run, and the loop's own pool grows to its few threads.
    others = [
        one for one in started[begun:] if not (isinstance(one, threading.Timer) or one.name.startswith("asyncio_"))
    ]
    assert len(others) <= 2


@pytest.mark.anyio
async def test_known_bytes_are_stored_once_and_checked_once_in_a_run():
    short, long = CountingFolder(), CountingFolder()
    await run(2, blobs=short)
    await run(20, blobs=long)
    assert (long.stored, long.checked) == (1, short.checked)


class CountingCache(FileCache):
    """Counts the files that are probed, which takes a thread."""

    probed = 0

    def probe(self, file):
        self.probed += 1
        return super().probe(file)


@pytest.mark.anyio
@pytest.mark.parametrize(("durable", "probed"), [(False, 1), (True, 20)])
async def test_known_bytes_of_a_tool_need_no_thread_in_a_temporary_folder(tmp_path, durable, probed):
    cache = CountingCache(Folder(tmp_path, durable=durable))
    agent, _ = scripted(*calls_of(20), tools=[draw], limits=RunLimits(steps=21))
    done = await agent.run("draw", conversation=MemoryConversation(cache))
    assert (done.status, len(done.receipts), cache.probed) == ("complete", 20, probed)


@pytest.mark.anyio
async def test_a_file_that_is_lost_during_a_run_is_noticed_when_it_is_sent_and_left_out(tmp_path):
    blobs = Folder(tmp_path)

    def lose() -> str:
        """Lose the picture."""
        for path in tmp_path.rglob("*"):
            if path.is_file():
                path.unlink()
        return "lost"

    agent, _ = scripted(*calls_of(1)[:1], *calls_of(1, "lose"), tools=[draw, lose])
    done = await agent.run("draw", conversation=MemoryConversation(FileCache(blobs)))
    assert done.status == "complete", done.error
    assert [(receipt.delivery, "is missing" in receipt.reason) for receipt in done.receipts] == [("noted", True)]


@pytest.mark.anyio
async def test_a_thread_that_a_tool_occupies_is_replaced_and_used_again_when_it_returns():
    seen, free = [], threading.Event()

    def wait() -> str:
        """Wait for the second call."""
        seen.append(threading.get_ident())
        if len(seen) == 2:
            free.set()
        free.wait(60)
        return "done"

    agent, _ = scripted(say("", ("a", "wait", "{}"), ("b", "wait", "{}")), say("Done."), tools=[wait])
    assert (await agent.run("wait")).status == "complete"
    assert len(set(seen)) == 2
