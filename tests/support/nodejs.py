"""Node as the page's build finds it, and the page's npm packages, for tests."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT, TESTS

MODULES = ROOT / "web" / "node_modules"
NPM_CLIENT = TESTS / "support" / "npm_client"


@cache
def find_node():
    """The path of a new enough Node; empty if there is none."""
    command = [sys.executable, str(ROOT / "hatch_build.py"), "--node"]
    folder = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - our own
    return str(Path(folder) / "node") if folder else ""


def need(what, how):
    """Return a requirement of a test. Without it the test is skipped; in CI it fails."""
    if not what:
        (pytest.fail if os.environ.get("CI") in {"1", "true"} else pytest.skip)(how)
    return what


def node():
    """The path of Node."""
    return need(find_node(), "no Node 22 or newer is here: run `make page`, which installs one")


def modules():
    """The folder of npm's packages."""
    return need((MODULES / "ai").is_dir() and MODULES, "npm's packages are not installed: run `make page`")


@contextmanager
def npm_reader():
    """A function that reads with npm's `ai`.

    `read(sse=...)` parses a stream, `read(messages=...)` validates messages.

    `read(convert=messages)` gives them to a model, as a program that keeps its history in the client does.
    """
    command = [node(), str(NPM_CLIENT / "read.mjs"), str(modules())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own

        def read(**case):
            process.stdin.write(json.dumps(case).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield read
        process.stdin.close()


#: The clients of AG-UI by their package below `node_modules`: 1.0.0 and 0.0.59.
AG_UI_CLIENTS = ("@ag-ui/client", "ag-ui-client-0.0")


def refuse(request):
    raise AssertionError(f"nobody answers {request}")


@contextmanager
def ag_ui_talk(package):
    """A client of AG-UI: `do("say", respond, content="hi")` returns what it has then. `respond` gets each request."""
    module = modules() / package / "dist" / "index.mjs"
    command = [node(), str(NPM_CLIENT / "ag_ui.mjs"), str(module)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own

        def send(value):
            process.stdin.write(json.dumps(value).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        def do(action, respond: Callable[[Any], bytes] = refuse, **more):
            got = send({"do": action, **more})
            while "request" in got:
                got = send({"sse": respond(got["request"]).decode()})
            return got

        yield do
        process.stdin.close()


@contextmanager
def ag_ui_reader(package):
    """A client of AG-UI that reads streams: `read(sse, messages=..., state=...)` returns what it made of one."""
    with ag_ui_talk(package) as do:

        def read(sse, **client):
            do("open", **client)
            return do("run", lambda _: sse)

        yield read


def ag_ui_client(package, url, headers):
    """A client of AG-UI, connected to a server: `await do("say", id="m1", content="hi")` returns what it has then."""
    module = modules() / package / "dist" / "index.mjs"
    return talking_to([node(), str(NPM_CLIENT / "ag_ui.mjs"), str(module), url, json.dumps(headers)])


def npm_client(url, cookie):
    """The stock client of npm's `ai`, connected to a server: `await do("send", text="hi")` returns all of its messages."""
    return talking_to([node(), str(NPM_CLIENT / "chat.mjs"), str(modules()), url, cookie])


@asynccontextmanager
async def talking_to(command):
    """A program that reads an action a line, and answers each with a line."""
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "limit": 2**24}
    process = await asyncio.create_subprocess_exec(*command, **pipes)

    async def do(action, **more):
        process.stdin.write(json.dumps({"do": action, **more}).encode() + b"\n")
        async with asyncio.timeout(60):
            return json.loads(await process.stdout.readline())

    try:
        yield do
    finally:
        process.kill()
        await process.wait()
