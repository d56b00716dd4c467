"""Tools: the schema that a model reads off a function, and the arguments that the function gets."""

import functools
import json
import threading
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from showandtell import BadInput, File, RunContext, Tool, tool
from showandtell.agent.context import Files
from showandtell.agent.tools import DEFAULT_TIMEOUT, as_tool, by_name
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.builders import user_history
from support.fixtures import png

RED, BLUE = png(8, 8), png(4, 4, (0, 0, 200))


CONVERSATION = MemoryConversation()
CONVERSATION.ingest_now(user_history(File.from_bytes(RED, name="red.png"), File.from_bytes(BLUE, name="blue.png")))


def context():
    files = Files(CONVERSATION.attachments, CONVERSATION.file)
    return RunContext("me", CONVERSATION.id, "call_1", files, print, threading.Event())


def schema(function):
    return json.loads(as_tool(function).spec.parameters)


def bind(function, **arguments):
    return as_tool(function).bind(arguments, context())


def test_a_function_says_its_name_its_words_and_its_parameters():
    def search(query: str, limit: int = 5) -> list[str]:
        """Search the archive."""
        return [query] * limit

    spec = as_tool(search).spec
    assert (spec.name, spec.description) == ("search", "Search the archive.")
    assert json.loads(spec.parameters) == {
        "type": "object",
        "properties": {
            "query": {"title": "Query", "type": "string"},
            "limit": {"title": "Limit", "type": "integer", "default": 5},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_a_tool_without_parameters_is_an_empty_object():
    def now():
        """The time."""

    assert schema(now) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_annotations_may_describe_and_bound_a_parameter():
    def shade(level: Annotated[int, Field(description="0 is dark", ge=0, le=9)], way: Literal["in", "out"] = "in"):
        pass

    found = schema(shade)["properties"]
    assert found["level"] == {
        "title": "Level",
        "type": "integer",
        "description": "0 is dark",
        "minimum": 0,
        "maximum": 9,
    }
    assert found["way"]["enum"] == ["in", "out"]


def test_a_field_as_default_describes_its_parameter():
    def shade(level: int = Field(3, description="0 is dark")):
        return level

    assert schema(shade)["properties"]["level"] == {
        "title": "Level",
        "type": "integer",
        "description": "0 is dark",
        "default": 3,
    }
    assert bind(shade) == {"level": 3}


def test_a_model_as_parameter_arrives_as_that_model():
    class Box(BaseModel):
        left: int
        top: int

    def cut(box: Box):
        pass

    assert bind(cut, box={"left": 1, "top": 2}) == {"box": Box(left=1, top=2)}


def test_a_default_is_the_functions_own():
    def search(query: str, limit: int = 5):
        pass

    assert bind(search, query="x") == {"query": "x"}


def test_a_model_never_sees_nor_fills_the_context():
    def whose(context: RunContext, detail: str = ""):
        pass

    assert list(schema(whose)["properties"]) == ["detail"]
    assert as_tool(whose).injected.parameters == {"context": None}
    with pytest.raises(ValueError, match="context"):
        bind(whose, context={"owner": "somebody else"})


@pytest.mark.parametrize("hint", [RunContext | None, RunContext[int], Annotated[RunContext[int], "whose call it is"]])
def test_the_context_is_found_within_other_annotations(hint):
    def whose(context: hint = None):  # pyright: ignore[reportInvalidTypeForm] - a parameter of the test
        pass

    assert schema(whose)["properties"] == {}
    assert as_tool(whose).injected.parameters == {"context": None}


def test_a_file_is_a_number_to_the_model_and_a_file_to_the_tool():
    def crop(image: File):
        pass

    asked = schema(crop)["properties"]["image"]
    assert (asked["type"], asked["minimum"]) == ("integer", 1)
    assert "number of a file" in asked["description"]
    found = bind(crop, image=2)["image"]
    assert (found.read(), found.name, found.media_type, found.number) == (BLUE, "blue.png", "image/png", 2)


def test_files_come_in_lists_and_may_be_left_out():
    def compare(images: list[File], mask: File | None = None):
        pass

    assert [image.read() for image in bind(compare, images=[2, 1])["images"]] == [BLUE, RED]
    assert bind(compare, images=[], mask=None)["mask"] is None
    assert bind(compare, images=[], mask=1)["mask"].read() == RED


def test_a_number_that_no_file_has_lists_the_files_there_are():
    def crop(image: File):
        pass

    with pytest.raises(ValueError, match="has no file 7; it has: image 1, image 2"):
        bind(crop, image=7)


def test_unknown_arguments_are_refused():
    def search(query: str):
        pass

    with pytest.raises(ValueError, match="colour"):
        bind(search, query="x", colour="red")


@pytest.mark.parametrize("name", ["schema", "json", "copy", "model_config", "_hidden", "self"])
def test_a_parameter_may_have_any_name(name):
    namespace = {}
    exec(f"def get({name}: str): return {name}", namespace)  # noqa: S102 - the only way to write such functions in a row
    assert list(schema(namespace["get"])["properties"]) == [name]
    assert bind(namespace["get"], **{name: "x"}) == {name: "x"}


def test_parameters_without_annotation_take_anything():
    def show(what, often=1):
        pass

    assert bind(show, what={"a": [1]}, often="2") == {"what": {"a": [1]}, "often": "2"}


def test_a_schema_written_by_hand_is_sent_as_it_is():
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    own = Tool("read", "Read it.", parameters, run=lambda **given: given)
    assert json.loads(own.spec.parameters) == parameters
    assert own.bind({"path": "a"}, context()) == {"path": "a"}


def test_the_decorator_takes_settings():
    @tool(approval=True, idempotent=True, timeout=3.5, isolate=True, name="erase", description="Erase it.")
    def remove(path: str) -> str:
        return f"removed {path}"

    assert (remove.approval, remove.idempotent, remove.timeout, remove.isolate) == (True, True, 3.5, True)
    assert (remove.name, remove.spec.name, remove.spec.description) == ("erase", "erase", "Erase it.")
    assert remove("a") == "removed a"


def test_the_bare_decorator_leaves_the_settings_alone():
    @tool
    def get() -> None:
        """Get it."""

    assert (get.name, get.description, get.approval, get.timeout) == ("get", "Get it.", False, DEFAULT_TIMEOUT)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(BadInput, match="two tools are called 'get'"):
        by_name([Tool("get", ""), Tool("get", "")])


def star(*values: int):
    pass


def double_star(**values: int):
    pass


def by_place(value: int, /):
    pass


@pytest.mark.parametrize("function", [star, double_star, by_place])
def test_parameters_without_a_name_are_refused(function):
    with pytest.raises(BadInput, match="named parameters"):
        as_tool(function).spec  # noqa: B018 - it is computed when it is asked for


@pytest.mark.parametrize(
    "value", [lambda x: x, functools.partial(lambda x: x, 1), object()], ids=["lambda", "partial", "object"]
)
def test_what_has_no_name_is_refused_with_the_way_out(value):
    with pytest.raises(BadInput, match=r"Tool\(name="):
        as_tool(value)


def test_an_annotation_that_cannot_be_read_is_reported_by_the_tools_name():
    def get(path: "Nowhere"):  # pyright: ignore[reportUndefinedVariable]  # noqa: F821 - that is the point
        pass

    with pytest.raises(BadInput, match=r"'get'.*Nowhere"):
        as_tool(get).spec  # noqa: B018


def test_a_return_type_that_is_known_to_checkers_alone_does_no_harm():
    def get(path: str) -> "Nowhere":  # pyright: ignore[reportUndefinedVariable]  # noqa: F821
        pass

    assert list(schema(get)["properties"]) == ["path"]


def test_a_method_keeps_its_object_to_itself():
    class Store:
        def get(self, key: str) -> str:
            """Get it."""
            return key * 2

    assert list(schema(Store().get)["properties"]) == ["key"]
    assert as_tool(Store().get)(key="a") == "aa"


def test_a_partial_and_a_callable_object_may_get_a_name():
    class Adder:
        def __call__(self, first: int, second: int = 0) -> int:
            return first + second

    tools = [Tool("add", "", run=Adder()), Tool("three", "", run=functools.partial(Adder(), second=3))]
    declared = [list(json.loads(item.spec.parameters)["properties"]) for item in tools]
    assert declared == [["first", "second"], ["first"]]
    assert [item(**item.bind({"first": 1}, context())) for item in tools] == [1, 4]


def with_context(context: RunContext):
    pass


@pytest.mark.parametrize(
    ("function", "problem"), [(with_context, "takes a RunContext"), (lambda: 1, "top of a module")]
)
def test_an_isolated_tool_must_be_able_to_leave_the_process(function, problem):
    with pytest.raises(BadInput, match=f"'get' .*{problem}"):
        by_name([Tool("get", "", run=function, isolate=True)])
