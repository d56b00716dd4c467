"""Stored conversations continue with other providers after a restart, text refers to files, a crash runs nothing twice."""

import asyncio
import hashlib
import io
import threading

import docx as docx_module
import pytest

from showandtell import File, ToolResult, tool
from showandtell.agent.decide import UNKNOWN
from showandtell.core.events.types import ToolStart
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import ToolCall
from showandtell.inspector.request import files_of
from showandtell.storage.conversations.store import Store
from support.fixtures import jpeg, pdf, png
from support.scripted import (
    CLAUDE,
    CONVERSE,
    GEMINI,
    GPT,
    MODELS,
    RESPONSES,
    check_usable,
    say,
    scripted,
    two_apis,
    watch,
)
from support.stores import post, user_draft

KIWI, WALL, REPORT = png(20, 20, (0, 200, 0)), jpeg(30, 30), pdf("The total is 42 EUR.")


@tool(name="gdrive_display_image")
def display() -> File:
    """Show the picture of a wall from the drive."""
    return File.from_bytes(WALL, name="accent_wall.jpg")


def speak(folder, model, *answers, text="hi", files=(), tools=(display,), which=None, **settings):
    """One run of a program that opens the store, talks, and ends; gives the run, the script, its id."""

    async def go():
        async with Store.at(folder) as store:
            conversation = await store.open(which) if which else await store.create()
            agent, script = scripted(*answers, model=model, tools=tools, **settings)
            run = agent.run(text, files=files, conversation=conversation)
            events = await watch(run)
            return run, script, events

    run, script, events = asyncio.run(go())
    assert run.error is None
    return run, script, events


def hashes(asked):
    """What the last turn of a request holds, by the bytes that the strict reader found there."""
    return [hashlib.sha256(seen.data or b"").hexdigest() for seen in files_of(asked.turns[-1])]


def sha(data):
    return hashlib.sha256(data).hexdigest()


def blob_of(folder, data):
    """Where a store keeps these bytes."""
    (blob,) = (folder / "blobs").rglob(sha(data))
    return blob


@pytest.mark.parametrize("model", [GPT, RESPONSES, GEMINI, CONVERSE])
def test_a_conversation_made_with_one_provider_goes_on_with_three_others_after_a_restart(tmp_path, model):
    call = ("c1", "gdrive_display_image", "{}")
    files = [File.from_bytes(KIWI, name="kiwi.png"), File.from_bytes(REPORT, name="report.pdf")]
    run, *_ = speak(tmp_path, CLAUDE, say("", call), say("Seen."), files=files)
    others = [item for item in MODELS if item not in {CLAUDE, model}]
    for other in (model, *others):
        _, script, _ = speak(tmp_path, other, say("Still here.", model=other), which=run.conversation.id)
        seen = {sha(file.data or b"") for turn in script.asked[-1].turns for file in files_of(turn)}
        assert {sha(KIWI), sha(WALL)} <= seen


def in_phase(phase, answer):
    return answer.replace(b'"id": "msg_1"', b'"id": "msg_1", "phase": "%s"' % phase)


def test_each_message_keeps_its_phase_after_a_restart_and_another_provider_never_sees_it(tmp_path):
    call = say("I'll look.", ("c1", "gdrive_display_image", "{}"), model=RESPONSES)
    answers = in_phase(b"commentary", call), in_phase(b"final_answer", say("A wall.", model=RESPONSES))
    run, *_ = speak(tmp_path, RESPONSES, *answers)
    _, script, _ = speak(tmp_path, RESPONSES, say("Yes.", model=RESPONSES), which=run.conversation.id)
    items = [item for item in script.bodies[-1]["input"] if item.get("role") == "assistant"]
    assert [(item["content"], item["phase"]) for item in items] == [
        ("I'll look.", "commentary"),
        ("A wall.", "final_answer"),
    ]
    for other in (GPT, CLAUDE, GEMINI, CONVERSE):
        _, script, _ = speak(tmp_path, other, say("Yes.", model=other), which=run.conversation.id)
        assert "phase" not in str(script.bodies[-1])


@pytest.mark.parametrize("model", MODELS)
def test_words_bring_the_right_two_files_back_into_view_after_a_restart(tmp_path, model):
    uploads = [File.from_bytes(KIWI, name="kiwi.png")]
    call = ("c1", "gdrive_display_image", "{}")
    run, *_ = speak(tmp_path, model, say("", call, model=model), say("Seen.", model=model), files=uploads)
    others = [File.from_bytes(png(9, 9 + at, (at, 0, 90)), name=f"other{at}.png") for at in range(2)]
    speak(tmp_path, model, say("Ok.", model=model), files=others, which=run.conversation.id, max_in_context=2)
    words = "compare image 2 with the first upload"
    _, script, _ = speak(
        tmp_path, model, say("Alike.", model=model), text=words, which=run.conversation.id, max_in_context=2
    )
    assert hashes(script.asked[-1])[-2:] == [sha(WALL), sha(KIWI)]
    output = script.asked[-1].turns[-1].parts
    assert any("image 2 = accent_wall.jpg, from gdrive_display_image" in getattr(part, "text", "") for part in output)


