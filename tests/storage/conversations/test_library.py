"""Lists of conversations: order, search, running; titles, clients' own names, and what users set."""

import asyncio

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import insert

from showandtell.core.messages.ids import new_id
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.errors import BadInput, Busy, NotFound, StorageFailed
from showandtell.storage.conversations.keys import find_key
from showandtell.storage.conversations.library import list_conversations, overview
from showandtell.storage.conversations.organizing import organize
from showandtell.storage.conversations.preferences import Preferences, change_preferences, read_preferences
from showandtell.storage.conversations.search import Search, SearchTerms
from showandtell.storage.database.tables import preferences, runs
from support.postgres import on_sqlite
from support.properties import examples
from support.stores import CALL, check_not_found, post, user_draft

pytestmark = pytest.mark.anyio


async def talk(store, *words, owner="ann", key=None):
    """A conversation in which these words were said, one message after the other."""
    conversation = await store.create(owner, key=key)
    for word in words:
        await post(conversation, user_draft(word))
    return conversation.id


async def search(store, words, owner="ann", **asked):
    return [
        conversation.id
        for conversation in (await list_conversations(store.database, owner, Search(words), **asked)).conversations
    ]


async def rename(database, conversation_id, owner, title):
    return (await organize(database, conversation_id, owner, 1.0, title=title)).title


async def begin_run(store, conversation_id, model="inspector:gemini", state="running"):
    row = {
        "id": new_id("run"),
        "conversation_id": conversation_id,
        "user_id": "ann",
        "model": model,
        "state": state,
        "stop": 0,
        "worker": "w",
        "beat": 0.0,
        "tries": 0,
        "created": 1.0,
    }
    await store.database.write(lambda connection: connection.execute(insert(runs), row))


async def test_a_list_goes_on_where_it_ended_and_gives_each_once(store, clock):
    made = []
    for number in range(7):
        clock.now += 1
        made.append(await talk(store, f"talk {number}"))
    await talk(store, "of another", owner="bob")
    seen, before = [], None
    while True:
        found = await list_conversations(store.database, "ann", limit=3, before=before)
        seen += [conversation.id for conversation in found.conversations]
        before = found.next
        if before is None:
            break
    assert seen == made[::-1]


async def test_a_list_says_where_a_run_goes_on(store):
    one, two = await talk(store, "one"), await talk(store, "two")
    await begin_run(store, one)
    await begin_run(store, two, state="ended")
    found = await list_conversations(store.database, "ann")
    assert {row.id: row.running for row in found.conversations} == {one: True, two: False}
    assert {row.messages for row in found.conversations} == {1}


async def test_words_are_found_in_titles_and_in_what_was_written(store):
    invoice = await talk(store, "Look at this", "The INVOICE says 200 € in total")
    other = await talk(store, "a harbour")
    await rename(store.database, other, "ann", "Invoices of May")
    assert set(await search(store, "invoice")) == {invoice, other}
    assert await search(store, "total Invoice") == [invoice]
    assert await search(store, "harbour invoice") == []
    assert await search(store, "invoice", owner="bob") == []


@pytest.mark.parametrize("word", ["user", "parts", "role", "type", "text", "msg_", "%", "_", "!", '":"', "audience"])
async def test_how_a_record_is_written_is_no_word_of_it(store, word):
    await talk(store, "hello there")
    mine = await talk(store, f"say {word} again")
    assert await search(store, word) == [mine]


@pytest.mark.parametrize(
    "text", ['a "quoted" word', "back\\slash", "tab\there", "nul\0here", "ÄRGER in Łódź", "中文字", "ЖУК"]
)
async def test_any_characters_are_found_in_either_case(store, text):
    there = await talk(store, "first words", text)
    for word in text.split():
        assert await search(store, word.lower()) == await search(store, word.upper()) == [there]


async def test_words_for_the_model_alone_are_not_found(store):
    conversation = await store.create("ann")
    await post(conversation, user_draft("hello"))
    await post(conversation, Draft("user", (Text("hi"), Text("a secret hint", "model"))))
    await post(conversation, Draft("assistant", (Text("calling"), ToolCall("c1", "draw", '{"what": "castle"}'))))
    assert await search(store, "calling") == [conversation.id]
    assert await search(store, "hint") == await search(store, "castle") == []


async def test_a_match_names_the_message_as_the_page_knows_it(store):
    conversation = await store.create("ann")
    first = await post(conversation, user_draft("Draw a castle"))
    await post(conversation, Draft("assistant", (Text("I draw it"), CALL)))
    await post(conversation, Draft("tool", (Text("A tower is drawn"),), call_id=CALL.call_id, tool="draw"))
    await post(conversation, Draft("assistant", (Text("Here is the keep"),), stop="end"))
    second = await post(conversation, user_draft("And a moat"))
    answer = first.id.replace("msg_", "ans_")
    expected = {"castle": first.id, "draw it": answer, "tower": answer, "keep": answer, "moat": second.id}
    for words, message_id in expected.items():
        (found,) = (await list_conversations(store.database, "ann", Search(words))).conversations
        assert found.match.message_id == message_id, words
    await organize(store.database, conversation.id, "ann", 1.0, title="Fortresses")
    (found,) = (await list_conversations(store.database, "ann", Search("fortress"))).conversations
    assert (found.match.title, found.match.message_id) == (True, None)


