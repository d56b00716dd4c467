"""Traces with OpenTelemetry's GenAI conventions: spans of requests, runs, steps and tool calls; files by their sha256.

Without a collector, spans cost next to nothing. FastAPI's own spans are off (see `FASTAPI`): they contain full URLs.
Spans contain texts and arguments if SHOWANDTELL_TELEMETRY_CONTENT is 1, and never bytes.
Attributes: open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md and gen-ai-agent-spans.md, read in
November 2026.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from fastapi.telemetry import TelemetryConfig
from opentelemetry.context import Context
from opentelemetry.propagate import extract
from opentelemetry.trace import (
    ProxyTracer,
    ProxyTracerProvider,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_tracer,
    get_tracer_provider,
    set_span_in_context,
)
from starlette.datastructures import Headers

from showandtell.core.events.types import (
    ErrorEvent,
    Event,
    FileEvent,
    Finish,
    ReasoningDelta,
    ReceiptEvent,
    Retry,
    StepEnd,
    StepFinish,
    StepStart,
    TextDelta,
    ToolInputStart,
    ToolOutput,
    ToolStart,
    Usage,
)
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.parts import Text
from showandtell.server.observability.requests import RequestRecord
from showandtell.server.runs.execute import ignore
from showandtell.server.runs.live_run import LiveRun

VARIABLE = "SHOWANDTELL_TELEMETRY_CONTENT"
NAME = "showandtell"
#: Disables FastAPI's telemetry, except for the exporters that it creates if FASTAPI_OTEL_AUTO_CONFIGURE is "true".
FASTAPI: TelemetryConfig = {"exclude": lambda _: True, "metrics": False, "logs": False, "operation_spans": False}
#: Provider names of the conventions that differ from ours.
PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
#: Finish reasons of the conventions that differ from ours.
REASONS: Mapping[str, str] = {"end": "stop", "tool_calls": "tool_call", "refusal": "content_filter"}


def make_telemetry(environ: Mapping[str, str] = os.environ) -> Telemetry:
    """Return the telemetry for this process's tracer provider."""
    return Telemetry(get_tracer(NAME), content=environ.get(VARIABLE, "") in {"1", "true"})


