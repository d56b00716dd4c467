"""Unit tests of the page's modules that need no browser, run by Node's test runner."""

import subprocess
from pathlib import Path

import pytest

from support.nodejs import modules, node

UNITS = Path(__file__).parent / "units"
#: It measures all expressions with many texts.
THOROUGH = {UNITS / "regexes.test.mjs"}


def run(files):
    modules()
    command = [node(), "--test-reporter=tap", str(UNITS / "all.mjs"), *map(str, sorted(files))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert result.returncode == 0, result.stdout + result.stderr
    assert "# pass 0\n" not in result.stdout, "no test ran"


def test_page_units():
    run({*UNITS.glob("*.test.mjs")} - THOROUGH)


@pytest.mark.thorough
def test_no_regular_expression_is_slow():
    run(THOROUGH)
