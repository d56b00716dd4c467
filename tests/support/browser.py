"""Chromium for tests: one Node process that plays the scenarios of web/tests, and the hosts that they visit."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import pytest

from fake_provider import FakeProvider
from showandtell.server.pages import BUILT
from support import nodejs
from support.leftovers import at_end
from support.paths import ROOT, TESTS
from support.serving import serving

WEB = ROOT / "web"
SCENARIOS = WEB / "tests" / "scenarios"
TOKEN = "a-token-for-tests"  # noqa: S105 - it opens nothing
#: Scenarios come in one after the other, by the same address.
RATES = "chat=9999/minute, uploads=9999/minute, reads=99999/minute, login=9999/minute"
#: What a scenario may take, in seconds; the process that plays it is given up a little later.
TIMEOUT = 150


def names(file):
    """The scenarios of a file, in their order; a test is called as its scenario is."""
    return re.findall(r"^export async function (\w+)", (SCENARIOS / f"{file}.mjs").read_text(), re.MULTILINE)


def has_browser():
    """Whether there is one: what web/tests/browser.mjs starts."""
    return bool(os.environ.get("CHROMIUM")) or (WEB / "tests" / ".browser" / "chromium").is_file()


class Failed(AssertionError):
    """What a scenario found, and where its screenshots are."""


class Stage:
    """Where scenarios are played; Node and the browser live as long as it does."""

    def __init__(self):
        nodejs.need(
            has_browser(), "the browser isn't here: run `make browser`; where it doesn't run, name one by CHROMIUM"
        )
        command = [nodejs.node(), str(WEB / "tests" / "driver.mjs")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
        self.version = self._hear()["version"]

    @property
    def is_open(self):
        return self._process.poll() is None

    def _hear(self):
        line = self._process.stdout.readline()
        if not line:
            raise Failed(f"the browser's process ended with {self._process.wait()}")
        return json.loads(line)

    def _tell(self, line):
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def play(self, name, sites, folder, functions=None, **given):
        """Play a scenario. The scenario may call `functions` by name. Raises `Failed` with everything that was seen."""
        seconds = given.setdefault("seconds", TIMEOUT)
        timer = threading.Timer(seconds + 15, self._process.kill)
        timer.start()
        try:
            received = {name: site._asdict() for name, site in sites.items()}
            self._tell({"play": name, "given": {"sites": received, "folder": str(folder), **given}})
            while "ask" in (heard := self._hear()):
                self._tell(answer(functions or {}, heard))
        finally:
            timer.cancel()
        if heard["error"]:
            lines = [heard["error"], *heard["complaints"], *(f"picture: {picture}" for picture in heard["pictures"])]
            raise Failed("\n".join(lines))
        return heard["told"]

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


@cache
def open_stage():
    """The one stage of this run of the tests."""
    made = Stage()
    at_end.callback(made.close)
    return made


def play(name, sites, folder, functions=None, **given):
    """Play a scenario on it; where a scenario has taken the stage down, on another."""
    if not open_stage().is_open:
        open_stage.cache_clear()
    return open_stage().play(name, sites, folder, functions, **given)


def answer(functions, heard):
    """Call the function that a scenario asks for."""
    try:
        return {"answer": functions[heard["ask"]](**heard["given"])}
    except Exception as error:  # noqa: BLE001 - the scenario receives the error and fails
        return {"refused": repr(error)}


class Address(NamedTuple):
    """Where a host is, for a scenario."""

    url: str
    token: str = TOKEN


class Program:
    """The server as its users start it, on a port that it keeps: `restart` kills it and starts it again."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._folder = folder
        self._start()

    def _start(self):
        serve = ["serve", "--port", str(self._port), "--data", str(self._folder), "--tools", "support.page_tools:TOOLS"]
        own = {
            **os.environ,
            "SHOWANDTELL_TOKEN": TOKEN,
            "SHOWANDTELL_RATE": RATES,
            "PYTHONPATH": str(TESTS),
        }
        command = [sys.executable, "-m", "showandtell", *serve]
        self._process = subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
        output = self._process.stdout.readline()
        assert "is ready" in output, output

    def restart(self):
        self.close()
        self._start()

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class Street:
    """Servers in a thread of their own, for the test waits for the browser meanwhile."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._open = []
        self._patch = pytest.MonkeyPatch()

    def run(self, work):
        """Do something where the servers run, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def enter(self, manager):
        """Open something there, until the street is closed."""
        self._open.append(manager)
        return self.run(manager.__aenter__())

    def build(self, folder, **settings):
        """A chat server."""
        if not (BUILT / "index.html").is_file():
            pytest.fail("the page is not built: run `make page`, or `python hatch_build.py`")
        folder.mkdir(parents=True, exist_ok=True)
        return self.enter(serving(folder, token=TOKEN, **{"rates": RATES, **settings}))

    def add_fake_provider(self, **settings):
        """Every provider's host, and the variables that lead there for as long as the street is open."""
        fake_provider = self.enter(FakeProvider(**settings))
        self._patch.undo()
        for name, value in {**fake_provider.environ(), "NO_PROXY": "127.0.0.1"}.items():
            self._patch.setenv(name, value)
        return fake_provider

    def close(self):
        self._patch.undo()
        for manager in reversed(self._open):
            self.run(manager.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def street():
    """A street, which is closed whatever happens. Without a browser there is no use in one: the tests are skipped."""
    open_stage()
    made = Street()
    try:
        yield made
    finally:
        made.close()
