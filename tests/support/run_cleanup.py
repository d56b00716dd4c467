"""Nothing outlives a test run: its temporary folder and every process that it started are gone when it ends.

All files of a run are below one temporary folder, and each process that it starts has the folder in its environment,
by which it is found. The first process of a run, `begin`, starts this module as a program that waits until that
process has ended, was interrupted or killed, and then removes what is left.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

#: The variable that names the run's folder.
RUN = "TEST_RUN_FOLDER"
#: Linux's folder in memory, and the bytes that a run needs there.
MEMORY, SPACE = "/dev/shm", 8 << 30
#: How long a process may take to end once its run is over, in seconds.
TIMEOUT = 10.0

#: Closed at the end of a test process: servers and browsers that many tests share.
at_end = ExitStack()


def begin() -> None:
    """Make the run's folder, which is removed at the end. Does nothing in worker processes of a run."""
    if RUN in os.environ:
        return
    watcher = start_watcher()
    # Short, because paths of sockets lie below it; its real path, because macOS has a link there.
    folder = os.environ[RUN] = os.environ["TMPDIR"] = os.path.realpath(tempfile.mkdtemp(prefix="sat-", dir=memory()))
    tempfile.tempdir = None  # so that it is read again
    assert watcher.stdin
    watcher.stdin.write(folder.encode() + b"\n")
    watcher.stdin.flush()
    at_end.enter_context(watcher)
    at_end.callback(finish, folder)


def memory() -> str | None:
    """A folder in memory, where a database need not wait for a disk; None if there is none with space and programs."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return None
    has_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    has_space = min(psutil.disk_usage(MEMORY).free, psutil.virtual_memory().available) > SPACE
    return MEMORY if has_programs and has_space else None


def start_watcher() -> subprocess.Popen[bytes]:
    """A process that removes what is left after this one has ended, which it sees by the end of its input."""
    # In its own session, because Ctrl-C reaches all processes of a terminal's group.
    return subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603 - our own


def finish(folder: str) -> None:
    """End the run; raises `AssertionError` if a process is left that should have ended."""
    for child in psutil.Process().children():
        if any("multiprocessing.resource_tracker" in item for item in child.cmdline()):
            child.kill()  # it ends with this process
    left = end_all(folder)
    assert not left, "\n".join(["these processes outlived their tests:", *left])


def find(folder: str) -> list[psutil.Process]:
    """The other processes of a run: by their environment, or by their arguments if a process has overwritten it."""
    return [process for process in psutil.process_iter() if process.pid != os.getpid() and belongs(process, folder)]


def belongs(process: psutil.Process, folder: str) -> bool:
    """Whether a process was started by the run with this folder."""
    with suppress(psutil.Error, OSError):
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if process.environ().get(RUN, "").startswith(folder):
            return True
    with suppress(psutil.Error, OSError):
        return any(folder in item for item in process.cmdline())
    return False


def end_all(folder: str) -> list[str]:
    """End every process of a run that doesn't end by itself, and remove its folder. Returns those processes' commands."""
    _, left = psutil.wait_procs(find(folder), timeout=TIMEOUT)
    names = []
    for item in left:
        with suppress(psutil.Error):
            names.append(f"{item.pid}: {' '.join(item.cmdline())[:200]}")
            item.kill()
    psutil.wait_procs(left, timeout=TIMEOUT)
    shutil.rmtree(folder, ignore_errors=True)
    return names


def main() -> None:
    """Wait until the run's first process is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder = sys.stdin.readline().removesuffix("\n")
    sys.stdin.read()
    if folder and Path(folder).is_dir():
        end_all(folder)


if __name__ == "__main__":
    main()
