"""What sending costs, from files on disk to the kernel, beside `sendall` of a body that lies ready in memory.

Both go over loopback to a sink in another process, which reads, discards and answers, once in plain HTTP and once in
TLS. Ours goes the way of `Agent`: by an `Exchange` of `connect`, over an open `Transport`. Bedrock's requests are
signed, so one sha256 of the body stands beside `sendall` there. Memory is the peak of a fresh process that sends files
over one that sends a question without any.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time

import trustme

from cases import MIB, MODELS, cpu, one_step, question, store, stored, table, temporary, unlimited, verdict
from memory import peak_mib
from showandtell.attachments.folder import Folder
from showandtell.delivery.plan import plan, refuse
from showandtell.delivery.values import Policy, View
from showandtell.events.types import StepEnd
from showandtell.providers.rows import connect
from showandtell.providers.transport import Transport
from showandtell.wire.body import Request, compose
from showandtell.wire.options import Options

CASES = ((20, 1), (10, 10))
GOALS, GOAL_MIB = {"http": 1.3, "https": 1.2}, 8.0
ROUNDS = 15
#: Whole answers, as short as may be.
SAID = {
    "anthropic-messages": {"type": "message", "content": [], "stop_reason": "end_turn"},
    "openai-chat": {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]},
    "openai-responses": {"status": "completed", "output": []},
    "gemini": {"candidates": [{"finishReason": "STOP"}]},
    "bedrock-converse": {"output": {"message": {"content": []}}, "stopReason": "end_turn"},
}
#: No account has these keys.
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "none", "AWS_REGION": "us-east-1"}


@dataclass(frozen=True)
class Sink:
    """Where the bytes go: the port of each scheme, and the file of the authority that vouches for it."""

    ports: dict[str, int]
    authority: str

    @property
    def environ(self) -> dict[str, str]:
        """What a sender has to know."""
        return {**KEYS, "SSL_CERT_FILE": self.authority}

    def open(self, scheme: str) -> socket.socket:
        """A connection of our own."""
        plain = socket.create_connection(("127.0.0.1", self.ports[scheme]))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if scheme == "http":
            return plain
        return ssl.create_default_context(cafile=self.authority).wrap_socket(plain, server_hostname="127.0.0.1")


@contextmanager
def sinking() -> Iterator[Sink]:
    """A sink in a process of its own, with a certificate made for it."""
    authority = trustme.CA()
    with tempfile.TemporaryDirectory(prefix="bench-wire-") as folder:
        own, ca = Path(folder, "own.pem"), Path(folder, "ca.pem")
        ca.write_bytes(authority.cert_pem.bytes())
        own.write_bytes(authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes())
        words = [sys.executable, __file__, "sink", str(own)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Sink(json.loads(process.stdout.readline()), str(ca))
            finally:
                process.terminate()


def sink(certificate: str) -> None:
    """Listen on two ports, and serve one connection after the other."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    listening = {scheme: socket.create_server(("127.0.0.1", 0)) for scheme in GOALS}
    print(json.dumps({scheme: one.getsockname()[1] for scheme, one in listening.items()}), flush=True)
    for scheme, one in listening.items():
        import threading

        threading.Thread(target=accept, args=(one, context if scheme == "https" else None)).start()


def accept(listening: socket.socket, context: ssl.SSLContext | None) -> None:
    """Serve each connection in a thread."""
    import threading

    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            connection = context.wrap_socket(connection, server_side=True)
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def serve(connection: socket.socket) -> None:
    """Read requests, discard their bodies, and answer each with what its path says."""
    buffer = bytearray(MIB)
    while head := read_head(connection):
        fields = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if line)
        left = int(fields["content-length"])
        while left:
            left -= connection.recv_into(buffer, min(left, MIB))
        said = json.dumps(SAID[fields["x-api"]])
        answer = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(said)}\r\n\r\n{said}"
        connection.sendall(answer.encode())


def read_head(connection: socket.socket) -> str:
    """Everything before the body, byte by byte, so that nothing of the body is read; empty at the end."""
    head = bytearray()
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return ""
        head += byte
    return head.decode()


