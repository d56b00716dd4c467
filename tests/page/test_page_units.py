"""Unit tests of the page's modules that need no browser, run by Node's test runner."""

import subprocess
from pathlib import Path

import pytest

from support.nodejs import modules, node

FILES = sorted((Path(__file__).parent / "units").glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name.partition(".")[0])
def test_page_units(file):
    modules()
    command = [node(), "--test", "--test-reporter=tap", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert result.returncode == 0, result.stdout + result.stderr
    assert "# pass 0\n" not in result.stdout, "no test ran"
