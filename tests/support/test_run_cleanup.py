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

from support import run_cleanup
from support.server_process import until

pytestmark = pytest.mark.anyio
#: Seconds; runs at once take long on a busy machine.
TIMEOUT = 200
RUN = (sys.executable, "-m", "pytest", "--numprocesses", "2", "--dist", "load", "leaky_tests.py")


def passes(folder, *_):
    (folder / "end.pass").touch()


def fails(folder, *_):
    (folder / "end.fail").touch()


def interrupted(_, run, *_workers):
    run.send_signal(signal.SIGINT)


def killed_worker(folder, _, workers):
    os.kill(workers[0], signal.SIGKILL)
    (folder / "end.pass").touch()


def killed(_, run, *_workers):
    run.kill()


#: Ways to end, the exit status of each, and whether a test leaves a process behind, which makes the run fail.
ENDS = [
    (passes, False, pytest.ExitCode.OK),
    (passes, True, pytest.ExitCode.TESTS_FAILED),
    (fails, True, pytest.ExitCode.TESTS_FAILED),
    (interrupted, True, pytest.ExitCode.INTERRUPTED),
    (killed_worker, True, pytest.ExitCode.TESTS_FAILED),
    (killed, True, -signal.SIGKILL),
]


async def test_a_run_leaves_nothing_behind_however_it_ends(tmp_path):
    statuses = await asyncio.gather(
        *(run_until(end, tmp_path / str(index), leaks=leaks) for index, (end, leaks, _) in enumerate(ENDS))
    )
    assert statuses == [status for _, _, status in ENDS]


async def run_until(end, folder, *, leaks):
    """The exit status of a run that `end` ends, once its processes and files are gone."""
    folder.mkdir()
    home = Path(mkdtemp(prefix="home-"))  # short, because paths of sockets lie below it
    inherited = {name: value for name, value in os.environ.items() if name != run_cleanup.RUN and "XDIST" not in name}
    environ = {**inherited, "TMPDIR": str(home), "XDG_RUNTIME_DIR": str(home), "LEAKY_TESTS_FOLDER": str(folder)}
    if leaks:
        (folder / "leak").touch()
    run = await asyncio.create_subprocess_exec(
        *RUN, cwd=Path(__file__).parent, env=environ, stdout=DEVNULL, stderr=DEVNULL
    )
    started = await until(lambda: (files := [*folder.glob("started.*")])[1:] and files, TIMEOUT)
    end(folder, run, [int(file.suffix[1:]) for file in started])
    status = await run.wait()
    await until(
        lambda: not [process for process in psutil.process_iter() if run_cleanup.belongs(process, str(home))], TIMEOUT
    )
    await until(lambda: not [*home.glob("sat-*")], TIMEOUT)
    return status
