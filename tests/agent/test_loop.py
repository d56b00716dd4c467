"""Whole runs against a provider from a script: what its stream and its faults become, on every api."""

import asyncio
import json

import pytest

from showandtell import File, RunLimits, ToolResult
from showandtell.agent.decide import EARLY_STOPS, LIMIT, MAX_CALLS, TOO_MANY, AskModel, tool_choice_of
from showandtell.agent.tool_calls import MAX_CONCURRENT_TOOLS
from showandtell.core.events.types import (
    ErrorEvent,
    FileEvent,
    Finish,
    ProviderFault,
    StepFinish,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolOutput,
    ToolStart,
    Usage,
)
from showandtell.core.wire.aws_eventstream import encode
from support.fixtures import png
from support.scripted import (
    CONVERSE,
    FAULT,
    FAULTS,
    GEMINI,
    MODELS,
    RESPONSES,
    STOPS,
    begin,
    check_usable,
    delta,
    each_api,
    raw,
    results,
    say,
    scripted,
    two_apis,
    watch,
)

OF_CALLS = (ToolInputStart, ToolInputDelta, ToolInputEnd, ToolStart, ToolOutput)


def echo(word: str = "nothing") -> str:
    """Say it again."""
    return f"you said {word}"


def draw() -> File:
    """Draw a picture."""
    return File.from_bytes(png(), name="drawn.png")


def without_marks(messages):
    """Messages without the cache marks of their last blocks."""
    return [
        {
            **message,
            "content": [{k: v for k, v in block.items() if k != "cache_control"} for block in message["content"]],
        }
        for message in messages
    ]


def go(agent, text="hi", **settings):
    """A run to its end, its events, and the check that the conversation can go on."""
    run = agent.run(text, **settings)
    events = asyncio.run(watch(run))
    assert [event for event in events if isinstance(event, Finish)] == [events[-1]]
    check_usable(run.conversation, agent.target.name)
    return run, events


@each_api
def test_a_clean_run_answers(model):
    agent, script = scripted(say("Hello.", model=model), model=model)
    run, events = go(agent)
    assert (run.text, run.status, run.reason, run.usage) == ("Hello.", "complete", None, Usage(10, 5, 0))
    assert events[-1] == Finish("complete", None, Usage(10, 5, 0))
    assert len(script.bodies) == 1


@each_api
def test_a_tool_runs_and_its_file_is_shown_in_the_next_step(model):
    agent, script = scripted(
        say("", ("c1", "draw", "{}"), model=model), say("Seen.", model=model), model=model, tools=[draw]
    )
    run, events = go(agent)
    assert (run.text, run.status, run.usage) == ("Seen.", "complete", Usage(20, 10, 0))
    assert [(file.number, file.read()) for file in run.files] == [(1, png())]
    assert [type(event) for event in events if isinstance(event, FileEvent | ToolOutput)] == [FileEvent, ToolOutput]
    assert "drawn.png" in json.dumps(script.bodies[1])


def racing(finished):
    """Two tools of which the second is done before the first begins to answer."""
    go_on = asyncio.Event()

    async def slow() -> File:
        await go_on.wait()
        finished.append("slow")
        return File.from_bytes(png(8, 8), name="slow.png")

    async def fast() -> File:
        finished.append("fast")
        go_on.set()
        return File.from_bytes(png(4, 4), name="fast.png")

    return [slow, fast]


@each_api
def test_parallel_results_are_in_call_order_regardless_of_finishing_order(model):
    finished = []
    calls = say("", ("c1", "slow", "{}"), ("c2", "fast", "{}"), model=model)
    agent, _ = scripted(calls, say("Done.", model=model), model=model, tools=racing(finished))
    run, events = go(agent)
    assert finished == ["fast", "slow"]
    assert [event.call_id for event in events if isinstance(event, ToolOutput)] == ["c1", "c2"]
    assert [(file.number, file.name) for file in run.files] == [(1, "slow.png"), (2, "fast.png")]


@each_api
def test_one_of_two_parallel_tools_may_fail(model):
    def fall() -> str:
        raise KeyError("secret")

    calls = say("", ("c1", "fall", "{}"), ("c2", "echo", '{"word": "b"}'), model=model)
    run, _ = go(scripted(calls, say("Done.", model=model), model=model, tools=[fall, echo])[0])
    (first, words, failed), second = results(run.messages)
    assert (first, failed, second) == ("c1", True, ("c2", "you said b", False))
    assert "secret" not in words


CUT = {model: begin("Half a sentence.", model=model) for model in MODELS}


