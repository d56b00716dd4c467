"""Processor time of processes with their children, and peers that run in environments of their own."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil

HERE = Path(__file__).parent
UV = HERE.parent / ".uv/bin/uv"


def processor_seconds(process: int) -> float:
    """The CPU seconds of another process with all its threads, also ended ones, to the nanosecond (Linux).

    The clock's number is what `clock_getcpuclockid` gives.
    """
    return time.clock_gettime((~process << 3) | 2)


def tree_seconds(process: int) -> float:
    """The CPU seconds of a process and of its children, without children that have ended.

    Those of its children that have ended count, to 10 ms: a decoder forks a process for each file.
    """
    total = processor_seconds(process)
    for child in psutil.Process(process).children(recursive=True):
        with contextlib.suppress(ProcessLookupError, OSError, psutil.NoSuchProcess):  # it has just ended
            ended = child.cpu_times()
            total += processor_seconds(child.pid) + ended.children_user + ended.children_system
    return total


def spent() -> float:
    """The CPU seconds of this process and of its children, with those that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return tree_seconds(os.getpid()) + ended.ru_utime + ended.ru_stime


def cost(work: Callable[[], object]) -> float:
    """The CPU milliseconds of some work, in this process and in its children."""
    start = spent()
    work()
    return (spent() - start) * 1000


def install(name: str, *packages: str) -> Path:
    """The Python of an environment below bench/.envs with these packages, made where it isn't there yet."""
    env = HERE / ".envs" / name
    ready = env / ".ready"
    if not ready.exists() or ready.read_text() != str(packages):
        subprocess.run([UV, "venv", "-q", "--clear", "--python", sys.executable, env], check=True)
        subprocess.run([UV, "pip", "install", "-q", "--python", env / "bin/python", *packages], check=True)
        ready.write_text(str(packages))
    return env / "bin/python"


class Peer:
    """A script of bench/peers that does its job once for each line it gets, and answers with the cost."""

    def __init__(self, process: subprocess.Popen[str], requests: IO[str], answers: IO[str]) -> None:
        self._process, self._requests, self._answers = process, requests, answers
        self.version: str = self._answer()["version"]

    def __call__(self) -> float:
        """The CPU milliseconds of one more round."""
        self._requests.write("\n")
        self._requests.flush()
        return self._answer()["ms"]

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait()}")
        return json.loads(line)


@contextmanager
def peer(python: Path, script: str, *arguments: str) -> Iterator[Peer]:
    """A running peer, ended with the block."""
    command = [python, HERE / "peers" / f"{script}.py", *arguments]
    environ = os.environ | {"PYTHONPATH": str(HERE)}
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Peer(process, process.stdin, process.stdout)
        finally:
            process.terminate()
