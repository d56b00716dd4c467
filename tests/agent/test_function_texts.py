"""Descriptions and schemas of functions are derived once, belong to one function each, and go with it."""

import gc
import json
import sys
import weakref
from functools import partial

from showandtell import Draft, Text, render, tool
from showandtell.agent.function_texts import FunctionTexts
from showandtell.agent.tools import as_tool

QUESTION = [Draft("user", (Text("How is the weather?"),))]


def many_tools(count):
    """Functions, each with a name of its own."""
    scope = {}
    for number in range(count):
        exec(f'def tool_{number}(city: str, days: int = {number}): "Tell the weather."', scope)  # noqa: S102 - ours
    return [value for name, value in scope.items() if name.startswith("tool_")]


def rendered(*tools):
    """The tools of a request, by name."""
    body = render(QUESTION, model="anthropic:claude-sonnet-5", max_tokens=100, tools=tools).json()
    return {item["name"]: item for item in json.loads(json.dumps(body))["tools"]}


def fields(value):
    return [*json.loads(as_tool(value).spec.parameters)["properties"]]


def count_calls(work):
    """How many Python functions some work calls."""
    calls = 0

    def count(_, event, __):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_a_second_request_with_the_same_functions_derives_nothing_again():
    tools = many_tools(50)
    first, again = count_calls(lambda: rendered(*tools)), count_calls(lambda: rendered(*tools))
    assert (first > 50_000, again < 5_000) == (True, True), (first, again)


def test_each_partial_of_a_function_has_its_own_parameters():
    def send(text: str, to: str, urgent: bool = False) -> None:
        """Send a message."""

    to_anna, at_once = partial(send, to="Anna"), partial(send, urgent=True)
    for _ in range(2):
        assert [fields(value) for value in (send, to_anna, at_once)] == [
            ["text", "to", "urgent"],
            ["text", "urgent"],
            ["text", "to"],
        ]


class Greeter:
    def __init__(self, name):
        self.name = name

    def greet(self, whom: str) -> str:
        """Greet somebody."""
        return f"{self.name} greets {whom}"


def test_methods_of_two_objects_share_a_text_and_run_on_their_own_object():
    anna, ben = as_tool(Greeter("Anna").greet), as_tool(Greeter("Ben").greet)
    assert anna.spec == ben.spec
    assert (anna(whom="Cleo"), ben(whom="Cleo")) == ("Anna greets Cleo", "Ben greets Cleo")
    assert fields(Greeter.greet) == ["self", "whom"]
    assert fields(Greeter("Anna").greet) == ["whom"]


def test_an_inherited_docstring_is_that_of_the_own_class():
    class Polite(Greeter):
        def greet(self, whom: str) -> str:
            return f"Dear {whom}"

    class Other(Polite):
        pass

    assert as_tool(Polite("Anna").greet).description == "Greet somebody."
    assert as_tool(Other("Anna").greet).description == "Greet somebody."


def test_options_of_a_tool_are_its_own():
    def forecast(city: str) -> str:
        """Tell the weather."""
        return city

    short = tool(name="short", description="In one word.")(forecast)
    slow = tool(timeout=9, approval=True)(forecast)
    tools = rendered(short, slow)
    assert [tools[name]["description"] for name in ("short", "forecast")] == ["In one word.", "Tell the weather."]
    assert (short.timeout, slow.timeout, as_tool(forecast).approval) == (120, 9, False)


def test_the_text_of_a_function_goes_with_it():
    (function,) = many_tools(1)
    rendered(function)
    reference = weakref.ref(function)
    del function
    gc.collect()
    assert reference() is None


def test_the_function_that_was_known_first_gives_way_when_all_places_are_taken():
    texts, derived, functions = FunctionTexts(max_size=2), [], many_tools(3)
    for function in (*functions, functions[2], functions[0]):
        texts.get(function, lambda function=function: derived.append(function.__name__) or function.__name__)
    assert derived == ["tool_0", "tool_1", "tool_2", "tool_0"]
