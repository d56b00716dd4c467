"""Typed output: what `run.output` is, how a model is asked for it on each api, and what happens if it doesn't fit."""

import asyncio
import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NotRequired

import pytest
from pydantic import BaseModel, Field, TypeAdapter, model_validator
from typing_extensions import TypedDict

from showandtell import Agent, BadInput, File, ModelSettings, RunLimits, Text, Tool, ToolResult, Toolset, load, tool
from showandtell.agent.output import MAX_WORDS
from showandtell.cli.transcript import transcript
from showandtell.core.messages.conversation_file import FileRecord, dump
from showandtell.errors import NoOutput
from showandtell.events import Finish, OutputDelta
from support.scripted import (
    CLAUDE,
    CONVERSE,
    GEMINI,
    MODELS,
    RESPONSES,
    STOPS,
    check_usable,
    frames,
    say,
    scripted,
    watch,
)

#: Models that take no schema, one for each api: they answer by a tool.
BY_TOOL = (
    "anthropic:claude-3-haiku-20240307",
    "openai-chat:gpt-4",
    "openai:gpt-3.5-turbo",
    "google:gemini-2.0-flash",
    "bedrock:us.amazon.nova-2-lite-v1:0",
)
APIS = dict(zip(BY_TOOL, MODELS, strict=True))


class City(BaseModel):
    """A city."""

    name: str
    size: int = Field(ge=1, description="people")


class Tree(BaseModel):
    leaf: str = ""
    branches: list["Tree"] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Visit(TypedDict):
    place: str
    note: NotRequired[str]


OSLO = '{"name": "Oslo", "size": 700000}'
SMALL = '{"name": "Oslo", "size": 0}'


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"It rains in {city}."


def photo() -> ToolResult:
    """Show a photo."""
    return ToolResult("Here.", File.from_bytes(b"a,b\n1,2", "text/csv", "table.csv"))


def ask(*answers, model=CLAUDE, text="hi", **settings):
    """A run over a script of answers, and the script. An answer is a text, or calls as tuples."""
    wire = APIS.get(model, model)  # pyright: ignore[reportCallIssue] - other models are their own api
    responses = [
        say(answer, model=wire) if isinstance(answer, str) else say("", *answer, model=wire) for answer in answers
    ]
    agent, script = scripted(*responses, model=model, **settings)
    conversation = agent.conversation()
    run = agent.run_sync(text, conversation=conversation)
    check_usable(conversation)
    return run, script


def final(arguments, call_id="c9"):
    return (call_id, "final_answer", arguments)


@pytest.mark.parametrize("model", MODELS[:4])
def test_the_native_form_sends_the_schema_and_gives_the_validated_object(model):
    run, script = ask(OSLO, model=model, output_type=City)
    assert run.output == City(name="Oslo", size=700000)
    assert (run.status, run.reason) == ("complete", None)
    assert script.asked[0].answer_schema["required"] == ["name", "size"]
    assert script.asked[0].tools == ()


@pytest.mark.parametrize("model", [*BY_TOOL, CONVERSE])
def test_other_models_answer_by_a_tool_that_they_have_to_call_if_there_is_no_other(model):
    run, script = ask([final(OSLO)], model=model, output_type=City)
    assert run.output == City(name="Oslo", size=700000)
    assert script.asked[0].answer_schema is None
    assert [offered.name for offered in script.asked[0].tools] == ["final_answer"]
    assert script.asked[0].tool_choice == "final_answer"
    assert [message.role for message in run.messages] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("model", BY_TOOL)
def test_tools_still_work_before_the_answer_by_a_tool(model):
    calls = [("c1", "weather", '{"city": "Oslo"}')]
    run, script = ask(calls, [final(OSLO)], model=model, tools=[weather], output_type=City)
    assert run.output.name == "Oslo"
    assert [asked.tool_choice for asked in script.asked] == ["auto", "auto"]
    assert "It rains in Oslo." in [message.text for message in run.messages]


@pytest.mark.parametrize("model", BY_TOOL)
def test_a_call_beside_the_answer_is_run_and_the_answer_counts(model):
    run, script = ask(
        [final(OSLO), ("c1", "weather", '{"city": "Rome"}')], model=model, tools=[weather], output_type=City
    )
    assert (run.output.name, len(script.asked)) == ("Oslo", 1)
    assert {message.text for message in run.messages if message.role == "tool"} == {
        "The answer was accepted.",
        "It rains in Rome.",
    }


