"""A tool result over the bound: the model gets its start and end, and reads the rest of it with `get_document`."""

import asyncio
import json
import logging

import pytest

from showandtell import (
    Agent,
    File,
    FilePolicy,
    Text,
    ToolError,
    ToolResult,
    export_conversation,
    get_document,
    import_conversation,
    tool,
    view_file,
)
from showandtell.errors import BadInput
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.fixtures import png
from support.isolated_tools import write_much
from support.scripted import CLAUDE, check_usable, each_api, say, scripted, two_apis, watch
from support.ui_runs import ChatRecorder

#: 240,000 characters. Each line is another one.
LOG = "".join(f"line {at:05} of the longest log\n" for at in range(8000))
CALL = ("c1", "read_log", "{}")


def read_log() -> str:
    """Read the log."""
    return LOG


def run_with(*calls, tools=(read_log, get_document), model=CLAUDE, **settings):
    """A run whose model makes these calls, one after the other, and its script."""
    answers = [say("", call, model=model) for call in calls]
    agent, script = scripted(*answers, say("Done.", model=model), model=model, tools=tools, **settings)
    return agent.run_sync("read the log"), script


def words_of(script, step):
    """All text in a request, with its labels."""
    return json.dumps(script.bodies[step], ensure_ascii=False)


@each_api
def test_every_model_gets_start_and_end_and_where_the_rest_is(model):
    run, script = run_with(CALL, model=model)
    check_usable(run.conversation, model)
    words = words_of(script, 1)
    assert "line 00000" in words
    assert "line 07999" in words
    assert "line 04000" not in words
    assert "characters are left out here; read_log.txt has all of them]" in words
    assert (
        "⟦text 1: read_log.txt, kept out of view (240 kB): get_document(1) reads it in pieces and searches it⟧" in words
    )
    assert len(words) < 60_000


def test_the_file_has_all_of_it_and_people_see_it():
    run, _ = run_with(CALL)
    (file,) = run.files
    assert (file.name, file.media_type, file.number) == ("read_log.txt", "text/plain", 1)
    assert file.read().decode() == LOG
    (receipt,) = run.receipts
    assert (receipt.delivery, receipt.bytes) == ("listed", 0)
    assert receipt.reason == "kept out of the context: the model reads it with get_document"


@two_apis
def test_the_model_reads_all_of_it_piece_by_piece(model):
    read, offset, calls = "", 0, [CALL]
    while offset < len(LOG):
        calls.append((f"c{len(calls) + 1}", "get_document", json.dumps({"number_or_name": 1, "offset": offset})))
        run, _ = run_with(*calls, model=model)
        assert len(run.files) == 1
        answer = run.messages[-2].text
        heading, _, piece = answer.partition(":\n")
        assert heading.startswith(f"text 1 (read_log.txt) as text, characters {offset} to ")
        assert len(answer) <= 40_000
        piece = piece.rpartition("\n")[0]
        read, offset = read + piece, offset + len(piece)
    assert read == LOG


def test_the_model_searches_it():
    arguments = {"number_or_name": "read_log.txt", "search": "LINE 0423"}
    run, _ = run_with(CALL, ("c2", "get_document", json.dumps(arguments)))
    first, place, *_ = run.messages[-2].text.splitlines()
    assert first == f"'LINE 0423' occurs 10 times in text 1 (read_log.txt), which has {len(LOG)} characters:"
    assert place.startswith(f"at {LOG.index('line 04230')}: … ")
    assert "line 04230 of the longest log" in place


def test_a_search_goes_on_where_the_last_one_ended():
    found, offset = [], 0
    while len(found) < 50:
        arguments = {"number_or_name": 1, "search": "LONG", "offset": offset}
        run, _ = run_with(CALL, ("c2", "get_document", json.dumps(arguments)))
        _, *places, more = run.messages[-2].text.splitlines()
        found += [int(line.split(":")[0].removeprefix("at ")) for line in places]
        offset = int(more.removeprefix(f"({8000 - len(found)} more: offset=").removesuffix(")"))
    assert found == [at for at in range(offset) if LOG.startswith("long", at)]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"offset": 10**9}, "has 240000 characters: offset goes from 0 to 240000, not 1000000000"),
        ({"offset": -1}, "offset goes from 0 to 240000, not -1"),
        ({"search": ""}, "search takes 1 to 100 characters, not 0"),
        ({"search": "x" * 101}, "search takes 1 to 100 characters, not 101"),
        ({"return_original": True}, "too long to be shown: get_document(1) reads it in pieces and searches it"),
    ],
)
def test_a_wrong_question_gets_advice(arguments, problem):
    run, _ = run_with(CALL, ("c2", "get_document", json.dumps({"number_or_name": 1, **arguments})))
    assert run.messages[-2].is_error
    assert problem in run.messages[-2].text


