"""`Agent` and `Run`: approval, cancellation at any moment, files and conversations."""

import asyncio
import gc
import json
from base64 import b64encode
from contextlib import aclosing
from pathlib import Path

import pytest

from fake_provider import FakeProvider, PlannedFault
from fake_provider.agents import APIS
from fake_provider.faults import stall
from showandtell import Agent, BadInput, File, RunContext, RunLimits, ToolResult, UnsupportedFile, tool
from showandtell.agent.loop import CANCELLED
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.replay import UNDECIDED
from showandtell.core.events.types import ApprovalNeeded, Finish, ReceiptEvent, ToolProgress
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Approval, Text, ToolCall, is_approval
from showandtell.network.transport import Transport
from showandtell.providers.connect import connect
from support.agents import make_agent
from support.compound import compound
from support.fixtures import parts, png
from support.scripted import CLAUDE, GPT, check_usable, each_api, results, say, scripted, two_apis, watch

PICTURE = png(8, 8)


def echo(word: str = "nothing") -> str:
    """Say it again."""
    return f"you said {word}"


def draw() -> File:
    """Draw a picture."""
    return File.from_bytes(PICTURE, name="drawn.png")


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


def waiting(*answers, model=CLAUDE, **more):
    """A run that waits for a person's yes to one of its two calls, and its agent."""
    calls = say("", ("c1", "erase", '{"path": "a"}'), ("c2", "echo", "{}"), model=model)
    agent, script = scripted(calls, *answers, model=model, tools=[erase, echo], **more)
    run = agent.run("clean up")
    events = asyncio.run(watch(run))
    assert (run.status, run.reason) == ("waiting", "approval")
    assert [event for event in events if isinstance(event, ApprovalNeeded)] == [
        ApprovalNeeded("c1", "erase", '{"path": "a"}')
    ]
    return run, agent, script


@each_api
@pytest.mark.parametrize(("yes", "words"), [(True, "erased a"), (False, "the person did not allow this call")])
def test_a_call_that_waits_runs_with_a_yes_and_not_with_a_no(model, yes, words):
    run, agent, script = waiting(say("Done.", model=model), model=model)
    run = agent.run_sync(conversation=run.conversation, approvals={"c1": yes})
    assert (run.text, run.status, len(script.bodies)) == ("Done.", "complete", 2)
    assert results(run.messages) == [("c1", words, not yes)]
    check_usable(run.conversation)


def test_without_an_answer_the_run_waits_on():
    run, agent, script = waiting(say("Done."))
    run = agent.run_sync(conversation=run.conversation)
    assert (run.status, run.messages, len(script.bodies)) == ("waiting", (), 1)


def test_who_says_something_else_closes_the_call_that_waits():
    run, agent, _ = waiting(say("As you like."))
    run = agent.run_sync("never mind", conversation=run.conversation)
    assert (run.text, run.status) == ("As you like.", "complete")
    assert results(run.messages) == [("c1", UNDECIDED, True)]
    check_usable(run.conversation)


def test_a_yes_with_more_words_runs_the_call_before_the_words():
    run, agent, script = waiting(say("Done."))
    run = agent.run_sync("and be quick", conversation=run.conversation, approvals={"c1": True})
    assert results(run.messages) == [("c1", "erased a", False)]
    assert (run.status, len(script.bodies)) == ("complete", 2)
    check_usable(run.conversation)


def test_what_a_dead_program_left_open_is_run_on():
    agent, _ = scripted(say("Done."), tools=[echo])
    conversation = agent.conversation()
    conversation.ingest_now([Draft("user", (Text("hi"),)), Draft("assistant", (ToolCall("c1", "echo", "{}"),))])
    run = agent.run_sync(conversation=conversation)
    assert (run.text, results(run.messages)) == ("Done.", [("c1", "you said nothing", False)])
    check_usable(conversation)


def parallel(model):
    """A run of two steps with two tools at once, one of which gives a file; every tool tells its progress."""

    async def look(context: RunContext) -> File:
        context.progress(1, 2)
        await asyncio.sleep(0)
        return File.from_bytes(PICTURE)

    def count(context: RunContext) -> str:
        context.progress(2, 2)
        return "two"

    calls = say("Looking.", ("c1", "look", "{}"), ("c2", "count", "{}"), model=model)
    return scripted(calls, say("Seen.", model=model), model=model, tools=[look, count])[0]


def cancelled_at(agent, index):
    """A run that is cancelled at the very moment of one event; whether it went to its end before."""

    def count(event):
        record_finish(event)
        events.append(event)
        if len(events) == index:
            run._task.cancel()

    async def read():
        await watch(run)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run, events = agent.run("hi"), []
    record_finish, run._record_finish = run._record_finish, count
    asyncio.run(read())
    return run, len(events) < index


