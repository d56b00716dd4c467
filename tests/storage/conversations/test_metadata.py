"""Metadata of conversations: given at the start, replaced later, and never read or changed by anybody else."""

import datetime as dt
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.errors import BadInput, NotFound
from showandtell.storage.conversations.metadata import MAX_METADATA, read_metadata, serialize_metadata
from showandtell.storage.conversations.store import Store
from support.postgres import each_database, ready_database

pytestmark = pytest.mark.anyio
WORDS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    max_leaves=10,
)


@each_database
async def test_a_conversation_keeps_the_metadata_that_it_was_created_with(database, tmp_path):
    about = {"chat": 123, "tags": ["\0", "🥝"], "deep": {"none": None}}
    async with Store(ready_database(database, tmp_path), tmp_path / "blobs") as store:
        made = await store.conversation(key="telegram:123", owner="anna", metadata=about)
        found = await store.conversation(key="telegram:123", owner="anna", metadata={"chat": "another"})
        plain = await store.create("anna")
        assert made.metadata == found.metadata == (await store.open(made.id, "anna")).metadata == about
        assert plain.metadata == (await store.open(plain.id, "anna")).metadata == {}


@each_database
async def test_the_owner_replaces_metadata_as_a_whole(database, tmp_path):
    async with Store(ready_database(database, tmp_path), tmp_path / "blobs") as store:
        conversation = await store.create("anna", metadata={"a": 1, "b": 2})
        await store.share(conversation.id, "anna", "bob", "writer")
        await store.set_metadata(conversation.id, {"c": 3}, "anna")
        await conversation.refresh()
        assert conversation.metadata == (await store.open(conversation.id, "bob")).metadata == {"c": 3}
        for user, id in (("bob", conversation.id), ("anna", "conv_" + "x" * 22)):  # noqa: A001 - it is one
            with pytest.raises(NotFound):
                await store.set_metadata(id, {}, user)


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": dt.date(2026, 1, 1)},
        {1: 2},
        {"a": math.nan},
        {"a": {1, 2}},
        {"a": (1, 2)},
        {"a": object()},
        {"a": "\ud800"},
        [1],
        "a",
        None,
    ],
    ids=["date", "number as a key", "NaN", "set", "tuple", "object", "surrogate", "list", "text", "nothing"],
)
async def test_what_json_does_not_keep_is_refused(wrong, tmp_path):
    async with Store.at(tmp_path) as store:
        with pytest.raises(BadInput, match="metadata"):
            await store.create(metadata=wrong)
        assert await store.list() == ()


def test_metadata_has_a_maximum_size():
    assert serialize_metadata({"a": "x" * (MAX_METADATA - len('{"a":""}'))})
    with pytest.raises(BadInput, match="16,385 bytes as JSON: use up to 16,384"):
        serialize_metadata({"a": "x" * (MAX_METADATA - len('{"a":""}') + 1)})


@given(st.dictionaries(WORDS, VALUES))
def test_metadata_comes_back_as_it_was(metadata):
    assert read_metadata(serialize_metadata(metadata)) == metadata
