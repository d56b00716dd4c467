"""What is for the user alone stays theirs on the server, whatever way a file or a conversation takes: a way is a row."""

import io
import json
import zipfile

import pybase64
import pytest

from showandtell import File, Text, import_conversation, render
from showandtell.agent.tools import as_tool
from support.scripted import ELSEWHERE
from support.serving import serving, texts
from support.two_users import RATES, ask, conversations_of, new_name, open_accounts

pytestmark = pytest.mark.anyio
#: In everything that is for the user alone.
WORD = "xylophone"
PRIVATE = File.from_bytes(f"{WORD} bytes".encode(), "text/plain", f"{WORD}.txt", f"{WORD} told", audience="user")


MODELS_OWN = File.from_bytes(b"zeppelin", "text/plain", "zeppelin.txt", audience="assistant")


def show_the_model() -> File:
    """Show what is for the model alone."""
    return MODELS_OWN


def show() -> list:
    """Show what is for the user alone."""
    return ["Shown.", PRIVATE, Text(f"{WORD} noted", "user"), {"inside": Text(f"{WORD} inside", "user")}]


class Owner:
    """A server on which a tool has shown Ann what is for her alone. `file` is the file's id, `talk` the conversation."""

    def __init__(self, site):
        self.site, self.user = site, open_accounts(site)
        self.ann, self.bob = self.user("ann"), self.user("bob")

    async def begin(self):
        await self.site.get("/api/conversations", self.bob)  # so that he is known
        _, self.chunks = await self.site.post("/show", "talk", session=self.ann)
        self.talk = (await conversations_of(self.site, self.ann))[0]["id"]
        (found,) = (await self.page(self.ann))["attachments"]
        self.file, self.url = found["id"], found["url"]
        return self

    async def page(self, session):
        return (await self.site.get(f"/api/conversations/{self.talk}", session))[1]

    async def newest(self, session=None):
        """The conversation that was changed last, from the store."""
        listed = await conversations_of(self.site, session or self.ann)
        return await self.site.store.open(listed[0]["id"], "ann" if session is None else "bob")

    async def share(self, right="reader"):
        path = f"/api/conversations/{self.talk}/shares/bob"
        assert (await ask(self.ann, "PUT", path, json={"right": right}))[0] in {200, 204}


async def by_chat(owner):
    """The file is attached in another conversation."""
    status, _ = await owner.site.post("look", "other", files=[owner.file], session=owner.ann)
    assert status == 200
    return await owner.newest()


async def by_queue(owner):
    """The file waits in a pending message of another conversation."""
    await owner.site.post("hello", "queued", session=owner.ann)
    there = await owner.newest()
    body = {"conversation_id": there.id, "message_id": "m2", "text": "look", "files": [owner.file]}
    assert (await ask(owner.ann, "POST", "/api/pending", json=body))[0] == 201
    await ask(owner.ann, "GET", f"/api/conversations/{there.id}")  # waits until it is sent
    async with owner.ann.get(f"/api/chat/{there.id}/stream") as answer:
        await answer.read()
    return await owner.newest()


async def by_ag_ui(owner):
    """The file is a part of a message of AG-UI, by its address."""
    part = {"type": "image", "source": {"type": "url", "value": owner.url}}
    message = {"id": "m", "role": "user", "content": [{"type": "text", "text": "look"}, part]}
    body = {"threadId": "ag-ui", "runId": "r", "protocolVersion": "1.0", "messages": [message]}
    async with owner.ann.post("/ag-ui", json=body) as answer:
        assert answer.status == 200
        await answer.read()
    return await owner.newest()


async def by_edit(owner):
    """The question is edited, and the file attached to it."""
    question = (await owner.page(owner.ann))["messages"][0]["id"]
    await owner.site.post("look", owner.talk, id="m3", files=[owner.file], session=owner.ann, messageId=question)
    return await owner.newest()


async def by_regeneration(owner):
    """The answer is made again, on a branch of its own."""
    question = (await owner.page(owner.ann))["messages"][0]["id"]
    body = {"id": owner.talk, "messages": [], "trigger": "regenerate-message", "messageId": question}
    async with owner.ann.post("/api/chat", json=body) as answer:
        assert answer.status == 200
        await answer.read()
    return await owner.newest()


async def by_export(owner):
    """The conversation is exported by its owner, and imported."""
    path = owner.site.store.folder / "talk.zip"
    path.write_bytes((await ask(owner.ann, "GET", f"/api/conversations/{owner.talk}/export"))[1])
    return await import_conversation(owner.site.store, path, "ann")


