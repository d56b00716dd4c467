"""Connections that never complete a head or never read are closed; those that wait for a response are not."""

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from functools import partial

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
    if scope["path"] in {"/large", "/chunks"}:
        await flood(scope, send)
        return
    await asyncio.sleep(LONG + 0.1 if scope["path"] == "/slow" else 0)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


#: More bytes than the buffers of both kernels hold.
LARGE = 32 << 20


async def flood(scope, send):
    """A large response: complete at once, or chunk by chunk."""
    chunks = 1 if scope["path"] == "/large" else 32
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for left in reversed(range(chunks)):
        await send({"type": "http.response.body", "body": bytes(LARGE // chunks), "more_body": left > 0})


@asynccontextmanager
async def listening(seconds=SHORT, reading=LONG):
    """A server with this head timeout; yields a function that connects to it."""
    listener = socket.create_server(("127.0.0.1", 0))
    timeouts = {"head_timeout": seconds, "read_timeout": reading}
    connection_class = type("ShortTimeout", (Connection,), timeouts)
    server = uvicorn.Server(
        uvicorn.Config(slow, log_config=None, access_log=False, lifespan="off", http=connection_class)
    )
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        connect = partial(open_connection, listener.getsockname())
        connect.open = server.server_state.connections
        yield connect
    finally:
        server.should_exit = True
        await running


async def open_connection(address):
    """A connection that receives into a small buffer."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
    client.setblocking(False)
    await asyncio.get_running_loop().sock_connect(client, address)
    return await asyncio.open_connection(sock=client, limit=1024)


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


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the other side makes it true
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("path", [b"/large", b"/chunks"])
async def test_a_client_that_reads_nothing_is_let_go(path):
    async with listening(LONG, reading=SHORT) as connect:
        reader, writer = await connect()
        writer.write(HEAD.replace(b"/", path, 1) + b"\r\n")
        await until(lambda: connect.open)
        await until(lambda: not connect.open)
        assert len(await until_closed(reader)) < LARGE
        writer.close()


async def test_a_client_that_reads_a_little_now_and_then_is_kept():
    async with listening(LONG, reading=SHORT * 3) as connect:
        reader, writer = await connect()
        writer.write(HEAD.replace(b"/", b"/chunks", 1) + b"\r\n")
        for _ in range(40):
            await reader.readexactly(64 * 1024)
            await asyncio.sleep(SHORT / 4)
        assert connect.open
        writer.close()


def test_the_server_uses_these_timeouts():
    config = configure(slow, "127.0.0.1")
    config.load()
    assert config.http_protocol_class is Connection