class Telemetry:
    """Makes spans with a tracer. With `content`, spans include texts and tool arguments."""

    def __init__(self, tracer: Tracer, *, content: bool = False) -> None:
        self.tracer, self.content = tracer, content

    @property
    def is_off(self) -> bool:
        """Whether nothing takes spans so far."""
        return isinstance(self.tracer, ProxyTracer) and isinstance(get_tracer_provider(), ProxyTracerProvider)

    def watch(self, live_run: LiveRun) -> Callable[[Event], None]:
        """Start the span of a run, and return the function to call with each of its events, in order."""
        if self.is_off:
            return ignore
        common = common_attributes(live_run)
        own = {"gen_ai.agent.name": NAME, "showandtell.run.id": live_run.row.id}
        attributes = {"gen_ai.operation.name": "invoke_agent", **common, **own}
        span = self.tracer.start_span(f"invoke_agent {NAME}", attributes=attributes)
        if not span.is_recording():
            return ignore
        files = live_run.conversation.attachments
        spans = RunSpans(self, span, common, files)
        if self.content:
            texts = [part.text for draft in live_run.request.drafts for part in draft.parts if isinstance(part, Text)]
            spans.add_message(span, "gen_ai.input.messages", "user", [text_part(text) for text in texts])
        return spans.record

    def count_title(self, live_run: LiveRun, usage: Usage) -> None:
        """Add a span for a request for a conversation's title, which belongs to no run."""
        if not self.is_off:
            attributes = {**common_attributes(live_run), **usage_attributes(usage), "showandtell.purpose": "title"}
            model, operation = attributes["gen_ai.request.model"], {"gen_ai.operation.name": "chat"}
            self.tracer.start_span(f"chat {model}", Context(), SpanKind.CLIENT, {**operation, **attributes}).end()

    @contextmanager
    def trace_request(self, record: RequestRecord) -> Generator[None]:
        """Wrap a request in a span named after the template of its route, never the client's path."""
        if record.is_probe or self.is_off:
            yield
            return
        method, parent = record.scope["method"], extract(dict(Headers(scope=record.scope)))
        attributes = {"http.request.method": method, "url.scheme": record.scope["scheme"]}
        with self.tracer.start_as_current_span(
            method, parent, SpanKind.SERVER, attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            finally:
                span.update_name(f"{method} {record.route}")
                span.set_attributes({"http.route": record.route, "http.response.status_code": record.status})
                if record.status >= 500:
                    mark_failed(span, str(record.status))

    def start_child(self, parent: Span, operation: str, name: str, *, client: bool, **attributes: Any) -> Span:
        """Start a span inside another. `client` marks a call to an external service."""
        kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
        attributes["gen_ai.operation.name"] = operation
        context = set_span_in_context(parent)
        return self.tracer.start_span(f"{operation} {name}", context, kind, attributes)


@dataclass(slots=True)
class RunSpans:
    """The spans of one run: the run, the current step, and the running tools."""

    telemetry: Telemetry
    run: Span
    common: Mapping[str, Any]
    files: Mapping[int, Attachment]
    step: Span | None = None
    step_started: float | None = None
    tools: dict[str, Span] = field(default_factory=dict[str, Span])
    sent_files: list[int] = field(default_factory=list[int])
    texts: list[str] = field(default_factory=list[str])

    def record(self, event: Event) -> None:
        """Update the spans for an event."""
        match event:
            case StepStart(step):
                self._start_step(step)
            case TextDelta(_, text):
                self._note_first_chunk()
                if self.telemetry.content:
                    self.texts.append(text)
            case ReasoningDelta() | ToolInputStart():
                self._note_first_chunk()
            case StepEnd(stop, usage):
                self._end_step(stop, usage)
            case StepFinish(_, stop, usage):
                self._end_step(stop, usage)
            case ToolStart(call_id, tool, arguments):
                self._start_tool(call_id, tool, arguments)
            case ToolOutput():
                self._end_tool(event)
            case FileEvent(number):
                add_files(self.run, "showandtell.files.made", self._file_parts([number]))
            case ReceiptEvent(_, receipt):
                number, unsent = receipt.get("number"), receipt.get("delivery") in {"noted", "for_tools"}
                if isinstance(number, int) and not unsent:
                    self.sent_files.append(number)
            case Retry(_, seconds, files):
                attributes = {"showandtell.retry.seconds": seconds, "showandtell.retry.without": list(files)}
                (self.step or self.run).add_event("showandtell.retry", attributes)
            case ErrorEvent(kind):
                for span in (self.step, self.run):
                    mark_failed(span, kind)
            case Finish(status, reason, usage):
                self._finish(status, reason, usage)
            case _:
                pass

    def _start_step(self, step: int) -> None:
        self._close_step()
        model = str(self.common["gen_ai.request.model"])
        attributes = {**self.common, "gen_ai.request.stream": True, "showandtell.step": step}
        self.step = self.telemetry.start_child(self.run, "chat", model, client=True, **attributes)
        self.step_started = time.monotonic()

    def _note_first_chunk(self) -> None:
        if self.step_started is not None and self.step is not None:
            self.step.set_attribute("gen_ai.response.time_to_first_chunk", time.monotonic() - self.step_started)
            self.step_started = None

    def _end_step(self, stop: str, usage: Usage) -> None:
        if self.step is not None:
            self.step.set_attribute("gen_ai.response.finish_reasons", [REASONS.get(stop, stop)])
            self.step.set_attributes(usage_attributes(usage))
            self._close_step()

    def _close_step(self) -> None:
        """End the step's span, and add the files that the step sent to the model."""
        step, self.step, self.step_started = self.step, None, None
        if step is not None:
            add_files(step, "showandtell.files.given", self._file_parts(self.sent_files))
            self.add_message(step, "gen_ai.output.messages", "assistant", [text_part("".join(self.texts))])
            step.end()
        self.sent_files, self.texts = [], []

    def _start_tool(self, call_id: str, tool: str, arguments: str) -> None:
        attributes = {"gen_ai.tool.name": tool, "gen_ai.tool.call.id": call_id, "gen_ai.tool.type": "function"}
        if self.telemetry.content:
            attributes["gen_ai.tool.call.arguments"] = arguments
        self.tools[call_id] = self.telemetry.start_child(self.run, "execute_tool", tool, client=False, **attributes)

    def _end_tool(self, event: ToolOutput) -> None:
        span = self.tools.pop(event.call_id, None)
        if span is None:
            return
        add_files(span, "showandtell.files.made", self._file_parts(event.files))
        if self.telemetry.content:
            span.set_attribute("gen_ai.tool.call.result", event.text)
        if event.is_error:
            mark_failed(span, "tool_error")
        span.end()

    def _finish(self, status: str, reason: str | None, usage: Usage) -> None:
        self._close_step()
        for span in self.tools.values():
            mark_failed(span, "cancelled")
            span.end()
        self.tools.clear()
        self.run.set_attribute("showandtell.run.status", status)
        if status == "incomplete" and reason:  # a constant of ours; the reason of an error could be a provider's text
            self.run.set_attribute("showandtell.run.reason", reason)
        self.run.set_attributes(usage_attributes(usage))
        self.run.end()

    def _file_parts(self, numbers: Sequence[int]) -> list[dict[str, str]]:
        files = [self.files.get(number) for number in numbers]
        return [uri_part(file) for file in files if file is not None and file.facts is not None]

    def add_message(self, span: Span, attribute: str, role: str, parts: list[dict[str, str]]) -> None:
        """Add a message to a span if content is enabled."""
        if self.telemetry.content:
            span.set_attribute(attribute, msgspec.json.encode([{"role": role, "parts": parts}]).decode())


def common_attributes(live_run: LiveRun) -> dict[str, str]:
    """Return the attributes of all spans of a run."""
    provider, _, model = live_run.row.model.partition(":")
    return {
        "gen_ai.provider.name": PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model or provider,
        "gen_ai.conversation.id": live_run.row.conversation_id,
    }


def text_part(text: str) -> dict[str, str]:
    """Return a text part as defined by the conventions."""
    return {"type": "text", "content": text}


def uri_part(file: Attachment) -> dict[str, str]:
    """Return a URI part as defined by the conventions. The URI depends on the bytes only, and has no file name."""
    if file.facts is None:
        raise ValueError(file.id)
    uri = f"{NAME}://sha256/{file.facts.sha256}?size={file.facts.size}"
    return {"type": "uri", "modality": file.kind, "mime_type": file.facts.media_type, "uri": uri}


def add_files(span: Span, attribute: str, parts: list[dict[str, str]]) -> None:
    """Set an attribute with files, unless there are none."""
    if parts:
        span.set_attribute(attribute, [msgspec.json.encode(part).decode() for part in parts])


def usage_attributes(usage: Usage) -> dict[str, int]:
    """Return token counts by the conventions' names, without those that the provider doesn't report."""
    counts = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    }
    return {name: count for name, count in counts.items() if count}


def mark_failed(span: Span | None, kind: str) -> None:
    """Mark a span as failed, with the error's class and not its message."""
    if span is not None:
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))
