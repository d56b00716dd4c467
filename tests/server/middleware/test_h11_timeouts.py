"""Connections that never complete a request head are closed; those that wait for a response are not."""

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


#: Head timeouts in seconds: one to wait for, and one that must not expire on a busy machine.
SHORT, LONG = 0.2, 1.5


async def slow(scope, _, send):
    """An app that takes longer than the head timeout and reads no body."""
    await asyncio.sleep(LONG + 0.1 if scope["path"] == "/slow" else 0)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def listening(seconds=SHORT):
    """A server with this head timeout; yields a function that connects to it."""
    listener = socket.create_server(("127.0.0.1", 0))
    connection_class = type("ShortTimeout", (Connection,), {"head_timeout": seconds})
    server = uvicorn.Server(
        uvicorn.Config(slow, log_config=None, access_log=False, lifespan="off", http=connection_class)
    )
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield lambda: asyncio.open_connection(*listener.getsockname())
    finally:
        server.should_exit = True
        await running


async def trickle(writer):
    """Send a byte now and then until the connection closes."""
    with suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)


async def until_closed(reader):
    """Everything received; data that the server never read turns its close into a reset."""
    data = b""
    with suppress(ConnectionResetError):
        async with asyncio.timeout(60):
            while piece := await reader.read(1 << 16):
                data += piece
    return data


@pytest.mark.parametrize("data", [b"", b"G", HEAD, HEAD + b"X-Long: " + b"x" * 9000])
async def test_an_incomplete_head_times_out(data):
    async with listening() as connect:
        reader, writer = await connect()
        writer.write(data)
        assert await until_closed(reader) == b""
        writer.close()


@pytest.mark.parametrize(
    ("first", "responses"), [(HEAD, 0), (HEAD + b"\r\n" + HEAD, 1), (HEAD + b"Content-Length: 999\r\n\r\n", 1)]
)
async def test_a_byte_now_and_then_does_not_extend_the_timeout(first, responses):
    async with listening() as connect:
        reader, writer = await connect()
        writer.write(first)
        sending = asyncio.create_task(trickle(writer))
        assert (await until_closed(reader)).count(OK) == responses
        writer.close()
        await sending


async def test_a_slow_response_is_not_cut_off_and_the_connection_is_reused():
    async with listening(LONG) as connect:
        reader, writer = await connect()
        for path in (b"/slow", b"/"):
            writer.write(HEAD.replace(b"/", path, 1) + b"\r\n")
            assert (await reader.readuntil(b"ok")).startswith(OK)
        writer.close()


async def test_idle_connections_keep_no_client_out():
    async with listening(LONG) as connect:
        silent = [await connect() for _ in range(200)]
        reader, writer = await connect()
        writer.write(HEAD + b"\r\n")
        assert (await reader.readuntil(b"ok")).startswith(OK)
        for other, _ in silent:
            assert await until_closed(other) == b""
        for one in (writer, *(one for _, one in silent)):
            one.close()


def test_the_server_uses_these_timeouts():
    config = configure(slow, "127.0.0.1")
    config.load()
    assert config.http_protocol_class is Connection
