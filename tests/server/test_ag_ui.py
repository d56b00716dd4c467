# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
"""npm's `@ag-ui/client`, 1.0.0 and 0.0.59, against a real server, which owns the history."""

import asyncio
import json
from base64 import b64encode
from contextlib import asynccontextmanager

import pytest

from showandtell import File, tool
from showandtell.core.wire.sse import Splitter
from showandtell.samples import folder as samples
from support.fixtures import png
from support.nodejs import AG_UI_CLIENTS, ag_ui_client
from support.postgres import postgresql_if_thorough, ready_database
from support.serving import serving, texts

PICTURE = png(16, 8)
pytestmark = pytest.mark.anyio
each_client = pytest.mark.parametrize("package", AG_UI_CLIENTS)
older_client_if_thorough = pytest.mark.parametrize(
    "package", [AG_UI_CLIENTS[0], *(pytest.param(older, marks=pytest.mark.thorough) for older in AG_UI_CLIENTS[1:])]
)


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


def photo(name: str) -> list:
    """Show a photo."""
    return ["Here it is.", File.from_path(samples() / f"{name}.jpg")]


TOOLS = (erase, photo)


@asynccontextmanager
async def talking(folder, package):
    """A server, and a client in a thread that it calls `thread`."""
    async with serving(folder, tools=TOOLS) as site:
        headers = {"authorization": f"Bearer {site.server.keys.token}"}
        async with ag_ui_client(package, f"{site.url}/ag-ui", headers) as do:
            await do("open")
            yield site, do


def of(got, role):
    return [message for message in got["messages"] if message["role"] == role]


def body(*messages, run="r1", thread="thread", **more):
    return {"threadId": thread, "runId": run, "protocolVersion": "1.0", "messages": [*messages], **more}


def user(content, name="m1"):
    return {"id": name, "role": "user", "content": content}


async def post(site, request, session=None):
    """The events of a request, or its error."""
    async with (session or site.session).post("/ag-ui", json=request) as answer:
        data = await answer.read()
        return answer.status, [json.loads(event) for event in Splitter().feed(data)] or json.loads(data)


async def stored(site):
    """The roles of the messages that the server has."""
    (overview,) = await site.store.list()
    _, page = await site.get(f"/api/conversations/{overview.id}")
    return [message["role"] for message in page["messages"]]


@each_client
async def test_two_turns_with_a_file(tmp_path, package):
    async with talking(tmp_path, package) as (site, do):
        first = await do("say", id="m1", content="/photo name=kiwi")
        assert (first["error"], first["warnings"]) == (None, [])
        (result,) = of(first, "tool")
        if package == AG_UI_CLIENTS[0]:
            assert [part["type"] for part in result["content"]] == ["text", "image"]
        else:
            assert result["content"] == "Here it is.\nimage 1: kiwi.jpg"
        second = await do("say", id="m2", content="What is in image 1?")
        assert second["error"] is None
        assert "image 1" in of(second, "assistant")[-1]["content"]
        assert await stored(site) == ["user", "assistant"] * 2
        (receipt,) = [message for message in of(first, "activity") if message["activityType"] == "showandtell.receipt"]
        assert receipt["content"]["number"] == 1


@older_client_if_thorough
async def test_the_address_of_a_file_opens_it(tmp_path, package):
    async with talking(tmp_path, package) as (site, do):
        got = await do("say", id="m1", content="/photo name=kiwi")
        (file,) = got["state"]["showandtell"]["files"]
        async with site.session.get(file["url"]) as answer:
            assert (answer.status, len(await answer.read())) == (200, file["size"])


@older_client_if_thorough
async def test_parallel_tools(tmp_path, package):
    async with talking(tmp_path, package) as (_, do):
        got = await do("say", id="m1", content="/photo name=kiwi\n/photo name=chart")
        assert (got["error"], got["warnings"]) == (None, [])
        assert len(of(got, "tool")) == len(of(got, "assistant")[0]["toolCalls"])


@older_client_if_thorough
@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_is_an_interrupt_that_is_resumed(tmp_path, package, approved):
    async with talking(tmp_path, package) as (site, do):
        waits = await do("say", id="m1", content="/erase path=a")
        (interrupt,) = waits["interrupts"]
        assert interrupt["responseSchema"]["required"] == ["approved"]
        resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": approved}}]
        done = await do("run", input={"resume": resume})
        (result,) = of(done, "tool")
        assert (done["error"], done["interrupts"]) == (None, [])
        assert result["content"] == ("erased a" if approved else "the user denied this call")
        assert len(of(done, "assistant")) == 2
        assert await stored(site) == ["user", "assistant"]


