"""Who opens a connection and never says what they want is let go; who waits for an answer is not."""

import asyncio
import socket
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn

from showandtell.server.middleware.h11_timeouts import Connection
from showandtell.server.process import configure

pytestmark = pytest.mark.anyio
HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"
OK = b"HTTP/1.1 200 OK"


#: Patience of a test that waits for its end, and of one that must not meet it on a busy machine; in seconds.
SHORT, LONG = 0.2, 1.5


async def slow(scope, _, send):
    """An app that takes longer than a head may, and reads no body."""
    await asyncio.sleep(LONG + 0.1 if scope["path"] == "/slow" else 0)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def listening(patience=SHORT):
    """What opens a connection to such a server."""
    door = socket.create_server(("127.0.0.1", 0))
    hasty = type("Hasty", (Connection,), {"patience": patience})
    server = uvicorn.Server(uvicorn.Config(slow, log_config=None, access_log=False, lifespan="off", http=hasty))
    running = asyncio.create_task(server.serve(sockets=[door]))
    try:
        yield lambda: asyncio.open_connection(*door.getsockname())
    finally:
        server.should_exit = True
        await running


async def trickle(writer):
    """Send a byte now and then for as long as anybody takes it."""
    with suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)


async def until_closed(reader):
    """All that comes; what was sent and never read makes a reset of the close."""
    data = b""
    with suppress(ConnectionResetError):
        async with asyncio.timeout(60):
            while piece := await reader.read(1 << 16):
                data += piece
    return data


@pytest.mark.parametrize("said", [b"", b"G", HEAD, HEAD + b"X-Long: " + b"x" * 9000])
async def test_a_head_that_is_never_whole_is_not_waited_for(said):
    async with listening() as connect:
        reader, writer = await connect()
        writer.write(said)
        assert await until_closed(reader) == b""
        writer.close()


@pytest.mark.parametrize(
    ("first", "answered"), [(HEAD, 0), (HEAD + b"\r\n" + HEAD, 1), (HEAD + b"Content-Length: 999\r\n\r\n", 1)]
)
async def test_a_byte_now_and_then_buys_no_time(first, answered):
    async with listening() as connect:
        reader, writer = await connect()
        writer.write(first)
        sending = asyncio.create_task(trickle(writer))
        assert (await until_closed(reader)).count(OK) == answered
        writer.close()
        await sending


async def test_an_answer_may_take_its_time_and_a_kept_connection_is_used_again():
    async with listening(LONG) as connect:
        reader, writer = await connect()
        for path in (b"/slow", b"/"):
            writer.write(HEAD.replace(b"/", path, 1) + b"\r\n")
            assert (await reader.readuntil(b"ok")).startswith(OK)
        writer.close()


async def test_many_who_say_nothing_keep_nobody_out():
    async with listening(LONG) as connect:
        silent = [await connect() for _ in range(200)]
        reader, writer = await connect()
        writer.write(HEAD + b"\r\n")
        assert (await reader.readuntil(b"ok")).startswith(OK)
        for other, _ in silent:
            assert await until_closed(other) == b""
        for one in (writer, *(one for _, one in silent)):
            one.close()


def test_the_server_itself_lets_them_go():
    config = configure(slow, "127.0.0.1")
    config.load()
    assert config.http_protocol_class is Connection
