"""What the page computes without a browser: tables, zoom, receipts, the matrix, uploads; by Node's own test runner."""

import subprocess
from pathlib import Path

import pytest

from support.nodejs import modules, node

CASES = sorted((Path(__file__).parent / "words").glob("*.test.mjs"))


@pytest.mark.parametrize("cases", CASES, ids=lambda path: path.name.partition(".")[0])
def test_the_page_reckons_right(cases):
    modules()
    command = [node(), "--test", "--test-reporter=tap", str(cases)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# pass 0\n" not in ran.stdout, "no case ran"
