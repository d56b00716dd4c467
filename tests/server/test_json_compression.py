"""JSON of the API is compressed for clients that accept it, and never with a signed address inside."""

import pytest

from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from support.coded_responses import load
from support.fixtures import png
from support.serving import chat_body, serving

pytestmark = pytest.mark.anyio
EVERYTHING = "gzip, deflate, br, zstd"
WORDS = "words of an answer " * 100


@pytest.fixture
async def site(tmp_path):
    async with serving(tmp_path) as site:
        yield site


async def stored(site, words=WORDS):
    """The path of a conversation with a picture and some words."""
    conversation = await site.store.create("local")
    draft = Draft("user", (File.from_bytes(png(), name="red.png"), Text(words)))
    await conversation.record(draft, await conversation.probe(draft))
    return f"/api/conversations/{conversation.id}"


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [(EVERYTHING, "zstd"), ("gzip, deflate", "gzip"), ("zstd;q=0, gzip", "gzip"), ("identity", None), (None, None)],
)
async def test_a_conversation_is_compressed_as_its_client_prefers(site, accepted, coding):
    found = await load(site.session, await stored(site), accepted)
    assert (found.status, found.coding) == (200, coding)
    assert found.headers["content-length"] == str(len(found.body))
    assert found.headers["content-type"] == "application/json"
    assert found.headers["vary"] == "accept-encoding"
    assert found.json["messages"][0]["parts"][-1]["text"] == WORDS
    assert (len(found.body) < 2000) == (coding is not None)


async def test_a_response_with_signed_addresses_is_not_compressed(site):
    path = await stored(site)
    program = site.as_user(site.server.keys.token)
    found = await load(program, path, EVERYTHING)
    assert found.coding is None
    assert "vary" not in found.headers
    assert "&sig=" in found.json["attachments"][0]["url"]
    assert (await load(program, "/api/models", EVERYTHING)).coding == "zstd"


async def test_words_that_look_like_a_signed_address_are_not_compressed_either(site):
    words = WORDS + site.server.keys.sign_path("/api/attachments/att_x", "local", 0)
    found = await load(site.session, await stored(site, words), EVERYTHING)
    assert (found.status, found.coding) == (200, None)


async def test_long_conversations_are_compressed_too(site):
    found = await load(site.session, await stored(site, "long words " * 20_000), EVERYTHING)
    assert found.coding == "zstd"
    assert len(found.json["messages"][0]["parts"][-1]["text"]) == 220_000
    assert len(found.body) < 5_000


async def test_short_responses_and_errors_are_not_compressed(site):
    for path in ("/api/me", "/api/conversations/conv_x"):
        assert (await load(site.session, path, EVERYTHING)).coding is None


async def test_streams_are_not_compressed(site):
    headers = {"accept-encoding": EVERYTHING}
    async with site.session.post("/api/chat", json=chat_body(WORDS), headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in response.headers
        body = await response.read()
        assert body.startswith(b'data: {"type":"start"')
        assert body.endswith(b"data: [DONE]\n\n")
