"""A question about twenty pictures of 1 MiB, from `Agent` to the body's last byte at a provider.

CPU time of `Agent.run`, to a provider in another process that reads each request to its end and answers shortly, in
plain HTTP. `again`: the pictures are in the conversation already. `opened`: the stored conversation has just been
opened, by a process that has read it before. `first`: they come with the question, from disk, and are hashed, copied
and proved. The floor is a blocking loop over a bare socket that reads, encodes and sends the same files; for `first` it
also hashes and copies them. Bedrock's requests are signed, so their floor has a sha256 of the body, and a pass over the
files for it. The API's own SDK and pydantic-ai read the files from disk and ask the same provider each time.

`from disk to the kernel` is our sending alone, without `Agent`: one exchange over a connection that is open. Memory is
the peak of a process that sends the pictures over that of one that sends a question alone.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import process_time
from typing import Any

from figures import FLOOR, Figure, rounds, save
from memory import peak_mib
from processes import install, peer
from sending import KEYS, MODELS, PACKAGES, SIGNED, Provider, alone, pictures, provider, push, store
from showandtell import Agent, Connection, Draft, File, Store, Text, Transport, render
from showandtell.providers.connect import connect

ROUNDS = 5
SDKS = {
    "anthropic-messages": ("anthropic", "send_files", PACKAGES),
    "openai-chat": ("openai-chat", "send_files", PACKAGES),
    "openai-responses": ("openai-responses", "send_files", PACKAGES),
    "gemini": ("google-genai", "send_google", ("google-genai==3.4.0",)),
    "bedrock-converse": ("boto3", "send_files", PACKAGES),
}
ASKED = "What do these show?"


class Asking:
    """An agent on an event loop of its own, and conversations that have the pictures."""

    def __init__(self, stack: ExitStack, api: str, where: Provider, paths: list[Path]) -> None:
        self.paths = paths
        self.runner = stack.enter_context(asyncio.Runner())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        connection = Connection(base_url=where.url(), api_key=None if api == SIGNED else "none")
        self.agent = Agent(MODELS[api], connection=connection)
        self.runner.run(self.agent.__aenter__())
        stack.callback(lambda: self.runner.run(self.agent.__aexit__(None, None, None)))
        self.store: Any = self.runner.run(Store.at(folder).__aenter__())
        stack.callback(lambda: self.runner.run(self.store.__aexit__(None, None, None)))
        stored = self.runner.run(self.store.create())
        self.ask(stored, self.files())
        self.stored = stored.id
        self.known = self.agent.conversation()
        self.ask(self.known, self.files())

    def files(self) -> list[File]:
        """The pictures, from disk."""
        return [File.from_path(path) for path in self.paths]

    def ask(self, conversation: Any, files: list[File] | None = None) -> float:
        """The CPU milliseconds of a question."""

        async def once() -> float:
            start = process_time()
            run = await self.agent.run(ASKED, files=files or [], conversation=conversation)
            assert run.status == "complete", run.error
            return (process_time() - start) * 1000

        return self.runner.run(once())

    def first(self) -> float:
        """The pictures come with the question."""
        return self.ask(self.agent.conversation(), self.files())

    def again(self) -> float:
        """They are in the conversation already."""
        return self.ask(self.known)

    def opened(self) -> float:
        """They are in a stored conversation, which has just been opened."""
        return self.ask(self.runner.run(self.store.open(self.stored)))


def of_agent(api: str, where: Provider, paths: list[Path], folder: Path) -> Iterator[Figure]:
    """The figures of an API."""
    is_signed = api == SIGNED
    way, env, packages = SDKS[api]
    with ExitStack() as stack:
        arguments = (str(paths[0].parent), "disk", where.url())
        theirs = {
            "sdk": stack.enter_context(peer(install(env, *packages), "send_files", way, *arguments)),
            "pydantic_ai": stack.enter_context(
                peer(install("send_files", *PACKAGES), "send_files", f"pydantic-ai/{api}", *arguments)
            ),
        }
        connection = stack.enter_context(where.open())
        asking = Asking(stack, api, where, paths)
        costs = rounds(
            ROUNDS,
            floor=lambda: alone(lambda: push(connection, paths, signed=is_signed)),
            stored=lambda: alone(lambda: store(paths, folder)),
            first=asking.first,
            again=asking.again,
            opened=asking.opened,
            **theirs,
        )
        peers = {f"{way} {theirs['sdk'].version}": costs["sdk"]}
        peers[f"pydantic-ai {theirs['pydantic_ai'].version}"] = costs["pydantic_ai"]
    beside = {FLOOR: costs["floor"], **peers}
    work = f"`Agent` to the last byte, {api}"
    goal, before = (1.2, "8.3 times the floor without a hash") if is_signed else (1.4, "2.1 to 2.9 times")
    yield Figure(f"{work}, again", "ms", costs["again"], beside, of="floor", goal=goal, before=before)
    yield Figure(f"{work}, opened", "ms", costs["opened"], beside, of="floor")
    whole = [sent + hashed for sent, hashed in zip(costs["floor"], costs["stored"], strict=True)]
    yield Figure(f"{work}, first", "ms", costs["first"], {FLOOR: whole, **peers}, of="floor")


def of_kernel(where: Provider, paths: list[Path]) -> Iterator[Figure]:
    """Our sending alone, in plain HTTP and in TLS."""
    api = "anthropic-messages"
    request = render([Draft("user", (Text(ASKED), *map(File.from_path, paths)))], model=MODELS[api], stream=True)
    for scheme, goal, before in (("http", 1.15, "1.4 times"), ("https", 1.1, "1.15 times")):
        with where.open(scheme) as connection, asyncio.Runner() as runner:
            environ = {"SSL_CERT_FILE": where.authority}
            transport = Transport(environ=environ)
            runner.run(transport.__aenter__())
            exchange = connect(
                request.target, base_url=where.url(scheme), api_key="none", transport=transport, environ=environ
            )
            costs = rounds(
                ROUNDS * 2,
                floor=lambda connection=connection: alone(lambda: push(connection, paths)),
                ours=lambda runner=runner, exchange=exchange: runner.run(exchanged(exchange, request)),
            )
            runner.run(transport.__aexit__())
        work, beside = f"from disk to the kernel, {scheme}", {FLOOR: costs["floor"]}
        yield Figure(work, "ms", costs["ours"], beside, of="floor", goal=goal, before=before, inner=True)


async def exchanged(exchange: Any, request: Any) -> float:
    """CPU milliseconds of an exchange."""
    start = process_time()
    events = [event async for batch in exchange.ask(request) for event in batch]
    assert events[-1].stop == "end", events
    return (process_time() - start) * 1000


def memory(where: Provider, folder: Path) -> Figure:
    """The peak MiB of a fresh process with the pictures over that of one without."""

    def peak(folder: str) -> float:
        command = [sys.executable, __file__, where.url(), folder]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    over = [peak(str(folder)) - peak("") for _ in range(3)]
    return Figure("memory of a question with the pictures over one without", "MiB", over, goal=8)


def child(url: str, folder: str) -> None:
    """Ask once, and print the peak of this process."""
    files = [File.from_path(path) for path in sorted(Path(folder).iterdir())] if folder else []
    agent = Agent(MODELS["anthropic-messages"], connection=Connection(base_url=url, api_key="none"))
    assert agent.run_sync(ASKED, files=files).status == "complete"
    print(peak_mib())


def main() -> None:
    """Print the table."""
    os.environ.update(KEYS)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as copies, provider() as where:
        paths = pictures(Path(folder))
        for api in MODELS:
            figures += of_agent(api, where, paths, Path(copies))
        figures += [*of_kernel(where, paths), memory(where, Path(folder))]
    save(__doc__ or "", figures)


if __name__ == "__main__":
    child(*sys.argv[1:]) if len(sys.argv) > 1 else main()
