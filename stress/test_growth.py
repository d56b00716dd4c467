"""Costs grow as the numbers that a user raises, or not at all: by counts that no clock disturbs (docs/scale.md)."""

import json
import subprocess
import sys

import pytest

from support.paths import ROOT

BENCH = ROOT / "bench"
sys.path.append(str(BENCH))

from growth import GROWTHS  # noqa: E402 - from the bench's folder

#: What timers of the server do besides moves an exponent of two doublings by up to 0.03; one that grows moves by 0.3.
TOLERANCE = 0.08


@pytest.mark.parametrize("name", GROWTHS)
def test_cost_grows_no_faster_than_what_is_asked_for(name):
    command = [sys.executable, BENCH / "growth.py", "--counts", name, "--doublings", "2"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout  # noqa: S603
    exponents = json.loads(printed)[name]
    goals = {cost: GROWTHS[name].goal(cost) for cost in exponents}
    assert {
        cost: value
        for cost, value in exponents.items()
        if (goal := goals[cost]) is not None and value > goal + TOLERANCE
    } == {}
    assert "calls" in exponents
