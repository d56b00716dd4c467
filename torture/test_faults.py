"""The faults of tests/test_faults.py in numbers: 1,000 random conversations, and a run cut at every single byte."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripted import MODELS
from test_faults import check_cut, survive, thoughtful

each_api = pytest.mark.parametrize("model", MODELS)


@each_api
@settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), most=st.integers(1, 4))
def test_after_200_random_conversations_of_each_api_the_history_is_valid(model, data, most):
    survive(data, model, most)


@each_api
def test_a_run_that_is_cut_at_any_byte_runs_whole_messages_alone(model):
    whole = b"".join(thoughtful(model))
    for at in range(len(whole) + 1):
        check_cut(model, whole[:at])
