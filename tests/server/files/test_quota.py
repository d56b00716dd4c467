"""What a full quota answers: 507 with the sizes, at every route that stores files, and nothing is stored."""

import io
import json
import os
from base64 import b64encode
from contextlib import asynccontextmanager
from zipfile import ZipFile

import aiohttp
import pytest
from sqlalchemy import select

from showandtell.storage.database.tables import conversations, uploads
from support import fake_internet
from support.fake_internet import Certificates, Web, page
from support.serving import chat_body, serving

pytestmark = pytest.mark.anyio
QUOTA = 1000
FILE = "https://pictures.test/a.bin"
#: Each has room, both together have not.
FILES = os.urandom(600), os.urandom(600)


@asynccontextmanager
async def full_server(folder):
    """A server with a quota of 1000 bytes, the id of an upload of 2000 bytes from before it had one, and what is stored."""
    async with (
        serving(folder) as site,
        site.session.put("/api/attachments", params={"name": "a.bin"}, data=os.urandom(2000)) as response,
    ):
        file_id = (await response.json())["id"]
    web = Web({"/a.bin": page(os.urandom(1001))})
    async with (
        fake_internet.serving(web, Certificates()) as dialer,
        serving(folder, place={"quota": QUOTA}, dialer=dialer) as site,
    ):
        yield site, file_id


def form(*files):
    data = aiohttp.FormData()
    for file in files:
        data.add_field("file", file, filename="a.bin")
    return data


def ag_ui(data):
    """A request of AG-UI with the bytes of a file."""
    source = {"type": "data", "value": b64encode(data).decode(), "mimeType": "application/octet-stream"}
    message = {"id": "m", "role": "user", "content": [{"type": "document", "source": source}]}
    return {"threadId": "t", "runId": "r", "messages": [message]}


def exported(data):
    """An exported conversation with a file, as the body of an import."""
    part = {"type": "file", "path": "files/1.bin"}
    talk = {"version": 1, "messages": [{"role": "user", "parts": [part]}]}
    sink = io.BytesIO()
    with ZipFile(sink, "w") as archive:
        archive.writestr("conversation.json", json.dumps(talk))
        archive.writestr("files/1.bin", data)
    return {"data": sink.getvalue(), "headers": {"content-type": "application/zip"}}


REQUESTS = {
    "upload_file": lambda _: ("PUT", "/api/attachments", {"data": os.urandom(1001)}),
    "upload_files": lambda _: ("POST", "/api/attachments", {"data": form(b"small", os.urandom(1001))}),
    "attach_address": lambda _: ("POST", "/api/attachments/fetch", {"json": {"url": FILE}}),
    "prepare_example": lambda _: ("POST", "/api/examples/pages", {}),
    "run_ag_ui": lambda _: ("POST", "/ag-ui", {"json": ag_ui(os.urandom(1001))}),
    "import_conversation": lambda _: ("POST", "/api/conversations/import", exported(os.urandom(1001))),
    "chat": lambda file_id: ("POST", "/api/chat", {"json": chat_body("look", files=[file_id])}),
}


async def stored(site):
    """The number of uploads and conversations."""
    return [len(await site.store.database.read(select(table.c.id))) for table in (uploads, conversations)]


@pytest.mark.parametrize("operation", REQUESTS)
async def test_an_exceeded_quota_is_507_and_nothing_is_stored(tmp_path, operation):
    async with full_server(tmp_path) as (site, file_id):
        before = await stored(site)
        method, path, settings = REQUESTS[operation](file_id)
        async with site.session.request(method, path, **settings) as response:
            body = await response.json()
        assert (response.status, body["error"]["kind"]) == (507, "QuotaExceeded")
        assert "of the 1 kB that they may have: delete files" in body["error"]["text"]
        assert await stored(site) == before


async def test_files_of_one_message_that_are_too_many_together_are_507(tmp_path):
    body = ag_ui(os.urandom(600))
    body["messages"][0]["content"] += ag_ui(os.urandom(600))["messages"][0]["content"]
    async with serving(tmp_path, place={"quota": QUOTA}) as site:
        for path, several in [
            ("/api/attachments", {"data": form(os.urandom(600), os.urandom(600))}),
            ("/ag-ui", {"json": body}),
        ]:
            async with site.session.post(path, **several) as response:
                assert response.status == 507, path
            assert await stored(site) == [0, 0]


async def test_stored_uploads_of_one_message_that_are_too_many_together_are_507(tmp_path):
    async with serving(tmp_path) as site, site.session.post("/api/attachments", data=form(*FILES)) as response:
        ids = [file["id"] for file in (await response.json())["attachments"]]
    async with serving(tmp_path, place={"quota": QUOTA}) as site:
        async with site.session.post("/api/chat", json=chat_body("look", files=ids)) as response:
            assert response.status == 507
        assert await stored(site) == [2, 0]


async def test_every_route_that_stores_files_is_tested(tmp_path):
    async with serving(tmp_path) as site:
        paths = (await site.get("/api/openapi.json"))[1]["paths"]
    routes = [operation for methods in paths.values() for operation in methods.values() if "responses" in operation]
    assert {one["operationId"] for one in routes if "507" in one["responses"]} == set(REQUESTS)
