"""Files at addresses: what is attached, what is refused, and what a fetch may cost, on a small internet of our own."""

import asyncio
import json
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from sqlalchemy import select

from showandtell import FilePolicy
from showandtell.network import attach as attach_module
from showandtell.network.fetch import FetchPolicy
from showandtell.server.auth.oidc import Oidc
from showandtell.server.config import Config
from showandtell.server.files import fetching
from showandtell.storage.database.tables import uploads
from support import fake_internet
from support.fake_internet import Certificates, Web, page, redirect
from support.fixtures import pdf, png
from support.serving import serving
from support.two_users import ask

pytestmark = pytest.mark.anyio
PATH = "/api/attachments/fetch"
IMAGE = png(40, 30)
LOGIN = page(b"<!doctype html><title>Login</title><p>Please log in", b"Content-Type: text/html; charset=utf-8")


@pytest.fixture(scope="module")
def certificates():
    return Certificates()


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The temporary folder of a test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def site_of(certificates, tmp_path):
    """A server whose internet is a web."""

    @asynccontextmanager
    async def start(web, **settings):
        async with (
            fake_internet.serving(web, certificates) as dialer,
            serving(tmp_path, dialer=dialer, **settings) as site,
        ):
            yield site

    return start


async def attach(site, url):
    return await ask(site.session, "POST", PATH, json={"url": url})


def problem(status, body):
    return status, body["error"]["kind"], body["error"]["text"]


async def stored(site):
    return len(await site.store.database.read(select(uploads.c.id)))


@asynccontextmanager
async def lines_of(site, url):
    """The lines of progress as they arrive."""
    async with site.session.post(PATH, json={"url": url}, headers={"accept": fetching.LINES}) as response:
        assert (response.status, response.content_type) == (200, fetching.LINES)
        yield (json.loads(line) async for line in response.content)


class Stalled:
    """An answer that begins and never ends; `ended` is set once its connection is closed."""

    def __init__(self, start):
        self.start, self.begun, self.ended = start, asyncio.Event(), asyncio.Event()

    async def __call__(self, writer):
        writer.write(self.start)
        await writer.drain()
        self.begun.set()
        try:
            await writer.wait_closed()
        except (ConnectionError, OSError):
            pass
        finally:
            self.ended.set()


# ── what is attached ──


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/photos/red%20car.png?size=l", [b"Content-Type: image/png"], "red car.png"),
        ("/get", [b"Content-Type: image/png"], "get.png"),
        ("/", [b"Content-Type: image/png"], "pictures.test.png"),
        ("/x", [b"Content-Type: image/jpeg", b'Content-Disposition: attachment; filename="../a b.png"'], "a b.png"),
    ],
)
async def test_a_picture_is_an_upload_with_the_name_of_its_address_or_host(site_of, path, headers, name):
    async with site_of(Web({path.partition("?")[0]: page(IMAGE, *headers)})) as site:
        status, file = await attach(site, f"https://pictures.test{path}")
        assert (status, file["name"], file["media_type"], file["pixels"]) == (201, name, "image/png", [40, 30])
        assert (file["number"], file["state"], file["size"]) == (None, "pending", len(IMAGE))
        assert await site.get(f"/api/attachments/{file['id']}") == (200, file)
        assert (await ask(site.session, "GET", file["thumbnail"]))[0] == 200


async def test_a_fetched_pdf_is_sent_and_numbered_like_an_upload(site_of):
    web = Web({"/go": redirect("https://other.test/plan.pdf"), "/plan.pdf": page(pdf("Plan"))})
    async with site_of(web) as site:
        _, file = await attach(site, "https://pictures.test/go")
        assert (file["name"], file["media_type"]) == ("plan.pdf", "application/pdf")
        assert (await site.post("read it", files=[file["id"]]))[0] == 200
        sent = (await site.get(f"/api/attachments/{file['id']}"))[1]
        assert (sent["number"], sent["state"], sent["origin"]) == (1, "ready", {"by": "user"})


async def test_progress_arrives_in_lines_that_end_with_the_file(site_of):
    async def in_two_parts(writer):
        whole = page(IMAGE)
        writer.write(whole[:-20])
        await seen.wait()
        writer.write(whole[-20:])

    seen = asyncio.Event()
    async with site_of(Web({"/a.png": in_two_parts})) as site, lines_of(site, "https://pictures.test/a.png") as lines:
        assert await anext(lines) == {"received": 0, "size": None}
        while (line := await anext(lines))["received"] == 0:
            pass
        assert line == {"received": len(IMAGE) - 20, "size": len(IMAGE)}
        seen.set()
        *_, last = [line async for line in lines]
        assert last["attachment"]["name"] == "a.png"


