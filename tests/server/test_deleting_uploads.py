"""Deleting what has uploads at a provider: ours goes first, and a provider that hangs holds nobody."""

import asyncio
import logging

import pytest

from fake_provider import FakeProvider
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.planning.placement import UPLOAD
from showandtell.server import deleting
from support.fake_files_api import Store, Stored, serve_files
from support.serving import serving

pytestmark = pytest.mark.anyio
SCOPE = resolve("openai:gpt-5-mini").upload_scope


async def uploaded(site, *file_ids):
    """The paths of a conversation and its files, which have been uploaded to OpenAI under these ids."""
    found = []
    for file_id in file_ids:
        async with site.session.put("/api/attachments", params={"name": "a.txt"}, data=file_id.encode()) as answer:
            found.append(await answer.json())
    await site.post("look", files=[file["id"] for file in found])
    _, listed = await site.get("/api/conversations")
    id_ = listed["conversations"][0]["id"]
    conversation = await site.store.open(id_)
    hashes = [file.facts.sha256 for file in conversation.attachments.values()]
    names = dict(zip(hashes, file_ids, strict=True))
    await conversation.learn({DerivationRequest(one, UPLOAD, SCOPE): Derivative(file_id=names[one]) for one in names})
    return f"/api/conversations/{id_}", [f"/api/attachments/{file['id']}" for file in found]


async def delete(site, path):
    async with site.session.delete(path) as answer:
        return answer.status


async def test_uploads_are_deleted_with_their_conversation_or_file(tmp_path, monkeypatch):
    store = Store(files={f"file-{at}": Stored("text/plain", b"x", 0, 1e12) for at in range(3)})
    async with (
        FakeProvider(handlers=[lambda method, incoming: serve_files(incoming, store, method)]) as provider,
        serving(tmp_path) as site,
    ):
        for name, value in provider.environ().items():
            monkeypatch.setenv(name, value)
        conversation, (file, _, _) = await uploaded(site, *store.files)
        assert (await delete(site, file), [*store.files]) == (204, ["file-1", "file-2"])
        assert (await delete(site, conversation), store.files) == (204, {})


async def test_a_provider_that_hangs_delays_no_deletion_and_what_it_keeps_is_logged(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(deleting, "WAIT_SECONDS", 0.01)
    asked = asyncio.Event()

    async def hang(reader, writer):
        asked.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(hang, "127.0.0.1", 0) as silent:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        async with serving(tmp_path, default_model="inspector") as site:
            conversation, (file, _) = await uploaded(site, "file-1", "file-2")
            async with asyncio.timeout(60):
                assert await delete(site, file) == 204
                assert await delete(site, conversation) == 204
                await asked.wait()
            assert (await site.get(conversation))[0] == 404
            assert not [one for one in site.store.blobs.inner.path.rglob("*") if len(one.name) == 64]
    assert sorted(record.message[-6:] for record in caplog.records if record.levelno == logging.WARNING) == [
        "file-1",
        "file-2",
    ]