@each_api
def test_neither_view_file_nor_a_reference_brings_it_into_the_context(model):
    answers = [say("", call, model=model) for call in (CALL, ("c2", "view_file", '{"number": 1}'))]
    agent, script = scripted(
        *answers, say("Done.", model=model), model=model, tools=[read_log, get_document, view_file]
    )
    run = agent.run_sync("read the log")
    agent.run_sync("look at text 1 again", conversation=run.conversation)
    assert "text 1 = read_log.txt" in words_of(script, -1)
    assert all("line 04000" not in words_of(script, step) for step in range(len(script.bodies)))


def test_without_get_document_the_label_and_the_log_say_that_nothing_reads_it(caplog):
    with caplog.at_level(logging.WARNING, "showandtell.tools"):
        run, script = run_with(CALL, tools=[read_log])
    assert "⟦text 1: read_log.txt, kept out of view (240 kB): no tool here reads it⟧" in words_of(script, 1)
    assert "get_document" not in words_of(script, 1)
    assert run.receipts[0].reason.startswith("kept out of the context: add get_document to the tools")
    (record,) = caplog.records
    assert record.getMessage().startswith("tool read_log returned 240,000 characters, and the model gets 40,000")


def test_the_prompt_of_a_later_step_starts_with_that_of_the_step_before():
    reading = ("c2", "get_document", '{"number_or_name": 1, "offset": 50000}')
    _, script = run_with(CALL, reading)
    before, after = (json.dumps(script.bodies[step]["messages"][:3]) for step in (1, 2))
    assert before.replace(', "cache_control": {"type": "ephemeral"}', "") == after.replace(
        ', "cache_control": {"type": "ephemeral"}', ""
    )


def raise_much() -> str:
    """Fail with a long text."""
    raise ToolError(LOG)


@each_api
def test_an_error_over_the_bound_stays_an_error(model):
    run, script = run_with(("c1", "raise_much", "{}"), tools=[raise_much, get_document], model=model)
    assert run.messages[2].is_error
    assert "line 04000" not in words_of(script, 1)
    assert run.files[0].read().decode() == LOG


def test_a_tool_in_a_process_of_its_own_is_bounded():
    run, script = run_with(("c1", "write_much", "{}"), tools=[write_much, get_document])
    assert len(words_of(script, 1)) < 60_000
    assert len(run.files[0].read()) == 500_000


def test_a_call_that_a_person_allows_is_bounded():
    agent, script = scripted(say("", CALL), say("Done."), tools=[tool(approval=True)(read_log), get_document])
    run = agent.run_sync("read the log")
    agent.run_sync(conversation=run.conversation, approvals={"c1": True})
    assert "line 04000" not in words_of(script, 1)
    assert run.conversation.file(1).read().decode() == LOG


@each_api
def test_files_beside_long_text_are_shown_as_ever(model):
    def show() -> ToolResult:
        """Show a picture and much text."""
        picture = File.from_bytes(png(), "image/png", "red.png")
        return ToolResult(LOG, picture, {"again": picture, "rows": list(range(9000))})

    _, script = run_with(("c1", "show", "{}"), tools=[show, get_document], model=model)
    assert script.files == [0, 2]
    assert "/again:" in words_of(script, 1)
    assert "text 1: show.txt, kept out of view" in words_of(script, 1)


def test_json_over_the_bound_is_cut_in_lines_and_its_file_is_json():
    def rows() -> list[dict]:
        """Many rows."""
        return [{"row": at, "word": "x" * 20} for at in range(5000)]

    run, _ = run_with(("c1", "rows", "{}"), tools=[rows, get_document])
    (file,) = run.files
    assert (file.name, file.media_type) == ("rows.json", "application/json")
    assert json.loads(file.read()) == rows()
    assert run.messages[2].parts[0].text.endswith(("},\n", "\n"))


