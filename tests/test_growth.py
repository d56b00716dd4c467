"""What a turn and a call cost doesn't grow with turns and tools: by counts that no clock disturbs (docs/scale.md).

`stress/test_growth.py` does the same for all numbers that a user raises.
"""

import json
import subprocess
import sys

import pytest

from support.paths import ROOT

BENCH = ROOT / "bench"
sys.path.append(str(BENCH))

from growth import FLAT, OWN  # noqa: E402 - from the bench's folder

#: What timers of the server do besides moves an exponent of one doubling by up to 0.05; one that grows moves by 0.3.
TOLERANCE = 0.1


@pytest.mark.thorough
def test_turns_and_tools_cost_no_more_when_there_are_twice_as_many():
    command = [sys.executable, BENCH / "growth.py", "--counts", "turns", "tools", "--doublings", "1"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout  # noqa: S603
    exponents = json.loads(printed)
    assert all("calls" in costs for costs in exponents.values())
    for name, costs in exponents.items():
        assert {cost: value for cost, value in costs.items() if cost in OWN and value > FLAT + TOLERANCE} == {}, name