@older_client_if_thorough
async def test_a_user_types_over_an_interrupt(tmp_path, package):
    async with talking(tmp_path, package) as (site, do):
        waits = await do("say", id="m1", content="/erase path=a")
        resume = [{"interruptId": waits["interrupts"][0]["id"], "status": "cancelled"}]
        got = await do("say", id="m2", content="hello", input={"resume": resume})
        assert (got["error"], got["interrupts"]) == (None, [])
        assert await stored(site) == ["user", "assistant"] * 2


@older_client_if_thorough
async def test_a_users_files_come_as_bytes_or_by_the_address_of_an_upload(tmp_path, package):
    async with talking(tmp_path, package) as (site, do):
        async with site.session.put("/api/attachments?name=dot.png", data=PICTURE) as answer:
            url = (await answer.json())["url"]
        data = {"type": "data", "value": b64encode(PICTURE).decode(), "mimeType": "image/png"}
        parts = [{"type": "image", "source": source} for source in (data, {"type": "url", "value": url})]
        got = await do("say", id="m1", content=[{"type": "text", "text": "see"}, *parts])
        assert got["error"] is None
        assert [file["number"] for file in got["state"]["showandtell"]["files"]] == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        {"type": "url", "value": "https://elsewhere.test/a.png"},
        {"type": "url", "value": "file:///etc/passwd"},
        {"type": "url", "value": "s3://bucket/key"},
        {"type": "file", "value": "file-1", "provider": "openai"},
    ],
)
async def test_other_files_are_refused(tmp_path, source):
    async with serving(tmp_path) as site:
        status, error = await post(site, body(user([{"type": "image", "source": source}])))
        assert (status, error["error"]["kind"]) == (422, "BadInput")
        assert list(await site.store.list()) == []


async def test_an_upload_of_somebody_else_is_not_found(tmp_path):
    async with serving(tmp_path) as site:
        part = {"type": "image", "source": {"type": "url", "value": "/api/attachments/att_" + "x" * 22}}
        status, error = await post(site, body(user([part])))
        assert (status, error["error"]["kind"]) == (404, "NotFound")


async def test_a_run_that_is_sent_twice_is_one_and_its_bytes_are_uploaded_once(tmp_path):
    async with serving(tmp_path, tools=TOOLS) as site:
        data = {"type": "data", "value": b64encode(PICTURE).decode(), "mimeType": "image/png"}
        request = body(user([{"type": "text", "text": "/photo name=kiwi"}, {"type": "image", "source": data}]))
        _, first = await post(site, request)
        _, second = await post(site, request)
        assert texts_of(first) == texts_of(second) != ""
        assert await stored(site) == ["user", "assistant"]
        conversation = await site.store.open((await site.store.list())[0].id, "local")
        assert sorted(file.name for file in conversation.attachments.values())[1:] == ["kiwi.jpg"]


async def test_two_copies_of_a_run_at_once_have_the_same_answer(tmp_path):
    async with serving(tmp_path, tools=TOOLS) as site:
        request = body(user("/photo name=kiwi"))
        (_, first), (_, second) = await asyncio.gather(post(site, request), post(site, request))
        assert texts_of(first) == texts_of(second) != ""
        assert await stored(site) == ["user", "assistant"]


@postgresql_if_thorough
async def test_the_same_message_in_another_run_is_answered_again_on_a_branch(database, tmp_path):
    async with serving(tmp_path, tools=TOOLS, database=ready_database(database, tmp_path)) as site:
        for run in ("r1", "r2", "r2", "r1"):
            status, events = await post(site, body(user("/photo name=kiwi"), run=run))
            assert (status, events[-1]["type"]) == (200, "RUN_FINISHED")
            assert texts_of(events)
        conversation = await site.store.open((await site.store.list())[0].id, "local")
        assert [one.text for one in await conversation.everything() if one.role == "user"] == ["/photo name=kiwi"]
        assert sum(one.stop == "end" for one in await conversation.everything()) == 2
        assert sum(one.stop == "end" for one in conversation.messages) == 1


async def test_an_id_that_a_client_uses_for_another_message_is_a_new_message(tmp_path):
    async with serving(tmp_path, tools=TOOLS) as site:
        for run, words in (("r1", "hello"), ("r2", "hello again")):
            await post(site, body(user(words, "always"), run=run))
        assert await stored(site) == ["user", "assistant"] * 2


