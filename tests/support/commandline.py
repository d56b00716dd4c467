"""The command line in this process: what a program's own would print, at a third of its cost."""

import io
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from showandtell.cli import main as cli
from showandtell.media import linux

PROGRAM = (sys.executable, "-m", "showandtell")
SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Done(NamedTuple):
    """How a command ended: its exit status, and what it said on both ways out."""

    returncode: int
    stdout: str
    stderr: str


class Stream(io.TextIOWrapper):
    """A text stream over bytes, as those of a process are; its text can be had at the end."""

    def __init__(self, text="", *, terminal=False):
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8", newline="\n", write_through=True)
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    def text(self):
        return self.buffer.getvalue().decode()


def call(folder, *arguments, stdin="", environ=None, terminal=False):
    """Run a command in a folder. `terminal`: stderr is one. None among the variables means that one is not set."""
    out, err = Stream(), Stream(terminal=terminal)
    with process(folder, environ or {}), ExitStack() as stack:
        stack.enter_context(patch.object(sys, "argv", ["showandtell", *arguments]))
        stack.enter_context(patch.object(sys, "stdin", Stream(stdin)))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            cli.main()
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return Done(status, out.text(), err.text())


#: Seconds. No program takes this long, and one that hangs fails its test without blocking the others.
LONGEST = 120


def spawn(folder, *arguments, stdin="", environ=None, stdout=subprocess.PIPE, **settings):
    """The same in a process of its own, for what only a process has: signals, limits, its imports, a file as stdin."""
    return subprocess.run(  # noqa: S603 - our own program
        [*(settings.pop("program", None) or PROGRAM), *arguments],
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        **({"input": stdin} if isinstance(stdin, str) else {"stdin": stdin}),
        env={**os.environ, **(environ or {})},
        **{"timeout": LONGEST, **settings},
    )


@contextmanager
def process(folder, environ):
    """A process's own state: folder, variables, modules, ways to the log, and signals; as before in the end."""
    before = Path.cwd(), dict(os.environ), sys.path[:], set(sys.modules)
    handlers, heeded = logging.getLogger("showandtell").handlers, [signal.getsignal(item) for item in SIGNALS]
    os.chdir(folder)
    os.environ.update({name: value for name, value in environ.items() if value is not None})
    for name in [name for name, value in environ.items() if value is None]:
        os.environ.pop(name, None)
    time.tzset()
    try:
        yield
    finally:
        os.chdir(before[0])
        if sys.platform == "linux":
            linux.control_process(linux.PR_SET_DUMPABLE, 1)  # `serve` hides its process
        os.environ.clear()
        os.environ.update(before[1])
        time.tzset()
        sys.path[:] = before[2]
        for name in [name for name, item in sys.modules.items() if name not in before[3] and lies_in(item, folder)]:
            del sys.modules[name]
        logging.getLogger("showandtell").handlers = handlers
        for number, heed in zip(SIGNALS, heeded, strict=True):
            signal.signal(number, heed)


def lies_in(module, folder):
    """Whether a module is one of the test's own."""
    return str(getattr(module, "__file__", None) or "").startswith(str(folder))
