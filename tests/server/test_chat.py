"""The chat over HTTP: a message is answered as a stream, and the server owns what was said."""

import asyncio

import pytest

from support.neighbours import hanging
from support.pages import both, page
from support.serving import asked, chunks_of, kinds, serving, texts

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"


async def test_a_message_is_answered_as_a_stream_and_stored(tmp_path):
    async with serving(tmp_path) as house:
        status, chunks = await house.post("Hello")
        assert (status, kinds(chunks)[0], kinds(chunks)[-1]) == (200, "start", "finish")
        assert texts(chunks)
        (listed,) = await house.store.list()
        conversation = await house.store.open(listed.id)
        assert [one.role for one in conversation.messages] == ["user", "assistant"]
        assert conversation.messages[1].text == texts(chunks)


async def test_what_a_tool_shows_comes_by_its_number_and_without_base64(tmp_path):
    async with serving(tmp_path) as house:
        _, chunks = await house.post(CHART)
        shown = [one["data"] for one in chunks if one["type"] == "data-attachment"]
        assert [(one["number"], one["kind"], one["origin"]["tool"]) for one in shown] == [(1, "image", "chart")]
        output = next(one for one in chunks if one["type"] == "tool-output-available")
        assert output["output"]["files"] == [1]
        given = [one["data"] for one in chunks if one["type"] == "data-receipt"]
        assert [(one["number"], one["delivery"]) for one in given] == [(1, "native")]


async def test_the_same_message_twice_is_one_run(tmp_path):
    async with serving(tmp_path) as house:
        _, first = await house.post("Hello")
        status, again = await house.post("Hello")
        assert (status, texts(again)) == (200, texts(first))
        assert len((await house.store.open((await house.store.newest()).id)).messages) == 2


async def test_a_reader_who_leaves_ends_nothing_and_may_come_back(tmp_path):
    async with serving(tmp_path) as house:
        async with house.session.post("/api/chat", json=asked(CHART, "c")) as answer:
            await answer.content.readany()
        async with house.session.get("/api/chat/c/stream") as again:
            if again.status == 200:  # 204 where it was over by now
                assert kinds(await chunks_of(again))[-1] == "finish"
        assert (await house.session.get("/api/chat/c/stream")).status == 204
        conversation = await house.store.open((await house.store.newest()).id)
        assert conversation.messages[-1].stop == "end"


async def test_an_edited_message_and_a_repeated_answer_are_branches(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        await house.post("Hello again", id="m1", messageId="m1")
        await house.post(None, id="x", trigger="regenerate-message", messageId="m1")
        conversation = await house.store.open((await house.store.newest()).id)
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
            b'{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"file","url":"data:image/png;base64,AA"}]}]}',
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
async def test_a_body_that_asks_nothing_is_refused_and_leaves_nothing(body, status, tmp_path):
    async with serving(tmp_path) as house:
        headers = {"content-type": "application/json"}
        async with house.session.post("/api/chat", data=body, headers=headers) as answer:
            assert (answer.status, set(await answer.json())) == (status, {"error"})
        assert await house.store.list() == ()


async def test_a_part_of_a_newer_client_is_left_out(tmp_path):
    async with serving(tmp_path) as house:
        body = asked("Hello")
        body["messages"][0]["parts"] += [
            {"type": "custom", "kind": "a.b", "data": [1]},
            {"type": "data-new", "data": 5},
        ]
        async with house.session.post("/api/chat", json=body) as answer:
            assert (answer.status, kinds(await chunks_of(answer))[-1]) == (200, "finish")


async def test_why_a_file_was_refused_is_still_known_after_a_reload(tmp_path):
    async with serving(tmp_path) as house:
        async with house.session.put("/api/attachments?name=parts.zip", data=b"PK\x05\x06" + bytes(18)) as put:
            file = (await put.json())["id"]
        _, chunks = await house.post("What is in it?", files=[file])
        told = chunks[-1]["messageMetadata"]
        assert (told["status"], "parts.zip" in told["reason"]) == ("refused", True)
        _, page = await house.get(f"/api/conversations/{(await house.store.newest()).id}")
        assert page["messages"][-1]["metadata"]["reason"] == told["reason"]


async def test_an_answer_that_was_stopped_is_gone_on_with_by_no_message_at_all(tmp_path):
    tool, begun = hanging()
    async with serving(tmp_path, tools=(tool,)) as house, asyncio.timeout(60):
        talking = asyncio.create_task(house.post("/hang"))
        await begun.wait()
        assert (await house.session.post("/api/chat/chat/stop")).status == 204
        await talking
        status, chunks = await both(house.session, {"id": "chat", "messages": []})
        assert (status, chunks[-1]["messageMetadata"]["status"]) == (200, "complete")
        question, answer = (await page(house))["messages"]
        assert chunks[0]["messageId"] == answer["id"] == question["id"].replace("msg_", "ans_")
        assert texts(chunks) == "".join(part["text"] for part in answer["parts"] if part["type"] == "text")
