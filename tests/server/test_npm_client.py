"""The stock client of the npm package `ai`: after each exchange it has what a reload would give it."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import pytest

from showandtell import tool
from support.nodejs import npm_client
from support.server_process import running
from support.server_process import until as until_found
from support.serving import serving

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


@asynccontextmanager
async def talking(folder, *tools):
    """A server, and the stock client in a conversation that it calls `c`."""
    async with serving(folder, tools=tools) as site:
        cookie = "; ".join(f"{one.key}={one.value}" for one in site.session.cookie_jar)
        async with npm_client(site.url, cookie) as do:
            await do("open", id="c", messages=[])
            yield site, do


def streamed(message):
    """A message without what a stream can't have: its branches, and the exact time of its end."""
    metadata = {name: value for name, value in message["metadata"].items() if name not in {"finished", "branches"}}
    return {**message, "metadata": metadata}


async def check(site, got):
    """Check that the client reports no error and has the same responses as a reload gives."""
    assert (got["status"], got["error"]) == ("ready", None)
    listed = await site.store.list()
    _, page = await site.get(f"/api/conversations/{listed[0].id}")
    assert [one["role"] for one in got["messages"]] == [one["role"] for one in page["messages"]]
    for mine, theirs in zip(got["messages"], page["messages"], strict=True):
        assert mine["role"] == "user" or streamed(mine) == streamed(theirs)
    return page["messages"]


async def test_text_and_a_tools_file(tmp_path):
    async with talking(tmp_path) as (site, do):
        await check(site, await do("send", text="Hello"))
        *_, answer = await check(site, await do("send", text=CHART))
        kinds = {part["type"] for part in answer["parts"]}
        assert kinds >= {"tool-chart", "data-attachment", "file", "data-receipt", "data-step", "text"}


async def test_a_client_that_always_resumes_starts_a_new_chat_without_an_error(tmp_path):
    async with talking(tmp_path) as (site, do):
        got = await do("resume")
        assert (got["status"], got["error"], got["messages"]) == ("ready", None, [])
        await check(site, await do("send", text="Hello"))
        for unknown, status in (("another", 204), ("conv_" + "x" * 22, 404)):
            assert (await site.session.get(f"/api/chat/{unknown}/stream")).status == status


async def test_a_response_is_regenerated_and_a_message_is_edited(tmp_path):
    async with talking(tmp_path) as (site, do):
        await do("send", text="Hello")
        got = await do("regenerate")
        await check(site, got)
        await check(site, await do("send", text=CHART, message_id=got["messages"][0]["id"]))


@pytest.mark.parametrize(
    ("yes", "state"), [(True, "output-available"), pytest.param(False, "output-denied", marks=pytest.mark.thorough)]
)
async def test_a_call_waits_for_approval_across_a_reload(tmp_path, yes, state):
    async with talking(tmp_path, erase) as (site, do):
        page = await check(site, await do("send", text="/erase path=a"))
        call = next(part for part in page[-1]["parts"] if part["type"] == "tool-erase")
        assert call["state"] == "approval-requested"
        await do("open", id="c", messages=page)
        *_, answer = await check(site, await do("approve", id=call["approval"]["id"], approved=yes))
        call = next(part for part in answer["parts"] if part["type"] == "tool-erase")
        assert (call["state"], call["approval"]["approved"]) == (state, yes)


async def test_another_message_closes_the_waiting_call(tmp_path):
    async with talking(tmp_path, erase) as (site, do):
        await do("send", text="/erase path=a")
        got = await do("send", text="Hello")
        assert len({one["id"] for one in got["messages"]}) == 4
        (listed,) = await site.store.list()
        _, page = await site.get(f"/api/conversations/{listed.id}")
        await do("open", id="c", messages=page["messages"])
        await check(site, await do("send", text="Hello again"))


async def until(holds):
    """Poll until a condition holds."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a server's own count
            await asyncio.sleep(0.01)


def gate():
    """A tool that waits for an event, and the event."""
    opened, begun = asyncio.Event(), asyncio.Event()

    @tool
    async def hold() -> str:
        """Hold."""
        begun.set()
        await opened.wait()
        return "let go"

    return hold, opened, begun


async def test_a_late_reader_gets_the_complete_stream(tmp_path):
    hold, opened, begun = gate()
    async with talking(tmp_path, hold) as (site, do):
        sending = asyncio.create_task(do("send", text="/hold"))
        await begun.wait()
        cookie = "; ".join(f"{one.key}={one.value}" for one in site.session.cookie_jar)
        async with npm_client(site.url, cookie) as also:
            listed = await site.store.list()
            _, page = await site.get(f"/api/conversations/{listed[0].id}")
            await also("open", id=listed[0].id, messages=page["messages"])
            resuming = asyncio.create_task(also("resume"))
            await until(lambda: site.server.runs.readers == 2)
            opened.set()
            await check(site, await sending)
            await check(site, await resuming)


async def test_both_readers_see_that_a_run_was_stopped(tmp_path):
    hold, _, begun = gate()
    async with talking(tmp_path, hold) as (site, do):
        sending = asyncio.create_task(do("send", text="/hold"))
        await begun.wait()
        async with site.session.post("/api/chat/c/stop") as answer:
            assert answer.status == 204
        *_, stopped = await check(site, await sending)
        assert (stopped["metadata"]["status"], stopped["metadata"]["reason"]) == ("incomplete", "cancelled")
        assert [part["state"] for part in stopped["parts"] if part["type"] == "tool-hold"] == ["output-error"]


BEGUN = b'data: {"type":"start","messageId":"a"}\n\ndata: {"type":"text-start","id":"t"}\n\n'
ERROR = b'data: {"type":"error","errorText":"stopping"}\n\n'
LAST = b"0\r\n\r\n"


@asynccontextmanager
async def answering(body, end):
    """The URL of a server that answers everything with this body, and ends it so."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%s\r\n" % (len(body), body) + end)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("body", "end", "status", "is_error"),
    [(BEGUN, LAST, "ready", False), (BEGUN, b"", "error", True), (BEGUN + ERROR, LAST, "error", True)],
    ids=["ended", "cut", "error"],
)
async def test_of_the_ways_to_end_a_stream_early_only_a_clean_end_looks_complete(body, end, status, is_error):
    async with answering(body, end) as url, npm_client(url, "") as do:
        await do("open", id="c", messages=[])
        got = await do("send", text="Hello")
        assert (got["status"], got["end"]["isError"], got["end"]["finishReason"]) == (status, is_error, None)


@pytest.mark.thorough
async def test_a_stock_client_resumes_the_answer_of_a_worker_that_was_stopped(tmp_path):
    async with running(tmp_path, "--workers", "2") as program:
        async with program.session.get(program.address, allow_redirects=False) as answer:
            cookie = "; ".join(f"{name}={one.value}" for name, one in answer.cookies.items())
        async with npm_client(program.url, cookie) as do:
            await do("open", id="c", messages=[])
            sending = asyncio.create_task(do("send", text="/hold name=one"))
            (held,) = await until_found(lambda: [*tmp_path.glob("one.[0-9]*")])
            os.kill(int(held.suffix[1:]), signal.SIGTERM)
            cut = await sending
            (tmp_path / "one.go").touch()
            assert (cut["status"], cut["end"]["isError"]) == ("error", True)
            got = await do("resume")
        assert (got["status"], got["error"], got["end"]["finishReason"]) == ("ready", None, "stop")
        (words,) = [part["text"] for part in got["messages"][-1]["parts"] if part["type"] == "text"]
        assert len(got["messages"]) == 2
        assert "unknown outcome" in words