@pytest.mark.parametrize("model", MODELS[:4])
def test_an_invalid_answer_is_asked_for_again_with_the_words_of_the_validator(model):
    run, script = ask(SMALL, OSLO, model=model, output_type=City)
    assert run.output.size == 700000
    correction = run.messages[2].parts[0]
    assert correction.text == "size: Input should be greater than or equal to 1"
    assert f"⟦this answer was not accepted: {correction.text}. Answer again⟧" in json.dumps(
        script.bodies[1], ensure_ascii=False
    )


@pytest.mark.parametrize("model", BY_TOOL)
def test_an_invalid_call_gets_the_words_of_the_validator_as_its_result(model):
    run, _ = ask([final(SMALL, "c1")], [final(OSLO, "c2")], model=model, output_type=City)
    assert run.output.size == 700000
    wrong = run.messages[2]
    assert (wrong.is_error, wrong.text) == (
        True,
        "the answer is not valid: size: Input should be greater than or equal to 1",
    )


@pytest.mark.parametrize("model", BY_TOOL)
def test_a_model_that_answers_in_words_is_asked_again_and_then_has_to_call_the_tool(model):
    run, script = ask("Oslo is large.", [final(OSLO)], model=model, tools=[weather], output_type=City)
    assert run.output.name == "Oslo"
    assert [asked.tool_choice for asked in script.asked] == ["auto", "final_answer"]
    assert run.messages[2].parts[0].text.startswith("call final_answer to give it; the answer is not valid JSON")


@pytest.mark.parametrize(("model", "answer"), [(CLAUDE, SMALL), (BY_TOOL[0], [final(SMALL, "same")])])
def test_an_output_that_never_validates_ends_the_run_with_a_reason_and_output_says_why(model, answer):
    run, script = ask(answer, model=model, output_type=City, limits=RunLimits(output_retries=1))
    assert (run.status, run.reason, len(script.asked)) == ("incomplete", "output", 2)
    with pytest.raises(NoOutput, match=r"incomplete \(output\): size: Input should be greater than or equal to 1"):
        _ = run.output


def test_without_retries_or_steps_the_first_invalid_answer_ends_the_run():
    for limits in (RunLimits(output_retries=0), RunLimits(steps=1), RunLimits(tokens=1)):
        run, script = ask(SMALL, model=CLAUDE, output_type=City, limits=limits)
        assert (run.status, run.reason, len(script.asked)) == ("incomplete", "output", 1)
    with pytest.raises(BadInput, match="output_retries"):
        Agent("inspector", output_type=City, limits=RunLimits(output_retries=-1))


@pytest.mark.parametrize("model", [CLAUDE, *BY_TOOL])
@pytest.mark.parametrize(("stop", "end"), [("length", ("incomplete", "length")), ("filtered", ("refused", "refusal"))])
def test_a_cut_answer_and_a_refusal_are_no_validation_failures(model, stop, end):
    wire = APIS.get(model, model)
    agent, script = scripted(
        say('{"name": "Os', model=wire, stop=getattr(STOPS[wire], stop)), model=model, output_type=City
    )
    run = agent.run_sync("hi")
    assert ((run.status, run.reason), len(script.asked)) == (end, 1)
    with pytest.raises(NoOutput, match=end[1]):
        _ = run.output


def test_the_answer_by_a_tool_in_the_last_step_counts_whatever_is_left():
    calls = [("c1", "weather", '{"city": "Oslo"}')]
    limits = RunLimits(steps=2, tokens=30)
    run, script = ask(calls, [final(OSLO)], model=BY_TOOL[0], tools=[weather], output_type=City, limits=limits)
    assert (run.output.name, script.asked[-1].tool_choice) == ("Oslo", "final_answer")


