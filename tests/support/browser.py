"""Chromium for tests: one Node process that runs the scenarios of web/tests, and the servers that they visit."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import pytest

from fake_provider import FakeProvider
from showandtell.server.routes.pages import BUILT
from support import nodejs
from support.paths import ROOT, TESTS
from support.run_cleanup import at_end
from support.s3_server import free_ports
from support.serving import serving

WEB = ROOT / "web"
SCENARIOS = WEB / "tests" / "scenarios"
TOKEN = "a-token-for-tests"  # noqa: S105 - it opens nothing
#: All scenarios come from one IP address, so the default limits are too low.
RATES = "chat=9999/minute, uploads=9999/minute, reads=99999/minute, login=9999/minute"
#: Seconds for a scenario; the process is killed a little later.
TIMEOUT = 150


def scenarios_in(file):
    """A file's scenarios in order, as parameters of a test. Those below a line `// thorough` have that mark."""
    text = (SCENARIOS / f"{file}.mjs").read_text()
    found = re.findall(r"^(// thorough\n)?export async function (\w+)", text, re.MULTILINE)
    return [pytest.param(name, marks=pytest.mark.thorough if is_thorough else ()) for is_thorough, name in found]


def has_browser():
    """Whether web/tests/browser.mjs can start a browser."""
    return bool(os.environ.get("CHROMIUM")) or (WEB / "tests" / ".browser" / "chromium").is_file()


class ScenarioFailed(AssertionError):
    """Holds the error, all violations and the paths of screenshots."""


class BrowserDriver:
    """The process of web/tests/driver.mjs with its browser."""

    def __init__(self):
        nodejs.need(
            has_browser(), "the browser is not installed: run `make browser`, or set CHROMIUM to the path of one"
        )
        command = [nodejs.node(), str(WEB / "tests" / "driver.mjs")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
        self.version = self._read()["version"]

    @property
    def is_open(self):
        return self._process.poll() is None

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise ScenarioFailed(f"the browser's process ended with {self._process.wait()}")
        return json.loads(line)

    def _write(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def run(self, name, sites, folder, functions=None, **scenario_input):
        """Run a scenario and return its result. The scenario may call `functions` by name. Raises `ScenarioFailed`."""
        seconds = scenario_input.setdefault("seconds", TIMEOUT)
        timer = threading.Timer(seconds + 15, self._process.kill)
        timer.start()
        try:
            urls = {name: site._asdict() for name, site in sites.items()}
            self._write({"scenario": name, "input": {"sites": urls, "folder": str(folder), **scenario_input}})
            while "call" in (message := self._read()):
                self._write(call_function(functions or {}, message))
        finally:
            timer.cancel()
        if message["error"]:
            screenshots = [f"screenshot: {path}" for path in message["screenshots"]]
            lines = [message["error"], *message["violations"], *screenshots]
            raise ScenarioFailed("\n".join(lines))
        return message["result"]

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


@cache
def start_driver():
    """The driver that all tests of this process share."""
    driver = BrowserDriver()
    at_end.callback(driver.close)
    return driver


def run_scenario(name, sites, folder, functions=None, **scenario_input):
    """Run a scenario with the shared driver, which is started again if an earlier scenario has killed it."""
    if not start_driver().is_open:
        start_driver.cache_clear()
    return start_driver().run(name, sites, folder, functions, **scenario_input)


def call_function(functions, message):
    try:
        return {"returned": functions[message["call"]](**message["args"])}
    except Exception as error:  # noqa: BLE001 - the scenario receives the error and fails
        return {"error": repr(error)}


class SiteAddress(NamedTuple):
    """The address of a server."""

    url: str
    token: str = TOKEN


class ServerProcess:
    """The command `serve` in a process of its own; `restart` kills it and starts it again on the same port."""

    def __init__(self, folder):
        (self._port,) = free_ports(1)  # it stays free while the server restarts
        self.url = f"http://127.0.0.1:{self._port}"
        self._folder = folder
        self._start()

    def _start(self):
        serve = ["serve", "--model", "inspector", "--port", str(self._port), "--data", str(self._folder)]
        serve += ["--tools", "support.page_tools:TOOLS"]
        environ = {
            **os.environ,
            "SHOWANDTELL_TOKEN": TOKEN,
            "SHOWANDTELL_RATE": RATES,
            "PYTHONPATH": os.pathsep.join((str(TESTS), str(ROOT / "src"))),  # of this clone, not of the installed one
        }
        command = [sys.executable, "-m", "showandtell", *serve]
        self._process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
        output = self._process.stdout.readline()
        assert "is ready" in output, output

    def restart(self):
        self.close()
        self._start()

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class BackgroundServers:
    """Servers in an event loop of their own thread, because the test blocks while it waits for the browser."""

    def __init__(self):
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self._open = []
        self._patch = pytest.MonkeyPatch()

    def _serve(self):
        with self._runner:  # in the end it cancels the tasks that are left, as servers expect of their event loop
            self._loop.run_forever()

    def run(self, coroutine):
        """Run a coroutine in the servers' event loop and wait for its result, at most 60 s."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def enter(self, manager):
        """Enter an asynchronous context manager, until `close`."""
        self._open.append(manager)
        return self.run(manager.__aenter__())

    def add_server(self, folder, **settings):
        """Start a chat server."""
        if not (BUILT / "index.html").is_file():
            pytest.fail("the page is not built: run `make page`, or `python hatch_build.py`")
        folder.mkdir(parents=True, exist_ok=True)
        return self.enter(serving(folder, token=TOKEN, **{"rates": RATES, **settings}))

    def add_fake_provider(self, **settings):
        """Start a fake provider, and set the environment variables that lead to it until `close`."""
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


@contextmanager
def background_servers():
    """`BackgroundServers` for a `with` statement. Skips the test if there is no browser."""
    start_driver()
    servers = BackgroundServers()
    try:
        yield servers
    finally:
        servers.close()
