"""Forks: each has a process group of its own, in the session of the server."""

import subprocess
import sys

SHOW = """
import os
from showandtell.media.forks import start_fork
fork = start_fork(lambda: lambda _: b"%d %d" % (os.getsid(0), os.getpgid(0) == os.getpid()))
os.write(fork.requests, b"go\\n")
assert os.read(fork.answers, 99) == b"%d 1" % os.getsid(0)
fork.stop()
"""


def test_a_fork_leads_a_group_in_the_session_of_the_server_where_nice_values_count():
    """With autogroups, Linux compares nice values within a session only."""
    subprocess.run([sys.executable, "-c", SHOW], check=True)  # noqa: S603 - a constant