def texts_of(events):
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


@older_client_if_thorough
async def test_a_client_that_lost_the_stream_sends_the_run_again(tmp_path, package):
    async with talking(tmp_path, package) as (site, do):
        whole = await do("say", id="m1", content="/photo name=kiwi", input={"runId": "r1"})
        question, call = whole["messages"][0], of(whole, "assistant")[0]
        torn = {**call, "toolCalls": [{**call["toolCalls"][0], "function": {"name": "photo", "arguments": '{"na'}}]}
        await do("open", messages=[torn, question])
        again = await do("run", input={"runId": "r1"})
        assert again["error"] is None
        assert without_addresses(again["messages"]) == without_addresses([question, *whole["messages"][1:]])
        assert await stored(site) == ["user", "assistant"]


def without_addresses(messages):
    """Messages in an order that doesn't depend on when a client got them, without addresses, which are new each time."""
    plain = json.loads(json.dumps(messages))
    for message in plain:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            part.get("source", {}).pop("value", None)
    return sorted(plain, key=lambda message: message["id"])


@tool
async def hang() -> str:
    """Wait until the run is stopped."""
    await asyncio.Event().wait()
    return "never"


async def test_a_run_of_another_worker_is_read_here_and_stopped(tmp_path):
    async with serving(tmp_path, tools=(hang,)) as site, serving(tmp_path, tools=(hang,)) as other:
        request = body(user("/hang"))
        async with site.session.post("/ag-ui", json=request) as answer:
            await answer.content.readuntil(b'"TOOL_CALL_END"')
            reading = asyncio.create_task(post(other, request))
            await other.session.post("/api/chat/thread/stop")
            rest = await answer.read()
        status, events = await reading
        assert (status, events[-1]["outcome"]) == (200, {"type": "cancelled"})
        assert b'"outcome":{"type":"cancelled"}' in rest
        assert [event["type"] for event in events][:3] == ["RUN_STARTED", "STEP_STARTED", "TOOL_CALL_START"]


@older_client_if_thorough
async def test_a_client_without_messages_gets_the_conversation(tmp_path, package):
    async with talking(tmp_path, package) as (_, do):
        await do("say", id="m1", content="/photo name=kiwi")
        whole = await do("say", id="m2", content="hello")
        await do("open")
        got = await do("run")
        assert (got["error"], got["warnings"]) == (None, [])
        assert [message["role"] for message in got["messages"]] == [message["role"] for message in whole["messages"]]
        ours = [message for message in got["messages"] if message["role"] != "user"]
        theirs = [message for message in whole["messages"] if message["role"] != "user"]
        assert without_addresses(ours) == without_addresses(theirs)


async def test_a_conversation_that_waits_says_so_to_a_client_that_comes_later(tmp_path):
    async with talking(tmp_path, AG_UI_CLIENTS[0]) as (_, do):
        await do("say", id="m1", content="/erase path=a")
        await do("open")
        assert len((await do("run"))["interrupts"]) == 1


async def test_an_unknown_thread_is_empty(tmp_path):
    async with serving(tmp_path) as site:
        status, events = await post(site, body())
        assert (status, [event["type"] for event in events]) == (
            200,
            ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"],
        )
        assert list(await site.store.list()) == []


async def test_a_chat_of_one_protocol_is_continued_in_the_other(tmp_path):
    async with serving(tmp_path) as site:
        await post(site, body(user("hello"), thread="chat"))
        status, chunks = await site.post("again", "chat", id="m2")
        assert (status, bool(texts(chunks))) == (200, True)
        assert await stored(site) == ["user", "assistant"] * 2


async def test_nobody_reads_the_thread_of_another_user(tmp_path):
    async with serving(tmp_path) as site:
        await post(site, body(user("hello")))
        (overview,) = await site.store.list()
        status, _ = await post(site, body(thread=overview.id), site.as_user())
        assert status == 401
        status, _ = await post(site, body(thread="conv_" + "x" * 22))
        assert status == 404


async def test_bad_requests_have_typed_errors(tmp_path):
    async with serving(tmp_path) as site:
        for request, status in (({}, 422), (body(user("")), 422), (body(run=""), 422)):
            assert (await post(site, request))[0] == status
        answers = [{"interruptId": "c1", "status": "resolved", "payload": {"approved": True}}]
        status, error = await post(site, body(resume=answers))
        assert status == 422
        assert "waiting for approval" in error["error"]["text"]
