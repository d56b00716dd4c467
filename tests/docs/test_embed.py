"""The programs of docs/embed.md are served, and their chat is used."""

import asyncio
import re
import sys
from contextlib import asynccontextmanager
from types import ModuleType

import aiohttp
import pytest

from showandtell import Agent, Store
from showandtell.asgi import chat_app
from support.fixtures import png
from support.hosts import SECRET, ask, fetch, header_user
from support.nginx import NGINX, needs_nginx
from support.paths import ROOT
from support.s3_server import free_ports
from support.server_process import until
from support.serving import running, texts

pytestmark = pytest.mark.anyio
PAGE = (ROOT / "docs" / "embed.md").read_text()
MOUNTED = PAGE.partition("\n## Mounted\n")[2].partition("\n## ")[0]
#: The Python of each chapter about mounting, by its heading; the first block comes before all others.
CHAPTERS = {
    part.partition("\n")[0]: re.findall(r"(?s)```python\n(.*?)```", part)
    for part in f"Mounted\n{MOUNTED}".split("\n### ")
}


@pytest.fixture(params=[heading for heading, blocks in CHAPTERS.items() if blocks])
def program(request, tmp_path, monkeypatch):
    """The `app` of a chapter, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    module = ModuleType("document")
    monkeypatch.setitem(sys.modules, "document", module)
    for block in [*CHAPTERS["Mounted"], *CHAPTERS[request.param]]:
        exec(block, module.__dict__)  # noqa: S102 - the document is ours
    return module.application if request.param == "Django" else module.app


async def test_every_program_of_the_page_answers(program):
    async with running(program, lifespan="auto") as url, aiohttp.ClientSession(url) as session:
        session.headers["x-user"], session.headers["cookie"] = "ann", "session=ann's session"
        session.headers["origin"] = url
        status, chunks = await ask(session, "hello")
        assert (status, bool(texts(chunks))) == (200, True)
        assert (await fetch(session, "/assistant/"))[0] == 200


async def test_the_page_shows_the_conversations_of_the_bot_beside_it_to_their_owner(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = ModuleType("document")
    monkeypatch.setitem(sys.modules, "document", module)
    for block in re.findall(r"(?s)```python\n(.*?)```", (ROOT / "docs" / "history.md").read_text()):
        await asyncio.to_thread(exec, block, module.__dict__)
    async with running(module.app) as url, aiohttp.ClientSession(url, headers={"origin": url}) as session:
        shown = {}
        for session.headers["x-user"] in ("anna", "bob"):
            shown[session.headers["x-user"]] = await fetch(session, "/assistant/api/conversations")
        assert [found["title"] for found in shown["anna"][1]["conversations"]] == ["/photo kiwi"]
        assert shown["bob"][1]["conversations"] == []


@asynccontextmanager
async def behind_nginx(folder, port, upstream, *, keep_prefix):
    """The page's nginx on a port before a server."""
    location = PAGE.partition("```nginx\n")[2].partition("```")[0].replace("http://127.0.0.1:8000", upstream)
    if keep_prefix:
        location = location.replace(f"{upstream}/;", f"{upstream};")
    temporary = "".join(f"{kind}_temp_path {folder};" for kind in ("proxy", "client_body", "fastcgi", "uwsgi", "scgi"))
    server = f"server {{ listen 127.0.0.1:{port}; access_log off; {location} }}"
    (folder / "nginx.conf").write_text(f"daemon off; pid {folder}/pid; events {{}} http {{ {temporary} {server} }}")
    process = await asyncio.create_subprocess_exec(NGINX, "-e", "stderr", "-c", f"{folder}/nginx.conf")
    try:
        await until(lambda: (folder / "pid").exists() or process.returncode)
        yield
    finally:
        process.terminate()
        await process.wait()


@needs_nginx
@pytest.mark.parametrize("keep_prefix", [False, True], ids=["prefix taken off", "prefix kept"])
async def test_behind_the_nginx_of_the_page_all_addresses_work(keep_prefix, tmp_path):
    (port,) = free_ports(1)
    origin, picture = f"http://127.0.0.1:{port}", png()
    settings = {"user": header_user, "secret": SECRET, "public_url": f"{origin}/assistant"}
    chat = chat_app(Store.at(tmp_path), Agent("inspector"), **settings)
    async with (
        running(chat) as upstream,
        behind_nginx(tmp_path, port, upstream, keep_prefix=keep_prefix),
        aiohttp.ClientSession(origin, headers={"x-user": "ann", "origin": origin}) as session,
    ):
        assert (await ask(session, "hello"))[0] == 200
        _, file = await fetch(session, "/assistant/api/attachments?name=red.png", "PUT", data=picture)
        del session.headers["x-user"]
        assert file["url"].startswith(f"{origin}/assistant/api/attachments/")
        assert await fetch(session, file["url"]) == (200, picture)
