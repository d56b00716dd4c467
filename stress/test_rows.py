"""The faults of tests/agent/test_provider_faults.py with a model of every row, streamed and whole."""

import pytest

from fake_provider.agents import MODELS
from support.fault_outcomes import OUTCOMES, check_outcome


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("fault", OUTCOMES)
@pytest.mark.parametrize("model", MODELS)
def test_each_fault_has_one_outcome_with_every_model(model, fault, stream):
    check_outcome(model, fault, stream=stream)
