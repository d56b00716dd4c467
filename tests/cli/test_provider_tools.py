"""Tools that a provider runs itself, and sources, in the terminal: live, stored, and as JSON."""

import io
import json

import pytest

from showandtell.cli.terminal import Printer
from showandtell.cli.transcript import transcript
from showandtell.core.events.types import FileEvent, Finish, HostedCall, SourceEvent, TextDelta
from showandtell.hosted import Source
from support.browser import background_servers
from support.cli_runs import run
from support.echo_provider import CHART, MODEL, EchoProvider
from support.scripted import block, event, scripted, watch

CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "kiwi"}}
FOUND = [{"type": "web_search_result", "title": "Kiwi", "url": "https://kiwi.example", "encrypted_content": "Eq"}]
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": FOUND}
CITED = {"type": "web_search_result_location", "url": "https://kiwi.example", "title": "Kiwi", "cited_text": "Green."}
PLOT = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "code_execution", "input": {"code": "plot()"}}
DRAWN = {
    "type": "code_execution_result",
    "stdout": "",
    "stderr": "",
    "return_code": 0,
    "content": [{"type": "code_execution_output", "file_id": CHART}],
}
PLOTTED = {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_2", "content": DRAWN}
LINES = [
    (
        '→ web_search {"query":"kiwi"} (run by the provider): done '
        '[{"type":"web_search_result","title":"Kiwi","url":"https://kiwi.example"}]'
    ),
    "I looked. It is green. [1] And tasty. [1]",
    '[1] Kiwi, https://kiwi.example: "Green."',
]


def text(words, *citations):
    return {"type": "text", "text": words, **({"citations": list(citations)} if citations else {})}


BLOCKS = [CALL, RESULT, text("I looked. "), text("It is green.", CITED), text(" And tasty.", CITED)]
QUESTION = f"Blocks: {json.dumps(BLOCKS)}"


@pytest.fixture
def provider():
    with background_servers() as servers:
        servers.add_fake_provider(handlers=[EchoProvider()])
        yield


def printed(*events):
    out = io.StringIO()
    printer = Printer(out)
    for each in events:
        printer.event(each)
    return out.getvalue().splitlines()


@pytest.mark.usefixtures("provider")
def test_a_search_is_one_line_and_sources_are_footnotes_live_and_stored(tmp_path):
    live = run(tmp_path, "ask", QUESTION, "-m", MODEL).stdout.splitlines()
    assert [line.strip() for line in live] == LINES
    shown = run(tmp_path, "show", "last").stdout.splitlines()
    assert [line.strip().removeprefix("model: ") for line in shown[-3:]] == LINES


@pytest.mark.usefixtures("provider")
def test_a_chart_of_the_providers_code_is_image_1_here_and_for_the_next_provider(tmp_path):
    question = f"Blocks: {json.dumps([PLOT, PLOTTED, text('Here.')])}"
    assert "+ image 1: chart.png (image/png" in run(tmp_path, "ask", question, "-m", MODEL).stdout
    answer = run(tmp_path, "ask", "what is in image 1?", "-c", "last", "-m", "openai:gpt-4.1").stdout
    assert "- image 1: chart.png, made by code that the provider ran (code_execution)" in answer
    assert "160 x 80 pixels\n  colours: red 100%" in answer
    assert "files:\n  image 1: chart.png (image/png" in run(tmp_path, "show", "last").stdout


@pytest.mark.usefixtures("provider")
def test_json_has_the_calls_and_the_sources(tmp_path):
    lines = run(tmp_path, "ask", QUESTION, "-m", MODEL, "--json").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert [each["state"] for each in events if each["type"] == "hosted-call"] == ["running", "running", "done"]
    assert [each["source"]["url"] for each in events if each["type"] == "source"] == ["https://kiwi.example"] * 2


def test_a_call_that_never_ended_is_named_at_the_end():
    lines = printed(HostedCall("a", "bash", '"ls"', state="running"), Finish("incomplete", "cancelled"))
    assert lines == ['→ bash "ls" (run by the provider): not finished', "[incomplete: cancelled]"]


def test_a_source_in_a_file_names_its_place():
    file = FileEvent(2, "att_2", "talk.mp3", "audio", "audio/mpeg", 9, "user")
    source = Source("Talk", number=2, seconds=61.5, quote="Hello")
    lines = printed(file, TextDelta("1", "Hi."), SourceEvent("1", source), Finish("complete"))
    assert lines[-2:] == ["Hi. [1]", '  [1] Talk, audio 2, 61.5 s: "Hello"']


def test_a_source_of_words_in_the_middle_gets_no_mark_at_the_end():
    source = Source("Kiwi", "https://kiwi.example", start=0, end=2)
    lines = printed(TextDelta("1", "Hi. And more."), SourceEvent("1", source), Finish("complete"))
    assert lines == ["Hi. And more.", "  [1] Kiwi, https://kiwi.example"]


@pytest.mark.anyio
async def test_control_characters_of_a_provider_are_not_printed():
    items = [
        {**CALL, "name": "web\x1b[2J"},
        text("Hi.", {**CITED, "title": "\x1b]0;own\x07", "url": "https://a.example/\x1b[2J"}),
    ]
    frames = [event("message_start", message={"id": "m", "role": "assistant", "usage": {"input_tokens": 1}})]
    frames += [data for index, item in enumerate(items) for data in block(index, item)]
    frames += [event("message_delta", delta={"stop_reason": "end_turn"}, usage={}), event("message_stop")]
    agent, _ = scripted(b"".join(frames))
    chat = agent.run("hello")
    events = await watch(chat)
    assert "\x1b" not in "".join(printed(*events)) + "".join(transcript(chat.conversation))