@each_api
def test_a_stream_that_ends_without_its_reason_is_incomplete(model):
    run, _ = go(scripted(CUT[model], model=model)[0])
    assert (run.text, run.status, run.reason) == ("Half a sentence.", "incomplete", "cut")


@each_api
def test_a_connection_that_breaks_keeps_the_text_and_is_incomplete(model):
    async def broken():
        yield CUT[model]
        raise ConnectionResetError(104)

    run, _ = go(scripted(broken, model=model)[0])
    assert (run.text, run.status, run.reason, run.error) == ("Half a sentence.", "incomplete", "cut", None)


@each_api
def test_after_a_cut_the_next_message_goes_on(model):
    agent, _ = scripted(CUT[model], say("The whole sentence.", model=model), model=model)
    run, _ = go(agent)
    run, _ = go(agent, "go on", conversation=run.conversation)
    assert (run.text, run.status) == ("The whole sentence.", "complete")


@each_api
def test_calls_of_a_message_that_reached_its_limit_do_not_run(model):
    calls = ("c1", "echo", '{"word": "a"}'), ("c2", "echo", '{"wor')
    run, _ = go(scripted(say("", *calls, stop=STOPS[model].length, model=model), model=model, tools=[echo])[0])
    assert (run.status, run.reason) == ("incomplete", "length")
    assert results(run.messages) == [("c1", EARLY_STOPS["length"][1], True)]


@each_api
def test_an_answer_that_a_filter_ended_is_refused_and_its_words_are_kept(model):
    run, _ = go(scripted(say("I can't help with that.", stop=STOPS[model].filtered, model=model), model=model)[0])
    assert (run.text, run.status, run.reason) == ("I can't help with that.", "refused", "refusal")


def test_a_paused_answer_goes_back_as_it_is_and_goes_on():
    agent, script = scripted(say("I looked it up:", stop="pause_turn"), say(" a kiwi."), tools=[echo])
    run, events = go(agent)
    assert (run.text, run.status, run.reason) == ("I looked it up: a kiwi.", "complete", None)
    assert [event.stop for event in events if isinstance(event, StepFinish)] == ["pause", "end"]
    first, second = script.bodies
    continued = {"role": "assistant", "content": [{"type": "text", "text": "I looked it up:"}]}
    assert without_marks(second["messages"]) == [*without_marks(first["messages"]), continued]
    assert second["tools"] == first["tools"]
    go(agent, "Thanks.", conversation=run.conversation)


def test_an_answer_that_pauses_without_end_stops_at_the_step_limit():
    agent, script = scripted(say("More.", stop="pause_turn"), limits=RunLimits(steps=3))
    run, _ = go(agent)
    assert (run.text, run.status, run.reason, len(script.bodies)) == ("More." * 3, "incomplete", "steps", 3)


@each_api
@pytest.mark.parametrize(("reason", "status"), [("a_new_reason", "complete"), ("a_new_fault", "incomplete")])
def test_an_unknown_stop_reason_is_named_and_a_whole_answer_is_complete_unless_it_sounds_wrong(model, reason, status):
    run, _ = go(scripted(say("Hello.", stop=reason, model=model), model=model)[0])
    says_incomplete = model == RESPONSES  # whatever its reason is
    assert (run.text, run.status, run.reason) == ("Hello.", "incomplete" if says_incomplete else status, reason)


@each_api
def test_an_error_inside_a_stream_ends_the_run_and_keeps_the_text_so_far(model):
    run, events = go(scripted(CUT[model] + FAULT[model], model=model)[0])
    assert (run.text, run.status, run.reason) == ("Half a sentence.", "error", FAULTS[model])
    assert [type(event) for event in events[-4:]] == [ProviderFault, StepFinish, ErrorEvent, Finish]
    assert type(run.error).__name__ == "ProviderError"


@each_api
@pytest.mark.parametrize("status", [400, 429, 500])
def test_an_error_answer_is_reported_in_the_providers_words(model, status):
    refused = (status, b'{"error": {"type": "x", "message": "messages.3: too odd"}}')
    agent, _ = scripted(refused, say("Hello.", model=model), model=model)
    run, events = go(agent)
    assert (run.status, run.reason, run.error.status) == ("error", "messages.3: too odd", status)
    kind = "ProviderError" if status == 400 else "ProviderUnavailable"
    assert ErrorEvent(kind, f"{status} messages.3: too odd") in events
    assert go(agent, "again", conversation=run.conversation)[0].text == "Hello."