def left_at(agent, index):
    """A run whose reader leaves after `count` events; whether there were fewer."""

    async def read():
        stream = aiter(run)
        events = [await anext(stream, None) for _ in range(index)]
        await stream.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return None in events

    run = agent.run("hi")
    return run, asyncio.run(read())


@two_apis
@pytest.mark.parametrize("leave", [cancelled_at, left_at])
def test_a_run_can_be_left_at_any_event_and_the_conversation_goes_on(model, leave):
    index, finished = 1, False
    while not finished:
        agent = parallel(model)
        run, finished = leave(agent, index)
        assert (run.status, run.reason) in [("complete", None), ("incomplete", "cancelled")]
        assert run.status == "complete" or not finished
        check_usable(run.conversation)
        again = agent.run_sync("go on", conversation=run.conversation)
        check_usable(again.conversation)
        assert again.status == "complete"
        index += 1
    assert index > 20


def count_open():
    """This process's descriptors, and the tasks of its loop."""
    folder = Path("/proc/self/fd")
    return len([*(folder if folder.exists() else Path("/dev/fd")).iterdir()]), len(asyncio.all_tasks())


async def leave_early(agent, text, index, *, by_cancel):
    """Watch a run up to one of its first events."""
    run, count = agent.run(text), 0
    async with aclosing(aiter(run)) as events:
        async for _ in events:
            count += 1
            if count == index and by_cancel:
                await run.cancel()
            elif count == index:
                break


@pytest.mark.parametrize("by_cancel", [True, False])
@pytest.mark.parametrize("model", APIS.values())
def test_runs_that_are_left_leave_no_socket_and_no_task_behind(model, by_cancel):
    async def hang(number: int) -> str:
        await asyncio.Event().wait()
        return str(number)

    async def play():
        async with FakeProvider([PlannedFault(stall(), nth=2, times=3)]) as fake_provider, Transport() as transport:
            way = connect(resolve(model), environ=fake_provider.environ(), transport=transport)
            agent = make_agent(model, [hang], exchange=way)
            await agent.run("hi")  # one connection stays open for the next request
            before = count_open()
            for text in ("hi there", "/hang number=7"):
                for index in (1, 2, 3):
                    await leave_early(agent, text, index, by_cancel=by_cancel)
            async with asyncio.timeout(60):
                while any(now > then for now, then in zip(count_open(), before, strict=True)):
                    await settle()  # the other end of a connection is closed here, too

    asyncio.run(play())


def test_a_reader_that_breaks_off_needs_no_clean_up_before_the_next_run():
    async def both():
        agent = parallel(CLAUDE)
        run = agent.run("hi")
        async for event in run:
            if isinstance(event, ToolProgress):
                break
        again = await agent.run("go on", conversation=run.conversation)
        check_usable(again.conversation)
        return again

    assert asyncio.run(both()).status == "complete"


def test_a_cancelled_run_tells_its_reader_so():
    async def hang() -> None:
        hanging.set()
        await asyncio.Event().wait()

    async def both():
        run = agent.run("hi")
        reader = asyncio.create_task(watch(run))
        await hanging.wait()
        await run.cancel()
        return run, await reader

    hanging = asyncio.Event()
    agent, _ = scripted(say("", ("c1", "hang", "{}")), tools=[hang])
    run, events = asyncio.run(both())
    assert events[-1] == Finish("incomplete", "cancelled", run.usage)
    assert results(run.messages) == [("c1", CANCELLED, True)]


async def settle():
    """Let everything run that can run now."""
    for _ in range(100):
        await asyncio.sleep(0)


def test_a_tool_that_was_done_before_the_cancellation_keeps_its_result():
    async def hang() -> None:
        await asyncio.Event().wait()

    async def done() -> str:
        all_done.set()
        return "done"

    async def both():
        run = agent.run("hi")
        reader = asyncio.create_task(watch(run))
        await all_done.wait()
        await settle()
        await run.cancel()
        await reader
        return run

    all_done = asyncio.Event()
    agent, _ = scripted(say("", ("c1", "hang", "{}"), ("c2", "done", "{}")), tools=[hang, done])
    run = asyncio.run(both())
    assert sorted(results(run.messages)) == [("c1", CANCELLED, True), ("c2", "done", False)]
    check_usable(run.conversation)


