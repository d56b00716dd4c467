"""People under display names that are unique on a server, and how one finds another."""

import asyncio

import pytest

from showandtell.errors import BadInput, NotFound
from showandtell.storage.conversations.users import UNNAMED, lookup, name_of, remember
from support.stores import two_stores

pytestmark = pytest.mark.anyio


async def test_namesakes_get_numbers_and_keep_them(store):
    names = [
        await remember(store.database, id_, name, 1.0) for id_, name in (("a", "Ann"), ("b", "ann"), ("c", "Ann (7)"))
    ]
    assert names == ["Ann", "ann (2)", "Ann (3)"]
    assert [await remember(store.database, id_, "Ann", 2.0) for id_ in ("c", "b")] == ["Ann (3)", "Ann (2)"]
    assert await remember(store.database, "b", "", 3.0) == await name_of(store.database, "b") == "Ann (2)"
    assert await remember(store.database, "b", "Beth", 4.0) == "Beth"


async def test_namesakes_are_those_whose_names_look_alike(store):
    names = ["Ann", "\u0410nn", "\u00c4NNE", "\u00e4nne", "Ann 2", "A-n-n"]
    given = [await remember(store.database, f"id{at}", name, 1.0) for at, name in enumerate(names)]
    assert given == ["Ann", "\u0410nn (2)", "\u00c4NNE", "\u00e4nne (2)", "Ann 2 (2)", "A-n-n (3)"]
    for ambiguous in ("Ann", "\u0410nn", "\u00e4nne"):
        with pytest.raises(BadInput, match="several people") if ambiguous != "\u0410nn" else pytest.raises(NotFound):
            await lookup(store.database, ambiguous)
    assert await lookup(store.database, "\u00c4nne (2)") == "id3"


async def test_people_without_a_name_get_numbers_too(store):
    assert [await remember(store.database, id_, "", 1.0) for id_ in "ab"] == [UNNAMED, f"{UNNAMED} (2)"]
    assert await remember(store.database, "a", "Ann", 2.0) == "Ann"
    with pytest.raises(NotFound):
        await lookup(store.database, f"{UNNAMED} (2)")


async def test_processes_that_store_namesakes_at_the_same_time_give_each_a_name(place):
    async with two_stores(place) as stores:
        works = [remember(stores[at % 2].database, f"id{at // 2}", "Ann", 1.0) for at in range(12)]
        names = await asyncio.gather(*works)
    assert set(names) == {"Ann", *(f"Ann ({number})" for number in range(2, 7))}


async def test_people_are_found_by_account_id_or_by_their_name_in_full(store):
    for id_, name in (("ann@id", "Ann"), ("bob@id", "Bob Lee"), ("ann2@id", "Ann"), ("x@id", "100% Al")):
        await remember(store.database, id_, name, 1.0)
    found = [await lookup(store.database, text) for text in ("ann@id", " bob  lee ", "Ann (2)", "100% Al")]
    assert found == ["ann@id", "bob@id", "ann2@id", "x@id"]
    with pytest.raises(BadInput, match="several people"):
        await lookup(store.database, "Ann")
    for nobody in ("Bob", "bob@i", "%", "_nn", "Ann (9)", "", "1000"):
        with pytest.raises(NotFound, match="nobody who has signed in"):
            await lookup(store.database, nobody)
