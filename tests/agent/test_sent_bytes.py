"""What a request with files costs, by counts: bytes read, hashed and written, and how often a thread is waited for."""

import subprocess
import sys

from support.paths import ROOT, TESTS


def test_files_are_read_and_hashed_no_more_often_than_they_must():
    tests = TESTS / "support" / "sent_bytes.py"
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:inline_snapshot", str(tests)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert run.returncode == 0, run.stdout + run.stderr
