"""`python -m tests.fake_provider`, from the repository's root: every house until Ctrl+C, and the variables that lead there.

Its output is a shell snippet: `python -m tests.fake_provider > here & sleep 1; . ./here`. The Files APIs are served, too, so that
`uploads=True` can be tried; what is stored is forgotten at the end.
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
from .server import Door, Standin


def read_blindness(text: str) -> Blindness:
    """A recorded one by its name, or `house:kind` with either left out: `openai:image`, `:audio`, `groq:`."""
    if text in RECORDED_BLINDNESS:
        return RECORDED_BLINDNESS[text]
    house, colon, kind = text.partition(":")
    if not colon or kind not in {"", *KINDS}:
        raise ValueError(text)
    return blind(house=house, kinds=[one for one in KINDS if one == kind], name=text)


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument(
        "--fault",
        type=read_planned,
        action="append",
        default=[],
        help=f"[house][#nth:]name(arguments), as in openai#2:status(429, retry_after=2); names: {', '.join(FAULTS)}",
    )
    parser.add_argument(
        "--blind",
        type=read_blindness,
        action="append",
        default=[],
        help=f"house:kind, or one of {', '.join(RECORDED_BLINDNESS)}",
    )
    return parser.parse_args(arguments)


def spell_snippet(environ: dict[str, str]) -> str:
    """The variables as a shell takes them."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environ.items())


def open_files(store: Store) -> Door:
    """A door to the Files APIs, for whoever has the house's key."""

    def door(method: str, incoming: IncomingRequest) -> HttpResponse | None:
        if "/files" in incoming.path:
            check_key(find_host(incoming.path)[0], incoming, datetime.now(UTC))
        return serve_files(incoming, store, method)

    return door


async def listen(arguments: argparse.Namespace) -> None:
    """Serve until somebody says that it is enough."""
    enough = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, enough.set)
    store = Store()

    def fetch(asked: ModelRequest, house: str) -> ModelRequest:
        return resolve(asked, store, house) if house in PREFIX else asked

    async with Standin(
        arguments.fault, blind=arguments.blind, doors=[open_files(store)], fetch=fetch, port=arguments.port
    ) as standin:
        sys.stdout.write(spell_snippet(standin.environ()))
        sys.stdout.flush()
        await enough.wait()


if __name__ == "__main__":
    asyncio.run(listen(read_arguments(sys.argv[1:])))