# ── what is refused ──


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("file:///etc/passwd", "the address has the scheme 'file': use https"),
        ("ftp://pictures.test/a.png", "the address has the scheme 'ftp': use https"),
        ("data:image/png;base64,AAAA", "the address has the scheme 'data': use https"),
        ("https://user:password@pictures.test/a.png", "is given with a user name or password: leave them out"),
        ("http://pictures.test/a.png", "pictures.test is asked for without encryption: use https"),
        ("https://pictures.test:22/", "pictures.test is asked for at port 22: use port 443"),
        ("https://127.0.0.1/a.png", "127.0.0.1 has no public address: check the spelling"),
        ("https://inside.test/a.png", "inside.test has no public address: check the spelling"),
        ("a.png", "is no usable URL"),
    ],
)
async def test_other_addresses_are_refused_unopened_and_without_settings_of_the_program(site_of, url, text):
    web = Web({})
    async with site_of(web) as site:
        status, kind, words = problem(*await attach(site, url))
        assert (status, kind) == (422, "BadFile")
        assert text in words
        assert "FetchPolicy" not in words
        assert "password@" not in words
        assert (web.connections, await stored(site)) == (0, 0)


@pytest.mark.parametrize(
    "location", ["https://127.0.0.1/a.png", "https://inside.test/", "http://pictures.test/a.png", "file:///etc/passwd"]
)
async def test_a_redirect_leads_neither_inside_nor_out_of_https(site_of, temporary, location):
    web = Web({"/go": redirect(location)})
    async with site_of(web) as site:
        status, kind, text = problem(*await attach(site, "https://pictures.test/go"))
        assert (status, kind) == (422, "BadFile")
        assert text.startswith("pictures.test redirects to ")
        assert (len(web.hits), await stored(site), list(temporary.iterdir())) == (1, 0, [])


async def test_the_policy_of_the_program_may_limit_hosts_but_not_open_the_network(site_of):
    policy = FetchPolicy(http=True, hosts=("pictures.test",), private_hosts=("inside.test",))
    web = Web({"/a.png": page(IMAGE)})
    async with site_of(web, file_policy=FilePolicy(fetch=policy)) as site:
        assert (await attach(site, "https://pictures.test/a.png"))[0] == 201
        text = problem(*await attach(site, "https://other.test/a.png"))[2]
        assert text == f"other.test is not among the allowed hosts: {fetching.ASK}"
        assert (await attach(site, "https://inside.test/a.png"))[0] == 422
        assert (await attach(site, "http://pictures.test/a.png"))[0] == 422
        assert len(web.hits) == 1


@pytest.mark.parametrize("url", ["https://pictures.test/photo.jpg", "https://pictures.test/go.pdf"])
async def test_a_web_page_in_place_of_a_file_is_refused(site_of, url):
    web = Web({"/photo.jpg": LOGIN, "/go.pdf": redirect("/login"), "/login": LOGIN})
    async with site_of(web) as site:
        text = "pictures.test sends a web page in place of the file: copy the address of the file itself"
        status, kind, words = problem(*await attach(site, url))
        assert (status, kind, words.startswith(text)) == (422, "BadFile", True)
        assert await stored(site) == 0


async def test_a_web_page_that_was_asked_for_is_attached(site_of):
    async with site_of(Web({"/articles/7": LOGIN})) as site:
        status, file = await attach(site, "https://pictures.test/articles/7")
        assert (status, file["name"], file["media_type"]) == (201, "7.html", "text/html")


async def test_a_picture_that_is_none_is_refused_like_an_upload(site_of):
    async with site_of(Web({"/a.png": page(IMAGE[:40]), "/b.png": page(b"")})) as site:
        for path in ("a.png", "b.png"):
            assert problem(*await attach(site, f"https://pictures.test/{path}"))[:2] == (422, "BadFile")
        assert await stored(site) == 0


async def test_a_body_that_ends_early_is_refused(site_of, temporary):
    whole = page(IMAGE)
    async with site_of(Web({"/a.png": whole[:-20]})) as site:
        assert problem(*await attach(site, "https://pictures.test/a.png")) == (
            422,
            "BadFile",
            "pictures.test broke off: try again, or download the file and add it",
        )
        assert (await stored(site), list(temporary.iterdir())) == (0, [])


