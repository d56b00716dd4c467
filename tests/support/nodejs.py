"""Node as the page's build finds it, and the page's npm packages, for tests."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path

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
    """A function that reads with npm's `ai`: `read(sse=...)` parses a stream, `read(messages=...)` validates messages."""
    command = [node(), str(NPM_CLIENT / "read.mjs"), str(modules())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own

        def read(**case):
            process.stdin.write(json.dumps(case).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield read
        process.stdin.close()


@asynccontextmanager
async def npm_client(url, cookie):
    """The stock client of npm's `ai`, connected to a server: `await do("send", text="hi")` returns all of its messages."""
    command = [node(), str(NPM_CLIENT / "chat.mjs"), str(modules()), url, cookie]
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