@pytest.mark.parametrize("start", ["%PDF-1.7\n", "<!doctype html><script>", "\x89PNG\r\n", "\0\1\2", "{\\rtf1"])
def test_text_stays_text_whatever_it_looks_like(start):
    def dump() -> str:
        """Dump memory."""
        return start + LOG

    run, _ = run_with(("c1", "dump", "{}"), tools=[dump, get_document])
    assert (run.files[0].media_type, run.files[0].read().decode()) == ("text/plain", start + LOG)


def test_nothing_is_lost_over_the_limit_of_one_file():
    run, _ = run_with(CALL, max_file_bytes=1000)
    assert run.files[0].read().decode() == LOG


def test_text_for_the_user_is_a_file_for_the_user():
    def tell() -> Text:
        """Tell the user much."""
        return Text(LOG, "user")

    run, script = run_with(("c1", "tell", "{}"), tools=[tell, get_document])
    assert "line 00000" not in words_of(script, 1)
    assert "tell.txt" not in words_of(script, 1)
    assert run.files[0].audience == "user"
    assert len(run.messages[2].text) < 41_000


@pytest.mark.parametrize(("limit", "kept"), [(None, True), (240_000, True), (1000, False)])
def test_the_bound_is_a_setting(limit, kept):
    run, script = run_with(CALL, max_tool_text=limit)
    assert ("line 04000" in words_of(script, 1)) == kept
    assert bool(run.files) != kept


def test_the_smallest_bound_holds_what_get_document_answers():
    calls = [{"offset": 239_000}, {"search": "\0" * 100}, {"search": "line"}, {}]
    for more in calls:
        arguments = json.dumps({"number_or_name": 1, **more})
        run, _ = run_with(CALL, ("c2", "get_document", arguments), max_tool_text=1000)
        assert len(run.messages[-2].text) <= 1000
        assert len(run.files) == 1


def test_a_bound_that_is_too_low_is_refused():
    with pytest.raises(BadInput, match="max_tool_text is 999: give an int of at least 1,000"):
        Agent("inspector", file_policy=FilePolicy(max_tool_text=999))


@pytest.mark.anyio
async def test_it_stays_bounded_when_it_is_stored_exported_and_imported(store, tmp_path):
    conversation = await store.create()
    agent, _ = scripted(say("", CALL), say("Ok."), tools=[read_log, get_document])
    await agent.run("read the log", conversation=conversation)
    await export_conversation(conversation, tmp_path / "out.zip")
    imported = await import_conversation(store, tmp_path / "out.zip")
    for stored in (await store.open(conversation.id), imported):
        reading = say("", ("c2", "get_document", '{"number_or_name": 1, "search": "line 04000"}'))
        agent, script = scripted(reading, say("Ok."), tools=[read_log, get_document])
        run = await agent.run("and now?", conversation=stored)
        assert "line 04000" not in words_of(script, 0)
        assert "'line 04000' occurs 1 time in text 1 (read_log.txt)" in run.messages[2].text
        assert stored.file(1).read().decode() == LOG


@pytest.mark.anyio
async def test_the_page_gets_no_more_than_the_model():
    agent, _ = scripted(say("", CALL), say("Ok."), tools=[read_log, get_document])
    chat = ChatRecorder(agent)
    chunks = await chat.answer("read the log")
    assert sum(map(len, chunks)) < 60_000
    assert b"read_log.txt" in b"".join(chunks)


@pytest.mark.anyio
async def test_a_result_of_a_cancelled_run_is_bounded():
    started = asyncio.Event()

    class SlowConversation(MemoryConversation):
        async def probe(self, draft):
            if draft.role == "tool":
                started.set()
                await asyncio.Event().wait()
            return await super().probe(draft)

    conversation = SlowConversation()
    agent, _ = scripted(say("", CALL), say("Ok."), tools=[read_log, get_document])
    run = agent.run("read the log", conversation=conversation)
    task = asyncio.ensure_future(watch(run))
    await started.wait()
    await run.cancel()
    await task
    assert len(conversation.messages[-1].text) < 41_000
    assert "was not stored" in conversation.attachments[1].problem
