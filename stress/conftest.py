"""Modules beside these tests can be imported by them, and a test may take longer than those of `make test`."""

import faulthandler
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _longer_than_other_tests():
    """Their own `timeout` ends these tests, not the one that pyproject.toml sets for all."""
    faulthandler.cancel_dump_traceback_later()
