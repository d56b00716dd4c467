"""Files that code of the provider made: fetched by id, numbered, shown, and given back by id or as bytes."""

import asyncio
import base64
import json

import pytest

from showandtell.core.events.types import FileEvent, HostedCall
from showandtell.inspector.request import files_of
from support.agents import make_agent
from support.fixtures import RED, png
from support.made_files import FileScript
from support.scripted import CLAUDE, ONCE, RESPONSES, event, say, scripted, watch
from support.streams import anthropic

CHART = png(16, 8, RED)
PLACE = {"container_id": "cntr_1", "file_id": "cfile_1"}
CONTENT = "/openai/v1/containers/cntr_1/files/cfile_1/content"
CODE = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "code": "plot()",
    "container_id": "cntr_1",
}


def drawn(*citations, outputs=None):
    """An answer of the Responses API whose code drew a chart."""
    annotations = [{"type": "container_file_citation", "filename": "chart.png", **PLACE, **more} for more in citations]
    content = [{"type": "output_text", "text": "Here.", "annotations": annotations}]
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    items = [{**CODE, "outputs": outputs}, message]
    done = [event("response.output_item.done", output_index=at, item=item) for at, item in enumerate(items)]
    response = {
        "id": "resp_1",
        "status": "completed",
        "output": items,
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }
    return b"".join([*done, event("response.completed", response=response)])


def plotted(*file_ids):
    """An answer of the Messages API whose code made files."""
    outputs = [{"type": "code_execution_output", "file_id": file_id} for file_id in file_ids]
    result = {"type": "code_execution_result", "stdout": "", "stderr": "", "return_code": 0, "content": outputs}
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "plot()"}}
    blocks = [call, {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": result}]
    chunks = [chunk for at, item in enumerate(blocks) for chunk in anthropic.block(at, item)]
    return anthropic.sse(
        anthropic.BEGIN, *chunks, *anthropic.text(2, "Here."), anthropic.end("end_turn"), anthropic.STOP
    )


def go(script, *questions, model, **settings):
    agent, runs, events = make_agent(model, exchange=script.exchange, retry=ONCE, **settings), [], []
    for question in questions:
        runs.append(agent.run(question, conversation=runs[-1].conversation if runs else None))
        events.append(asyncio.run(watch(runs[-1])))
    return runs[-1], events


def test_a_chart_of_hosted_code_is_image_1_with_its_name_and_origin():
    script = FileScript(drawn({}), files={CONTENT: CHART})
    run, (events,) = go(script, "draw a chart", model=RESPONSES)
    (file,) = [item for item in events if isinstance(item, FileEvent)]
    assert (file.number, file.name, file.media_type) == (1, "chart.png", "image/png")
    assert (file.origin, run.file(1).read()) == ("provider code_interpreter", CHART)
    assert [item.state for item in events if isinstance(item, HostedCall)] == ["done"]
    assert run.status == "complete"


def test_the_next_provider_sees_it_as_image_1():
    script = FileScript(drawn({}), files={CONTENT: CHART})
    run, _ = go(script, "draw a chart", model=RESPONSES)
    other, seen = scripted(say("A chart."), model=CLAUDE)
    asyncio.run(watch(other.run("what is it?", conversation=run.conversation)))
    ((label, data),) = [(file.label, file.data) for turn in seen.asked[0].turns for file in files_of(turn)]
    assert data == CHART
    assert label.startswith("⟦image 1: chart.png, made by code that the provider ran (code_interpreter)")


def test_a_file_that_is_cited_twice_or_is_in_the_outputs_too_has_one_number():
    encoded = {"type": "image", "url": "data:image/png;base64," + base64.b64encode(CHART).decode()}
    answers = (drawn({}, {}, outputs=[encoded]), say("Yes.", model=RESPONSES))
    script = FileScript(*answers, files={CONTENT: CHART})
    run, _ = go(script, "draw a chart", "and now?", model=RESPONSES)
    assert [file.number for file in run.conversation.attachments.values()] == [1]
    assert script.fetched == [CONTENT]
    assert script.files == [0, 1]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (404, "could not be fetched: openai doesn't give it"),
        (500, "could not be fetched: openai doesn't give it"),
        (ConnectionResetError("reset"), "could not be fetched: openai doesn't give it"),
    ],
)
def test_a_file_that_cannot_be_fetched_keeps_its_number_and_says_why(answer, problem):
    script = FileScript(drawn({}), files={CONTENT: answer})
    run, (events,) = go(script, "draw a chart", model=RESPONSES)
    (file,) = [item for item in events if isinstance(item, FileEvent)]
    assert (run.status, file.number, file.name) == ("complete", 1, "chart.png")
    assert problem in file.problem
    assert "sk-secret" not in file.problem


@pytest.mark.parametrize("file_id", ["../../../models", "a/b", "", "x" * 300, "a?b=c"])
def test_an_id_cannot_lead_elsewhere(file_id):
    script = FileScript(drawn({"file_id": file_id}), files={})
    _, (events,) = go(script, "draw a chart", model=RESPONSES)
    (problem,) = [item.problem for item in events if isinstance(item, FileEvent)]
    assert problem.startswith("could not be fetched: its id is not valid")
    assert script.fetched == []


def test_another_provider_gets_its_bytes():
    names = {"/anthropic/v1/files/file_1": {"filename": "chart.png"}}
    script = FileScript(
        plotted("file_1"), files={"/anthropic/v1/files/file_1/content": CHART}, names=names, model=CLAUDE
    )
    run, _ = go(script, "draw a chart", model=CLAUDE)
    other, seen = scripted(say("A chart.", model=RESPONSES), model=RESPONSES)
    asyncio.run(watch(other.run("what is it?", conversation=run.conversation)))
    assert [file.data for turn in seen.asked[0].turns for file in files_of(turn)] == [CHART]


def test_anthropic_gets_its_file_back_by_its_id():
    paths = {"/anthropic/v1/files/file_1/content": CHART}
    names = {"/anthropic/v1/files/file_1": {"filename": "chart.png", "mime_type": "image/png"}}
    script = FileScript(plotted("file_1"), files=paths, names=names, model=CLAUDE)
    run, (first, _) = go(script, "draw a chart", "what is it?", model=CLAUDE)
    assert [(item.name, item.origin) for item in first if isinstance(item, FileEvent)] == [
        ("chart.png", "provider code_execution (srvtoolu_1)")
    ]
    sources = [block.get("source") for turn in script.bodies[1]["messages"] for block in turn["content"]]
    assert {"type": "file", "file_id": "file_1"} in sources
    assert [receipt.place for receipt in run.receipts] == ["user"]


def test_an_id_that_has_died_is_replaced_by_the_bytes():
    names = {"/anthropic/v1/files/file_1": {"filename": "chart.png"}}
    gone = (404, json.dumps({"error": {"type": "not_found_error", "message": "File not found: file_1"}}).encode())
    answers = (plotted("file_1"), gone, say("A chart."))
    script = FileScript(*answers, files={"/anthropic/v1/files/file_1/content": CHART}, names=names, model=CLAUDE)
    run, _ = go(script, "draw a chart", "what is it?", model=CLAUDE)
    assert run.text == "A chart."
    assert [[file.data for turn in asked.turns for file in files_of(turn)] for asked in script.asked[1:]] == [
        [None],
        [CHART],
    ]
