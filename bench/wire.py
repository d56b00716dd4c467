"""Cost of sending, from files on disk to the kernel, compared to `sendall` of a body in memory.

All go over loopback to a sink in another process, which reads, discards and answers, in plain HTTP and in TLS. Ours
goes the way of `Agent`: by an `Exchange` of `connect`, over an open `Transport`. Bedrock's requests are signed, so one
sha256 of the body stands beside `sendall` there. The third way, `bare`, shows what is left to save: a loop without
asyncio that reads, encodes and sends the same pieces, blocking. Memory is the peak of a fresh process that sends files
over that of one that sends a question without any.
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
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time

import trustme

from cases import MIB, MODELS, cpu, one_step, question, store, stored, table, temporary, unlimited, verdict
from memory import peak_mib
from showandtell.core.events.types import StepEnd
from showandtell.core.planning.plan import plan, raise_refused
from showandtell.core.planning.values import Policy, View
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Request, compose
from showandtell.network.transport import Transport
from showandtell.providers.rows import connect
from showandtell.storage.blobs.folder import Folder

CASES = ((20, 1), (10, 10))
GOALS, GOAL_MIB = {"http": 1.3, "https": 1.2}, 8.0
#: Passes over all cases, and rounds per pass, to average out other load on the machine.
PASSES, ROUNDS = 4, 5
#: Two apis, for the bodies of all are alike, and only Bedrock's are signed; to each an answer as short as may be.
MESSAGES = {
    "anthropic-messages": {"type": "message", "content": [], "stop_reason": "end_turn"},
    "bedrock-converse": {"output": {"message": {"content": []}}, "stopReason": "end_turn"},
}
SIGNED = "bedrock-converse"
#: Fake keys.
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
        """A connection, without an HTTP client around it."""
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
        words = [sys.executable, str(Path(__file__).parent / "served/sink.py"), str(own)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Sink(json.loads(process.stdout.readline()), str(ca))
            finally:
                process.terminate()


def listen(certificate: str) -> None:
    """Listen on a port for each scheme, and say which."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    listening = {scheme: socket.create_server(("127.0.0.1", 0)) for scheme in GOALS}
    print(json.dumps({scheme: item.getsockname()[1] for scheme, item in listening.items()}), flush=True)
    for scheme, item in listening.items():
        threading.Thread(target=accept, args=(item, tls if scheme == "https" else None)).start()


def accept(listening: socket.socket, tls: ssl.SSLContext | None) -> None:
    """Serve each connection in a thread."""
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            connection = tls.wrap_socket(connection, server_side=True)
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def serve(connection: socket.socket) -> None:
    """Read requests, discard their bodies, and give each the answer that its head asks for."""
    buffer = bytearray(MIB)
    while head := read_head(connection):
        fields = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if line)
        left = int(fields["content-length"])
        while left:
            left -= connection.recv_into(buffer, min(left, MIB))
        output = json.dumps(MESSAGES[fields["x-api"]])
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(output)}\r\n\r\n"
        connection.sendall((head + output).encode())


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
    raise_refused(planned, target)
    return compose(planned, target, Options("You draw charts.", stream=True), {}, folder)


async def send(request: Request, transport: Transport, where: Sink, scheme: str) -> float:
    """CPU seconds of one exchange, as a step of `Agent` has it."""
    api = request.target.api
    exchange = connect(
        request.target,
        base_url=f"{scheme}://127.0.0.1:{where.ports[scheme]}",
        api_key=None if api == SIGNED else "none",
        headers={"x-api": api},
        transport=transport,
        environ=where.environ,
    )
    start = process_time()
    events = [event async for batch in exchange.ask(request) for event in batch]
    seconds = process_time() - start
    assert isinstance(events[-1], StepEnd), events
    assert events[-1].stop == "end", events
    return seconds


