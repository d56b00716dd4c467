"""`ui_stream`: the answer as bytes for a route of the program's own, however it is read, left, resumed and stopped."""

import asyncio
import json

import pytest

from showandtell import Agent, File, tool
from showandtell.asgi import ui_stream
from showandtell.core.wire.sse import Splitter
from showandtell.errors import StorageFailed
from support.compound import compound
from support.fixtures import png
from support.nodejs import npm_reader
from support.scripted import CLAUDE, FAULT, begin, check_usable, say, scripted

PICTURE = png(16, 8)


def draw() -> dict:
    """Draw a picture."""
    return {"picture": File.from_bytes(PICTURE, name="drawn.png"), "colours": 2}


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


@pytest.fixture(scope="module")
def read():
    with npm_reader() as read:
        yield read


def link(path):
    return f"https://chat.test{path}"


def chunks(data):
    """The chunks of a stream."""
    return [json.loads(event) for event in Splitter().feed(data) if event != b"[DONE]"]


async def whole(stream):
    return b"".join([data async for data in stream])


def answer(agent, *args, link=None, **settings):
    """The bytes of one answer."""
    return asyncio.run(whole(ui_stream(agent.run(*args, **settings), link)))


def test_the_stock_client_reads_the_answer(read):
    agent, _ = scripted(say("Look.", ("c1", "draw", "{}")), say("Two colours."), tools=[draw])
    message = read(sse=answer(agent, "hi", link=link).decode())["message"]
    (call,) = [part for part in message["parts"] if part["type"] == "tool-draw"]
    (file,) = [part for part in message["parts"] if part["type"] == "file"]
    assert call["output"]["colours"] == 2
    assert call["output"]["picture"]["url"] == file["url"]
    assert file["url"].startswith("https://chat.test/api/attachments/att_")
    assert read(convert=[message])["errors"] == []


def test_without_a_link_there_are_no_addresses(read):
    agent, _ = scripted(say("Look.", ("c1", "draw", "{}")), say("Two colours."), tools=[draw])
    data = answer(agent, "hi")
    message = read(sse=data.decode())["message"]
    (call,) = [part for part in message["parts"] if part["type"] == "tool-draw"]
    assert b"/api/" not in data
    assert (call["output"]["picture"]["name"], call["output"]["picture"]["number"]) == ("drawn.png", 1)
    assert [part["data"]["url"] for part in message["parts"] if part["type"] == "data-attachment"] == [None]


def test_the_run_goes_on_without_its_reader_and_is_read_again_from_the_start():
    called = asyncio.Event()

    async def note() -> str:
        """Note it."""
        called.set()
        return "noted"

    agent, _ = scripted(say("One.", ("c1", "note", "{}")), say("Two."), tools=[note])

    async def leave():
        stream = ui_stream(agent.run("hi"))
        first = await anext(aiter(stream))
        await called.wait()
        return first, await whole(stream), stream.run

    first, again, run = asyncio.run(leave())
    assert again.startswith(first)
    assert again.endswith(b"data: [DONE]\n\n")
    assert (run.status, run.text) == ("complete", "Two.")


def test_several_readers_get_the_same_bytes():
    agent, _ = scripted(say("Look.", ("c1", "draw", "{}")), say("Two colours."), tools=[draw])

    async def read_twice():
        stream = ui_stream(agent.run("hi"))
        return await asyncio.gather(whole(stream), whole(stream))

    one, other = asyncio.run(read_twice())
    assert one == other != b""


def test_a_stopped_run_ends_its_stream_and_leaves_a_usable_conversation():
    started = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    agent, _ = scripted(say("Wait.", ("c1", "wait", "{}")), tools=[wait])

    async def stop():
        stream = ui_stream(agent.run("hi"))
        reader = asyncio.create_task(whole(stream))
        await started.wait()
        await stream.stop()
        return await reader, stream.run

    data, run = asyncio.run(stop())
    assert [chunk["type"] for chunk in chunks(data)][-3:] == ["finish-step", "abort", "finish"]
    assert (run.status, run.reason) == ("incomplete", "cancelled")
    check_usable(run.conversation)


def test_a_stream_that_is_stopped_before_it_is_read_never_runs():
    agent, script = scripted(say("One."))

    async def stop():
        stream = ui_stream(agent.run("hi"))
        await stream.stop()
        return await whole(stream)

    assert [chunk["type"] for chunk in chunks(asyncio.run(stop()))] == ["start", "abort", "finish"]
    assert script.asked == []


def test_an_answer_continues_after_an_approval_under_the_clients_id(read):
    agent, _ = scripted(say("May I?", ("c1", "erase", '{"path": "a"}')), say("Done."), tools=[erase])
    conversation = agent.conversation()

    async def approve():
        waiting = await whole(ui_stream(agent.run("hi", conversation=conversation), message_id="m2"))
        stream = ui_stream(agent.run(approvals={"c1": True}, conversation=conversation), message_id="m2")
        return waiting, await whole(stream), await whole(stream)

    waiting, rest, again = asyncio.run(approve())
    message = read(sse=waiting.decode())["message"]
    continued = read(sse=rest.decode(), message=message)["message"]
    assert [part["text"] for part in continued["parts"] if part["type"] == "text"] == ["May I?", "Done."]
    assert [part["output"] for part in continued["parts"] if part["type"] == "tool-erase"] == ["erased a"]
    resumed = read(sse=again.decode())["message"]
    assert (resumed["id"], [part.get("text") for part in resumed["parts"]]) == (
        "m2",
        [part.get("text") for part in continued["parts"] if part["type"] != "data-step" or part["data"]["step"] > 1],
    )


def test_an_error_of_the_run_is_the_error_of_the_stream():
    agent, _ = scripted(begin("Well,") + FAULT[CLAUDE])
    error, finish = chunks(answer(agent, "hi"))[-2:]
    assert (error["errorText"], finish["finishReason"]) == ("overloaded_error: Overloaded", "error")


def test_a_run_that_was_read_before_is_an_error_of_the_stream():
    async def read_again():
        run = await Agent("inspector").run("hello")
        return await whole(ui_stream(run))

    received = chunks(asyncio.run(read_again()))
    assert [chunk["errorText"] for chunk in received if chunk["type"] == "error"] == [
        "a run can be read only once: call agent.run again"
    ]


def test_a_file_that_the_model_does_not_take_is_named_in_the_error():
    agent = Agent("inspector")
    received = chunks(answer(agent, "hi", files=[File.from_bytes(compound("WordDocument", b""), name="odd.doc")]))
    (error,) = [chunk for chunk in received if chunk["type"] == "error"]
    assert "odd.doc" in error["errorText"]


def test_errors_of_the_storage_are_in_the_log_alone(caplog):
    agent = Agent("inspector")
    conversation = agent.conversation()

    async def fail(*_):
        raise StorageFailed("/secret/path is full")

    conversation.write = fail
    data = answer(agent, "hi", conversation=conversation)
    assert b"/secret/path" not in data
    assert "/secret/path" in caplog.text
    assert b"could not be stored" in data
