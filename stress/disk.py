"""A disk that kills, fails or stops a program at any of its calls: what is preloaded into it, and programs to hurt."""

import ctypes
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
#: What happens at the call that was chosen; the same as in disk.c.
COUNT, KILL, TEAR, ERROR, ERRORS, STOP, UNSYNCED = range(7)


@functools.cache
def compiled():
    """The library to preload."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("a C compiler on Linux is needed to hurt the disk")
    library = Path(tempfile.mkdtemp(prefix="showandtell-disk-")) / "disk.so"
    command = [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, HERE / "disk.c", "-ldl"]
    subprocess.run(command, check=True)  # noqa: S603
    return library


def surroundings():
    """The environment of a program on such a disk; Python's own caches aren't written, for they aren't what is counted."""
    return {**os.environ, "LD_PRELOAD": str(compiled()), "PYTHONDONTWRITEBYTECODE": "1"}


def arm(mode, place=0, error=0):
    """From now on, in this process."""
    ctypes.CDLL(None).disk_arm(mode, place, error)


def disarm():
    """The disk is as it should be again; gives how many calls there were."""
    return ctypes.CDLL(None).disk_disarm()


class Victims:
    """Programs that play one scenario each on such a disk; use it as a context."""

    def __enter__(self):
        self._server = subprocess.Popen(  # noqa: S603
            [sys.executable, HERE / "victim.py"], env=surroundings(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self

    def __exit__(self, *_):
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def play(self, scenario, folder, mode=COUNT, place=0, error=0):
        """What a program told until it ended or was killed, as a list of objects with a `what`."""
        folder.mkdir(parents=True, exist_ok=True)
        asked = {"scene": scenario, "folder": str(folder), "mode": mode, "place": place, "error": error}
        self._server.stdin.write(json.dumps(asked).encode() + b"\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())
