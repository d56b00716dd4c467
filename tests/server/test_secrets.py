"""Internal errors and keys never reach responses, streams or logs."""

import logging
import re
import sqlite3

import aiohttp
import pytest

from fake_provider import FakeProvider
from fake_provider.auth import AWS_SECRET, KEYS
from fake_provider.faults import echo
from showandtell import tool
from showandtell.errors import LeaseLost, StorageFailed, StorageFull
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.database.database import Database
from support.serving import chat_body, serving
from support.two_users import ask, conversations_of

pytestmark = pytest.mark.anyio

#: Details that errors of disks, databases and programs contain, and that must not leak.
SECRETS = ("/srv/keep/showandtell.db", "postgresql://admin:hunter2@db.internal/chat", "SELECT record FROM messages")
PLANTED = " | ".join(SECRETS)
ERRORS = (
    StorageFailed(f"the database {PLANTED} does not answer"),
    StorageFull(f"{PLANTED} has no room left"),
    LeaseLost(PLANTED),
    OSError(5, PLANTED, SECRETS[0]),
    sqlite3.OperationalError(PLANTED),
    RuntimeError(PLANTED),
    KeyError(PLANTED),
    UnicodeDecodeError("utf-8", PLANTED.encode(), 0, 1, PLANTED),
    RecursionError(PLANTED),
    TimeoutError(PLANTED),
)
READS = ("/api/conversations", "/api/conversations/{}", "/api/settings", "/api/attachments/att_" + "x" * 22)
READS += ("/api/conversations/{}/export", "/api/chat/{}/stream", "/readyz")


def leaked(text):
    """The planted details that a text contains."""
    return [one for one in (*SECRETS, "hunter2", "Traceback", ".py") if one in str(text)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
async def test_no_response_reveals_storage_paths_or_errors(tmp_path, monkeypatch, error):
    async with serving(tmp_path) as site:
        await site.post("hello")
        there = (await conversations_of(site, site.session))[0]["id"]

        async def fail(*_, **__):
            raise error

        monkeypatch.setattr(Database, "read", fail)
        for path in READS:
            async with aiohttp.ClientSession(site.url, headers=site.session.headers) as session:
                headers = {"authorization": f"Bearer {site.server.keys.token}"}
                async with session.get(path.format(there), headers=headers) as answer:
                    received = await answer.text() + str(answer.headers)
            assert (answer.status >= 500, leaked(received)) == (True, []), path
        status, received = await ask(site.session, "POST", "/api/chat", json=chat_body("more"))
        assert status in {500, 503, 507}
        assert leaked(received) == []
        monkeypatch.undo()


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
async def test_no_stream_reveals_errors_of_tools_or_storage(tmp_path, monkeypatch, error):
    failing = []

    @tool
    def break_down(where: str) -> str:
        """Break down."""
        if where == "here":
            raise error
        failing.append(1)
        return "done"

    honest = StoredConversation.write

    async def write(self, *what):
        if failing:
            raise error
        return await honest(self, *what)

    monkeypatch.setattr(StoredConversation, "write", write)
    async with serving(tmp_path, tools=(break_down,)) as site:
        _, chunks = await site.post("/break_down where=here", id="m1")
        assert leaked(chunks) == []
        assert "failed with" in str(chunks)
        _, chunks = await site.post("/break_down where=there", id="m2")
        assert leaked(chunks) == []
        assert "error" in {one["type"] for one in chunks}
        there = (await conversations_of(site, site.session))[0]["id"]
        assert leaked((await site.get(f"/api/conversations/{there}"))[1]) == []


WRITTEN = {key for _, key in KEYS.values()} | {AWS_SECRET}
ASKED = ("anthropic:claude-sonnet-4-5", "openai:gpt-5-mini", "openai-chat:gpt-5-mini", "google:gemini-3-flash-preview")
ASKED += ("mistral:mistral-medium-latest", "groq:openai/gpt-oss-120b")


async def test_no_key_is_in_a_stream_a_response_a_log_or_the_database(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    heard = []
    async with FakeProvider(
        [echo(place) for place in ("refusal", "page", "answer") for _ in range(4)] * 20
    ) as fake_provider:
        for name, value in fake_provider.environ().items():
            monkeypatch.setenv(name, value)
        async with serving(tmp_path) as site:
            for model in ASKED:
                heard += [await site.post("hello", chat=model, id=str(turn), model=model) for turn in range(3)]
            heard += [
                await ask(site.session, "GET", path) for path in ("/api/models", "/api/me", "/metrics", "/api/settings")
            ]
            for one in await conversations_of(site, site.session):
                heard.append(await ask(site.session, "GET", f"/api/conversations/{one['id']}"))
        assert len(fake_provider.ledger) >= len(ASKED)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    places = {"said": str(heard), "logged": caplog.text, "kept": kept.decode("latin-1")}
    assert [(where, key) for where, text in places.items() for key in WRITTEN if key in text] == []
    assert "[hidden]" in places["said"]
    assert site.app.state.server.keys.token not in places["said"] + places["logged"] + places["kept"]
    assert not re.search(r"[A-Za-z0-9+/=_-]{257,}", caplog.text)
