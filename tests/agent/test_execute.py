"""One tool call: any failure becomes text for the model, and the program continues."""

import asyncio
import dataclasses
import functools
import itertools
import logging
import os
import signal
import sys
import threading

import pytest

from showandtell import BadInput, File, RunContext, Shown, Tool, ToolCall, ToolError, ToolResult, tool
from showandtell.agent.context import Files
from showandtell.agent.execute import execute
from showandtell.agent.tools import by_name
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.builders import user_history
from support.fixtures import png
from support.isolated_tools import broken_apart, describe, nothing_to_show, probe_isolation

RED, BLUE = png(8, 8), png(4, 4, (0, 0, 200))
CONVERSATION = MemoryConversation()
CONVERSATION.ingest_now(user_history(File.from_bytes(RED, name="red.png")))


def context():
    files = Files(CONVERSATION.attachments, CONVERSATION.file)
    return RunContext("me", CONVERSATION.id, "call_1", files, lambda _: None)


def run(function, arguments="{}", here=None):
    """The result of one call of one tool."""
    tools = by_name([function])
    return asyncio.run(execute(ToolCall("call_1", next(iter(tools)), arguments), tools, here or context()))


def words(result):
    assert result.is_error
    return result.text


def area(width: int, height: int = 2) -> int:
    """Multiply."""
    return width * height


def test_a_result_is_collected():
    result = run(lambda_named("get", lambda: {"rows": [1, 2]}))
    assert (result.text, result.is_error) == ('{"rows":[1,2]}', False)


def lambda_named(name, function, **settings):
    """A tool from a lambda, for tests where its body is all that matters."""
    return Tool(name, "", {"type": "object", "properties": {}}, run=function, **settings)


@pytest.mark.parametrize("arguments", ["", "{}", " {} "])
def test_a_call_without_arguments_runs(arguments):
    assert run(lambda_named("now", lambda: "noon"), arguments).text == "noon"


def test_an_unknown_tool_lists_the_existing_ones():
    call = ToolCall("call_1", "erase", "{}")
    tools = by_name([area, lambda_named("now", lambda: 1)])
    assert asyncio.run(execute(call, tools, context())).text == "there is no tool 'erase'; there are: area, now"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"width": ', "not valid JSON"),
        ("not json", "not valid JSON"),
        ('{"width": NaN}', "not valid JSON"),
        ('{"width": Infinity}', "not valid JSON"),
        ("[1, 2]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("[" * 5000, "not valid JSON"),
        ('{"width": "wide"}', "width: Input should be a valid integer"),
        ('{"height": 2}', "width: Field required"),
        ('{"width": 1, "depth": 2}', "depth: Extra inputs are not permitted"),
    ],
)
def test_arguments_that_do_not_fit_are_reported_by_field(arguments, problem):
    assert problem in words(run(area, arguments))


def test_arguments_for_a_schema_by_hand_must_fit_the_function():
    own = Tool("area", "", {"type": "object"}, run=area)
    assert "missing a required argument: 'width'" in words(run(own, "{}"))
    assert "unexpected keyword argument 'depth'" in words(run(own, '{"width": 1, "depth": 2}'))


def test_a_thousand_wrong_items_are_reported_in_a_few_words():
    def total(values: list[int]) -> int:
        return sum(values)

    assert len(words(run(total, f'{{"values": {["x"] * 1000!r}}}'.replace("'", '"')))) < 1000


def test_a_file_that_is_not_there_lists_the_existing_ones():
    def crop(image: File) -> File:
        return image

    assert "this conversation has no file 5; it has: image 1" in words(run(crop, '{"image": 5}'))


def broken():
    raise KeyError("the password is hunter2")


async def broken_later():
    raise KeyError("the password is hunter2")


@pytest.mark.parametrize("function", [broken, broken_later])
def test_an_exception_is_reported_by_type_and_log_id_and_logged_whole(function, caplog):
    with caplog.at_level(logging.ERROR, "showandtell.tools"):
        output = words(run(function))
    log_id = output.partition("log id ")[2].rstrip(")")
    assert output == f"{function.__name__} failed with KeyError (log id {log_id})"
    assert log_id in caplog.text
    assert "hunter2" in caplog.text


