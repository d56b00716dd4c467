"""Unit tests of the page's modules that need no browser, run by Node's test runner."""

import subprocess
from pathlib import Path

import pytest

from support.nodejs import modules, node

FILES = sorted((Path(__file__).parent / "units").glob("*.test.mjs"))
#: It measures all expressions with many texts.
THOROUGH = "regexes.test.mjs"
PARAMS = [
    pytest.param(file, marks=pytest.mark.thorough if file.name == THOROUGH else (), id=file.name.partition(".")[0])
    for file in FILES
]


@pytest.mark.parametrize("file", PARAMS)
def test_page_units(file):
    modules()
    command = [node(), "--test", "--test-reporter=tap", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert result.returncode == 0, result.stdout + result.stderr
    assert "# pass 0\n" not in result.stdout, "no test ran"
