"""Stored conversations in numbers: two writers, damaged blobs, backups, clocks that jump, names, floods (promises C, F)."""

import asyncio
import contextlib
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from durable import LATER, noise, words
from hostile_names import HOSTILE

from showandtell import File
from showandtell.core.collect.sanitize import clean
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.errors import Busy, LeaseLost
from showandtell.storage.conversations.store import Store
from support.concurrent_writers import check_order, write_concurrently
from support.fixtures import png
from support.postgres import each_database
from support.scripted import CLAUDE, check_usable, say, scripted, watch
from support.stores import Place, Time, places, post, user_draft

BENCH = Path(__file__).parent.parent / "bench"
#: How a note says that its file's bytes are lost.
GONE = re.compile(
    "its stored bytes can't be used|is gone or no longer|no longer matches its hash|is missing|has .* bytes"
)
YEAR = 365 * 24 * 3600.0


@each_database
def test_two_processes_post_a_thousand_messages_without_a_gap_a_loss_or_a_double(database, tmp_path):
    posts, begun = 500, time.perf_counter()
    check_order(posts, *asyncio.run(write_concurrently(Place(database, tmp_path), posts)))
    print(f"{database}: {2 * posts} posts in {time.perf_counter() - begun:.1f} s")  # noqa: T201


def line(name):
    return words(name, 50)


def picture(name):
    return File.from_bytes(png(16, 16, tuple(random.Random(name).randbytes(3))), name=f"{name}.png")  # noqa: S311 - for tests