async def by_share(owner):
    """A writer continues the conversation."""
    await owner.share("writer")
    status, _ = await owner.site.post("look at image 1", owner.talk, id="m4", session=owner.bob)
    assert status == 200
    return await owner.newest()


WAYS = [by_chat, by_queue, by_ag_ui, by_edit, by_regeneration, by_export, by_share]


async def test_no_next_request_has_what_is_for_the_user_alone(tmp_path):
    async with serving(tmp_path, tools=(as_tool(show),), rates=RATES) as site:
        owner = await Owner(site).begin()
        assert WORD in json.dumps(owner.chunks)  # the owner sees it
        for way in WAYS:
            conversation = await way(owner)
            marks = {file.audience for file in conversation.attachments.values()}
            assert marks == {"user"}, way
            for model in ELSEWHERE:
                body = json.dumps(render(conversation, model=model, max_tokens=1000).json())
                assert WORD not in body, way
                assert pybase64.b64encode_as_string(b"xylophone") not in body, way
                assert "shown to the user alone" in body.encode().decode("unicode_escape"), way


async def of_page(owner):
    return json.dumps([await owner.page(owner.bob), (await owner.site.get("/api/conversations/shared", owner.bob))[1]])


async def of_stream(owner):
    """The stream of the answer, for the message that it answers."""
    status, chunks = await owner.site.post("/show", owner.talk, id="m5", session=owner.bob)
    again = await owner.site.post("/show", owner.talk, id="m5", session=owner.bob)
    assert (status, again[0]) == (200, 200)
    assert texts(chunks)
    return json.dumps([chunks, again])


async def of_ag_ui(owner):
    replies = []
    for version in ({}, {"protocolVersion": "1.0"}):
        body = {"threadId": owner.talk, "runId": new_name(), "messages": [], **version}
        replies.append((await ask(owner.bob, "POST", "/ag-ui", json=body))[1].decode())
        ask_again = {"id": new_name(), "role": "user", "content": "/show"}
        body = {"threadId": owner.talk, "runId": new_name(), "messages": [ask_again], **version}
        replies.append((await ask(owner.bob, "POST", "/ag-ui", json=body))[1].decode())
    assert all("RUN_FINISHED" in reply for reply in replies)
    return json.dumps(replies)


async def of_export(owner):
    status, data = await ask(owner.bob, "GET", f"/api/conversations/{owner.talk}/export")
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return repr([(name, archive.read(name)) for name in archive.namelist()])


async def of_file(owner):
    """The file by its id: described, as bytes, and attached."""
    paths = ["", "/content", "/text", "/thumbnail"]
    answers = [await ask(owner.bob, "GET", f"/api/attachments/{owner.file}{path}") for path in paths]
    answers.append(await owner.site.post("look", "of-bob", files=[owner.file], session=owner.bob))
    body = {"conversation_id": owner.talk, "message_id": new_name(), "text": "look", "files": [owner.file]}
    answers.append(await ask(owner.bob, "POST", "/api/pending", json=body))
    assert {status for status, _ in answers} == {404}
    return repr(answers)


async def of_search(owner):
    return json.dumps(await owner.site.get(f"/api/conversations?q={WORD}", owner.bob)).replace(f"q={WORD}", "")


VIEWS = [of_page, of_stream, of_ag_ui, of_export, of_file, of_search]


async def test_in_a_shared_conversation_it_is_for_the_owner(tmp_path):
    async with serving(tmp_path, tools=(as_tool(show),), rates=RATES) as site:
        owner = await Owner(site).begin()
        await owner.share("writer")
        for view in VIEWS:
            assert WORD not in await view(owner), view
        assert WORD in json.dumps(await owner.page(owner.ann))


async def lifted_by_chat(owner):
    await owner.site.post("look", "other", files=[owner.file], lift=[owner.file], session=owner.ann)
    return await owner.newest()


async def lifted_where_it_is(owner):
    await owner.site.post("look", owner.talk, id="m6", files=[owner.file], lift=[owner.file], session=owner.ann)
    return await owner.newest()


async def lifted_in_the_queue(owner):
    body = {"message_id": "m7", "text": "look", "files": [owner.file], "lift": [owner.file]}
    await owner.site.post("hello", "queued", session=owner.ann)
    there = await owner.newest()
    assert (await ask(owner.ann, "POST", "/api/pending", json=body | {"conversation_id": there.id}))[0] == 201
    await ask(owner.ann, "GET", f"/api/conversations/{there.id}")
    async with owner.ann.get(f"/api/chat/{there.id}/stream") as answer:
        await answer.read()
    return await owner.newest()


