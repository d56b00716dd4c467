# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
"""Files in messages of stock clients: as data URLs, and by the addresses that the server gave them."""

import base64
import io
import json

import pytest
from sqlalchemy import select

from showandtell.server.auth.keys import URL_AGE
from showandtell.server.middleware.body_limits import MAX_CHAT_BODY
from showandtell.storage.database.tables import uploads
from support.fixtures import png
from support.serving import chunks_of, kinds, serving
from support.two_users import ask, open_accounts, upload

pytestmark = pytest.mark.anyio
PICTURE = png()
JSON = {"content-type": "application/json"}


def data_url(data, media_type="image/png"):
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def file_part(url, name="dot.png", media_type="image/png"):
    return {"type": "file", "mediaType": media_type, "filename": name, "url": url}


def message(*parts, id="m1", **more):  # noqa: A002 - it is one
    """The body of `useChat` with a transport of one's own, as in the AI SDK's guide to persistence."""
    return {"id": "chat", "message": {"id": id, "role": "user", "parts": [*parts]}, **more}


def words(text="What is this?"):
    return {"type": "text", "text": text}


async def send(site, body, session=None):
    async with (session or site.session).post("/api/chat", json=body) as response:
        return response.status, await chunks_of(response)


async def files_of(site):
    conversation = await site.store.open((await site.store.newest()).id)
    return [(file.name, file.facts.sha256) for file in conversation.attachments.values()]


async def pending_uploads(site):
    return await site.store.database.read(select(uploads.c.id))


async def test_a_data_url_is_uploaded_on_arrival_and_once_for_the_same_message(tmp_path):
    async with serving(tmp_path) as site:
        body = message(words(), file_part(data_url(PICTURE)))
        first, again = await send(site, body), await send(site, body)
        assert (first[0], kinds(first[1])[-1], again[0]) == (200, "finish", 200)
        assert [name for name, _ in await files_of(site)] == ["dot.png"]
        assert await pending_uploads(site) == []


async def test_a_history_with_data_urls_uploads_only_the_newest_message(tmp_path):
    async with serving(tmp_path) as site:
        await send(site, message(words(), file_part(data_url(PICTURE))))
        first = message(words(), file_part(data_url(PICTURE)))["message"]
        newest = message(words("And this?"), file_part(data_url(b"a,b\n1,2\n", "text/csv"), "t.csv"), id="m2")
        history = {"id": "chat", "messages": [first, newest["message"]], "trigger": "submit-message"}
        assert (await send(site, history))[0] == 200
        assert [name for name, _ in await files_of(site)] == ["dot.png", "t.csv"]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("data:image/png;base64,!!", "base64"),
        (data_url(PICTURE[:40]), "torn.png"),
        (data_url(b"x" * 3_000), "torn.png"),
    ],
)
async def test_a_data_url_that_is_refused_leaves_nothing(url, problem, tmp_path):
    async with serving(tmp_path, place={"max_file_bytes": 2_000}) as site:
        good = file_part(data_url(PICTURE))
        status, body = await send(site, message(words(), good, file_part(url, "torn.png")))
        assert (status in {413, 422}, problem in body["error"]["text"]) == (True, True), body
        assert (await pending_uploads(site), await site.store.list()) == ([], ())


async def test_a_message_that_is_refused_leaves_no_upload(tmp_path):
    async with serving(tmp_path) as site:
        body = message(
            words(), file_part(data_url(PICTURE)), {"type": "data-attachment", "data": {"id": "att_" + "x" * 22}}
        )
        assert (await send(site, body))[0] == 404
        assert await pending_uploads(site) == []


async def test_200_megabytes_are_refused_before_they_are_read(tmp_path):
    async with serving(tmp_path) as site:
        headers = {**JSON, "content-length": str(200_000_000), "expect": "100-continue"}
        body = io.BytesIO(b'{"id":"chat"' + b" " * 100_000)
        async with site.session.post("/api/chat", data=body, headers=headers) as response:
            problem = (await response.json())["error"]["text"]
        assert response.status == 413
        assert f"more than {MAX_CHAT_BODY:,} bytes" in problem


async def test_a_message_may_be_as_large_as_the_limit_says(tmp_path):
    async with serving(tmp_path) as site:
        large = "a,b\n" + "1,2\n" * 4_900_000
        body = json.dumps(message(words(), file_part(data_url(large.encode(), "text/csv"), "large.csv")))
        async with site.session.post("/api/chat", data=io.BytesIO(body.encode()), headers=JSON) as response:
            assert (response.status, kinds(await chunks_of(response))[-1]) == (200, "finish")
        assert [name for name, _ in await files_of(site)] == ["large.csv"]


def with_token(site):
    """A client whose addresses are signed."""
    return site.as_user(site.server.keys.token)


async def address_of(session):
    """The signed address of a file of this user."""
    identifier = await upload(session, PICTURE, "dot.png")
    return (await ask(session, "GET", f"/api/attachments/{identifier}"))[1]["url"]


async def test_an_address_is_taken_back_after_it_has_expired(tmp_path):
    now = [1_800_000_000.0]
    async with serving(tmp_path, clock=lambda: now[0]) as site:
        address = await address_of(with_token(site))
        now[0] += URL_AGE + 1000
        assert (await site.as_user().get(address)).status == 401
        assert (await send(site, message(words(), file_part(address))))[0] == 200


@pytest.mark.parametrize(
    "change",
    [
        lambda address: address[:-4] + "AAAA",
        lambda address: address.replace("until=1", "until=2"),
        lambda address: address.replace("&sig=", "&sig=&sig="),
        lambda address: address.replace("/content/", "/thumbnail/"),
    ],
    ids=["seal", "time", "two seals", "path"],
)
async def test_an_address_with_another_seal_is_refused(change, tmp_path):
    async with serving(tmp_path) as site:
        address = await address_of(with_token(site))
        status, body = await send(site, message(words(), file_part(change(address))))
        assert (status, body["error"]["kind"]) == (404, "NotFound")


async def test_an_address_of_another_user_is_refused_with_and_without_its_seal(tmp_path):
    async with serving(tmp_path) as site:
        user = open_accounts(site)
        ann, bob = user("ann"), user("bob")
        address = await address_of(bob)
        for wanted in (address, address.partition("?")[0]):
            status, _ = await send(site, message(words(), file_part(wanted)), ann)
            assert status == 404
            ag_ui = {"type": "image", "source": {"type": "url", "value": wanted}}
            body = {"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": [ag_ui]}]}
            assert (await ask(ann, "POST", "/ag-ui", json=body))[0] == 404


async def test_an_address_of_this_server_counts_by_path_with_its_prefix_only(tmp_path):
    async with serving(tmp_path) as site:
        plain = (await address_of(with_token(site))).partition("?")[0]
        path = plain.removeprefix(site.url)
        for refused in (
            f"https://example.com{path}",
            f"/elsewhere{path}",
            f"//example.com{path}",
            f"http://[::1{path}",
        ):
            assert (await send(site, message(words(), file_part(refused))))[0] == 422
        assert (await send(site, message(words(), file_part(path))))[0] == 200
