"""However a run of tests ends, it leaves neither a process nor a file."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL
from pathlib import Path
from tempfile import mkdtemp

import psutil
import pytest

from support import leftovers
from support.programs import until

pytestmark = pytest.mark.anyio
RUN = (sys.executable, "-m", "pytest", "--numprocesses", "2", "--dist", "load", "left_open.py")


def green(received, *_):
    (received / "end.green").touch()


def red(received, *_):
    (received / "end.red").touch()


def interrupted(_, run, *_workers):
    run.send_signal(signal.SIGINT)


def killed_worker(received, _, workers):
    os.kill(workers[0], signal.SIGKILL)
    (received / "end.green").touch()


def killed(_, run, *_workers):
    run.kill()


#: Ways to end, the exit status of each, and whether a test forgets a process, which makes a green run red.
ENDS = [
    (green, False, pytest.ExitCode.OK),
    (green, True, pytest.ExitCode.TESTS_FAILED),
    (red, True, pytest.ExitCode.TESTS_FAILED),
    (interrupted, True, pytest.ExitCode.INTERRUPTED),
    (killed_worker, True, pytest.ExitCode.TESTS_FAILED),
    (killed, True, -signal.SIGKILL),
]


async def test_a_run_leaves_nothing_behind_however_it_ends(tmp_path):
    found = await asyncio.gather(
        *(run_to(end, tmp_path / str(at), forgets=forgets) for at, (end, forgets, _) in enumerate(ENDS))
    )
    assert found == [status for _, _, status in ENDS]


async def run_to(end, received, *, forgets):
    """The exit status of a run that is ended in some way, once nothing is left of it."""
    received.mkdir()
    home = Path(mkdtemp(prefix="home-"))  # short, because paths of sockets lie below it
    own = {name: value for name, value in os.environ.items() if name != leftovers.RUN and "XDIST" not in name}
    environ = {**own, "TMPDIR": str(home), "XDG_RUNTIME_DIR": str(home), "LEFT_OPEN": str(received)}
    if forgets:
        (received / "forget").touch()
    run = await asyncio.create_subprocess_exec(
        *RUN, cwd=Path(__file__).parent, env=environ, stdout=DEVNULL, stderr=DEVNULL
    )
    begun = await until(lambda: (found := [*received.glob("begun.*")])[1:] and found)
    end(received, run, [int(item.suffix[1:]) for item in begun])
    status = await run.wait()
    await until(lambda: not [process for process in psutil.process_iter() if leftovers.belongs(process, str(home))])
    await until(lambda: not [*home.glob("sat-*")])
    return status
