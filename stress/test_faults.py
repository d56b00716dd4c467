"""The faults of tests/agent/test_faults.py in numbers: 1,000 random conversations, cuts at every byte, answers of 20 MB."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.faulty_runs import check_cut, play_long, survive, thoughtful
from support.scripted import MODELS

each_api = pytest.mark.parametrize("model", MODELS)


@each_api
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(data=st.data(), max_steps=st.integers(1, 4))
def test_after_200_random_conversations_of_each_api_the_history_is_valid(model, data, max_steps):
    survive(data, model, max_steps)


@each_api
def test_a_run_that_is_cut_at_any_byte_runs_whole_messages_alone(model):
    whole = b"".join(thoughtful(model))
    for at in range(len(whole) + 1):
        check_cut(model, whole[:at])


def cost(model, count):
    """CPU seconds of an answer in `count` pieces of 1,000 characters: the minimum of three."""
    tries = []
    for _ in range(3):
        begun = time.process_time()
        assert play_long(model, count, 1000)[0].status == "complete"
        tries.append(time.process_time() - begun)
    return min(tries)


@each_api
def test_an_answer_of_twice_the_length_costs_twice_the_time(model):
    cost(model, 100)
    assert cost(model, 20_000) <= 3 * cost(model, 10_000)
