"""Traces: spans of a run by OpenTelemetry's GenAI conventions, without content unless it is enabled."""

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
def traced(monkeypatch):
    """Enable tracing: `traced(content=…)` returns a function that gives the finished spans."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def enable(*, content=False):
        tracer = provider.get_tracer("showandtell")
        monkeypatch.setattr(app, "make_telemetry", lambda: Telemetry(tracer, content=content))
        return exporter.get_finished_spans

    yield enable
    provider.shutdown()


def named(spans, operation):
    return [one for one in spans() if one.attributes.get("gen_ai.operation.name") == operation]


async def test_a_run_is_a_span_within_its_request_and_holds_steps_and_tools(tmp_path, traced):
    spans = traced()
    async with serving(tmp_path) as site:
        await site.post(CHART)
    (request,) = [one for one in spans() if one.name == "POST /api/chat"]
    (run,) = named(spans, "invoke_agent")
    assert run.parent.span_id == request.context.span_id
    inside = [one.name for one in spans() if one.parent and one.parent.span_id == run.context.span_id]
    assert inside == ["chat inspector", "execute_tool chart", "chat inspector"]
    assert request.attributes["http.response.status_code"] == 200


async def test_a_request_of_a_disconnected_client_is_no_error(traced):
    spans, messages = traced(), [{"type": "http.disconnect"}]

    async def read_once(_, receive, __):
        await receive()

    request_log = RequestLog(read_once, (app.make_telemetry().trace_request,))
    scope = {"type": "http", "method": "POST", "scheme": "http", "path": "/api/chat", "headers": []}
    await request_log(scope, lambda: asyncio.sleep(0, messages.pop()), None)
    (request,) = spans()
    assert (request.attributes["http.response.status_code"], request.status.status_code) == (499, StatusCode.UNSET)


async def test_span_attributes_follow_the_conventions(tmp_path, traced):
    spans = traced()
    async with serving(tmp_path) as site:
        await site.post(CHART)
        conversation = (await site.store.newest()).id
    known = {
        value for name, value in vars(conventions).items() if name.startswith("GEN_AI_") and isinstance(value, str)
    }
    names = {name for one in spans() for name in one.attributes if name.startswith("gen_ai.")}
    assert names <= known
    step, (tool,) = named(spans, "chat")[0], named(spans, "execute_tool")
    assert step.attributes["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert step.attributes["gen_ai.usage.input_tokens"] > 0
    assert step.attributes["gen_ai.conversation.id"] == conversation
    assert (tool.attributes["gen_ai.tool.name"], tool.status.is_ok) == ("chart", True)


async def test_files_are_reported_as_addresses_with_their_hash(tmp_path, traced):
    spans = traced()
    async with serving(tmp_path) as site:
        await site.post(CHART)
        conversation = await site.store.open((await site.store.newest()).id)
        facts = conversation.attachments[1].facts
    uri = f"showandtell://sha256/{facts.sha256}?size={facts.size}"
    part = {"type": "uri", "modality": "image", "mime_type": "image/png", "uri": uri}
    produced = [named(spans, name)[0].attributes["showandtell.files.made"] for name in ("execute_tool", "invoke_agent")]
    sent = named(spans, "chat")[1].attributes["showandtell.files.given"]
    assert [json.loads(one) for (one,) in (*produced, sent)] == [part, part, part]


@pytest.mark.parametrize("content", [False, True])
async def test_content_is_reported_only_if_enabled(content, tmp_path, traced):
    spans = traced(content=content)
    async with serving(tmp_path) as site:
        params = {"name": "Secret.png"}
        headers, image = {"content-type": "image/png"}, next(folder().glob("*.png")).read_bytes()
        async with site.session.put("/api/attachments", params=params, data=image, headers=headers) as response:
            file = (await response.json())["id"]
        await site.post(CHART, files=[file])
        await site.session.get(f"/api/attachments/{file}/content/Secret.png")
    output = " ".join(one.to_json() for one in spans())
    assert ("Secret" in output) == content
    (run,) = named(spans, "invoke_agent")
    assert ("gen_ai.input.messages" in run.attributes) == content


async def test_a_failed_run_reports_only_the_class_of_its_error(tmp_path, traced):
    spans = traced()

    def broken() -> str:
        """Raise an error with secret text."""
        raise RuntimeError("hidden words")

    from showandtell.agent.tools import by_name

    async with serving(tmp_path, tools=tuple(by_name([broken]).values())) as site:
        await site.post("/broken")
    (tool,) = named(spans, "execute_tool")
    assert (tool.attributes["error.type"], tool.status.is_ok, tool.events) == ("tool_error", False, ())
    assert "hidden words" not in " ".join(one.to_json() for one in spans())


async def test_runs_are_counted_and_a_failing_watcher_does_not_break_them(tmp_path, traced):
    traced()
    async with serving(tmp_path) as site:
        executor = site.server.runs._job

        def fail(_):
            raise RuntimeError("a watcher failed")

        executor._watchers = (*executor._watchers, lambda _: fail)
        status, chunks = await site.post("Hello")
        async with site.session.get("/metrics") as response:
            metrics = await response.text()
    assert (status, chunks[-1]["type"]) == (200, "finish")
    assert 'showandtell_runs_total{model="inspector",status="complete"} 1.0' in metrics


SCRIPT = """
import asyncio, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, ConsoleSpanExporter
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda one: one.name + str(dict(one.attributes)) + chr(10))))
trace.set_tracer_provider(provider)
from support.middleware_app import send
from showandtell.server.app import make_app
from showandtell.server.config import Config
asyncio.run(send(make_app(Config()), "GET", "/nowhere/secret?word=secret", {"host": "127.0.0.1"}))
"""


def test_the_span_of_a_request_does_not_contain_its_address():
    environ = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environ)  # noqa: S603
    (line,) = process.stdout.splitlines()
    assert line.startswith("GET none{")
    assert "'http.response.status_code': 404" in line
    assert "secret" not in line


def test_a_variable_enables_content():
    assert [make_telemetry({"SHOWANDTELL_TELEMETRY_CONTENT": one}).content for one in ("", "0", "no", "1")] == [
        False,
        False,
        False,
        True,
    ]