def test_where_number_two_is_a_document_both_readings_are_offered(tmp_path):
    uploads = [File.from_bytes(KIWI, name="kiwi.png"), File.from_bytes(REPORT, name="report.pdf")]
    call = ("c1", "gdrive_display_image", "{}")
    run, *_ = speak(tmp_path, CLAUDE, say("", call), say("Seen."), files=uploads)
    words = "compare image 2 with the first upload"
    run, script, _ = speak(tmp_path, CLAUDE, say("Which?"), text=words, which=run.conversation.id, max_in_context=1)
    text = "".join(getattr(part, "text", "") for part in script.asked[-1].turns[-1].parts)
    assert "image 2 may mean document 2: report.pdf" in text
    assert "image 3: accent_wall.jpg, from gdrive_display_image" in text
    assert run.messages[0].references[0].readings == ((2,), (3,))


def crash_in_a_tool(folder):
    """Leave a conversation as a crash in the midst of a call does; gives its id."""

    async def crash():
        async with Store.at(folder) as store:
            conversation = await store.create()
            call = ToolCall("c1", "gdrive_display_image", "{}")
            await post(conversation, user_draft("draw"))
            await post(conversation, Draft("assistant", (call,), stop="tool_calls"))
            await conversation.start_calls([call])
            return conversation.id

    return asyncio.run(crash())


def test_a_call_that_was_cut_off_by_a_crash_is_not_run_again_and_its_outcome_is_called_unknown(tmp_path):
    which = crash_in_a_tool(tmp_path)
    run, _, events = speak(tmp_path, CLAUDE, say("I don't know."), text=None, which=which)
    assert not [event for event in events if isinstance(event, ToolStart)]
    assert [(message.text, message.is_error) for message in run.messages if message.role == "tool"] == [(UNKNOWN, True)]
    check_usable(run.conversation, CLAUDE)


def test_a_call_that_may_run_twice_runs_again_after_a_crash(tmp_path):
    again = tool(name="gdrive_display_image", idempotent=True)(display.run)

    run, *_ = speak(tmp_path, CLAUDE, say("Seen."), text=None, which=crash_in_a_tool(tmp_path), tools=[again])
    assert [file.name for file in run.files] == ["accent_wall.jpg"]


def test_a_blob_that_was_deleted_by_hand_is_named_to_model_and_user_and_the_chat_goes_on(tmp_path):
    run, *_ = speak(tmp_path, CLAUDE, say("Seen."), files=[File.from_bytes(KIWI, name="kiwi.png")])
    blob = blob_of(tmp_path, KIWI)
    blob.unlink()
    run, script, _ = speak(tmp_path, CLAUDE, say("It is gone."), which=run.conversation.id)
    assert run.status == "complete"
    assert "⟦image 1 (kiwi.png" in str(script.bodies[-1]["messages"])
    assert "its stored bytes can't be used, the blob is missing" in str(script.bodies[-1]["messages"])
    assert [(receipt.delivery, "is missing" in receipt.reason) for receipt in run.receipts] == [("noted", True)]


def test_a_flipped_bit_is_found_by_its_hash_and_a_note_takes_the_files_place(tmp_path):
    run, *_ = speak(tmp_path, CLAUDE, say("Seen."), files=[File.from_bytes(KIWI, name="kiwi.png")])
    blob = blob_of(tmp_path, KIWI)
    blob.chmod(0o600)
    data = bytearray(blob.read_bytes())
    data[40] ^= 1
    blob.write_bytes(data)
    run, script, _ = speak(tmp_path, CLAUDE, say("It is gone."), which=run.conversation.id)
    assert script.files == [0]
    assert "no longer matches its hash" in str(script.bodies[-1]["messages"])


@two_apis
def test_a_word_document_reaches_every_model_as_its_words(tmp_path, model):
    letter = docx_module.Document()
    letter.add_paragraph("Dear harbour master, the rope is in shed nine.")
    letter.save(tmp_path / "letter.docx")
    run, script, _ = speak(tmp_path, model, say("Read.", model=model), files=[File.from_path(tmp_path / "letter.docx")])
    takes = model in {RESPONSES, CONVERSE}
    assert (run.receipts[0].delivery, run.receipts[0].converted) == ("native", not takes)
    assert ("the rope is in shed nine" in str(script.bodies[-1])) != takes


def test_a_blob_that_is_put_back_is_shown_again_in_the_same_program(tmp_path):
    async def go():
        async with Store.at(tmp_path) as store:
            conversation = await store.create()
            agent, script = scripted(say("Seen."))
            await watch(agent.run("hi", files=[File.from_bytes(KIWI, name="kiwi.png")], conversation=conversation))
            blob = blob_of(tmp_path, KIWI)
            blob.rename(tmp_path / "aside")
            await watch(agent.run("and now?", conversation=conversation))
            (tmp_path / "aside").rename(blob)
            await watch(agent.run("and now?", conversation=conversation))
            return script.files

    assert asyncio.run(go()) == [1, 0, 1]


def test_a_tool_that_was_done_when_the_run_was_cancelled_keeps_its_words():
    started, cancelled = threading.Event(), threading.Event()

    class Slow(io.BytesIO):
        def read(self, *_):
            started.set()
            cancelled.wait(60)
            return b""

    def paid():
        return ToolResult("You have paid.", File.from_reader(Slow, 4, "image/png", "slip.png"))

    async def go():
        agent, _ = scripted(say("", ("c1", "paid", "{}")), tools=[paid])
        run = agent.run("pay")
        task = asyncio.create_task(watch(run))
        await asyncio.to_thread(started.wait)
        stopping = asyncio.create_task(run.cancel())
        await asyncio.sleep(0)  # until it has begun
        cancelled.set()
        await asyncio.gather(stopping, task)
        return run

    run = asyncio.run(go())
    (result,) = [message for message in run.messages if message.role == "tool"]
    assert result.is_error is False
    assert "You have paid." in result.text
