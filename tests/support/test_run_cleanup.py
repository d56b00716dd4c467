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
RUN = (sys.executable, "-m", "pytest", "-p", "no:inline_snapshot", "--dist", "load", "leaky_tests.py", "--numprocesses")


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


#: Ways to end, whether a test leaves a process behind, which makes the run fail, the number of test processes, and the
#: exit status. Two only if they must be found by somebody else, or if one outlives the other.
ENDS = [
    (passes, True, 1, pytest.ExitCode.TESTS_FAILED),
    (killed, True, 2, -signal.SIGKILL),
]
MORE_ENDS = [
    (passes, False, 1, pytest.ExitCode.OK),
    (fails, True, 1, pytest.ExitCode.TESTS_FAILED),
    (interrupted, True, 1, pytest.ExitCode.INTERRUPTED),
    (killed_worker, True, 2, pytest.ExitCode.TESTS_FAILED),
]


@pytest.mark.parametrize("ends", [ENDS, pytest.param(MORE_ENDS, marks=pytest.mark.thorough)])
async def test_a_run_leaves_nothing_behind_however_it_ends(tmp_path, ends):
    statuses = await asyncio.gather(
        *(run_until(end, tmp_path / str(index), leaks, number) for index, (end, leaks, number, _) in enumerate(ends))
    )
    assert statuses == [end[-1] for end in ends]


async def run_until(end, folder, leaks, processes):
    """The exit status of a run that `end` ends, once its processes and files are gone."""
    folder.mkdir()
    home = Path(mkdtemp(prefix="home-"))  # short, because paths of sockets lie below it
    inherited = {name: value for name, value in os.environ.items() if name != run_cleanup.RUN and "XDIST" not in name}
    environ = {**inherited, "TMPDIR": str(home), "XDG_RUNTIME_DIR": str(home), "LEAKY_TESTS_FOLDER": str(folder)}
    if leaks:
        (folder / "leak").touch()
    run = await asyncio.create_subprocess_exec(
        *RUN, str(processes), cwd=Path(__file__).parent, env=environ, stdout=DEVNULL, stderr=DEVNULL
    )
    started = await until(lambda: (files := [*folder.glob("started.*")])[processes - 1 :] and files, TIMEOUT)
    end(folder, run, [int(file.suffix[1:]) for file in started])
    status = await run.wait()
    await until(
        lambda: not [process for process in psutil.process_iter() if run_cleanup.belongs(process, str(home))], TIMEOUT
    )
    await until(lambda: not [*home.glob("sat-*")], TIMEOUT)
    return status
