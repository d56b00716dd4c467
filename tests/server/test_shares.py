"""Sharing: who may see with whom a conversation is shared, how people name each other, and who wrote what."""

import io
import logging
import zipfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec
import pytest

from fake_provider import FakeProvider
from showandtell.server.auth.oidc import Oidc
from support.middleware_app import NOON
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer
from support.serving import Site, serving, texts
from support.two_users import ask, conversations_of, upload

pytestmark = pytest.mark.anyio

#: What nobody else may ever see of Ann and of Bob: account ids and addresses.
OF_ANN, OF_BOB = ("id-of-ann", "mail.example"), ("id-of-bob", "mail.example")
#: A model of each API.
MODELS = {
    "anthropic-messages": "anthropic:claude-sonnet-4-5",
    "openai-chat": "openai-chat:gpt-5-mini",
    "openai-responses": "openai:gpt-5-mini",
    "gemini": "google:gemini-2.5-flash",
    "bedrock-converse": "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}


@dataclass
class People:
    """A server with the accounts of a real issuer: Ann, Bob, and a second Ann."""

    site: Site
    issuer: Any
    ann: Any
    bob: Any
    twin: Any

    def id(self, sub):
        return f"{sub}@{self.issuer.url.partition('://')[2]}"

    async def share(self, id_, other, right="reader", session=None):
        path = f"/api/conversations/{id_}/shares/{other}"
        return await ask(session or self.ann, "PUT", path, json={"right": right})

    async def conversation(self, words="hello", **more):
        """A new conversation of Ann's."""
        await self.site.post(words, words, session=self.ann, **more)
        return (await conversations_of(self.site, self.ann))[0]["id"]


@asynccontextmanager
async def people(folder):
    async with running_issuer() as issuer, open_site(folder, issuer) as site:
        tokens = [
            issuer.token(sub="id-of-ann", name="Ann", email="ann@mail.example"),
            issuer.token(sub="id-of-bob", name="bob@mail.example", nickname="Bob"),
            issuer.token(sub="id-of-twin", name="Ann"),
        ]
        sessions = [site.as_user(token) for token in tokens]
        for session in sessions:
            assert (await site.get("/api/me", session))[0] == 200
        yield People(site, issuer, *sessions)


def open_site(folder, issuer):
    ticks = count()
    clock = lambda: NOON + next(ticks) / 1000  # noqa: E731 - no two changes at the same time
    return serving(folder, oidc=Oidc(issuer.url, CLIENT, CLIENT_SECRET), clock=clock)


async def test_display_names_come_from_the_issuer_and_are_never_an_address(tmp_path):
    async with people(tmp_path) as those:
        names = [(await those.site.get("/api/me", one))[1]["name"] for one in (those.ann, those.bob, those.twin)]
        assert names == ["Ann", "Bob", "Ann (2)"]


async def test_an_owner_shares_by_name_lists_the_shares_and_takes_them_back(tmp_path):
    async with people(tmp_path) as those:
        id_ = await those.conversation()
        assert (await those.share(id_, "bob"))[0] == 204
        assert (await those.share(id_, those.id("id-of-twin"), "writer"))[0] == 204
        listed = (await those.site.get(f"/api/conversations/{id_}/shares", those.ann))[1]["shares"]
        assert listed == [{"name": "Ann (2)", "right": "writer"}, {"name": "Bob", "right": "reader"}]
        assert (await those.share(id_, "Bob", None))[0] == 204
        assert (await those.site.get(f"/api/conversations/{id_}", those.bob))[0] == 404
        assert (await those.site.get(f"/api/conversations/{id_}", those.twin))[1]["shared_by"] == "Ann"


@pytest.mark.parametrize("nobody", ["Nobody", "nobody@id.example", "Bo", "%", "Unnamed user", "A_n"])
async def test_a_name_that_nobody_has_is_an_error(tmp_path, nobody):
    async with people(tmp_path) as those:
        id_ = await those.conversation()
        for right in ("reader", None):
            status, body = await those.share(id_, nobody.replace("%", "%25"), right)
            assert (status, body["error"]["kind"]) == (404, "NotFound")
            assert "nobody who has signed in" in body["error"]["text"]
        assert (await those.site.get(f"/api/conversations/{id_}/shares", those.ann))[1] == {"shares": []}


async def test_a_server_without_accounts_shares_with_nobody(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("hello")
        path = f"/api/conversations/{(await conversations_of(site, site.session))[0]['id']}/shares"
        status, body = await ask(site.session, "PUT", f"{path}/nobody", json={"right": "reader"})
        assert status == 422
        assert "this server has one user" in body["error"]["text"]
        assert (await site.get(path))[1] == {"shares": []}


async def test_a_share_from_when_the_server_had_accounts_is_taken_back_without_them(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("hello")
        (conversation,) = await conversations_of(site, site.session)
        await site.store.share(conversation["id"], "local", "bob@id", "reader")
        path = f"/api/conversations/{conversation['id']}/shares"
        assert (await ask(site.session, "PUT", f"{path}/bob@id", json={"right": None}))[0] == 204
        assert (await site.get(path))[1] == {"shares": []}


async def test_a_name_of_several_people_and_ones_own_are_errors(tmp_path):
    async with people(tmp_path) as those:
        id_ = await those.conversation()
        status, body = await those.share(id_, "ann")
        assert status == 422
        assert "several people are called 'ann'" in body["error"]["text"]
        assert (await those.share(id_, those.id("id-of-ann")))[0] == 422
        assert (await those.share(id_, "Ann (2)"))[0] == 204


async def test_only_an_owner_can_try_names(tmp_path):
    async with people(tmp_path) as those:
        id_ = await those.conversation()
        await those.share(id_, "Bob", "writer")
        answers = [await those.share(id_, name, session=those.bob) for name in ("Ann (2)", "Nobody", "Bob")]
        assert [status for status, _ in answers] == [404] * 3
        assert len({body["error"]["text"] for _, body in answers}) == 1


async def test_a_reader_lists_what_is_shared_and_leaves_it(tmp_path):
    async with people(tmp_path) as those:
        ids = [await those.conversation(words) for words in ("one", "two", "three")]
        for id_ in ids:
            await those.share(id_, "Bob")
        first = (await those.site.get("/api/conversations/shared?limit=2", those.bob))[1]
        second = (await those.site.get(f"/api/conversations/shared?limit=2&before={first['next']}", those.bob))[1]
        listed = first["conversations"] + second["conversations"]
        assert [(one["title"], one["shared_by"], one["right"]) for one in listed] == [
            (words, "Ann", "reader") for words in ("three", "two", "one")
        ]
        assert (await ask(those.bob, "DELETE", f"/api/conversations/{ids[0]}/shares/me"))[0] == 204
        assert (await those.site.get(f"/api/conversations/{ids[0]}", those.bob))[0] == 404
        assert (await ask(those.bob, "DELETE", f"/api/conversations/{ids[0]}/shares/me"))[0] == 404
        assert (await ask(those.ann, "DELETE", f"/api/conversations/{ids[0]}/shares/me"))[0] == 422


async def test_each_message_of_a_shared_conversation_says_who_wrote_it(tmp_path):
    async with people(tmp_path) as those:
        id_ = await those.conversation("alone")
        await those.share(id_, "Bob", "writer")
        await those.share(id_, "Ann (2)", "reader")
        for words, session in (("from Bob", those.bob), ("from Ann", those.ann)):
            assert (await those.site.post(words, id_, id=words, session=session))[0] == 200
        await those.share(id_, "Bob", None)
        await those.share(id_, "Ann (2)", None)
        await those.site.post("still Ann", id_, id="last", session=those.ann)
        assert await authors_of(those, id_, those.ann) == ["Ann", "Bob", "Ann", "Ann"]


async def authors_of(those, id_, session):
    """The authors that a person sees in a conversation; those in its export are the same."""
    messages = (await those.site.get(f"/api/conversations/{id_}", session))[1]["messages"]
    authors = [one["metadata"].get("author") for one in messages if one["role"] == "user"]
    _, exported = await ask(session, "GET", f"/api/conversations/{id_}/export")
    with zipfile.ZipFile(io.BytesIO(exported)) as archive:
        written = msgspec.json.decode(archive.read("conversation.json"))["messages"]
    assert [one.get("author") for one in written if one["role"] == "user"] == authors
    return authors


async def test_messages_from_before_a_conversation_was_shared_are_its_owners_to_people_alone(tmp_path):
    async with people(tmp_path) as those:
        id_ = await those.conversation("alone")
        assert await authors_of(those, id_, those.ann) == [None]
        await those.share(id_, "Bob")
        assert [await authors_of(those, id_, session) for session in (those.ann, those.bob)] == [["Ann"]] * 2
        stored = await those.site.store.open(id_, those.id("id-of-ann"))
        assert [message.author for message in stored.messages if message.role == "user"] == [msgspec.UNSET]


async def test_commands_work_in_a_shared_conversation(tmp_path):
    async with people(tmp_path) as those:
        file = await upload(those.ann, b"of Ann", "note.txt")
        id_ = await those.conversation("look", files=[file])
        await those.share(id_, "Bob", "writer")
        picture = await upload(those.bob, b"of Bob", "bob.txt")
        _, chunks = await those.site.post("/list_files", id_, id="m2", files=[picture], session=those.bob)
        assert "tool-input-available" in {chunk["type"] for chunk in chunks}
        _, chunks = await those.site.post("what is in document 2?", id_, id="m3", session=those.bob)
        assert "of Bob" in texts(chunks)


async def test_a_file_from_a_shared_conversation_says_who_shared_it(tmp_path):
    async with people(tmp_path) as those:
        file = await upload(those.ann, b"of Ann", "note.txt")
        await those.share(await those.conversation("look", files=[file]), "Bob")
        await those.site.post("mine now", "copy", files=[file], session=those.bob)
        (mine,) = await conversations_of(those.site, those.bob)
        copy = (await those.site.get(f"/api/conversations/{mine['id']}", those.bob))[1]["attachments"][0]
        assert (copy["origin"], copy["name"]) == ({"by": "user", "shared_by": "Ann"}, "note.txt")
        await those.site.post("again", "second", files=[copy["id"]], session=those.bob)
        again = (await conversations_of(those.site, those.bob))[0]["id"]
        kept = (await those.site.get(f"/api/conversations/{again}", those.bob))[1]["attachments"][0]
        assert kept["origin"] == copy["origin"]
        _, chunks = await those.site.post("/list_files", "copy", id="m2", session=those.bob)
        assert 'a conversation shared by \\"Ann\\"' in str(chunks).replace('\\\\"', '\\"')


async def shared_talk(those, model=None):
    """A conversation of Ann's in which Bob writes, too, with a file of each; the answers of both."""
    file, own = await upload(those.ann, b"of Ann", "note.txt"), await upload(those.bob, b"of Bob", "bob.txt")
    id_ = await those.conversation("look", files=[file], model=model)
    await those.share(id_, "Bob", "writer")
    answers = []
    for words, files, session in (("and this", [own], those.bob), ("/list_files", [], those.ann)):
        answers.append(await those.site.post(words, id_, id=words, files=files, session=session, model=model))
    copied = await those.site.post("mine now", "copy", files=[file], session=those.bob, model=model)
    assert [status for status, _ in (*answers, copied)] == [200] * 3
    return id_, file, [*answers, copied]


def found_in(text, words):
    return [word for word in words if word in text]


@pytest.mark.parametrize("api", MODELS)
async def test_models_read_names_and_no_account_id_or_address(tmp_path, monkeypatch, api):
    bodies = []
    async with FakeProvider(handlers=[lambda _, incoming: bodies.append(incoming.body.decode())]) as provider:
        for name, value in provider.environ().items():
            monkeypatch.setenv(name, value)
        async with people(tmp_path) as those:
            await shared_talk(those, MODELS[api])
    written = [body for body in bodies if body]
    assert len(written) >= 4
    assert found_in("".join(written), (*OF_ANN, *OF_BOB)) == []
    for label in ('⟦written by "Ann"⟧', '⟦written by "Bob"⟧', 'from a conversation shared by "Ann"'):
        assert msgspec.json.encode(label).decode()[1:-1] in "".join(written)


async def test_people_and_exports_and_logs_hold_no_account_id_or_address_of_others(tmp_path, caplog):
    caplog.set_level(logging.DEBUG, "showandtell")
    async with people(tmp_path) as those:
        id_, file, answers = await shared_talk(those)
        for session, secrets in ((those.ann, OF_BOB), (those.bob, OF_ANN)):
            paths = ["", f"/{id_}", f"/{id_}/shares", "/shared"]
            seen = [await ask(session, "GET", f"/api/conversations{path}") for path in paths]
            seen += [
                await ask(session, "GET", f"/api/attachments/{file}"),
                await those.share(id_, "Bob", session=session),
            ]
            _, exported = await ask(session, "GET", f"/api/conversations/{id_}/export")
            with zipfile.ZipFile(io.BytesIO(exported)) as archive:
                seen += [archive.read(name) for name in archive.namelist()]
            assert '"author":"Bob"' in str(seen).replace('": "', '":"')
            assert found_in(str(seen), secrets) == []
        assert found_in(str(answers[1]), OF_BOB) + found_in(str([answers[0], answers[2]]), OF_ANN) == []
    assert found_in(caplog.text, (*OF_ANN, *OF_BOB)) == []
