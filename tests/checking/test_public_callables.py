"""Wrong arguments of everything that a program can call: `BadInput` that names the argument, and nothing else happens."""

import asyncio
import inspect
import math
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import (
    Agent,
    BadInput,
    ShowAndTellError,
    explain,
    from_ag_ui,
    from_anthropic,
    from_gemini,
    from_openai,
    from_ui_messages,
    load,
    render,
    render_results,
    resolve,
    tool,
)
from showandtell.checking.rule_kinds import Integer, Number, OneRule
from support.public_callables import parameters

pytestmark = pytest.mark.smoke


class Stranger:
    """A value that no parameter is for."""


#: Parameters that take any value: a program's own values, those that are read by a function of their own, and two whose
#: classes are slow to import.
FREE = {
    "body",
    "client",
    "contents",
    "deps",
    "dialer",
    "guard",
    "messages",
    "metadata",
    "output_type",
    "preview",
    "request",
    "text",
}
ANYTHING = st.recursive(
    st.sampled_from(
        [None, True, 0, -1, 10**30, math.nan, -math.inf, "", "x", b"x", Stranger, Stranger(), len, object()]
    ),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "type", "role"]), inner, max_size=2)
    ),
    max_leaves=3,
)
FUNCTIONS = [from_ag_ui, from_anthropic, from_gemini, from_openai, from_ui_messages, load, resolve, tool]
#: The parameters of a run.
RUN = ["text", "files", "conversation", "approvals", "output_type", "model", "tools", "instructions", "limits"]
VALID = {
    render: {"messages": [], "model": "inspector"},
    explain: {"messages": [], "model": "inspector"},
    render_results: {"results": {"call_1": "done"}, "model": "inspector"},
    Agent: {"model": "inspector"},
}


def refusal(parameter, value):
    """The text of the error for a value."""
    with pytest.raises(BadInput) as caught:
        parameter.give(value)
    return str(caught.value)


def test_every_parameter_refuses_what_it_is_not_for_and_says_what_to_give():
    unchecked = {parameter.name for parameter in parameters() if parameter.rule is None}
    assert unchecked <= FREE, "annotate them, or check them in the function and add them to FREE"
    checked = [parameter for parameter in parameters() if parameter.rule is not None]
    texts = {parameter: refusal(parameter, Stranger()) for parameter in checked}
    start = {str(each): text for each, text in texts.items() if not text.startswith(f"{each.name} is a")}
    assert (start, len(checked) > 800) == ({}, True)


def is_number(rule):
    kinds = [type(each) for each in (rule.rules if isinstance(rule, OneRule) else [getattr(rule, "inner", rule)])]
    return set(kinds) <= {Integer, Number}


def test_no_number_is_true_or_not_a_number():
    numbers = [each for each in parameters() if each.rule is not None and is_number(each.rule)]
    for parameter in numbers:
        assert refusal(parameter, True).startswith(f"{parameter.name} is True: give a")
        assert refusal(parameter, math.nan).startswith(f"{parameter.name} is nan: give a")
    assert len(numbers) > 100


@given(st.sampled_from([each for each in parameters() if each.is_field]), ANYTHING)
def test_a_value_is_made_of_right_fields_or_not_at_all(parameter, value):
    try:
        parameter.give(value)
    except ShowAndTellError:
        assert parameter.rule is not None


@given(st.data(), st.sampled_from([*VALID, *FUNCTIONS]), ANYTHING)
def test_functions_raise_our_errors_alone_whatever_they_are_given(data, function, value):
    names = [name for name, each in inspect.signature(function).parameters.items() if each.kind is not each.VAR_KEYWORD]
    arguments = VALID.get(function, {}) | {data.draw(st.sampled_from(names)): value}
    with suppress(ShowAndTellError):
        called = function(value) if function in FUNCTIONS else function(**arguments)
        _ = asyncio.run(called) if inspect.iscoroutine(called) else called


@given(st.sampled_from(RUN), ANYTHING)
def test_a_run_is_made_of_right_arguments_or_not_at_all(name, value):
    with suppress(ShowAndTellError):
        asyncio.run(Agent("inspector").run(**cast("Any", {"text": "hi", name: value})).cancel())