def test_two_runs_of_one_conversation_come_one_after_the_other():
    async def both():
        agent = parallel(CLAUDE)
        conversation = agent.conversation()
        return await asyncio.gather(*[agent.run(word, conversation=conversation) for word in ("one", "two")])

    first, second = asyncio.run(both())
    check_usable(first.conversation)
    assert [item.messages[0].text for item in (first, second)] == ["one", "two"]
    assert first.messages + second.messages == tuple(first.conversation.messages)


def test_only_a_yes_or_no_without_words_is_no_turn_of_its_own():
    yes, words = Approval("c1", approved=True), Text("and be quick")
    assert [is_approval(parts) for parts in [(yes,), (yes, yes), (yes, words), (words,), ()]] == [
        True,
        True,
        *[False] * 3,
    ]


def test_a_yes_with_words_in_one_message_is_a_message_to_answer():
    run, agent, _ = waiting(say("Done."))
    conversation = run.conversation
    agent.run_sync("never mind", conversation=conversation)
    conversation.ingest_now([Draft("user", (Approval("c1", approved=True), Text("again")))])
    run = agent.run_sync(conversation=conversation)
    assert (run.text, run.status, [message.role for message in run.messages]) == ("Done.", "complete", ["assistant"])


def test_of_two_answers_to_a_call_the_newer_counts():
    no, yes = (Draft("user", (Approval("c1", approved=item),)) for item in (False, True))
    run, agent, _ = waiting(say("Done."))
    run.conversation.ingest_now([no, yes])
    assert results(agent.run_sync(conversation=run.conversation).messages) == [("c1", "erased a", False)]


async def one_behind_the_other(agent, hanging):
    """Two runs of one conversation: the first hangs in a tool, the second is cancelled before its turn; its events."""
    conversation = agent.conversation()
    first, second = (agent.run(word, conversation=conversation) for word in ("one", "two"))
    readers = [asyncio.create_task(watch(item)) for item in (first, second)]
    await hanging.wait()
    await second.cancel()
    received = await readers[1]
    await first.cancel()
    await readers[0]
    return first, second, received


def test_a_run_that_is_cancelled_before_its_turn_has_an_end_and_nothing_of_the_others():
    async def hang() -> None:
        hanging.set()
        await asyncio.Event().wait()

    hanging = asyncio.Event()
    agent, _ = scripted(say("", ("c1", "draw", "{}")), say("Mine.", ("c2", "hang", "{}")), tools=[hang, draw])
    first, second, received = asyncio.run(one_behind_the_other(agent, hanging))
    assert (first.text, [file.name for file in first.files]) == ("Mine.", ["drawn.png"])
    assert (second.text, second.messages, second.files, second.receipts) == ("", (), [], ())
    assert received == [Finish("incomplete", "cancelled")]
    assert (second.status, second.reason) == ("incomplete", "cancelled")
    check_usable(first.conversation)


def test_a_run_that_is_left_before_it_began_says_that_it_was_cancelled():
    async def leave():
        events = aiter(run)
        reader = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        run._task.cancel()
        return await reader

    run = scripted(say("Hello."))[0].run("hi")
    assert asyncio.run(leave()) == Finish("incomplete", "cancelled")
    assert (run.status, run.reason, run.messages) == ("incomplete", "cancelled", ())


def test_a_run_keeps_to_its_own_messages_while_another_goes_on():
    agent, _ = scripted(say("Hello."), say("Again."))
    run = agent.run_sync("hi")
    before = run.messages
    agent.run_sync("more", conversation=run.conversation)
    assert (run.text, run.messages) == ("Hello.", before)


def test_a_run_is_watched_once():
    run = scripted(say("Hello."))[0].run_sync("hi")
    with pytest.raises(BadInput, match="read only once"):
        asyncio.run(watch(run))


def test_a_run_needs_something_to_answer():
    agent, _ = scripted(say("Hello."))
    for text in (None, ""):
        with pytest.raises(BadInput, match="nothing to answer"):
            agent.run(text)


def test_a_program_that_needs_no_steps_is_reported():
    with pytest.raises(BadInput, match="steps is 0: give an int of at least 1"):
        Agent(CLAUDE, limits=RunLimits(steps=0))


def test_the_results_of_a_run_are_there_when_it_ends():
    run = Agent("inspector", tools=[draw, echo]).run_sync("/draw")
    assert run.status == "complete"
    assert run.usage.output_tokens > 0
    assert [(file.name, file.number, file.media_type) for file in run.files] == [("drawn.png", 1, "image/png")]
    assert [(receipt.number, receipt.delivery) for receipt in run.receipts] == [(1, "native")]
    assert [message.role for message in run.messages] == ["user", "assistant", "tool", "assistant"]
    assert "drawn.png" in run.text


def test_the_files_of_a_run_outlive_the_run():
    files = Agent("inspector", tools=[draw]).run_sync("/draw").files
    gc.collect()
    assert files[0].read() == PICTURE


