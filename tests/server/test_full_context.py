"""An answer that failed because the conversation is too long: what another one would leave out, and another one."""

import json
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from support.serving import kinds, serving, texts
from support.two_users import ask, open_accounts, upload
from support.vllm import vllm

pytestmark = pytest.mark.anyio
#: Tokens that the model holds, of four bytes each, and a message of about 2,000.
WINDOW, LONG = 8_000, "word " * 1_600
FULL = (
    "This model's maximum context length is {window} tokens. However, your messages resulted in {asked} tokens. "
    "Please reduce the length of the messages."
)


def respond(body):
    """Refuse what is too long, and say "ok" to the rest; a summary is a sentence."""
    text = json.dumps(body)
    if (asked := len(text) // 4) > WINDOW:
        return web.json_response({"error": {"message": FULL.format(window=WINDOW, asked=asked)}}, status=400)
    words = "They asked much." if "You sum up the earlier part" in text else "ok"
    chunks = [
        {"index": 0, "delta": {"content": words}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    lines = "".join(f"data: {json.dumps({'choices': [chunk]})}\n\n" for chunk in chunks)
    return web.Response(text=f"{lines}data: [DONE]\n\n", content_type="text/event-stream")


@asynccontextmanager
async def too_long(folder, monkeypatch, user=None):
    """A server with a conversation whose last answer failed, its id, the last stream, and what the model got."""
    async with vllm(respond, monkeypatch) as bodies, serving(folder, default_model="vllm:any") as site:
        session = open_accounts(site)(user) if user else site.session
        file = await upload(session, b"a,b\n1,2\n", "table.csv")
        await site.post("hello", id="m0", session=session)
        await site.post(f"question 1: {LONG}", id="m1", files=[file], session=session)
        for number in (2, 3):
            await site.post(f"question {number}: {LONG}", id=f"m{number}", session=session)
        _, chunks = await site.post(f"question 4: {LONG}", id="m4", session=session)
        yield site, (await ask(session, "GET", "/api/conversations"))[1]["conversations"][0]["id"], chunks, bodies


async def preview(site, conversation, session=None):
    return await ask(session or site.session, "GET", f"/api/conversations/{conversation}/full-context")


async def answer_again(site, conversation, on_full):
    """Choose what happens, and generate the last answer again."""
    path = f"/api/conversations/{conversation}/settings"
    assert (await ask(site.session, "PUT", path, json={"on_full": on_full}))[0] == 200
    return await site.post(None, conversation, trigger="regenerate-message", messages=[])


async def test_what_would_be_left_out_is_planned_without_a_request(tmp_path, monkeypatch):
    async with too_long(tmp_path, monkeypatch) as (site, conversation, chunks, bodies):
        assert "maximum context length" in chunks[-2]["errorText"]
        sent = len(bodies)
        status, found = await preview(site, conversation)
        assert (status, found["full"], found["window"], len(bodies)) == (200, True, WINDOW, sent)
        assert found["options"] == ["drop_oldest", "summarize"]
        left_out = found["left_out"]
        assert [words.partition(":")[0] for words in left_out["questions"]] == [
            "question 1",
            "question 2",
            "question 3",
        ]
        assert [file["name"] for file in left_out["files"]] == ["table.csv"]
        assert left_out["messages"] == 7  # with their answers, and that to "hello"
        assert left_out["tokens"] > 3_000


@pytest.mark.parametrize("on_full", ["drop_oldest", "summarize"])
async def test_another_answer_leaves_out_what_was_planned(on_full, tmp_path, monkeypatch):
    async with too_long(tmp_path, monkeypatch) as (site, conversation, _, bodies):
        left_out = (await preview(site, conversation))[1]["left_out"]
        _, chunks = await answer_again(site, conversation, on_full)
        assert (kinds(chunks)[-1], texts(chunks)) == ("finish", "ok")
        last = json.dumps(bodies[-1])
        assert [f"question {number}:" in last for number in range(1, 5)] == [False, False, False, True]
        assert ("They asked much." in last) == (on_full == "summarize")
        assert f"{left_out['messages']} earlier messages" in last
        assert (await preview(site, conversation))[1]["full"] is False
        _, chunks = await site.post("and now?", id="m5")  # also from now on
        assert texts(chunks) == "ok"


async def test_nothing_is_offered_for_other_answers_and_other_errors(tmp_path, monkeypatch):
    async with vllm(lambda _: web.Response(status=400), monkeypatch), serving(tmp_path) as site:
        nothing = {"full": False, "window": None, "left_out": None, "options": []}
        await site.post("hello")
        conversation = (await site.store.newest()).id
        assert await preview(site, conversation) == (200, nothing)
        await site.post("hello", id="m2", model="vllm:any")
        assert await preview(site, conversation) == (200, nothing)


async def test_a_message_that_is_too_long_alone_has_no_options(tmp_path, monkeypatch):
    async with vllm(respond, monkeypatch), serving(tmp_path, default_model="vllm:any") as site:
        await site.post(LONG * 5)
        status, found = await preview(site, (await site.store.newest()).id)
        assert (status, found["full"], found["left_out"], found["options"]) == (200, True, None, [])


async def test_only_the_owner_sees_and_chooses(tmp_path, monkeypatch):
    async with too_long(tmp_path, monkeypatch, user="bob") as (site, conversation, _, _):
        ann, bob = site.as_user("ann"), site.as_user("bob")
        await ask(ann, "GET", "/api/me")
        await ask(bob, "PUT", f"/api/conversations/{conversation}/shares/ann", json={"right": "writer"})
        assert (await preview(site, conversation, ann))[0] == 404
        assert (await preview(site, conversation, bob))[1]["full"] is True
