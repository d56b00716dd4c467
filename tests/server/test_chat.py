"""The chat routes: a message gets a stream, and the server owns the history."""

import asyncio

import pytest

from support.compound import compound
from support.page_messages import both, page
from support.serving import chat_body, chunks_of, kinds, serving, texts
from support.two_users import make_hanging_tool

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"


@pytest.mark.smoke
async def test_a_message_gets_a_stream_and_is_stored(tmp_path):
    async with serving(tmp_path) as site:
        status, chunks = await site.post("Hello")
        assert (status, kinds(chunks)[0], kinds(chunks)[-1]) == (200, "start", "finish")
        assert texts(chunks)
        (listed,) = await site.store.list()
        conversation = await site.store.open(listed.id)
        assert [one.role for one in conversation.messages] == ["user", "assistant"]
        assert conversation.messages[1].text == texts(chunks)


async def test_a_tools_file_is_streamed_by_number_without_base64(tmp_path):
    async with serving(tmp_path) as site:
        _, chunks = await site.post(CHART)
        shown = [one["data"] for one in chunks if one["type"] == "data-attachment"]
        assert [(one["number"], one["kind"], one["origin"]["tool"]) for one in shown] == [(1, "image", "chart")]
        output = next(one for one in chunks if one["type"] == "tool-output-available")
        assert [one["number"] for one in output["output"] if "number" in one] == [1]
        assert output["output"][-1]["bars"] == 3
        assert output["toolMetadata"]["showandtell"]["files"] == [1]
        given = [one["data"] for one in chunks if one["type"] == "data-receipt"]
        assert [(one["number"], one["delivery"]) for one in given] == [(1, "native")]


async def test_a_message_sent_twice_is_one_run(tmp_path):
    async with serving(tmp_path) as site:
        _, first = await site.post("Hello")
        status, again = await site.post("Hello")
        assert (status, texts(again)) == (200, texts(first))
        assert len((await site.store.open((await site.store.newest()).id)).messages) == 2


async def test_a_reader_may_disconnect_and_reconnect(tmp_path):
    async with serving(tmp_path) as site:
        async with site.session.post("/api/chat", json=chat_body(CHART, "c")) as answer:
            await answer.content.readany()
        async with site.session.get("/api/chat/c/stream") as again:
            if again.status == 200:  # 204 if the run has ended
                assert kinds(await chunks_of(again))[-1] == "finish"
        assert (await site.session.get("/api/chat/c/stream")).status == 204
        conversation = await site.store.open((await site.store.newest()).id)
        assert conversation.messages[-1].stop == "end"


async def test_an_edit_and_a_regeneration_are_branches(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("Hello", id="m1")
        await site.post("Hello again", id="m1", messageId="m1")
        await site.post(None, id="x", trigger="regenerate-message", messageId="m1")
        conversation = await site.store.open((await site.store.newest()).id)
        assert [one.text for one in conversation.messages if one.role == "user"] == ["Hello"]
        assert len(await conversation.everything()) == 5


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b'{"id":"c","mess', 422),
        (b'{"id":"c","messages":[]}', 422),
        (b'{"id":"c","messages":[{"id":"m","role":"user","parts":[]}]}', 422),
        (b'{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":" "}]}]}', 422),
        (
            b'{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"file","url":"data:image/png;base64,!!"}]}]}',
            422,
        ),
        (
            b'{"id":"c","messages":[{"id":"m","role":"user","parts":[' + b'{"type":"x"},' * 9999 + b'{"type":"x"}]}]}',
            422,
        ),
        (
            b'{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}],"model":"no:such"}',
            422,
        ),
        (
            b'{"id":"conv_0123456789abcdefABCDEF","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}]}',
            404,
        ),
    ],
)
async def test_an_invalid_body_is_refused_and_creates_nothing(body, status, tmp_path):
    async with serving(tmp_path) as site:
        headers = {"content-type": "application/json"}
        async with site.session.post("/api/chat", data=body, headers=headers) as answer:
            assert (answer.status, set(await answer.json())) == (status, {"error"})
        assert await site.store.list() == ()


async def test_parts_of_a_newer_client_are_ignored(tmp_path):
    async with serving(tmp_path) as site:
        body = chat_body("Hello")
        body["messages"][0]["parts"] += [
            {"type": "custom", "kind": "a.b", "data": [1]},
            {"type": "data-new", "data": 5},
        ]
        async with site.session.post("/api/chat", json=body) as answer:
            assert (answer.status, kinds(await chunks_of(answer))[-1]) == (200, "finish")


async def test_the_reason_of_a_refused_file_survives_a_reload(tmp_path):
    async with serving(tmp_path) as site:
        async with site.session.put("/api/attachments?name=old.doc", data=compound("WordDocument", b"")) as put:
            file = (await put.json())["id"]
        _, chunks = await site.post("What is in it?", files=[file])
        received = chunks[-1]["messageMetadata"]
        assert received["status"] == "refused"
        assert "old.doc" in received["reason"]
        _, page = await site.get(f"/api/conversations/{(await site.store.newest()).id}")
        assert page["messages"][-1]["metadata"]["reason"] == received["reason"]


async def test_a_request_without_messages_continues_a_stopped_response(tmp_path):
    tool, begun = make_hanging_tool()
    async with serving(tmp_path, tools=(tool,)) as site, asyncio.timeout(60):
        talking = asyncio.create_task(site.post("/hang"))
        await begun.wait()
        assert (await site.session.post("/api/chat/chat/stop")).status == 204
        await talking
        status, chunks = await both(site.session, {"id": "chat", "messages": []})
        assert (status, chunks[-1]["messageMetadata"]["status"]) == (200, "complete")
        question, answer = (await page(site))["messages"]
        assert chunks[0]["messageId"] == answer["id"] == question["id"].replace("msg_", "ans_")
        assert texts(chunks) == "".join(part["text"] for part in answer["parts"] if part["type"] == "text")
