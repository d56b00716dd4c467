"""Traces by OpenTelemetry's GenAI conventions: spans of requests, runs, steps and tool calls; files by their sha256.

Where nobody collects spans they cost next to nothing. FastAPI's own are off (see `FASTAPI`): they hold whole addresses.
Words and arguments are in them where SHOWANDTELL_TELEMETRY_CONTENT is 1; bytes never are.
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
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_tracer, set_span_in_context
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
#: Nothing of FastAPI's own, but for the exporters that it makes where FASTAPI_OTEL_AUTO_CONFIGURE is "true".
FASTAPI: TelemetryConfig = {"exclude": lambda _: True, "metrics": False, "logs": False, "operation_spans": False}
#: What the conventions call providers, where we call them otherwise.
PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
#: The same for why a message ended.
REASONS: Mapping[str, str] = {"end": "stop", "tool_calls": "tool_call", "refusal": "content_filter"}


def make_telemetry(environ: Mapping[str, str] = os.environ) -> Telemetry:
    """What makes traces for whoever collects them in this process."""
    return Telemetry(get_tracer(NAME), content=environ.get(VARIABLE, "") in {"1", "true"})


class Telemetry:
    """Makes spans with a tracer; with `content` also what was said."""

    def __init__(self, tracer: Tracer, *, content: bool = False) -> None:
        self.tracer, self.content = tracer, content

    def watch(self, going: LiveRun) -> Callable[[Event], None]:
        """What is to be given every event of a run, in order."""
        provider, _, model = going.row.model.partition(":")
        asked = {
            "gen_ai.provider.name": PROVIDERS.get(provider, provider),
            "gen_ai.request.model": model or provider,
            "gen_ai.conversation.id": going.row.conversation_id,
        }
        own = {"gen_ai.agent.name": NAME, "showandtell.run.id": going.row.id}
        attributes = {"gen_ai.operation.name": "invoke_agent", **asked, **own}
        span = self.tracer.start_span(f"invoke_agent {NAME}", attributes=attributes)
        if not span.is_recording():
            return ignore
        files = going.conversation.attachments
        watched = RunSpans(self, span, asked, files)
        if self.content:
            words = [part.text for draft in going.asked.drafts for part in draft.parts if isinstance(part, Text)]
            watched.tell(span, "gen_ai.input.messages", "user", [text_part(one) for one in words])
        return watched.take

    @contextmanager
    def trace_visit(self, visit: RequestRecord) -> Generator[None]:
        """A span around a request, by the template of its route and never by what somebody wrote."""
        if visit.is_probe:
            yield
            return
        method, within = visit.scope["method"], extract(dict(Headers(scope=visit.scope)))
        asked = {"http.request.method": method, "url.scheme": visit.scope["scheme"]}
        with self.tracer.start_as_current_span(
            method, within, SpanKind.SERVER, asked, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            finally:
                span.update_name(f"{method} {visit.route}")
                span.set_attributes({"http.route": visit.route, "http.response.status_code": visit.status})
                if visit.status >= 500:
                    fail(span, str(visit.status))

    def start_within(self, parent: Span, operation: str, what: str, *, client: bool, **attributes: Any) -> Span:
        """A span that begins now inside another; `client`: it is a call to somebody else's service."""
        kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
        attributes["gen_ai.operation.name"] = operation
        within = set_span_in_context(parent)
        return self.tracer.start_span(f"{operation} {what}", within, kind, attributes)