@pytest.mark.parametrize(
    ("output_type", "answer", "output"),
    [
        (Point, '{"x": 1}', Point(1)),
        (Visit, '{"place": "Rome"}', {"place": "Rome"}),
        (list[Point], '{"value": [{"x": 1}]}', [Point(1)]),
        (City | Point, '{"value": {"x": 2}}', Point(2)),
        (int, '{"value": 3}', 3),
        (Literal["yes", "no"], '{"value": "no"}', "no"),
        (Point | None, '{"value": null}', None),
        (Tree, '{"branches": [{"leaf": "a"}]}', Tree(branches=[Tree(leaf="a")])),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": "not checked"}', {"a": "not checked"}),
        ({"type": "array", "items": {"type": "string"}}, '{"value": ["a"]}', ["a"]),
    ],
)
@pytest.mark.parametrize("model", [CLAUDE, RESPONSES, GEMINI, BY_TOOL[0]])
def test_the_output_is_of_any_type_that_has_a_json_schema(model, output_type, answer, output):
    agent, _ = scripted(model=model, output_type=output_type)
    wire = APIS.get(model, model)
    given = say("", final(answer), model=wire) if agent.settings.form.tool else say(answer, model=wire)
    run = scripted(given, model=model, output_type=output_type)[0].run_sync("hi")
    assert run.output == output


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{OSLO}\n```",
        f"Here you are:\n```\n{OSLO}\n```\nAnything else?",
        f"The answer is {OSLO}. Anything else?",
        f"\n  {OSLO}\n",
    ],
)
def test_text_around_the_json_does_not_matter(text):
    assert ask(text, output_type=City)[0].output == City(name="Oslo", size=700000)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "not valid JSON"),
        ('{"leaf": ' * 5000 + "1", "not valid JSON"),
        ('{"branches": [' * 150 + "{}" + "]}" * 150, ""),
        ('{"leaf": NaN}', "not valid JSON"),
        ("3", "must be a JSON object"),
        ("{" * 50_000 + "}" * 50_000, "not valid JSON"),
    ],
)
def test_deep_and_broken_answers_reach_the_model_in_few_words(text, problem):
    run, _ = ask(text, '{"leaf": "a"}', output_type=Tree)
    assert run.status == "complete"
    words = "".join(part.text for message in run.messages[2:3] for part in message.parts)
    assert problem in words
    assert len(words) <= MAX_WORDS


def test_many_wrong_values_are_listed_in_few_words():
    run, _ = ask(json.dumps({"value": ["x" * 50] * 1000}), '{"value": []}', output_type=list[int])
    words = run.messages[2].parts[0].text
    assert "and 992 more" in words
    assert len(words) <= MAX_WORDS


def test_a_validator_of_the_program_speaks_to_the_model():
    class Even(BaseModel):
        number: int

        @model_validator(mode="after")
        def is_even(self):
            if self.number % 2:
                raise ValueError("the number must be even")
            return self

    run, _ = ask('{"number": 1}', '{"number": 2}', output_type=Even)
    assert (run.output.number, run.messages[2].parts[0].text) == (2, "answer: Value error, the number must be even")


@pytest.mark.parametrize("model", [CLAUDE, RESPONSES, BY_TOOL[0], BY_TOOL[3]])
def test_a_file_is_given_by_its_number_and_an_unknown_number_is_refused(model):
    shown, wrong, right = [("c1", "photo", "{}")], '{"value": {"file": 7}}', '{"value": {"file": 1}}'

    @dataclass
    class Choice:
        file: File

    by_tool = model in APIS
    answers = [[final(wrong, "c2")], [final(right, "c3")]] if by_tool else [wrong, right]
    run, _ = ask(shown, *answers, model=model, tools=[photo], output_type=Choice | None)
    assert (run.output.file.number, run.output.file.read()) == (1, b"a,b\n1,2")
    problems = [
        part.text for message in run.messages for part in message.parts if "no file 7" in getattr(part, "text", "")
    ]
    assert len(problems) == 1


def test_a_file_of_the_output_outlives_its_conversation():
    run = Agent("inspector", [photo], output_type=File).run_sync('/photo\n/answer {"value": 1}')
    file = run.output
    del run
    assert file.read() == b"a,b\n1,2"


def test_one_run_may_have_its_own_output_type_and_the_agent_keeps_its_own():
    agent, script = scripted(say(OSLO), say("Hello."), output_type=None)
    assert agent.run_sync("hi", output_type=City).output == City(name="Oslo", size=700000)
    run = agent.run_sync("hi")
    assert (run.output, run.text, script.asked[1].answer_schema) == ("Hello.", "Hello.", None)


def test_without_an_output_type_the_output_is_the_text():
    for output_type in (None, str):
        run = Agent("inspector", output_type=output_type).run_sync("hello")
        assert run.output == run.text != ""


def test_a_run_that_has_not_ended_has_no_output():
    async def left():
        run = Agent("inspector").run("hi")
        async for _ in run:
            with pytest.raises(NoOutput, match="incomplete"):
                _ = run.output
            break
        await run.cancel()

    asyncio.run(left())


@pytest.mark.parametrize(
    "wrong", [5, "Missing", lambda: 1, weather, object(), {"type": {1, 2}}, {"type": float("nan")}]
)
def test_a_type_without_a_json_schema_is_refused_when_the_agent_is_created(wrong):
    with pytest.raises(BadInput, match="output_type"):
        Agent("inspector", output_type=wrong)


def test_the_name_of_the_answers_tool_is_never_that_of_a_tool():
    taken = [tool(name="final_answer")(photo), tool(name="final_answer_2")(photo)]
    run, script = ask([("c1", "final_answer_3", OSLO)], model=BY_TOOL[0], tools=taken, output_type=City)
    assert run.output.name == "Oslo"
    assert [offered.name for offered in script.asked[0].tools] == ["final_answer", "final_answer_2", "final_answer_3"]


def test_an_older_gemini_takes_the_schema_only_without_tools():
    model = "google:gemini-2.5-flash"
    agent, _ = scripted(model=model, output_type=City)
    assert (agent.settings.form.tool) is None
    assert agent.settings.options.schema is not None
    agent, _ = scripted(model=model, tools=[weather], output_type=City)
    assert (agent.settings.form.tool, agent.settings.options.schema) == ("final_answer", None)


def test_a_schema_beyond_what_the_api_takes_goes_by_the_tool():
    for output_type in (dict[str, int], Tree, tuple[int, str]):
        assert Agent("inspector", output_type=output_type).settings.form.tool == "final_answer"
    assert Agent("inspector:openai-chat", output_type=Tree).settings.form.tool is None


@pytest.mark.parametrize(
    ("model", "extra_body"),
    [
        ("anthropic:claude-3-7-sonnet-latest", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("anthropic:claude-opus-5-5", None),
        ("litellm:openai/gpt-5", None),
    ],
)
def test_no_tool_choice_is_forced_where_the_model_does_not_take_it(model, extra_body):
    settings = ModelSettings(extra_body=extra_body)
    agent = Agent(model, output_type=dict[str, int], model_settings=settings)
    assert (agent.settings.form.tool, agent.settings.form.is_forced) == ("final_answer", False)


def test_forbidden_tools_leave_the_answers_tool():
    run, script = ask([final(OSLO)], model=BY_TOOL[1], tools=[weather], output_type=City, tool_choice="none")
    assert (run.output.name, script.asked[0].tool_choice) == ("Oslo", "final_answer")


@tool(approval=True)
def delete(name: str) -> str:
    """Delete a photo."""
    return f"{name} is gone"


def test_an_answer_beside_a_call_that_waits_for_approval_counts_once_that_has_run():
    agent, script = scripted(
        say("", final(OSLO), ("c1", "delete", '{"name": "a"}')), model=BY_TOOL[0], tools=[delete], output_type=City
    )
    conversation = agent.conversation()
    run = agent.run_sync("hi", conversation=conversation)
    assert (run.status, run.reason) == ("waiting", "approval")
    run = agent.run_sync(approvals={"c1": True}, conversation=conversation)
    assert (run.output.name, len(script.asked)) == ("Oslo", 1)
    check_usable(conversation)


@pytest.mark.parametrize(("model", "answer"), [(CLAUDE, OSLO), (BY_TOOL[0], [final(OSLO)])])
def test_a_run_that_goes_on_after_the_answer_finds_it_in_the_conversation(model, answer):
    agent, script = scripted(
        say(answer) if isinstance(answer, str) else say("", *answer), model=model, output_type=City
    )
    conversation = agent.conversation()
    agent.run_sync("hi", conversation=conversation)
    again = agent.run_sync(conversation=conversation)
    assert (again.output.name, len(script.asked), again.messages) == ("Oslo", 1, ())


def deltas(model, answer, **settings):
    """The events of a run whose answer comes in pieces."""
    agent, _ = scripted(answer, model=model, **settings)
    return [event for event in asyncio.run(watch(agent.run("hi"))) if isinstance(event, OutputDelta)]


def in_pieces(text, size=3):
    """A stream of Claude's whose text comes in pieces."""

    async def stream():
        whole = frames("@", model=CLAUDE)
        for frame in whole:
            if b'"@"' not in frame:
                yield frame
                continue
            for at in range(0, len(text), size):
                yield frame.replace(b'"@"', json.dumps(text[at : at + size]).encode())

    return stream


def test_the_answer_is_seen_as_it_grows():
    events = deltas(CLAUDE, in_pieces(OSLO), output_type=City)
    assert "".join(event.text for event in events) == OSLO
    values = [event.value for event in events]
    assert {"name": "Os"} in values
    assert values[-1] == {"name": "Oslo", "size": 700000}
    grown = [value for value in values if value]
    assert all(set(before) <= set(after) for before, after in pairwise(grown))


def test_a_wrapped_answer_grows_without_its_wrapping_and_words_are_no_part_of_it():
    events = deltas(CLAUDE, in_pieces('{"value": [1, 22, 3]}'), output_type=list[int])
    assert [1, 22] in [event.value for event in events]
    assert deltas(CLAUDE, in_pieces("Sorry, no."), output_type=list[int], limits=RunLimits(output_retries=0)) == []


@pytest.mark.parametrize("model", BY_TOOL)
def test_the_arguments_of_the_answers_tool_are_seen_as_they_grow(model):
    wire = APIS[model]
    events = deltas(model, say("", final(OSLO), model=wire), output_type=City)
    assert events[-1].value == {"name": "Oslo", "size": 700000}


def test_nobody_pays_for_values_that_nobody_reads(monkeypatch):
    parsed = []
    monkeypatch.setattr("showandtell.agent.output.OutputType.partial", lambda _, text: parsed.append(text))
    events = deltas(
        CLAUDE,
        in_pieces(json.dumps({"value": "x" * 3000})),
        output_type=list[str] | Literal["x"],
        limits=RunLimits(output_retries=0),
    )
    assert len(events) > 900
    assert parsed == []


def test_without_an_output_type_there_are_no_such_events():
    agent, _ = scripted(say(OSLO))
    events = asyncio.run(watch(agent.run("hi")))
    assert not any(isinstance(event, OutputDelta) for event in events)
    assert isinstance(events[-1], Finish)


def test_the_description_of_the_type_describes_the_answers_tool():
    _, script = ask([final(OSLO)], model=BY_TOOL[0], output_type=City)
    assert script.asked[0].tools[0].description.endswith("A city.")
    assert script.asked[0].tools[0].schema["properties"] == TypeAdapter(City).json_schema()["properties"]


def test_a_question_with_files_may_have_typed_output():
    agent, script = scripted(say('{"value": 2}'), output_type=int)
    run = agent.run_sync(Text("how many?"), files=[File.from_bytes(b"a,b", "text/csv", "t.csv")])
    assert (run.output, len(script.asked)) == (2, 1)


def test_a_correction_is_stored_exported_and_shown_but_starts_no_turn(tmp_path):
    run, _ = ask(SMALL, OSLO, output_type=City)
    conversation = run.conversation
    assert conversation.view().answering == conversation.messages[0].id
    path = tmp_path / "talk.json"
    path.write_bytes(dump(conversation.messages, lambda number: FileRecord(number=number), conversation.head))
    again = Agent("inspector").conversation()
    again.ingest_now(load(path))
    assert [message.parts for message in again.messages] == [message.parts for message in conversation.messages]
    assert "size: Input should be" in "\n".join(transcript(again))


class Archive(Toolset):
    """A toolset with one tool, which has the name that the answer's tool would have."""

    async def list(self):
        return [Tool("final_answer", "Search.", {"type": "object"})]

    async def call(self, name, arguments, context):  # noqa: ARG002 - as in `Toolset`
        return "found 3"


@pytest.mark.parametrize("model", [BY_TOOL[0], "google:gemini-2.5-flash"])
def test_the_tools_of_toolsets_count_among_those_that_the_form_depends_on(model):
    wire = APIS.get(model, GEMINI)
    answers = [say("", ("c1", "final_answer", "{}"), model=wire), say("", ("c2", "final_answer_2", OSLO), model=wire)]
    agent, script = scripted(*answers, model=model, tools=[Archive()], output_type=City)
    run = agent.run_sync("hi")
    assert (run.output.name, [asked.tool_choice for asked in script.asked]) == ("Oslo", ["auto", "auto"])
    assert "found 3" in [message.text for message in run.messages]