def test_an_upload_that_the_model_cannot_be_shown_is_raised_and_noted_from_then_on():
    agent, script = scripted(say("Hello."))
    run = agent.run("look inside", files=[File.from_bytes(compound("WordDocument", b""), name="old.doc")])
    with pytest.raises(UnsupportedFile, match=r"document 1 \(old\.doc\)") as caught:
        asyncio.run(drain(run))
    assert (run.status, run.reason, run.error, script.bodies) == ("refused", "file", caught.value, [])
    again = agent.run_sync("then read this", conversation=run.conversation)
    assert (again.text, [receipt.delivery for receipt in again.receipts]) == ("Hello.", ["noted"])
    assert "old.doc" in json.dumps(script.bodies[0])


async def drain(run):
    await watch(run)
    raise run.error


def test_ask_and_run_sync_raise_what_the_caller_can_mend():
    agent, _ = scripted(say("Hello."))
    with pytest.raises(UnsupportedFile, match="old"):
        agent.run_sync("look inside", files=[File.from_bytes(compound("WordDocument", b""), name="old.doc")])


def test_a_strict_agent_refuses_a_tools_file_too():
    def pack() -> File:
        return File.from_bytes(parts(), name="parts.zip")

    calls = say("", ("c1", "pack", "{}"))
    assert scripted(calls, say("Hello."), tools=[pack])[0].run_sync("go").status == "complete"
    with pytest.raises(UnsupportedFile, match="parts"):
        scripted(calls, say("Hello."), tools=[pack], on_unsupported="error")[0].run_sync("go")


@pytest.mark.smoke
def test_files_can_be_sent_without_words_and_within_them():
    agent, _ = scripted(say("Two."))
    picture = File.from_bytes(PICTURE, name="up.png")
    run = agent.run_sync(["look", picture], files=[picture])
    assert [file.name for file in run.conversation.attachments.values()] == ["up.png", "up.png"]
    assert run.files == []
    assert agent.run_sync(files=[picture]).status == "complete"


def test_a_file_is_reported_once_for_each_change_of_its_delivery():
    agent, _ = scripted(say("", ("c1", "draw", "{}")), say("One."), tools=[draw])
    run = agent.run("go")
    received = [item for item in asyncio.run(watch(run)) if isinstance(item, ReceiptEvent)]
    assert [(item.step, item.receipt["number"], item.receipt["delivery"]) for item in received] == [(2, 1, "native")]
    again = agent.run("more", conversation=run.conversation)
    assert not [item for item in asyncio.run(watch(again)) if isinstance(item, ReceiptEvent)]


@pytest.mark.parametrize(("first", "second", "place"), [(CLAUDE, GPT, "relocated"), (GPT, CLAUDE, "native")])
def test_a_conversation_goes_on_with_another_model_and_the_files_move(first, second, place):
    run = Agent(first, tools=[draw]).run_sync("/draw")
    agent, script = scripted(say("The same.", model=second), model=second, tools=[draw])
    again = agent.run_sync("what is it?", conversation=run.conversation)
    assert (again.text, [(receipt.number, receipt.delivery) for receipt in again.receipts]) == (
        "The same.",
        [(1, place)],
    )
    assert b64encode(PICTURE).decode() in json.dumps(script.bodies[0])


def test_a_program_error_of_ours_ends_the_run_with_a_finish_and_is_raised():
    agent, _ = scripted(say("", ("c1", "echo", "{}")), ZeroDivisionError("ours"), tools=[echo])
    events = []

    async def read():
        async for item in agent.run("hi", conversation=conversation):
            events.append(item)  # noqa: PERF401 - what came before the error counts

    conversation = agent.conversation()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(read())
    assert (events[-1].status, events[-1].reason) == ("error", "ZeroDivisionError")
    check_usable(conversation)


def test_metadata_of_a_result_reaches_the_program_and_not_the_model():
    def find() -> ToolResult:
        return ToolResult("found", metadata={"secret": "row 7"})

    agent, script = scripted(say("", ("c1", "find", "{}")), say("Done."), tools=[find])
    run = agent.run_sync("go")
    assert run.metadata == {"c1": {"secret": "row 7"}}
    assert "row 7" not in json.dumps(script.bodies)


def test_what_a_conversion_gave_is_asked_for_once():
    def read() -> File:
        return File.from_bytes(b"some words", name="notes.txt")

    agent, _ = scripted(say("", ("c1", "read", "{}")), say("Done."), tools=[read])
    run = agent.run_sync("go")
    assert [want.conversion for want in run.conversation.known()] == ["text"]
