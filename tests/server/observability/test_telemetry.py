"""Traces: the spans of a run by OpenTelemetry's GenAI conventions, without a word of what was said unless it is wanted."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions
from opentelemetry.trace import StatusCode

from showandtell.samples import folder
from showandtell.server import app
from showandtell.server.observability.requests import RequestLog
from showandtell.server.observability.telemetry import Telemetry, make_telemetry
from support.paths import TESTS
from support.serving import serving

pytestmark = pytest.mark.anyio
CHART = "/chart title=Secret values=[3,1,2]"


@pytest.fixture
def told(monkeypatch):
    """What a server tells a collector that gets everything at once; `told(content)` says whether words are wanted."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def begin(*, content=False):
        tracer = provider.get_tracer("showandtell")
        monkeypatch.setattr(app, "make_telemetry", lambda: Telemetry(tracer, content=content))
        return exporter.get_finished_spans

    yield begin
    provider.shutdown()


def named(spans, operation):
    return [one for one in spans() if one.attributes.get("gen_ai.operation.name") == operation]


async def test_a_run_is_a_span_with_its_steps_and_tools_inside_of_its_request(tmp_path, told):
    spans = told()
    async with serving(tmp_path) as house:
        await house.post(CHART)
    (request,) = [one for one in spans() if one.name == "POST /api/chat"]
    (run,) = named(spans, "invoke_agent")
    assert run.parent.span_id == request.context.span_id
    inside = [one.name for one in spans() if one.parent and one.parent.span_id == run.context.span_id]
    assert inside == ["chat inspector", "execute_tool chart", "chat inspector"]
    assert request.attributes["http.response.status_code"] == 200


async def test_a_request_that_is_left_has_no_fault_of_ours(told):
    spans, coming = told(), [{"type": "http.disconnect"}]

    async def leaving(_, receive, __):
        await receive()

    traced = RequestLog(leaving, (app.make_telemetry().trace_visit,))
    scope = {"type": "http", "method": "POST", "scheme": "http", "path": "/api/chat", "headers": []}
    await traced(scope, lambda: asyncio.sleep(0, coming.pop()), None)
    (request,) = spans()
    assert (request.attributes["http.response.status_code"], request.status.status_code) == (499, StatusCode.UNSET)


async def test_what_spans_say_is_what_the_conventions_call_it(tmp_path, told):
    spans = told()
    async with serving(tmp_path) as house:
        await house.post(CHART)
        conversation = (await house.store.newest()).id
    known = {
        value for name, value in vars(conventions).items() if name.startswith("GEN_AI_") and isinstance(value, str)
    }
    said = {name for one in spans() for name in one.attributes if name.startswith("gen_ai.")}
    assert said <= known
    step, (tool,) = named(spans, "chat")[0], named(spans, "execute_tool")
    assert step.attributes["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert step.attributes["gen_ai.usage.input_tokens"] > 0
    assert step.attributes["gen_ai.conversation.id"] == conversation
    assert (tool.attributes["gen_ai.tool.name"], tool.status.is_ok) == ("chart", True)


async def test_files_are_addresses_with_their_hash(tmp_path, told):
    spans = told()
    async with serving(tmp_path) as house:
        await house.post(CHART)
        conversation = await house.store.open((await house.store.newest()).id)
        facts = conversation.attachments[1].facts
    uri = f"showandtell://sha256/{facts.sha256}?size={facts.size}"
    part = {"type": "uri", "modality": "image", "mime_type": "image/png", "uri": uri}
    made = [named(spans, name)[0].attributes["showandtell.files.made"] for name in ("execute_tool", "invoke_agent")]
    given = named(spans, "chat")[1].attributes["showandtell.files.given"]
    assert [json.loads(one) for (one,) in (*made, given)] == [part, part, part]


@pytest.mark.parametrize("content", [False, True])
async def test_words_arguments_and_results_are_told_only_where_that_is_wanted(content, tmp_path, told):
    spans = told(content=content)
    async with serving(tmp_path) as house:
        name = {"name": "Secret.png"}
        headers, picture = {"content-type": "image/png"}, next(folder().glob("*.png")).read_bytes()
        async with house.session.put("/api/attachments", params=name, data=picture, headers=headers) as answer:
            file = (await answer.json())["id"]
        await house.post(CHART, files=[file])
        await house.session.get(f"/api/attachments/{file}/content/Secret.png")
    everything = " ".join(one.to_json() for one in spans())
    assert ("Secret" in everything) == content
    (run,) = named(spans, "invoke_agent")
    assert ("gen_ai.input.messages" in run.attributes) == content


async def test_a_run_that_fails_says_the_class_of_its_error_and_no_more(tmp_path, told):
    spans = told()

    def broken() -> str:
        """Raise something that nobody should read."""
        raise RuntimeError("hidden words")

    from showandtell.agent.tools import by_name

    async with serving(tmp_path, tools=tuple(by_name([broken]).values())) as house:
        await house.post("/broken")
    (tool,) = named(spans, "execute_tool")
    assert (tool.attributes["error.type"], tool.status.is_ok, tool.events) == ("tool_error", False, ())
    assert "hidden words" not in " ".join(one.to_json() for one in spans())


async def test_every_run_is_counted_and_who_fails_to_watch_it_costs_no_answer(tmp_path, told):
    told()
    async with serving(tmp_path) as house:
        watching = house.server.runs._work

        def fall(_):
            raise RuntimeError("a fault of a watcher's")

        watching._watching = (*watching._watching, lambda _: fall)
        status, chunks = await house.post("Hello")
        async with house.session.get("/metrics") as answer:
            counted = await answer.text()
    assert (status, chunks[-1]["type"]) == (200, "finish")
    assert 'showandtell_runs_total{model="inspector",status="complete"} 1.0' in counted


SCRIPT = """
import asyncio, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, ConsoleSpanExporter
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda one: one.name + str(dict(one.attributes)) + chr(10))))
trace.set_tracer_provider(provider)
from support.doors import send
from showandtell.server.app import make_app
from showandtell.server.config import Config
asyncio.run(send(make_app(Config()), "GET", "/nowhere/secret?token=secret", {"host": "127.0.0.1"}))
"""


def test_of_a_request_no_address_is_told_by_whoever_makes_spans():
    environ = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environ)  # noqa: S603
    (line,) = done.stdout.splitlines()
    assert line.startswith("GET none{")
    assert "'http.response.status_code': 404" in line
    assert "secret" not in line


def test_content_is_told_only_where_the_variable_says_so():
    assert [make_telemetry({"SHOWANDTELL_TELEMETRY_CONTENT": one}).content for one in ("", "0", "no", "1")] == [
        False,
        False,
        False,
        True,
    ]