@each_api
def test_an_error_after_a_tool_leaves_a_history_that_goes_on(model):
    answers = say("", ("c1", "echo", "{}"), model=model), (500, b"<html>"), say("Hello.", model=model)
    agent, script = scripted(*answers, model=model, tools=[echo])
    run, _ = go(agent)
    assert (run.status, run.reason) == ("error", "<html>")
    assert go(agent, "again", conversation=run.conversation)[0].text == "Hello."
    assert [turn.role for turn in script.asked[2].turns] == ["user", "assistant", "user"]


@each_api
def test_a_provider_that_nobody_can_reach_is_named(model):
    agent, _ = scripted(ConnectionRefusedError(), model=model)
    run, _ = go(agent)
    assert (run.status, run.reason) == ("error", f"{agent.target.name} can't be reached: ConnectionRefusedError")


BAD = [(model, bad) for model in MODELS for bad in (delta("?", model).replace(b"?", b"\xff"), b"{not json}", b"[1]")]


@pytest.mark.parametrize(("model", "bad"), BAD)
def test_a_chunk_that_is_not_the_apis_is_a_typed_error(model, bad):
    async def spoiled():
        yield CUT[model]
        yield raw(bad, model)

    agent, _ = scripted(spoiled, say("Hello.", model=model), model=model)
    run, _ = go(agent)
    assert (run.status, run.text, type(run.error).__name__) == ("error", "Half a sentence.", "BadAnswer")
    assert go(agent, "again", conversation=run.conversation)[0].text == "Hello."


@each_api
def test_two_calls_with_one_id_both_run_under_ids_of_their_own(model):
    twice = say("", ("c1", "echo", '{"word": "a"}'), ("c1", "echo", '{"word": "b"}'), model=model)
    again = say("", ("c1", "echo", '{"word": "c"}'), model=model)
    run, _ = go(scripted(twice, again, say("Done.", model=model), model=model, tools=[echo])[0])
    assert results(run.messages) == [
        ("c1", "you said a", False),
        ("c1_2", "you said b", False),
        ("c1_3", "you said c", False),
    ]


@each_api
def test_a_loop_without_end_makes_max_steps_calls_and_the_last_forbids_tools(model):
    agent, script = scripted(say("", ("c1", "echo", "{}"), model=model), model=model, tools=[echo], steps=3)
    run, _ = go(agent)
    assert (run.status, run.reason, len(script.bodies)) == ("incomplete", "steps", 3)
    # Converse has no word for it.
    last = "auto" if model == CONVERSE else "none"
    assert [asked.tool_choice for asked in script.asked] == ["auto", "auto", last]
    assert script.asked[2].tools == script.asked[0].tools
    assert results(run.messages)[2] == ("c1_3", LIMIT, True)


@each_api
def test_all_events_of_a_call_say_its_own_id(model):
    again = say("", ("c1", "echo", "{}"), model=model)
    _, events = go(scripted(again, again, say("Done.", model=model), model=model, tools=[echo])[0])
    received = [event.call_id for event in events if isinstance(event, OF_CALLS)]
    assert received == ["c1"] * len(OF_CALLS) + ["c1_2"] * len(OF_CALLS)


@each_api
@pytest.mark.parametrize("forced", ["required", "echo"])
def test_a_forced_tool_is_forced_in_the_first_step_alone(model, forced):
    again, done = say("", ("c1", "echo", "{}"), model=model), say("Done.", model=model)
    agent, script = scripted(again, again, done, model=model, tools=[echo], tool_choice=forced)
    go(agent)
    assert [asked.tool_choice for asked in script.asked] == [forced, "auto", "auto"]


def test_a_choice_against_tools_stays():
    assert tool_choice_of("none", AskModel(2, forbid_tools=False)) == "none"
    assert tool_choice_of("required", AskModel(1, forbid_tools=True)) == "none"


@two_apis
def test_of_a_flood_of_calls_the_first_run_and_every_call_has_one_result(model):
    count = 2 * MAX_CALLS
    calls = [(f"c{at}", "echo", "{}") for at in range(count)]
    agent, _ = scripted(say("", *calls, model=model), say("Done.", model=model), model=model, tools=[echo])
    run, _ = go(agent)
    received = results(run.messages)
    assert [item for item in received if item[1] != TOO_MANY] == [
        (f"c{at}", "you said nothing", False) for at in range(MAX_CALLS)
    ]
    assert (len(received), run.text) == (count, "Done.")


def test_tools_run_at_once_up_to_a_limit():
    running, counts = set(), []

    async def work(number: int) -> str:
        running.add(number)
        counts.append(len(running))
        await asyncio.sleep(0)
        running.remove(number)
        return "done"

    calls = [(f"c{at}", "work", f'{{"number": {at}}}') for at in range(2 * MAX_CONCURRENT_TOOLS)]
    run, _ = go(scripted(say("", *calls), say("Done."), tools=[work])[0])
    assert max(counts) == MAX_CONCURRENT_TOOLS
    assert [result[0] for result in results(run.messages)] == [call[0] for call in calls]


