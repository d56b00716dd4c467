"""Which modules a Python process imports, as `python -v` lists them."""

import os
import re
import subprocess
import sys

from support.server_process import running

IMPORTED = re.compile(r"^import '?([\w.]+)'? #", re.MULTILINE)


def imported(folder, *arguments):
    """The modules that Python imports for some arguments, such as `-m showandtell`, until it ends."""
    environ = {**os.environ, "SHOWANDTELL_DATA": str(folder / "data")}
    command = (sys.executable, "-v", *arguments)
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return set(IMPORTED.findall(done.stderr))


async def imported_by_server(folder):
    """The modules that the server imports until it is ready."""
    async with running(folder, PYTHONVERBOSE="1") as program:
        return set(IMPORTED.findall(program.errors.read_text()))
