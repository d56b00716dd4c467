"""The command `serve` as a process of its own, and clients of it; each is ended by its own id."""

import asyncio
import os
import re
import signal
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import aiohttp

from support.commandline import PROGRAM

ADDRESS = re.compile(r"Show & Tell is ready: (\S+)")
TOKEN = "a-token-of-the-tests"  # noqa: S105 - it opens nothing
#: Seconds; only a hanging process takes longer, even on a busy machine.
TIMEOUT = 60

#: A tool that a test can block, and that reports its process; and one that returns a file, and one that can't be read.
TOOLS = '''
import asyncio, os, time
from pathlib import Path
from showandtell import File, RunContext

async def hold(name: str, context: RunContext) -> str:
    """Return once the file `name`.go exists."""
    Path(f"{name}.{os.getpid()}").touch()
    count = 0
    while not Path(f"{name}.go").exists():
        count += 1
        context.progress(count, note=repr(time.time()))
        await asyncio.sleep(0.05)
    return f"{name} was released"

def draw() -> list[File]:
    """Draw a table, and refer to one that isn't there."""
    return [File.from_bytes(b"a,b", name="drawn.csv"), File.from_path("gone.csv")]

TOOLS = [hold, draw]
'''


@dataclass
class Program:
    """A server that runs: `url` without the code of its address; `token` is the one that programs send."""

    process: asyncio.subprocess.Process
    output: str
    session: aiohttp.ClientSession
    errors: Path
    token: str

    @property
    def address(self):
        return ADDRESS.search(self.output)[1]

    @property
    def url(self):
        return self.address.partition("?")[0].rstrip("/")

    @property
    def code(self):
        return parse_qs(urlsplit(self.address).query)["code"][0]

    async def end(self, number=signal.SIGTERM):
        """Its exit status after a signal, and what it wrote to stderr until then."""
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), TIMEOUT), self.errors.read_text()


@asynccontextmanager
async def running(folder, *arguments, data=True, **environ):
    """The command `serve` on a free port, with its data in a folder unless `data` is off.

    Its token is `TOKEN` unless the variables say otherwise; an empty one leaves it to the server.
    """
    environ = {"SHOWANDTELL_TOKEN": TOKEN, **environ}
    Path(folder, "holding.py").write_text(TOOLS)  # noqa: ASYNC240 - a few bytes
    errors = Path(folder, "errors.txt")  # a pipe that nobody reads would stop the server
    with errors.open("w") as sink:  # noqa: ASYNC230 - a moment
        process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            "serve",
            *("--port", "0", "--tools", "holding:TOOLS"),
            *(("--data", str(folder)) if data else ()),
            *arguments,
            cwd=folder,
            env={**os.environ, **environ},
            stdout=asyncio.subprocess.PIPE,
            stderr=sink,
        )
    try:
        output = [await asyncio.wait_for(process.stdout.readline(), TIMEOUT) for _ in range(2)]
        assert output[1], errors.read_text()  # noqa: ASYNC240 - the test has failed
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            program = Program(process, b"".join(output).decode(), session, errors, environ["SHOWANDTELL_TOKEN"])
            if "?code=" in program.address and program.token:
                session.headers["authorization"] = f"Bearer {program.token}"
            yield program
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.communicate(), TIMEOUT)


async def until(found, seconds=TIMEOUT):
    """Wait until a function returns something true, and return it."""
    async with asyncio.timeout(seconds):
        while not (value := found()):  # noqa: ASYNC110 - another process makes it true
            await asyncio.sleep(0.02)
    return value
