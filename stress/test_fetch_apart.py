"""Fetching with the system's own resolver and sockets, in a network where every address there is would answer."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

APART = ("unshare", "--map-root-user", "--net", "--mount")


def is_possible():
    if not (shutil.which("ip") and shutil.which("unshare")):
        return False
    return not subprocess.run([*APART, "true"], check=False).returncode  # noqa: S603 - a fixed command


@pytest.fixture(scope="module")
def probe_result():
    if not is_possible():
        pytest.skip("network namespaces are not available here")
    script = Path(__file__).parent / "fetch_apart.py"
    done = subprocess.run([*APART, sys.executable, script], check=True, capture_output=True, text=True)  # noqa: S603
    return json.loads(done.stdout)


def test_every_good_url_is_fetched(probe_result):
    assert probe_result["good"]["fetched"] == probe_result["good"]["urls"] > 0


@pytest.mark.parametrize("way", ["bad", "redirected", "rebinding"])
def test_no_connection_goes_inside(probe_result, way):
    assert probe_result[way]["urls"] >= 150
    assert probe_result[way]["inside"] == 0


def test_names_that_change_are_fetched_where_they_were_checked(probe_result):
    assert probe_result["rebinding"]["fetched"] == probe_result["rebinding"]["public"] == 100


def test_without_the_guard_the_same_urls_would_go_inside(probe_result):
    assert probe_result["without the guard"]["inside"] >= 150
