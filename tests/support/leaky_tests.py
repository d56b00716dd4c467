"""Tests that start a database and leave a process behind; only test_run_cleanup.py runs them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.postgres import new_database


@pytest.mark.parametrize("number", [1, 2])
def test_that_holds_a_database_and_a_process(number, tmp_path):
    """Reports that it is running, then waits for the file that ends it."""
    folder = Path(os.environ["LEAKY_TESTS_FOLDER"])
    new_database("postgresql", tmp_path)
    if (folder / "leak").exists():
        # In its own session and without environment, so that only its argument shows which run started it.
        command = [sys.executable, "-c", "import time; time.sleep(600)", str(tmp_path)]
        subprocess.Popen(command, env={}, start_new_session=True)  # noqa: S603 - our own
    (folder / f"started.{number}.{os.getpid()}").touch()
    while not (end := next(folder.glob("end.*"), None)):
        time.sleep(0.05)
    assert end.suffix == ".pass"