async def lifted_by_ag_ui(owner):
    part = {"type": "image", "source": {"type": "url", "value": owner.url}}
    body = {"threadId": "ag-ui", "runId": "r", "messages": [{"id": "m", "role": "user", "content": [part]}]}
    await ask(owner.ann, "POST", "/ag-ui", json=body | {"forwardedProps": {"lift": [owner.file]}})
    return await owner.newest()


LIFTS = [lifted_by_chat, lifted_where_it_is, lifted_in_the_queue, lifted_by_ag_ui]


async def test_where_the_server_allows_it_the_owner_shows_the_model_a_file_for_one_message(tmp_path):
    async with serving(tmp_path, tools=(as_tool(show),), rates=RATES, lift_audience=True) as site:
        owner = await Owner(site).begin()
        for lift in LIFTS:
            conversation = await lift(owner)
            file = list(conversation.attachments.values())[-1]
            assert (file.audience, file.lifted, file.is_private) == ("user", True, True), lift
            request = render(conversation, model=ELSEWHERE[0], max_tokens=1000)
            assert f"{WORD} bytes" in json.dumps(request.json()), lift
            assert "its owner showed it to the model for this message" in request.receipts[-1].reason
            claimed = await site.store.uploads("ann").claim(file.id, (await site.store.create("ann")).id)
            assert (claimed.audience, claimed.lifted) == ("user", False)


async def test_a_lifted_file_stays_the_owners_in_a_shared_conversation_and_in_an_export(tmp_path):
    async with serving(tmp_path, tools=(as_tool(show),), rates=RATES, lift_audience=True) as site:
        owner = await Owner(site).begin()
        await lifted_where_it_is(owner)
        await owner.share("reader")
        page = await owner.page(owner.bob)
        parts = [part for message in page["messages"] for part in message["parts"] if part["type"] != "text"]
        assert page["attachments"] == []
        assert WORD not in json.dumps(parts)  # the model's words may name it
        _, data = await ask(owner.bob, "GET", f"/api/conversations/{owner.talk}/export")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.namelist() == ["conversation.json", "source.json"]
        copy = await by_export(owner)
        assert [(file.audience, file.lifted is True) for file in copy.attachments.values()] == [
            ("user", False),
            ("user", True),
        ]


@pytest.mark.parametrize("model", ELSEWHERE)
async def test_a_lifted_file_is_for_the_user_alone_again_with_the_next_message_of_anybody(model, tmp_path):
    async with serving(tmp_path, tools=(as_tool(show),), rates=RATES, lift_audience=True) as site:
        owner = await Owner(site).begin()
        file = [*(await lifted_where_it_is(owner)).attachments.values()][-1]
        await owner.share("writer")
        messages = [(owner.ann, "go on", []), (owner.ann, "again", [file.id]), (owner.bob, "/get_document 2", [])]
        for at, (person, words, files) in enumerate(messages):
            await site.post(words, owner.talk, id=f"n{at}", files=files, session=person)
            request = render(await site.store.open(owner.talk, "ann"), model=model, max_tokens=1000)
            assert {receipt.delivery for receipt in request.receipts} == {"withheld"}, words
        assert "is for the user alone" in json.dumps((await owner.page(owner.ann))["messages"][-1])


async def test_nobody_lifts_what_the_server_the_owner_or_the_mark_forbids(tmp_path):
    tools = (as_tool(show), as_tool(show_the_model))
    async with serving(tmp_path / "off", tools=tools, rates=RATES) as site:
        owner = await Owner(site).begin()
        answer = await site.post("look", "new", files=[owner.file], lift=[owner.file], session=owner.ann)
        assert answer[0] == 422
        assert "keeps files for the user alone" in json.dumps(answer[1])
    async with serving(tmp_path / "on", tools=tools, rates=RATES, lift_audience=True) as site:
        owner = await Owner(site).begin()
        await owner.share("writer")
        theirs = await site.post("look", "new", files=[owner.file], lift=[owner.file], session=owner.bob)
        await site.post("/show_the_model", owner.talk, id="m8", session=owner.ann)
        other = (await owner.page(owner.ann))["attachments"][-1]["id"]
        models = await site.post("look", "new", files=[other], lift=[other], session=owner.ann)
        absent = await site.post("look", "new", lift=[owner.file], session=owner.ann)
        assert [status for status, _ in (theirs, models, absent)] == [404, 422, 422]
