"""What a request with files costs, by counts: bytes read, hashed and written, and how often a thread is waited for.

The system counts what a whole process reads, so only tests/agent/test_sent_bytes.py runs these tests, in one of their own.
"""

import hashlib
import json
import threading
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from showandtell import Agent, Connection, File, FileCache
from showandtell.network.http_session import LenientSocket
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.sequential import NOWAIT, OPEN_BLOBS
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.disk import folder_on_disk
from support.fixtures import png

COUNT, SIZE = 12, 400_000
CLAUDE, CONVERSE = "anthropic:claude-sonnet-4-5", "bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0"
KEYS = {CLAUDE: "none", CONVERSE: None}
TEXT = [{"type": "text", "text": "Done."}]
ANSWERS = {
    CLAUDE: {"type": "message", "role": "assistant", "content": TEXT, "stop_reason": "end_turn"},
    CONVERSE: {
        "output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
}
ACCOUNT = Path("/proc/self/io")
pytestmark = pytest.mark.skipif(not (ACCOUNT.exists() and NOWAIT), reason="only Linux counts what a process reads")


@pytest.fixture
def disk():
    with folder_on_disk() as path:
        yield path


class CountingFolder(Folder):
    """A folder that counts how often a reader waits."""

    waits = 0

    def reader(self, files):
        reader = super().reader(files)
        readinto = reader.readinto

        def counted(buffer):
            self.waits += 1
            return readinto(buffer)

        reader.readinto = counted
        return reader


class CountingHash:
    """A sha256 that counts the bytes of all."""

    total, new = 0, hashlib.sha256

    def __init__(self, data=b""):
        self._digest = CountingHash.new()
        self.hexdigest = self._digest.hexdigest
        self.update(data)

    def update(self, data):
        CountingHash.total += len(data)
        self._digest.update(data)


@pytest.fixture
def counts(monkeypatch):
    """A function that runs a coroutine and returns the bytes that were read and hashed, and the writes to sockets."""
    writes, send = [], LenientSocket.send
    monkeypatch.setattr(LenientSocket, "send", lambda self, data, *flags: writes.append(1) or send(self, data, *flags))
    monkeypatch.setattr(hashlib, "sha256", CountingHash)

    def read():
        return int(ACCOUNT.read_text().partition("rchar: ")[2].split()[0])

    async def count(work):
        writes.clear()
        before, CountingHash.total = read(), 0
        await work
        return read() - before, CountingHash.total, len(writes)

    return count


def pictures():
    """Files of different sizes: another of a known size would be hashed to see whether it is known."""
    return [File.from_bytes(png() + bytes(SIZE + number), name=f"{number}.png") for number in range(COUNT)]


class Sink(BaseHTTPRequestHandler):
    """A provider that reads each request to its end, and answers by its path."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        size = int(self.headers["content-length"])
        self.server.sizes.append(len(self.rfile.read(size)))
        answer = json.dumps(ANSWERS[CLAUDE if self.path.endswith("/messages") else CONVERSE]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_, **__):
        pass


@asynccontextmanager
async def provider(model):
    """Yields an agent and the sizes of the bodies that its provider got."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Sink) as server:
        server.sizes = []
        threading.Thread(target=server.serve_forever).start()
        connection = Connection(base_url=f"http://127.0.0.1:{server.server_port}", api_key=KEYS[model])
        async with Agent(model, connection=connection) as agent:
            yield agent, server.sizes
        server.shutdown()


@pytest.mark.anyio
@pytest.mark.parametrize("model", ANSWERS)
async def test_files_that_are_known_are_read_once_and_hashed_for_a_signature_alone(model, counts, disk, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    folder, total = CountingFolder(disk), COUNT * SIZE
    conversation = MemoryConversation(FileCache(folder))
    async with provider(model) as (agent, sizes):
        await agent.run("Look.", files=pictures(), conversation=conversation)
        folder.waits = 0
        read, hashed, writes = await counts(agent.run("And?", conversation=conversation).finish())
    passes = 2 if model == CONVERSE else 1
    assert total * passes < read < total * passes + 200_000
    assert hashed == pytest.approx(sizes[-1] if model == CONVERSE else 0, abs=20_000)
    assert sizes[-1] > total * 4 / 3
    assert folder.waits == passes * -(-COUNT // OPEN_BLOBS)
    assert writes < 100


@pytest.mark.anyio
async def test_new_files_are_hashed_once_and_read_to_be_proved_and_to_be_sent(counts):
    files = pictures()
    async with provider(CLAUDE) as (agent, _):
        await agent.run("Hello.")
        read, hashed, _ = await counts(agent.run("Look.", files=files).finish())
    total = sum(len(file.source) for file in files)
    assert total < read < 2 * total + 300_000
    assert hashed == pytest.approx(total, abs=20_000)
