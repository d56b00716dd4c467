"""Turns: owners get places in turn, wait for a bounded time, and have a budget of seconds."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from showandtell.errors import TooBusy
from showandtell.media import turns
from showandtell.media.turns import MAX_WAITING, Budget, Turns
from showandtell.media.worker import WorkerPool

#: A child that answers once its input has a second line, and says which request it was.
PATIENT = (sys.executable, "-c", "import sys\nfor line in sys.stdin: print(line, end='', flush=True)")

pytestmark = pytest.mark.anyio


async def queue(places, owners, order):
    """Tasks that wait for a place one after another, and note their owner when they have it."""

    async def take(owner):
        async with places.awaited(owner, 30):
            order.append(owner)

    tasks = [asyncio.create_task(take(owner)) for owner in owners]
    await asyncio.sleep(0)
    return tasks


async def test_owners_get_places_in_turn():
    places, order = Turns("files", 1), []
    with places.taken("ann", 5):
        tasks = await queue(places, ["ann"] * 5 + ["bob", "eve"], order)
        assert order == []
    await asyncio.gather(*tasks)
    assert order == ["ann", "bob", "eve", "ann", "ann", "ann", "ann"]


async def test_an_owner_alone_leaves_one_place_for_the_next():
    places, order = Turns("files", 3), []
    with places.taken("ann", 5), places.taken("ann", 5):
        tasks = await queue(places, ["ann"], order)
        with places.taken("bob", 5):
            assert order == []
    await asyncio.gather(*tasks)


async def test_an_owner_has_one_place_while_others_wait(monkeypatch):
    places = Turns("files", 3)
    with places.taken("bob", 5):
        pass
    with places.taken("ann", 5), pytest.raises(TooBusy), places.taken("ann", 0.01):
        raise AssertionError
    monkeypatch.setattr(turns, "PRESENT_SECONDS", 0.0)  # bob has left
    with places.taken("ann", 5), places.taken("ann", 5):
        pass


async def test_an_owner_who_takes_other_places_is_present_for_all():
    places, others = Turns("files", 3), Turns("runs", 3)
    with others.taken("bob", 5):
        pass
    with places.taken("ann", 5), pytest.raises(TooBusy), places.taken("ann", 0.01):
        raise AssertionError


def test_an_owner_alone_has_a_limit_too():
    places = Turns("uploads", each=2, alone=3)
    with places.taken("ann", 5), places.taken("ann", 5), places.taken("ann", 5):
        with pytest.raises(TooBusy), places.taken("ann", 0.01):
            raise AssertionError
        with places.taken("bob", 5), places.taken("bob", 5):
            pass


async def test_a_wait_that_is_too_long_ends_with_advice_and_without_a_place():
    places = Turns("files", 1)
    late = pytest.raises(TooBusy, match=r"waited 0\.01 s behind other files: try again later, with fewer at once")
    with places.taken("ann", 5), late:
        async with places.awaited("bob", 0.01):
            raise AssertionError
    with places.taken("eve", 5), pytest.raises(TooBusy), places.taken("bob", 0.01):
        raise AssertionError


async def test_a_cancelled_wait_leaves_the_place_to_the_next():
    places, order = Turns("files", 1), []
    with places.taken("ann", 5):
        tasks = await queue(places, ["bob", "bob", "eve"], order)
        tasks[0].cancel()
        await asyncio.wait([tasks[0]])
    await asyncio.gather(*tasks[1:])
    assert order == ["bob", "eve"]


async def test_a_wait_cancelled_as_it_gets_its_place_gives_it_back():
    places, order = Turns("files", 1), []
    with places.taken("ann", 5):
        (task,) = await queue(places, ["bob"], order)
    task.cancel()  # the place is given, but the task has not run since
    await asyncio.wait([task])
    with places.taken("eve", 5):
        assert order == []


async def test_the_requests_of_one_owner_that_wait_are_bounded():
    places, order = Turns("files", 1), []
    with places.taken("ann", 5):
        tasks = await queue(places, ["ann"] * MAX_WAITING, order)
        with pytest.raises(TooBusy, match=f"{MAX_WAITING} of your files are waiting") as full:
            places.check("ann")
        places.check("bob")
    await asyncio.gather(*tasks)
    assert full.value.retry_after > 0


def test_threads_share_places_without_losing_one():
    places, held, counts = Turns("files", 3), [], []

    def work(number):
        with places.taken(f"owner {number % 7}", 30):
            held.append(number)
            counts.append(len(held))
            held.remove(number)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(500)))
    assert max(counts) <= 3
    with ExitStack() as stack:
        for owner in "abc":
            stack.enter_context(places.taken(owner, 5))


def test_a_budget_counts_seconds_per_window():
    now = [0.0]
    budget = Budget(10, 60, lambda: now[0])
    budget.charge("ann", 9)
    budget.check("ann")
    budget.charge("ann", 9)
    with pytest.raises(TooBusy, match="try again in 60 s") as over:
        budget.check("ann")
    assert over.value.retry_after == 60
    budget.check("bob")
    now[0] = 61.0
    budget.check("ann")


def test_a_child_without_work_is_ended():
    pool, ended = WorkerPool(PATIENT, 1, idle=0.05), threading.Event()
    pool.ask({"a": 1}, 30)
    process = pool.workers[0].process
    threading.Thread(target=lambda: (process.wait(), ended.set()), daemon=True).start()
    assert ended.wait(60)
    assert pool.ask({"a": 2}, 30)["a"] == 2
    pool.stop()


def test_a_frozen_child_takes_no_large_request():
    pool = WorkerPool((sys.executable, "-c", "import time; time.sleep(600)"), 1)
    with pytest.raises(Exception, match=r"could not be decoded within 0\.2 s"):
        pool.ask({"text": "x" * 1_000_000}, 0.2)
    assert pool.workers[0].process is None


def test_children_work_on_the_budget_of_the_owner():
    pool = WorkerPool(PATIENT, 1, budget=Budget(1e-9))
    pool.ask({"a": 1}, 30, "ann")
    with pytest.raises(TooBusy, match="used 1e-09 s of decoding"):
        pool.ask({"a": 1}, 30, "ann")
    assert pool.ask({"a": 3}, 30, "bob")["a"] == 3
    pool.stop()
