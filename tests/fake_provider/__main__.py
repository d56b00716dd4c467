"""Run the fake provider until Ctrl+C: `python -m tests.fake_provider`, from the root of the repository.

The output is a shell snippet that sets the base URLs and keys:
`python -m tests.fake_provider > here & sleep 1; . ./here`. It also serves the Files APIs, for `uploads=True`. Uploads are
lost at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from tests.support.fake_files_api import PREFIX, Store, resolve, serve_files

from showandtell.core.wire.http import HttpResponse
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import IncomingRequest, ModelRequest

from .auth import check_key
from .blindness import KINDS, RECORDED_BLINDNESS, Blindness, blind
from .faults import FAULTS, read_planned
from .server import FakeProvider, Handler


def read_blindness(text: str) -> Blindness:
    """Parse the name of a recorded blindness, or `host:kind` with either left out: `openai:image`, `:audio`, `groq:`."""
    if text in RECORDED_BLINDNESS:
        return RECORDED_BLINDNESS[text]
    host, colon, kind = text.partition(":")
    if not colon or kind not in {"", *KINDS}:
        raise ValueError(text)
    return blind(host=host, kinds=[item for item in KINDS if item == kind], name=text)


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 for any free port")
    parser.add_argument(
        "--fault",
        type=read_planned,
        action="append",
        default=[],
        help=f"[host][#nth:]name(arguments), as in openai#2:status(429, retry_after=2); names: {', '.join(FAULTS)}",
    )
    parser.add_argument(
        "--blind",
        type=read_blindness,
        action="append",
        default=[],
        help=f"host:kind, or one of {', '.join(RECORDED_BLINDNESS)}",
    )
    return parser.parse_args(arguments)


def format_exports(environ: dict[str, str]) -> str:
    """Format variables as shell exports."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environ.items())


def make_files_handler(store: Store) -> Handler:
    """A handler for the Files APIs that checks the API key."""

    def handle(method: str, incoming: IncomingRequest) -> HttpResponse | None:
        if "/files" in incoming.path:
            check_key(find_host(incoming.path)[0], incoming, datetime.now(UTC))
        return serve_files(incoming, store, method)

    return handle


async def listen(arguments: argparse.Namespace) -> None:
    """Serve until SIGINT or SIGTERM."""
    stopped = asyncio.Event()
    for item in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(item, stopped.set)
    store = Store()

    def fetch(request: ModelRequest, host: str) -> ModelRequest:
        return resolve(request, store, host) if host in PREFIX else request

    async with FakeProvider(
        arguments.fault, blind=arguments.blind, handlers=[make_files_handler(store)], fetch=fetch, port=arguments.port
    ) as fake_provider:
        sys.stdout.write(format_exports(fake_provider.environ()))
        sys.stdout.flush()
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(listen(read_arguments(sys.argv[1:])))