# Gemini has no last event: its stream ends with the connection.
@pytest.mark.parametrize("model", [item for item in MODELS if item != GEMINI])
def test_a_provider_that_pings_after_its_end_does_not_hold_the_run(model):
    async def pinging():
        yield say("Hello.", model=model)
        for _ in range(1000):
            yield encode("ping", b"{}") if model == CONVERSE else b": ping\n\n"
        raise AssertionError("it was read to its end")

    run, _ = go(scripted(pinging, model=model)[0])
    assert (run.text, run.status) == ("Hello.", "complete")


@two_apis
def test_an_answer_without_end_is_a_typed_error_and_its_words_are_kept(model):
    padding = b"x" * 2**24

    async def endless():
        yield CUT[model]
        for _ in range(20):
            yield encode("ping", b'"' + padding + b'"') if model == CONVERSE else b": " + padding + b"\n\n"
        raise AssertionError("it was read to its end")

    run, _ = go(scripted(endless, model=model)[0])
    assert (run.status, run.text, type(run.error).__name__) == ("error", "Half a sentence.", "BadAnswer")


SEALS = ("c2lnbmVk", "c2VhbGVk", '"reasoning_content": "Let me see."')


@each_api
def test_what_a_provider_needs_back_is_given_back_to_it_and_to_no_other(model):
    sealed = say("", ("c1", "echo", "{}"), thought="Let me see.", model=model)
    agent, script = scripted(sealed, say("Done.", model=model), model=model, tools=[echo])
    run, _ = go(agent)
    assert any(seal in json.dumps(script.bodies[1]) for seal in SEALS)
    for other in MODELS:
        agent, script = scripted(say("Hello.", model=other), model=other)
        go(agent, "and you?", conversation=run.conversation)
        assert any(seal in json.dumps(script.bodies[0]) for seal in SEALS) == (other == model)


def test_an_error_says_which_place_it_means_and_how_long_to_wait():
    agent, _ = scripted((400, b'{"error": {"message": "messages.0.content.1: too odd"}}'))
    run, _ = go(agent)
    assert (run.error.path, run.error.retry_after) == ("messages.0.content.1", None)


@each_api
def test_a_call_without_arguments_runs(model):
    run, _ = go(
        scripted(say("", ("c1", "echo", ""), model=model), say("Done.", model=model), model=model, tools=[echo])[0]
    )
    assert results(run.messages) == [("c1", "you said nothing", False)]


@each_api
def test_an_unknown_tool_and_arguments_that_are_no_json_reach_the_model(model):
    # Gemini's arguments are JSON themselves: they can only be of another kind.
    odd = "[1]" if model == GEMINI else '{"word": '
    calls = say("", ("c1", "erase", "{}"), ("c2", "echo", odd), model=model)
    run, _ = go(scripted(calls, say("Sorry.", model=model), model=model, tools=[echo])[0])
    (_, first, _), (_, second, _) = results(run.messages)
    assert first == "there is no tool 'erase'; there are: echo"
    assert ("must be a JSON object" if model == GEMINI else "not valid JSON") in second
    assert (run.text, run.status) == ("Sorry.", "complete")


@each_api
def test_an_empty_answer_is_incomplete(model):
    agent, _ = scripted(say(model=model), say("Hello.", model=model), model=model)
    run, _ = go(agent)
    assert (run.text, run.status, run.reason) == ("", "incomplete", "empty")
    assert go(agent, "again", conversation=run.conversation)[0].text == "Hello."


def test_a_tool_that_gives_its_file_back_shows_it_again_under_its_number():
    def same(image: File) -> ToolResult:
        return ToolResult("the same", image)

    agent, _ = scripted(say("", ("c1", "same", '{"image": 1}')), say("Done."), tools=[same])
    run, events = go(agent, files=[File.from_bytes(png(), name="up.png")])
    assert run.status == "complete"
    assert [event.files for event in events if isinstance(event, ToolOutput)] == [(1,)]


def test_a_reader_of_a_tool_that_breaks_reaches_the_model():
    def get() -> File:
        return File.from_reader([].pop, 10, "image/png")

    agent, script = scripted(say("", ("c1", "get", "{}")), say("Done."), tools=[get])
    assert go(agent)[0].status == "complete"
    assert "IndexError" in json.dumps(script.bodies[1])
