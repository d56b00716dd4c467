"""Pins, tags and the archive: what a list shows first, what it hides, and who may change that."""

import pytest

from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput
from showandtell.storage.conversations.library import list_conversations
from showandtell.storage.conversations.organizing import MAX_PINS, MAX_TAGS, list_tags, organize
from showandtell.storage.conversations.search import Search
from support.postgres import postgresql_if_thorough
from support.stores import check_not_found, post, user_draft

pytestmark = pytest.mark.anyio


async def talks(store, clock, count, owner="ann"):
    """Conversations called 0, 1, 2 …, each newer than the last."""
    made = []
    for number in range(count):
        clock.now += 1
        conversation = await store.create(owner, title=f"talk {number}")
        await post(conversation, user_draft(f"words {number}"))
        made.append(conversation.id)
    return made


async def listed(store, **asked):
    page = await list_conversations(store.database, "ann", **asked)
    return [conversation.id for conversation in page.conversations], page.next


async def test_pinned_conversations_come_first_and_once(store, clock):
    made = await talks(store, clock, 5)
    await organize(store.database, made[1], "ann", 1.0, pinned=True)
    first, before = await listed(store, limit=2)
    rest, end = await listed(store, limit=2, before=before)
    assert (first, rest, end) == ([made[1], made[4], made[3]], [made[2], made[0]], None)
    await organize(store.database, made[1], "ann", 1.0, pinned=False)
    assert (await listed(store))[0] == made[::-1]


async def test_archived_conversations_are_hidden_and_still_found(store, clock):
    made = await talks(store, clock, 3)
    await organize(store.database, made[1], "ann", 1.0, pinned=True, archived=True)
    assert (await listed(store))[0] == [made[2], made[0]]
    assert (await listed(store, archived=True))[0] == [made[1]]
    assert (await listed(store, search=Search("words")))[0] == made[::-1]
    assert (await listed(store, search=Search("words"), archived=True))[0] == [made[1]]
    page = await list_conversations(store.database, "ann", archived=True)
    assert (page.conversations[0].archived, page.conversations[0].pinned) == (True, True)


async def test_tags_select_conversations_and_are_counted(store, clock):
    made = await talks(store, clock, 4)
    await organize(store.database, made[0], "ann", 1.0, tags=["tax", "  May\n2026 ", "tax"])
    await organize(store.database, made[2], "ann", 1.0, tags=["tax"], pinned=True)
    assert (await listed(store, tag="tax"))[0] == [made[2], made[0]]
    assert (await listed(store, tag="tax", search=Search("words 0")))[0] == [made[0]]
    assert {tag.name: tag.conversations for tag in await list_tags(store.database, "ann")} == {"May 2026": 1, "tax": 2}
    assert (await list_conversations(store.database, "ann", tag="May 2026")).conversations[0].tags == (
        "May 2026",
        "tax",
    )
    assert await list_tags(store.database, "bob") == ()
    assert (await organize(store.database, made[0], "ann", 1.0, tags=[])).tags == ()


async def test_only_the_owner_organizes_a_conversation(store, clock):
    (made,) = await talks(store, clock, 1)
    await store.share(made, "ann", "bob", "writer")
    await check_not_found(
        organize(store.database, made, "bob", 1.0, pinned=True),
        organize(store.database, made, "bob", 1.0, tags=["mine"]),
        organize(store.database, new_id("conv"), "ann", 1.0, archived=True),
    )


@pytest.mark.parametrize("tags", [[""], ["\u202e"], ["x" * 41], [str(number) for number in range(MAX_TAGS + 1)]])
async def test_tags_that_nobody_can_read_are_refused(store, clock, tags):
    (made,) = await talks(store, clock, 1)
    with pytest.raises(BadInput, match=r"tags?.* of 0|can't be stored|at most"):
        await organize(store.database, made, "ann", 1.0, title="new", tags=tags)
    assert (await organize(store.database, made, "ann", 1.0)).title == "talk 0"


@postgresql_if_thorough
async def test_pins_have_a_limit(store, clock):
    made = await talks(store, clock, MAX_PINS + 1)
    for conversation in made[1:]:
        await organize(store.database, conversation, "ann", 1.0, pinned=True)
    with pytest.raises(BadInput, match="unpin one"):
        await organize(store.database, made[0], "ann", 1.0, pinned=True)
    await organize(store.database, made[1], "ann", 2.0, pinned=True)