def damage(blob, how):
    """A blob as a bad disk, or a hand, might leave it."""
    blob.chmod(0o600)
    data = bytearray(blob.read_bytes())
    match how % 3:
        case 0:
            data[random.Random(how).randrange(len(data))] ^= 1 << how % 8  # noqa: S311 - for tests
            blob.write_bytes(data)
        case 1:
            blob.write_bytes(data[: len(data) // 2])
        case 2:
            blob.unlink()


def test_each_of_100_damaged_blobs_is_found_its_chat_opens_and_a_note_takes_the_files_place(tmp_path):
    async def write():
        async with Store.at(tmp_path) as store:
            for chat in range(10):
                conversation = await store.create()
                files = [(words, picture, line)[at % 3](f"{chat} {at}") for at in range(10)]
                await post(conversation, Draft("user", (Text("look"), *files)))

    async def read():
        async with Store.at(tmp_path) as store:
            found = await store.fsck()
            assert all(item.files for item in found)
            for one in await store.list():
                conversation = await store.open(one.id)
                run = scripted(say("They are gone."))[0].run("Well?", conversation=conversation)
                await watch(run)
                assert run.status == "complete"
                assert [receipt.delivery for receipt in run.receipts] == ["noted"] * 10
                reasons = [receipt.reason for receipt in run.receipts]
                assert [reason for reason in reasons if not GONE.search(reason)] == []
            return len(found)

    asyncio.run(write())
    blobs = sorted(tmp_path.glob("blobs/*/??/*"))
    for how, blob in enumerate(blobs):
        damage(blob, how)
    assert (len(blobs), asyncio.run(read())) == (100, 100)


def back_up(live, copy):
    """As docs/reliability.md says: the database first, by its own means, and the blobs after it."""
    copy.mkdir()
    with (
        contextlib.closing(sqlite3.connect(live / "showandtell.db")) as source,
        contextlib.closing(sqlite3.connect(copy / "showandtell.db")) as target,
    ):
        source.backup(target)
    shutil.copytree(live / "blobs", copy / "blobs", ignore=shutil.ignore_patterns("spool"))


def test_a_backup_that_was_made_while_others_write_is_whole(tmp_path):
    async def write(conversation, stop):
        while not stop.is_set():
            await write_one(conversation)

    async def write_one(conversation):
        at = len(conversation.messages)
        await post(conversation, Draft("user", (Text("look"), words(str(at)), noise(str(at)))))

    async def run():
        counts = []
        async with Store.at(tmp_path / "live") as store:
            conversation, stop = await store.create(), asyncio.Event()
            await write_one(conversation)
            writing = asyncio.create_task(write(conversation, stop))
            for at in range(20):
                before = len(list((tmp_path / "live").glob("blobs/*/??/*")))
                await asyncio.to_thread(back_up, tmp_path / "live", tmp_path / str(at))
                counts.append(len(list((tmp_path / "live").glob("blobs/*/??/*"))) - before)
            stop.set()
            await writing
        assert sum(counts) >= 5
        return [await restored(tmp_path / str(at)) for at in range(20)]

    sizes = asyncio.run(run())
    assert sizes == sorted(sizes)
    assert sizes[-1] >= 5


async def restored(folder):
    """How many messages a copy has; all that they name is there, and what nobody names goes."""
    async with Store.at(folder, clock=lambda: time.time() + LATER) as store:
        assert {item.kind for item in await store.fsck()} <= {"leftover"}
        await store.collect(grace=0)
        assert await store.fsck() == ()
        found = [await store.open(item.id) for item in await store.list()]
        for conversation in found:
            check_usable(conversation, CLAUDE)
        return sum(len(item.messages) for item in found)


@each_database
def test_order_is_kept_and_nobody_waits_for_a_year_while_clocks_jump(database, tmp_path):
    async def run():
        chance, received, refused = random.Random(8), [], 0  # noqa: S311 - for tests
        clocks, place = (Time(), Time()), Place(database, tmp_path)
        async with place.store(terms=clocks[0].terms()) as one, place.store(terms=clocks[1].terms()) as two:
            first = await one.create()
            talks = first, await two.open(first.id)
            for at in range(100):
                who = chance.randrange(2)
                try:
                    async with talks[who].turn:
                        for part in range(3):
                            clocks[who].now += chance.choice((-YEAR, 10 * YEAR, 0.0, 40.0, -40.0))
                            if part == 1 and chance.random() < 0.3:
                                clocks[1 - who].now += chance.choice((-YEAR, 10 * YEAR))
                                received += await attempt(talks[1 - who], clocks[1 - who], f"{at} between")
                            received.append((await post(talks[who], user_draft(f"{at} {part}"))).id)
                except LeaseLost:
                    refused += 1
            again = await one.open(first.id)
            assert [message.id for message in again.messages] == received
            assert len(received) >= 150
            assert await places(one) == [*range(1, len(received) + 1)]
        return refused

    assert asyncio.run(run()) >= 1


async def attempt(conversation, clock, text):
    """Post while somebody else has the turn, by a clock that may say otherwise; gives the ids of what was stored."""
    before = clock.now
    try:
        return [(await post(conversation, user_draft(text))).id]
    except Busy:
        assert clock.now - before < 60
        return []


@each_database
def test_no_hostile_name_breaks_the_store_or_leaves_its_folder(database, tmp_path):
    (tmp_path / "root").mkdir()
    place = Place(database, tmp_path / "root")

    async def run():
        async with place.store() as store:
            conversation = await store.create(title="names")
            async with conversation.turn:
                for at, name in enumerate(HOSTILE):
                    file = File(f"file {at}".encode(), name, name, name)
                    await post(conversation, clean(Draft("user", (Text(name), file))))
                    wire = name.encode("utf-8", "replace").decode()  # no JSON of a provider may hold half a letter
                    await post(conversation, clean(Draft("tool", (Text(name), file), f"{wire}{at}", wire)))
            titles = [await store.create(title=name) for name in HOSTILE]
            again = await store.open(conversation.id)
            assert again.view() == conversation.view()
            assert len(again.attachments) >= 2 * len(HOSTILE)  # and those that words hold as data: URIs
            assert not [
                attachment.name for attachment in again.attachments.values() if {*"/\\\r\n\0"} & {*attachment.name}
            ]
            assert await store.fsck() == ()
            return len(titles)

    assert asyncio.run(run()) == len(HOSTILE) >= 515
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
    assert {path.name.partition("-")[0] for path in (tmp_path / "root").iterdir()} <= {"blobs", "test.db"}


def test_ten_uploads_of_2_gb_are_refused_while_they_stream_and_are_not_held(tmp_path):
    command = [sys.executable, BENCH / "store.py", "flood"]
    done = subprocess.run(  # noqa: S603
        command, check=True, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    mib, seconds, left, _ = done.stdout.split()
    assert float(mib) < 300
    assert int(left) == 0
    print(f"{mib} MiB, {seconds} s")  # noqa: T201