async def test_an_answer_without_a_question_has_no_id_for_the_page(store):
    conversation = await store.create("ann")
    await post(conversation, Draft("assistant", (Text("Welcome to the castle"),), stop="end"))
    (found,) = (await list_conversations(store.database, "ann", Search("castle"))).conversations
    assert (found.match.message, found.match.message_id) == ("Welcome to the castle", None)


async def test_a_search_goes_on_behind_what_it_has_found(store, clock):
    made = []
    for number in range(6):
        clock.now += 1
        made.append(await talk(store, "harbour" if number % 2 else "kiwi"))
    first = await list_conversations(store.database, "ann", Search("harbour"), limit=2)
    rest = await list_conversations(store.database, "ann", Search("harbour"), limit=2, before=first.next)
    assert [conversation.id for conversation in (*first.conversations, *rest.conversations)] == [
        made[5],
        made[3],
        made[1],
    ]
    assert rest.next is None


@on_sqlite
@examples(40, suppress=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=20), st.text(min_size=1, max_size=20), st.text(max_size=20))
async def test_what_stands_in_a_message_is_found_by_any_of_its_words(store, before, word, after):
    words = SearchTerms(word).terms
    there = await talk(store, f"x {before}{word}{after}".encode(errors="replace").decode())
    asked = " ".join(words).encode(errors="replace").decode()
    assert not words or there in await search(store, asked, limit=1000)


async def test_only_the_owner_gives_a_title_and_it_stays_on_one_line(store):
    one = await talk(store, "hello")
    await store.share(one, "ann", "bob", "writer")
    assert await rename(store.database, one, "ann", "  A new\n name\u202e ") == "A new name"
    assert (await overview(store.database, one, "bob")).title == "A new name"
    await check_not_found(
        rename(store.database, one, "bob", "Mine"), rename(store.database, new_id("conv"), "ann", "x")
    )
    for title in ("", " \n", "x" * 201):
        with pytest.raises(BadInput, match="characters can't be stored"):
            await rename(store.database, one, "ann", title)


async def test_an_overview_says_the_right_the_key_and_the_model_that_answered_last(store):
    one = await talk(store, "hello", key="chat 1")
    await store.share(one, "ann", "bob", "reader")
    await begin_run(store, one)
    mine, theirs = await overview(store.database, one, "ann"), await overview(store.database, one, "bob")
    assert (mine.right, mine.key, mine.model, mine.running) == ("owner", "chat 1", "inspector:gemini", True)
    assert (theirs.right, theirs.key, theirs.owner) == ("reader", None, "ann")
    await check_not_found(overview(store.database, one, "eve"))


async def test_a_clients_name_is_its_owners_alone_and_stays_with_the_first(store):
    one = await talk(store, "one", key="chat")
    with pytest.raises(Busy):
        await talk(store, "two", key="chat")
    theirs = await talk(store, "of bob", owner="bob", key="chat")
    assert [await find_key(store.database, who, "chat") for who in ("ann", "bob", "eve")] == [one, theirs, None]
    await check_not_found(find_key(store.database, "ann", theirs))
    for strange in ("", "x" * 201, "nul\0"):
        with pytest.raises(BadInput):
            await find_key(store.database, "ann", strange)


async def test_what_is_deleted_has_no_key_any_more(store):
    one = await talk(store, "one", key="two")
    await store.delete(one, "ann")
    assert await find_key(store.database, "ann", "two") is None
    with pytest.raises(NotFound):
        await overview(store.database, one, "ann")


async def test_preferences_are_kept_for_each_user(store):
    wanted = Preferences("inspector:gemini", "Be brief.\0", "dark")
    await change_preferences(store.database, "ann", theme="light")
    changes = {"model": "inspector:gemini", "instructions": "Be brief.\0", "theme": "dark"}
    assert await change_preferences(store.database, "ann", **changes) == wanted
    assert await read_preferences(store.database, "ann") == wanted
    assert await read_preferences(store.database, "bob") == Preferences()


async def test_two_who_set_different_things_at_once_both_get_their_way(store):
    changes = ({"instructions": "Be brief."}, {"theme": "dark"}, {"model": "inspector:gemini"})
    await asyncio.gather(*(change_preferences(store.database, "ann", **change) for change in changes))
    assert await read_preferences(store.database, "ann") == Preferences("inspector:gemini", "Be brief.", "dark")


async def test_settings_that_are_damaged_can_be_set_again(store):
    row = {"owner": "ann", "record": "{"}
    await store.database.write(lambda connection: connection.execute(insert(preferences), row))
    with pytest.raises(StorageFailed, match="set them again"):
        await read_preferences(store.database, "ann")
    assert await change_preferences(store.database, "ann", theme="dark") == Preferences(theme="dark")
    assert await read_preferences(store.database, "ann") == Preferences(theme="dark")