@pytest.mark.parametrize(
    ("settings", "is_allowed"),
    [
        ({}, True),
        ({"attach_addresses": "nobody"}, False),
        ({"oidc": Oidc("https://issuer.test", "client", "secret")}, False),
        ({"user": lambda _: "ann"}, False),
        ({"user": lambda _: "ann", "attach_addresses": "everyone"}, True),
    ],
)
def test_addresses_are_for_a_single_user_unless_the_option_says_otherwise(settings, is_allowed):
    assert Config(**settings).may_attach_addresses is is_allowed


async def test_a_server_that_fetches_nothing_says_so(site_of):
    web = Web({})
    async with site_of(web, attach_addresses="nobody") as site:
        assert (await site.get("/api/me"))[1]["addresses"] is False
        status, kind, text = problem(*await attach(site, "https://pictures.test/a.png"))
        assert (status, kind, text.startswith("this server fetches no addresses")) == (403, "NotAllowed", True)
        assert web.connections == 0


# ── what it costs ──


async def test_a_size_over_the_limit_is_refused_before_a_byte_is_read(site_of):
    answer = Stalled(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
    async with site_of(Web({"/big.mp4": answer})) as site:
        status, kind, text = problem(*await attach(site, "https://pictures.test/big.mp4"))
        assert (status, kind) == (413, "FileTooLarge")
        assert text == "pictures.test sends more than 20.0 MB, the limit for a file: attach a smaller one"


async def test_an_endless_body_is_stopped_at_the_limit(site_of, temporary):
    chunk, sent = bytes(65_536), []

    async def endless(writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while len(sent) < (10 << 30) // len(chunk):
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(0)  # the loop hears that the client is gone
            sent.append(len(chunk))

    async with site_of(Web({"/big": endless}), place={"max_file_bytes": 300_000}) as site:
        assert problem(*await attach(site, "https://pictures.test/big"))[:2] == (413, "FileTooLarge")
        assert (await stored(site), list(temporary.iterdir())) == (0, [])
    assert sum(sent) < 10 << 20


async def test_a_slow_host_is_given_up(site_of, temporary, monkeypatch):
    monkeypatch.setattr(attach_module, "SECONDS", 0.2)
    answer = Stalled(page(IMAGE)[:-20])
    async with site_of(Web({"/a.png": answer})) as site:
        status, kind, text = problem(*await attach(site, "https://pictures.test/a.png"))
        assert (status, kind) == (422, "BadFile")
        assert text == "pictures.test took longer than 0.2 s: try again, or download the file and add it"
        await asyncio.wait_for(answer.ended.wait(), 60)
        assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
async def test_a_client_that_disconnects_cancels_the_download(site_of, temporary, accept):
    answer = Stalled(page(IMAGE)[:-20])
    async with site_of(Web({"/a.png": answer})) as site:
        json_body, headers = {"url": "https://pictures.test/a.png"}, {"accept": accept}
        request = asyncio.create_task(read(site.session.post(PATH, json=json_body, headers=headers)))
        await answer.begun.wait()
        request.cancel()
        await asyncio.wait_for(answer.ended.wait(), 60)
        assert await stored(site) == 0
    assert list(temporary.iterdir()) == []


async def read(request):
    async with request as response:
        return await response.read()


async def test_a_file_that_was_stored_when_its_client_left_is_deleted(site_of):
    async with site_of(Web({"/a.png": page(IMAGE)})) as site, AsyncExitStack() as places:
        turns = site.store.probe_turns
        for number in range(int(turns.places)):
            await places.enter_async_context(turns.awaited(f"other {number}"))
        mine = site.store.uploads("local")
        work = asyncio.create_task(fetching.fetch_upload(site.server, mine, "https://pictures.test/a.png", print))
        while not turns.count_waiting(""):  # noqa: ASYNC110 - it waits to be stored
            await asyncio.sleep(0)
        work.cancel()
        await places.aclose()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert await stored(site) == 0


async def test_an_error_is_the_last_line_with_its_status(site_of):
    async with site_of(Web({"/a.png": page(status=b"404 Not Found")})) as site:
        async with lines_of(site, "https://pictures.test/a.png") as lines:
            *_, last = [line async for line in lines]
        assert (last["status"], last["error"]["kind"]) == (422, "BadFile")
        assert last["error"]["text"].startswith("pictures.test answers 404: check that the address opens in a browser")


async def test_a_disk_error_is_the_last_line_and_shows_no_path(site_of, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    async with site_of(Web({"/a.png": page(IMAGE)})) as site:
        async with lines_of(site, "https://pictures.test/a.png") as lines:
            *_, last = [line async for line in lines]
        assert (last["status"], last["error"]["kind"]) == (503, "StorageFailed")
        assert "nowhere" not in last["error"]["text"]