def push(connection: socket.socket, api: str, size: int, pieces: Callable[[], Iterable[bytes]]) -> None:
    """One request without an HTTP client: hashed where it is to be signed, then sent piece by piece, then answered."""
    digest = hashlib.sha256()
    for piece in pieces() if api == SIGNED else ():
        digest.update(piece)
    connection.sendall(f"POST / HTTP/1.1\r\nx-api: {api}\r\ncontent-length: {size}\r\n\r\n".encode())
    for piece in pieces():
        connection.sendall(piece)
    assert connection.recv(4096).startswith(b"HTTP/1.1 200")


async def times(request: Request, where: Sink, scheme: str) -> list[tuple[float, float, float]]:
    """CPU seconds of `sendall`, of the bare loop and of ours, in rounds of each in turn."""
    body, api = b"".join(request.chunks()), request.target.api
    with where.open(scheme) as connection:
        async with Transport(environ=where.environ) as transport:
            return [
                (
                    cpu(lambda: push(connection, api, len(body), lambda: (body,))),
                    cpu(lambda: push(connection, api, len(body), request.chunks)),
                    await send(request, transport, where, scheme),
                )
                for _ in range(ROUNDS + 1)
            ][1:]


def peak(case: str, api: str, folder: Folder, where: Sink, scheme: str) -> float:
    """The peak MiB of a fresh process that sends one request: with files, or a question alone."""
    words = [sys.executable, __file__, case, api, scheme, str(folder.path), json.dumps(asdict(where))]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def child(case: str, api: str, scheme: str, path: str, sink: str) -> None:
    """What the fresh process does."""
    folder, asked = temporary(path), question()
    view = one_step(stored(folder)) if case == "files" else View((asked,), {}, asked.id)
    where = Sink(**json.loads(sink))
    asyncio.run(send(build(view, api, folder), Transport(environ=where.environ), where, scheme))
    print(peak_mib())


@dataclass(frozen=True)
class Case:
    """Files of one size, in a request of one api, over one scheme."""

    name: str
    view: View
    folder: Folder
    api: str
    scheme: str

    def row(self, rounds: Sequence[tuple[float, float, float]], where: Sink) -> list[object]:
        """Its figures: times and ratios are medians, each ratio that of figures of one round."""
        ms = [f"{median(column) * 1000:.1f}" for column in zip(*rounds, strict=True)]
        ratio, bare = (
            median(ours / baseline for baseline, _, ours in rounds),
            median(item / baseline for baseline, item, _ in rounds),
        )
        files, none = (peak(case, self.api, self.folder, where, self.scheme) for case in ("files", "question"))
        good = verdict(ratio, GOALS[self.scheme]), verdict(files - none, GOAL_MIB)
        figures = [*ms, f"{bare:.2f}", f"{ratio:.2f}", good[0], f"{files - none:.1f}", good[1]]
        return [self.name, self.api, self.scheme, *figures]


def cases() -> list[Case]:
    """Every case, its files stored."""
    found: list[Case] = []
    for count, size in CASES:
        folder = temporary()
        view = one_step(store(folder, count, size * MIB))
        name = f"{count} x {size} MiB"
        found += [Case(name, view, folder, api, scheme) for api, scheme in product(MESSAGES, GOALS)]
    return found


def main() -> None:
    """Print time and memory of every case, api and scheme."""
    with sinking() as where:
        rounds = [(case, list[tuple[float, float, float]]()) for case in cases()]
        for _ in range(PASSES):
            for case, taken in rounds:
                request = build(case.view, case.api, case.folder)
                taken.extend(asyncio.run(times(request, where, case.scheme)))
        rows = [case.row(taken, where) for case, taken in rounds]
    print("CPU ms from files on disk to the kernel, and peak MiB above a request without files")
    goals = " / ".join(f"<= {goal}" for goal in GOALS.values())
    head = ["case", "api", "scheme", "sendall", "bare", "ours", "bare ratio", "ratio", goals, "MiB"]
    print(table([*head, f"<= {GOAL_MIB:.0f}"], rows))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sink", certificate]:
            listen(certificate)
        case [case, api, scheme, path, where]:
            child(case, api, scheme, path, where)
        case _:
            main()
