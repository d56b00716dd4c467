"""Files without bytes are `missing`, after a kill as well: every reader knows, and the chat continues."""

import hashlib

import pytest

from support.server_process import running
from support.serving import chat_body, serving, texts

pytestmark = pytest.mark.anyio
SHA256 = hashlib.sha256(b"a,b").hexdigest()


async def files_of(site):
    """The only conversation's files, by name."""
    _, listed = await site.get("/api/conversations")
    _, stored = await site.get(f"/api/conversations/{listed['conversations'][0]['id']}")
    return {file["name"]: file for file in stored["attachments"]}


async def test_a_tools_file_whose_bytes_a_kill_has_left_behind_is_missing_for_every_reader(tmp_path):
    async with running(tmp_path) as program:
        async with program.session.post(f"{program.url}/api/chat", json=chat_body("/draw")) as answer:
            assert b"[DONE]" in await answer.read()
        program.process.kill()
        await program.process.wait()
    (blob,) = (tmp_path / "blobs").rglob(SHA256)
    data = blob.read_bytes()
    blob.unlink()  # what a disk loses that acknowledges too early
    async with serving(tmp_path) as site:
        found = await files_of(site)
        assert (found["gone.csv"]["state"], found["gone.csv"]["size"]) == ("missing", None)
        assert (await site.get(found["drawn.csv"]["url"]))[0] == 404
        lost = (await files_of(site))["drawn.csv"]
        assert (lost["state"], lost["number"], "is missing" in lost["problem"]) == ("missing", 1, True)
        status, chunks = await site.post("What is in document 1?", id="m2")
        (receipt,) = [
            chunk["data"] for chunk in chunks if chunk["type"] == "data-receipt" and chunk["data"]["number"] == 1
        ]
        assert (status, receipt["delivery"], texts(chunks) != "") == (200, "noted", True)
        blob.write_bytes(data)
        await site.post("And now?", id="m3")
        assert (await files_of(site))["drawn.csv"]["state"] == "ready"
