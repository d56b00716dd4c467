"""The cost of reading a long conversation, by what doesn't depend on the clock."""

import pytest
from sqlalchemy import event

from showandtell import File, Text
from showandtell.core.messages.message import Draft
from support.coded_responses import load
from support.postgres import each_database, ready_database
from support.serving import PIXEL, serving

pytestmark = pytest.mark.anyio
QUESTIONS, FILES = 250, 200
ANSWER = "The quarter was **good**: revenue grew by {} %, to {} million.\n\n- harbour: {}\n- kiwi: {}\n\n" * 5


async def stored(site, questions, files):
    """The path of a conversation of questions, of which the first have a file each, and answers."""
    conversation = await site.store.create("local")
    for at in range(questions):
        claims = (File.from_bytes(PIXEL, name=f"picture {at}.png"),) if at < files else ()
        for draft in (
            Draft("user", (*claims, Text(f"What is there in picture {at + 1}?"))),
            Draft("assistant", (Text(ANSWER.format(*range(at, at + 20))),), stop="end"),
        ):
            await conversation.record(draft, await conversation.probe(draft))
    return f"/api/conversations/{conversation.id}"


def statements_of(database):
    """The list to which each statement of a database is added from now on."""
    statements = []
    if database.is_sqlite:
        database._reader.set_trace_callback(statements.append)  # reads don't go through the engine
    event.listen(database.engine, "before_cursor_execute", lambda *of: statements.append(of[2]))
    return statements


def is_of_workers(statement):
    """Whether this is a query about all runs, which workers ask every second."""
    return statement.startswith("SELECT showandtell_runs.") and "conversation_id = " not in statement


@each_database
async def test_a_conversation_is_read_with_one_statement(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        path = await stored(site, 3, 1)
        statements = statements_of(site.store.database)
        for expected in (2, 1):  # the session is read once, and cached
            statements.clear()
            found = await load(site.session, path)
            assert len(found.json["messages"]) == 6
            assert len([text for text in statements if not is_of_workers(text)]) == expected, statements


async def test_500_messages_and_200_files_are_at_most_60_kilobytes(tmp_path):
    async with serving(tmp_path) as site:
        found = await load(site.session, await stored(site, QUESTIONS, FILES), "gzip")
        assert (len(found.json["messages"]), len(found.json["attachments"])) == (2 * QUESTIONS, FILES)
        assert 10_000 < len(found.body) <= 60_000


async def test_the_newest_messages_are_those_of_the_whole_conversation(tmp_path):
    async with serving(tmp_path) as site:
        path = await stored(site, 5, 3)
        whole = (await load(site.session, path)).json
        assert (whole["earlier"], len(whole["messages"])) == (False, 10)
        for asked, count in ((1, 2), (2, 2), (3, 4), (9, 10), (10, 10), (99, 10)):
            part = (await load(site.session, f"{path}?newest={asked}")).json
            assert part == {**whole, "earlier": count < 10, "messages": whole["messages"][-count:]}
        for wrong in ("0", "-1", "all"):
            assert (await load(site.session, f"{path}?newest={wrong}")).status == 422


async def test_a_switch_of_branches_returns_the_newest_messages_only_if_asked_to(tmp_path):
    async with serving(tmp_path) as site:
        path = await stored(site, 3, 0)
        last = (await load(site.session, path)).json["messages"][-1]["id"]
        for query, count in (("", 6), ("?newest=2", 2)):
            async with site.session.post(f"{path}/branch{query}", json={"message_id": last}) as response:
                assert len((await response.json())["messages"]) == count


async def test_a_file_that_is_shown_again_came_with_its_first_message(tmp_path):
    async with serving(tmp_path) as site:
        path = await stored(site, 3, 1)
        await site.post("compare with image 1", chat=path.rpartition("/")[2])
        part = (await load(site.session, f"{path}?newest=2")).json
        assert [file["number"] for file in part["attachments"]] == [1]
        assert [item["type"] for item in part["messages"][0]["parts"]] == ["text", "data-reference"]
