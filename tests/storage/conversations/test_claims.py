"""A file that is attached again: by its number in its conversation, as a file of its own in another one."""

from dataclasses import replace

import pytest

from showandtell import File, Shown
from showandtell.core.messages.file import details_of
from support.stores import show

pytestmark = pytest.mark.anyio
#: A file with each detail.
DETAILED = replace(
    File.from_bytes(b"salary", "text/plain", "salary.txt", "what I earn", id="s-1", metadata={"year": 2026}),
    in_context=False,
    convert=False,
)


@pytest.mark.parametrize("audience", ["both", "user", "assistant"])
async def test_a_file_keeps_every_detail_in_another_conversation_of_its_owner(store, audience):
    file = replace(DETAILED, audience=audience)
    there, here = await show(store, file), await store.create("local")
    claimed = await store.uploads("local").claim(there.attachments[1].id, here.id)
    assert details_of(claimed) == details_of(file)
    assert claimed.read() == b"salary"


async def test_another_person_gets_a_file_without_the_programs_own_data(store):
    there, here = await show(store, DETAILED, owner="ann"), await store.create("bob")
    await store.share(there.id, "ann", "bob", "reader")
    claimed = await store.uploads("bob").claim(there.attachments[1].id, here.id)
    own = {"id": None, "metadata": None, "shared_by": claimed.shared_by}
    assert details_of(claimed) == details_of(DETAILED) | own
    assert claimed.shared_by


async def test_a_file_of_the_same_conversation_is_shown_again(store):
    there = await show(store, DETAILED)
    file = there.attachments[1]
    assert await store.uploads("local").claim(file.id, there.id) == Shown(1, file.id)