@dataclass(slots=True)
class RunSpans:
    """The spans of one run: its own, that of the step that goes on, and those of the tools that run."""

    telemetry: Telemetry
    run: Span
    asked: Mapping[str, Any]
    files: Mapping[int, Attachment]
    step: Span | None = None
    since: float | None = None
    tools: dict[str, Span] = field(default_factory=dict[str, Span])
    shown: list[int] = field(default_factory=list[int])
    words: list[str] = field(default_factory=list[str])

    def take(self, event: Event) -> None:
        """Note what an event says."""
        match event:
            case StepStart(step):
                self._begin_step(step)
            case TextDelta(_, text):
                self._hear_first()
                if self.telemetry.content:
                    self.words.append(text)
            case ReasoningDelta() | ToolInputStart():
                self._hear_first()
            case StepEnd(stop, usage):
                self._end_step(stop, usage)
            case StepFinish(_, stop, usage):
                self._end_step(stop, usage)
            case ToolStart(call_id, tool, arguments):
                self._begin_tool(call_id, tool, arguments)
            case ToolOutput():
                self._end_tool(event)
            case FileEvent(number):
                add_files(self.run, "showandtell.files.made", self._parts([number]))
            case ReceiptEvent(_, receipt):
                if isinstance(number := receipt.get("number"), int) and receipt.get("delivery") != "noted":
                    self.shown.append(number)
            case Retry(_, seconds, files):
                noted = {"showandtell.retry.seconds": seconds, "showandtell.retry.without": list(files)}
                (self.step or self.run).add_event("showandtell.retry", noted)
            case ErrorEvent(kind):
                for span in (self.step, self.run):
                    fail(span, kind)
            case Finish(status, reason, usage):
                self._finish(status, reason, usage)
            case _:
                pass

    def _begin_step(self, step: int) -> None:
        self._leave_step()
        model = str(self.asked["gen_ai.request.model"])
        more = {**self.asked, "gen_ai.request.stream": True, "showandtell.step": step}
        self.step = self.telemetry.start_within(self.run, "chat", model, client=True, **more)
        self.since = time.monotonic()

    def _hear_first(self) -> None:
        if self.since is not None and self.step is not None:
            self.step.set_attribute("gen_ai.response.time_to_first_chunk", time.monotonic() - self.since)
            self.since = None

    def _end_step(self, stop: str, usage: Usage) -> None:
        if self.step is not None:
            self.step.set_attribute("gen_ai.response.finish_reasons", [REASONS.get(stop, stop)])
            self.step.set_attributes(usage_of(usage))
            self._leave_step()

    def _leave_step(self) -> None:
        """End the step's span, with the files that the model was given in it."""
        step, self.step, self.since = self.step, None, None
        if step is not None:
            add_files(step, "showandtell.files.given", self._parts(self.shown))
            self.tell(step, "gen_ai.output.messages", "assistant", [text_part("".join(self.words))])
            step.end()
        self.shown, self.words = [], []

    def _begin_tool(self, call_id: str, tool: str, arguments: str) -> None:
        named = {"gen_ai.tool.name": tool, "gen_ai.tool.call.id": call_id, "gen_ai.tool.type": "function"}
        if self.telemetry.content:
            named["gen_ai.tool.call.arguments"] = arguments
        self.tools[call_id] = self.telemetry.start_within(self.run, "execute_tool", tool, client=False, **named)

    def _end_tool(self, event: ToolOutput) -> None:
        span = self.tools.pop(event.call_id, None)
        if span is None:
            return
        add_files(span, "showandtell.files.made", self._parts(event.files))
        if self.telemetry.content:
            span.set_attribute("gen_ai.tool.call.result", event.text)
        if event.is_error:
            fail(span, "tool_error")
        span.end()

    def _finish(self, status: str, reason: str | None, usage: Usage) -> None:
        self._leave_step()
        for span in self.tools.values():
            fail(span, "cancelled")
            span.end()
        self.tools.clear()
        self.run.set_attribute("showandtell.run.status", status)
        if status == "incomplete" and reason:  # one of our own words; of an error it could be a provider's sentence
            self.run.set_attribute("showandtell.run.reason", reason)
        self.run.set_attributes(usage_of(usage))
        self.run.end()

    def _parts(self, numbers: Sequence[int]) -> list[dict[str, str]]:
        found = [self.files.get(number) for number in numbers]
        return [uri_part(one) for one in found if one is not None and one.facts is not None]

    def tell(self, span: Span, attribute: str, role: str, parts: list[dict[str, str]]) -> None:
        """Add a message to a span, where content is wanted."""
        if self.telemetry.content:
            span.set_attribute(attribute, msgspec.json.encode([{"role": role, "parts": parts}]).decode())


def text_part(words: str) -> dict[str, str]:
    """Words as the conventions write them."""
    return {"type": "text", "content": words}


def uri_part(file: Attachment) -> dict[str, str]:
    """A file as the conventions write it: by an address that is the same wherever its bytes are; not by its name."""
    if file.facts is None:
        raise ValueError(file.id)
    uri = f"{NAME}://sha256/{file.facts.sha256}?size={file.facts.size}"
    return {"type": "uri", "modality": file.kind, "mime_type": file.facts.media_type, "uri": uri}


def add_files(span: Span, attribute: str, parts: list[dict[str, str]]) -> None:
    """Note files on a span; none are not noted."""
    if parts:
        span.set_attribute(attribute, [msgspec.json.encode(one).decode() for one in parts])


def usage_of(usage: Usage) -> dict[str, int]:
    """Tokens by the conventions' names; what a provider doesn't tell is left out."""
    found = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    }
    return {name: count for name, count in found.items() if count}


def fail(span: Span | None, kind: str) -> None:
    """Mark a span as failed, by the error's class and none of its words."""
    if span is not None:
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))
