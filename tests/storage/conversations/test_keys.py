"""Conversations by a key of the program's own: found or created, one for all who ask at once, each owner's alone."""

import asyncio

import pytest

from showandtell.errors import BadInput
from showandtell.storage.conversations.library import overview
from support.stores import note, post, two_stores, user_draft

pytestmark = pytest.mark.anyio
KEY = "telegram:123"


async def test_a_key_finds_the_conversation_that_it_created(place):
    async with place.store() as store:
        created = await store.conversation(key=KEY, owner="ann", title="Kiwis")
        await post(created, user_draft("look", note("one")))
    async with place.store() as store:
        found = await store.conversation(KEY, "ann", title="of a new one")
        assert (found.id, found.view()) == (created.id, created.view())
        assert (await overview(store.database, found.id, "ann")).title == "Kiwis"
        assert (await overview(store.database, found.id, "ann")).key == KEY


async def test_programs_that_ask_for_a_key_at_once_get_the_same_conversation(place):
    async with two_stores(place) as stores:
        keys = [f"chat {index % 5}" for index in range(40)]
        found = await asyncio.gather(*(stores[index % 2].conversation(key) for index, key in enumerate(keys)))
        assert len({(key, one.id) for key, one in zip(keys, found, strict=True)}) == 5
        assert len(await stores[0].list()) == 5


async def test_owners_have_the_same_key_each_for_a_conversation_of_their_own(store):
    conversations = [await store.conversation(KEY, owner) for owner in ("ann", "bob", "local")]
    assert (await store.conversation(KEY)).id == conversations[2].id
    assert [one.owner for one in conversations] == ["ann", "bob", "local"]
    assert len({one.id for one in conversations}) == 3


async def test_a_deleted_conversation_frees_its_key(store):
    first = await store.conversation(KEY)
    await store.delete(first.id)
    second = await store.conversation(KEY)
    assert first.id != second.id
    await post(second, user_draft("again"))


async def test_a_conversation_that_is_deleted_while_it_is_opened_is_created_again(place, monkeypatch):
    async with two_stores(place) as (one, two):
        first = await one.conversation(KEY)
        opened = one.open

        async def open_late(*asked):
            await two.delete(first.id)
            return await opened(*asked)

        monkeypatch.setattr(one, "open", open_late)
        second = await one.conversation(KEY)
        assert second.id != first.id
        assert [item.id for item in await two.list()] == [second.id]


@pytest.mark.parametrize("key", ["", "x" * 201, "nul\0", "\ud800", 123, None, b"chat", "conv_" + "a" * 22], ids=ascii)
async def test_a_key_that_cannot_be_stored_is_refused(store, key):
    with pytest.raises(BadInput, match="key"):
        await store.conversation(key)
    assert await store.list() == ()


@pytest.mark.parametrize("key", ["x" * 200, "🥝", " ", "a\nb", "../x?y=%2F", "conv_short"], ids=ascii)
async def test_any_other_text_is_a_key(store, key):
    assert (await store.conversation(key)).id == (await store.conversation(key)).id