def test_a_tool_error_reaches_the_model_word_for_word():
    def get():
        raise ToolError("ask for a page from 1 to 9")

    assert words(run(get)) == "ask for a page from 1 to 9"


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), StopIteration(), asyncio.CancelledError()]
)
def test_nothing_that_a_tool_raises_ends_the_program(error):
    def now():
        raise error

    async def later():
        raise error

    assert words(run(now)).startswith("now ")
    assert words(run(later)).startswith("later ")


def test_leaving_the_program_is_reported_as_what_it_is():
    assert words(run(lambda_named("leave", sys.exit))).startswith("leave failed with SystemExit")


def test_a_timeout_of_the_tools_own_is_not_ours():
    def fetch():
        raise TimeoutError("the archive is asleep")

    assert "fetch failed with TimeoutError" in words(run(fetch))


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        object(),
        {"rows": [float("inf")]},
        b"\x00\x01no known type",
        itertools.count(),
        (number for number in [1]),
        {1: "a", "1": "b"},
        Shown(7, "elsewhere"),
        {"deep": [Shown(7, "elsewhere")]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_that_cannot_be_shown_is_an_error_result(value):
    output = words(run(lambda_named("get", lambda: value)))
    assert output.startswith("get returned something that can't be shown: ")


@pytest.mark.parametrize(
    "function",
    [
        lambda_named("get", lambda: {"rows": [object()]}),
        lambda_named("get", lambda: ToolResult(object())),
        lambda_named("get", lambda: Shown(9, "att_9")),
        nothing_to_show,
    ],
)
def test_a_value_that_cannot_be_shown_is_one_line_in_the_log_with_the_name_of_the_tool(function, caplog):
    text = words(run(function))
    (record,) = caplog.records
    assert (record.name, record.levelname, record.getMessage()) == ("showandtell.tools", "WARNING", f"tool {text}")
    assert text.startswith(f"{function.name} returned something that can't be shown: ")


@pytest.mark.parametrize("error", [ToolError("no such city"), BadInput("no such file")])
def test_what_a_tool_tells_the_model_is_no_line_in_the_log(error, caplog):
    def get():
        """Raise."""
        raise error

    assert words(run(get)) == str(error)
    assert not caplog.records


def test_a_value_that_holds_itself_is_an_error_result():
    value = []
    value.append(value)
    assert "can't be shown" in words(run(lambda_named("get", lambda: value)))


def test_an_error_result_of_another_protocol_stays_an_error():
    value = {"content": [{"type": "text", "text": "no such row"}], "isError": True}
    assert words(run(lambda_named("get", lambda: value))) == "no such row"


def test_a_file_of_the_conversation_keeps_its_number_when_it_comes_back():
    def same(image: File) -> ToolResult:
        return ToolResult("here", image, {"also": image})

    result = run(same, '{"image": 1}')
    assert result.files == (Shown(1, CONVERSATION.attachments[1].id),) * 2


def test_a_new_file_takes_no_number_from_a_tool():
    def draw(image: File) -> File:
        return File(BLUE, name="new.png", number=image.number)

    assert run(draw, '{"image": 1}').files == (File(BLUE, name="new.png"),)


async def hang():
    await asyncio.Event().wait()


def test_an_async_tool_that_hangs_is_cancelled():
    here, gone = context(), []

    async def wait():
        try:
            await hang()
        finally:
            gone.append(True)

    assert "did not finish in time" in words(run(tool(timeout=0.05)(wait), here=here))
    assert gone == [True]
    assert here.cancelled.is_set()


def test_an_async_tool_that_will_not_be_cancelled_is_left_behind(monkeypatch):
    monkeypatch.setattr("showandtell.agent.execute.GRACE", 0.05)
    release = asyncio.Event()

    async def stubborn():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async def both():
        tools = by_name([tool(timeout=0.05)(stubborn)])
        result = await execute(ToolCall("call_1", "stubborn", "{}"), tools, context())
        release.set()
        return result

    assert "did not finish in time" in words(asyncio.run(both()))


def test_a_sync_tool_that_hangs_is_abandoned_and_its_late_result_dropped():
    release, ended = threading.Event(), threading.Event()

    def wait():
        release.wait()
        ended.set()
        return "late"

    async def both():
        here = context()
        result = await execute(ToolCall("call_1", "wait", "{}"), by_name([tool(timeout=0.05)(wait)]), here)
        assert here.cancelled.is_set()
        release.set()
        await asyncio.to_thread(ended.wait)
        return result

    assert "did not finish in time" in words(asyncio.run(both()))


def test_a_long_tool_can_look_whether_it_is_still_wanted():
    def wait(context: RunContext):
        context.cancelled.wait()
        seen.set()

    seen = threading.Event()
    assert "did not finish in time" in words(run(tool(timeout=0.05)(wait)))
    assert seen.wait(60)


def test_a_cancelled_caller_cancels_the_tool_and_hears_of_it():
    here, started = context(), asyncio.Event()

    async def wait():
        started.set()
        await hang()

    async def leave():
        task = asyncio.create_task(execute(ToolCall("call_1", "wait", "{}"), by_name([wait]), here))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(leave())
    assert here.cancelled.is_set()


def test_progress_can_be_reported_from_the_tools_thread():
    received = []
    here = RunContext("me", "conv", "call_1", context().files, received.append)

    def count(context: RunContext):
        context.progress(1, 2, f"in a thread: {threading.current_thread() is not threading.main_thread()}")

    run(count, here=here)
    assert [(item.call_id, item.done, item.total, item.note) for item in received] == [
        ("call_1", 1, 2, "in a thread: True")
    ]


def test_an_object_with_an_async_call_is_awaited():
    class Later:
        async def __call__(self, word: str) -> str:
            return word * 2

    assert run(Tool("twice", "", run=Later()), '{"word": "ab"}').text == "abab"


def test_an_isolated_tool_runs_in_another_process_with_its_files():
    result = run(describe, '{"image": 1}')
    assert not result.is_error
    assert f'"bytes":{len(RED)},"words":"pixels"' in result.text
    assert f'"process":{os.getpid()},' not in result.text


def test_an_isolated_tool_that_raises_is_redacted_and_logged_as_any_other(caplog):
    assert "failed with KeyError (log id" in words(run(broken_apart))
    assert "hunter2" in caplog.text


def test_an_isolated_tool_that_tells_the_model_is_heard():
    assert words(run(probe_isolation)) == "only on Mondays"


def test_an_isolated_tool_that_crashes_is_an_error_result():
    crash = Tool("crash", "", {"type": "object"}, run=os._exit, isolate=True)
    assert "crash failed with" in words(run(crash, '{"status": 7}'))


def test_an_isolated_tool_that_hangs_is_killed():
    hanging = lambda_named("hang", signal.pause, isolate=True, timeout=0.05)
    assert "did not finish in time" in words(run(hanging))


def test_what_cannot_go_to_another_process_is_an_error_result():
    near = Tool("near", "", run=functools.partial(area, lambda: 1), isolate=True)
    assert "near failed with" in words(run(near))


async def search(query: str):
    """Search slowly."""
    yield f"searching for {query}"
    yield 0.5
    yield "almost there"
    yield {"found": 3}


def test_what_an_async_generator_yields_is_progress_and_its_last_value_the_result():
    events, here = [], context()
    here = dataclasses.replace(here, emit=events.append)
    assert run(search, '{"query": "tea"}', here).text == '{"found":3}'
    progress = [(event.done, event.total, event.note) for event in events]
    assert progress == [(0.0, None, "searching for tea"), (0.5, 1.0, ""), (0.5, 1.0, "almost there")]


def test_a_generator_that_fails_never_ends_or_yields_nothing_is_closed():
    closed = []

    async def generate(how: str):
        try:
            while how == "on":
                yield 0.1
                await asyncio.sleep(0)
            if how == "fail":
                raise ToolError("no tea")
        finally:
            closed.append(how)

    endless = tool(timeout=0.1)(generate)
    assert "did not finish in time: after 0.1 s it was stopped" in words(run(endless, '{"how": "on"}'))
    assert words(run(generate, '{"how": "fail"}')) == "no tea"
    assert run(generate, '{"how": "nothing"}').text == run(lambda_named("none", lambda: None)).text
    assert closed == ["on", "fail", "nothing"]
