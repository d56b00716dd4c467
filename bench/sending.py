"""What the benches of sending share: twenty pictures of a mebibyte, a provider that reads and answers, bare loops."""

from __future__ import annotations

import hashlib
import json
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import pybase64
import trustme

from processes import HERE
from sample_files import KINDS, MIB

COUNT = 20
#: Bytes that the bare loops read at a time.
CHUNK = 192 * 1024
#: One model for each API.
MODELS = {
    "anthropic-messages": "anthropic:claude-sonnet-4-5",
    "openai-chat": "openai-chat:gpt-5-mini",
    "openai-responses": "openai:gpt-5-mini",
    "gemini": "google:gemini-3-flash-preview",
    "bedrock-converse": "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
SIGNED = "bedrock-converse"
#: Fake keys.
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "none", "AWS_REGION": "us-east-1"}
#: What others need: their SDKs, pydantic-ai and LangChain.
PACKAGES = (
    "anthropic==2.12.0",
    "openai==3.54.0",
    "boto3==1.44.5",
    "pydantic-ai-slim[anthropic,openai,google,bedrock]==2.68.0",
    "langchain-anthropic==1.7.7",
    "langchain-core==1.7.2",
)


def pictures(folder: Path) -> list[Path]:
    """PNGs whose bytes differ behind the end, so that each has a hash of its own."""
    data = KINDS["PNG"](MIB)
    paths = [folder / f"{at:02}.png" for at in range(COUNT)]
    for at, path in enumerate(paths):
        path.write_bytes(data + b" " * at)
    return paths


@dataclass(frozen=True)
class Provider:
    """A provider in a process of its own: its port by scheme, and the file of the authority that vouches for it."""

    ports: dict[str, int]
    authority: str

    def url(self, scheme: str = "http") -> str:
        """The base URL."""
        return f"{scheme}://127.0.0.1:{self.ports[scheme]}"

    def open(self, scheme: str = "http") -> socket.socket:
        """A connection, without an HTTP client around it."""
        plain = socket.create_connection(("127.0.0.1", self.ports[scheme]))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if scheme == "http":
            return plain
        return ssl.create_default_context(cafile=self.authority).wrap_socket(plain, server_hostname="127.0.0.1")


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that reads each request to its end, with a certificate made for it."""
    authority = trustme.CA()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        own, ca = Path(folder, "own.pem"), Path(folder, "ca.pem")
        ca.write_bytes(authority.cert_pem.bytes())
        own.write_bytes(authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes())
        command = [sys.executable, HERE / "served/sink.py", own]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Provider(json.loads(process.stdout.readline()), str(ca))
            finally:
                process.terminate()


def alone(work: Callable[[], object]) -> float:
    """CPU milliseconds of this process, without the provider's."""
    start = process_time()
    work()
    return (process_time() - start) * 1000


def push(connection: socket.socket, paths: list[Path], *, signed: bool = False) -> None:
    """Read, encode and send files in a blocking loop; with a sha256 of the body in advance if it is to be signed."""
    size = sum(-(-path.stat().st_size // 3) * 4 for path in paths)
    digest = hashlib.sha256()
    for piece in encoded(paths) if signed else ():
        digest.update(piece)
    connection.sendall(f"POST /v1/messages HTTP/1.1\r\ncontent-length: {size}\r\n\r\n".encode())
    for piece in encoded(paths):
        connection.sendall(piece)
    assert connection.recv(4096).startswith(b"HTTP/1.1 200")


def encoded(paths: list[Path]) -> Iterator[bytes]:
    """The base64 of files."""
    buffer = memoryview(bytearray(CHUNK))
    for path in paths:
        with path.open("rb", buffering=0) as source:
            while count := source.readinto(buffer):
                yield pybase64.b64encode(buffer[:count])


def store(paths: list[Path], folder: Path) -> None:
    """Hash each file and write a copy."""
    for path in paths:
        data = path.read_bytes()
        (folder / hashlib.sha256(data).hexdigest()).write_bytes(data)
