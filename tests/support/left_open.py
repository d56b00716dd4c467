"""Tests that start what tests start, and hold it open; run by test_leftovers.py, and by nothing else."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.postgres import new_database


@pytest.mark.parametrize("number", [1, 2])
def test_that_holds_a_database_and_a_process(number, tmp_path):
    """Reports that it is running, then does what the test asks."""
    received = Path(os.environ["LEFT_OPEN"])
    new_database("postgresql", tmp_path)
    if (received / "forget").exists():
        # A session of its own, and no environment of ours: only its argument says where it comes from.
        forgotten = [sys.executable, "-c", "import time; time.sleep(600)", str(tmp_path)]
        subprocess.Popen(forgotten, env={}, start_new_session=True)  # noqa: S603 - our own
    (received / f"begun.{number}.{os.getpid()}").touch()
    while not (end := next(received.glob("end.*"), None)):
        time.sleep(0.05)
    assert end.suffix == ".green"
