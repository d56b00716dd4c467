"""The faults of tests/test_standin_faults.py with a model of every row, streamed and whole."""

import pytest

from standin.ours import MODELS
from test_standin_faults import OUTCOMES, check_outcome


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("fault", OUTCOMES)
@pytest.mark.parametrize("model", MODELS)
def test_each_fault_has_one_outcome_with_every_model(model, fault, stream):
    check_outcome(model, fault, stream=stream)