def build(view: View, api: str, folder: Folder) -> Request:
    """A request that is ready to be sent: nothing of its files is read yet."""
    target = unlimited(MODELS[api])
    planned = plan(view, target, {}, Policy())
    refuse(planned, target)
    return compose(planned, target, Options("You draw charts.", stream=True), {}, folder)


async def send(request: Request, transport: Transport, where: Sink, scheme: str) -> float:
    """CPU seconds of one exchange, as a step of `Agent` has it."""
    api, key = request.target.api, None if request.target.provider == "bedrock" else "none"
    base = f"{scheme}://127.0.0.1:{where.ports[scheme]}"
    exchange = connect(
        request.target, base_url=base, api_key=key, headers={"x-api": api}, transport=transport, environ=where.environ
    )
    start = process_time()
    events = [event async for batch in exchange.ask(request) for event in batch]
    seconds = process_time() - start
    assert isinstance(events[-1], StepEnd), events
    assert events[-1].stop == "end", events
    return seconds


def push(connection: socket.socket, body: bytes, api: str) -> None:
    """The floor: one call for all, and what is answered."""
    connection.sendall(f"POST / HTTP/1.1\r\nx-api: {api}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
    connection.sendall(body)
    if api == "bedrock-converse":
        hashlib.sha256(body).hexdigest()
    assert connection.recv(4096).startswith(b"HTTP/1.1 200")


async def times(request: Request, where: Sink, scheme: str) -> tuple[float, float, float]:
    """CPU milliseconds of the floor and of ours, and how many times the floor ours is: medians of rounds in turn."""
    body, api = b"".join(request.chunks()), request.target.api
    with where.open(scheme) as connection:
        async with Transport(environ=where.environ) as transport:
            rounds = [
                (cpu(lambda: push(connection, body, api)), await send(request, transport, where, scheme))
                for _ in range(ROUNDS + 1)
            ][1:]
    least, ours = zip(*rounds, strict=True)
    return median(least) * 1000, median(ours) * 1000, median(own / bottom for bottom, own in rounds)


def peak(case: str, api: str, folder: Folder, where: Sink, scheme: str) -> float:
    """The peak MiB of a fresh process that sends one request: with files, or a question alone."""
    words = [sys.executable, __file__, case, api, str(folder.path), json.dumps(where.ports), where.authority, scheme]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def child(case: str, api: str, path: str, ports: str, authority: str, scheme: str) -> None:
    """What the fresh process does."""
    folder = temporary(path)
    asked = question()
    view = one_step(stored(folder)) if case == "files" else View((asked,), {}, asked.id)
    request = build(view, api, folder)

    async def once() -> None:
        where = Sink(json.loads(ports), authority)
        async with Transport(environ=where.environ) as transport:
            await send(request, transport, where, scheme)

    asyncio.run(once())
    print(peak_mib())


def main() -> None:
    """Print time and memory of every case, api and scheme."""
    rows: list[Sequence[object]] = []
    with sinking() as where:
        for count, size in CASES:
            folder = temporary()
            view = one_step(store(folder, count, size * MIB))
            for api, scheme in product(MODELS, GOALS):
                least, ours, ratio = asyncio.run(times(build(view, api, folder), where, scheme))
                over = peak("files", api, folder, where, scheme) - peak("question", api, folder, where, scheme)
                figures = [f"{least:.1f}", f"{ours:.1f}", f"{ratio:.2f}", verdict(ratio, GOALS[scheme])]
                rows.append(
                    [f"{count} x {size} MiB", api, scheme, *figures, f"{over:.1f}", verdict(over, GOAL_MIB)]
                )
                print(rows[-1], file=sys.stderr)
    print("CPU ms from files on disk to the kernel, and peak MiB over a question without files")
    goal = f"<= {GOALS['http']}, {GOALS['https']}"
    print(table(["case", "api", "scheme", "sendall", "ours", "ratio", goal, "MiB", f"<= {GOAL_MIB:.0f}"], rows))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sink", certificate]:
            sink(certificate)
        case [case, api, path, ports, authority, scheme]:
            child(case, api, path, ports, authority, scheme)
        case _:
            main()
