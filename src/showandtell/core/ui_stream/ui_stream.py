"""Converts the events of a run to the UI message stream, version 1: one answer, which is one message of the client.

A step is started with its first content, so that an empty step leaves no trace. At its end, the sent content is
compared with the stored message; if they differ, the step is reset and sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol
from weakref import WeakMethod

import pybase64

from showandtell.core.events import types
from showandtell.core.events.annotations import Annotation
from showandtell.core.events.replay import ModelChosen, ReplayEvent, UserText, find_step, replay_parts
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.file_json import is_for_all
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Approval, ToolCall
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.step_writer import Chunks, StepWriter, hosted_chunks, output_chunks, source_chunk

#: The stream's finish reason by the run's status, or by its reason if the status is "incomplete".
FINISH_REASONS: dict[str, str] = {
    "complete": "stop",
    "refused": "content-filter",
    "error": "error",
    "waiting": "tool-calls",
    "length": "length",
    "limit": "length",
    "steps": "length",
    "budget": "length",
    "cut": "interrupted",
    "cancelled": "interrupted",
}


#: The events that a step's writer handles.
WRITERS: Mapping[type[Any], Callable[[StepWriter, Any], Chunks]] = {
    types.TextStart: StepWriter.start_text,
    types.TextDelta: StepWriter.add_text,
    types.TextEnd: StepWriter.end_text,
    types.ReasoningStart: StepWriter.start_reasoning,
    types.ReasoningDelta: StepWriter.add_reasoning,
    types.ReasoningEnd: StepWriter.end_reasoning,
    types.ToolInputDelta: StepWriter.add_input,
    types.ToolInputEnd: StepWriter.end_call,
}


class FilePresenter(Protocol):
    """Describes files for this client."""

    def attachment(self, file: Attachment) -> ui.Record:
        """Return a file as JSON: `id`, `media_type`, `url` and more."""
        ...

    def reference(self, file: Attachment) -> ui.Record:
        """Return what stands in place of a file in a tool's JSON."""
        ...

    def derivative_url(self, file: Attachment, sha256: str) -> str | None:
        """Return the URL of a derivative of a file."""
        ...


@dataclass(frozen=True)
class AnswerContext:
    """The context of one answer.

    `start` is the message's initial metadata, `files` are the conversation's files by number, kept up to date, and
    `model` is the requested model. `earlier_receipt` returns the record of a file's last receipt before. `messages`
    returns the messages of the current branch, `now` the current time. `seal` signs calls that wait.
    """

    id: str
    start: ui.Record
    files: Mapping[int, Attachment]
    show: FilePresenter
    model: str
    now: Callable[[], object]
    earlier_receipt: Callable[[int], Mapping[str, object] | None] = lambda _: None
    messages: Callable[[], Sequence[Message]] = tuple
    seal: Callable[[ToolCall], str] | None = None


def answer_id(message_id: str) -> str:
    """Return the id of the answer to a stored user message."""
    return "ans_" + message_id.removeprefix("msg_")


def question_id(message_id: str) -> str:
    """Return the id of the stored user message of an answer. Returns any other id unchanged."""
    return "msg_" + message_id.removeprefix("ans_") if message_id.startswith("ans_") else message_id


class UiStream:
    """Converts a run's events one by one to bytes of the stream."""

    def __init__(self, answer: AnswerContext) -> None:
        self._answer, self._model = answer, answer.model
        self._writer = StepWriter(self._open_step_of_writer())
        self._step, self._is_open, self._is_live, self._sources = 0, False, True, 0
        self._pending: dict[int, dict[str, object]] = {}
        self._latest: dict[int, Mapping[str, object]] = {}
        self._step_receipts: list[dict[str, object]] = []
        self._file_chunks: list[ui.Chunk] = []
        self._calls: set[str] = set()
        self._approvals: set[str] = set()
        self._denied: set[str] = set()
        self._error: str | None = None
        self._usage = types.Usage()

    def start(self) -> bytes:
        """Return the bytes that start or continue the answer."""
        return ui.serialize(self.start_chunk())

    def feed(self, event: ReplayEvent) -> bytes:
        """Return the bytes of one event, or b"" for events that clients don't need."""
        chunks = self.chunks(event)
        if len(chunks) == 1 and not isinstance(chunks[0], ui.End):
            return ui.serialize(chunks[0])
        done = ui.DONE if isinstance(event, types.Finish) else b""
        return b"".join([ui.serialize(chunk) for chunk in chunks]) + done

    def start_chunk(self) -> ui.Start:
        """Return the chunk of `start`."""
        return ui.Start(self._answer.id, self._answer.start)

    def chunks(self, event: ReplayEvent) -> Chunks:
        """Return the chunks of `feed`."""
        kind = type(event)
        if (write := WRITERS.get(kind)) is not None:
            return write(self._writer, event)
        handler = self._HANDLERS.get(kind)
        return () if handler is None else handler(self, event)

    def replay_chunks(self, events: Iterable[ReplayEvent]) -> list[ui.Chunk]:
        """Return the chunks of `replay`, with the last step still open."""
        self._is_live = False
        chunks = [chunk for event in events for chunk in self.chunks(event)]
        self._is_live = True
        return chunks

    def replay(self, events: Iterable[ReplayEvent]) -> bytes:
        """Feed the stored events of an earlier run of this answer, before the first event of this run.

        Returns their bytes, for clients that have nothing of the answer yet. The last step is closed at their end.
        """
        return b"".join([ui.serialize(chunk) for chunk in (*self.replay_chunks(events), *self._close_step())])

    def _on_model(self, event: ModelChosen) -> Chunks:
        self._model = event.model
        return ()

    def _start_step(self, event: types.StepStart) -> Chunks:
        chunks = self._close_step()
        if self._is_live:
            self._model = self._answer.model
        self._pending.clear()
        self._reset_step(event.step)
        return chunks

    def _close_step(self) -> list[ui.Chunk]:
        """Return the chunks that end the open step, if any."""
        chunks: list[ui.Chunk] = [*self._writer.end(drop_held=True), ui.FinishStep()] if self._is_open else []
        self._is_open = False
        return chunks

    def _reset_step(self, step: int) -> None:
        """Make `step` the current step, without content."""
        self._step, self._sources = step, 0
        self._step_receipts.clear()
        self._file_chunks.clear()
        self._writer.start(step, hold_files=self._is_live)

    def _open_step(self) -> Chunks:
        """Return the chunks that start the step, if it hasn't started, and its new receipts."""
        if self._is_open and not self._pending:
            return ()
        opening: list[ui.Chunk] = [] if self._is_open else [ui.StartStep()]
        self._is_open = True
        fresh = [self._pending[number] for number in sorted(self._pending)]
        self._step_receipts += fresh
        self._pending.clear()
        return [*opening, *map(self._receipt_chunk, fresh)]

    def _on_receipt(self, event: types.ReceiptEvent) -> Chunks:
        """Queue a receipt. A retried step may return to an earlier receipt; then nothing is sent."""
        record = event.receipt
        number = int(str(record["number"]))
        if number in self._pending and (self._latest.get(number) or self._answer.earlier_receipt(number)) == record:
            del self._pending[number]
        else:
            self._pending[number] = record
        return ()

    def _receipt_chunk(self, record: dict[str, object]) -> ui.ReceiptData:
        number = int(str(record["number"]))
        self._latest[number] = record
        file = self._answer.files.get(number)
        variants = (
            []
            if file is None
            else [
                {**derivative, "url": self._answer.show.derivative_url(file, derivative["sha256"])}
                for derivative in derivatives_of(record)
            ]
        )
        return ui.ReceiptData(f"{self._step}.{number}", {"step": self._step, **record, "variants": variants})

    def _start_call(self, event: types.ToolInputStart) -> Chunks:
        self._calls.add(event.call_id)
        return self._writer.start_call(event)

    def _on_hosted(self, event: types.HostedCall) -> Chunks:
        opening = () if event.call_id in self._calls else self._open_step()
        self._calls.add(event.call_id)
        return (*opening, *hosted_chunks(event))

    def _on_source(self, event: types.SourceEvent) -> Chunks:
        self._sources += 1
        file = None if event.source.number is None else self._answer.files.get(event.source.number)
        return (*self._open_step(), source_chunk(f"{self._step}.source.{self._sources}", event.source, file))

    def _end_step(self, event: types.StepFinish) -> Chunks:
        self._usage += event.usage
        stored = find_step(self._answer.messages(), event.step) if self._is_live else None
        differs = stored is not None and self._writer.differs(stored, event.asides)
        chunks = [*self._open_step(), *self._writer.end(drop_held=differs)]
        if stored is not None and differs:
            chunks += (
                ui.ResetStep(),
                *map(self._receipt_chunk, self._step_receipts),
                *self._replay_stored(stored, event.asides),
            )
            chunks += self._file_chunks
        data = {"step": event.step, "model": self._model, "usage": event.usage, "stop": event.stop}
        self._reset_step(event.step)
        return [*chunks, ui.StepData(f"step {event.step}", data)]

    def _replay_stored(self, stored: Message, asides: Sequence[Annotation]) -> list[ui.Chunk]:
        """Return the chunks of the stored message, to replace what was sent."""
        self._writer.start(self._step, hold_files=False)
        chunks = [chunk for event in replay_parts(stored, asides) for chunk in self.chunks(event)]
        return [*chunks, *self._writer.end()]

    def _on_file(self, event: types.FileEvent) -> Chunks:
        """A file of this answer becomes part of its message; other files are sent as transient."""
        file = self._answer.files.get(event.number)
        if file is None:
            return ()
        data = self._answer.show.attachment(file)
        if not is_models_own(file) and file.origin.call_id not in self._calls:
            return (ui.AttachmentData(file.id, data, transient=True),)
        chunks: list[ui.Chunk] = [ui.AttachmentData(file.id, data)]
        if data["url"] is not None and is_for_all(file):
            chunks.append(ui.FileLink(data["url"], file.media_type))
        opening = self._open_step()
        if is_models_own(file):
            self._file_chunks += chunks
        return [*opening, *chunks]

    def _on_output(self, event: types.ToolOutput) -> Chunks:
        """Return the result of a call, unless the call belongs to an earlier answer."""
        if event.call_id not in self._calls:
            return ()
        if event.call_id in self._denied:
            return (ui.OutputDenied(event.call_id),)
        return output_chunks(event, self._refer)

    def _on_user_text(self, event: UserText) -> Chunks:
        return (*self._open_step(), ui.UserTextData(f"{self._step}.text.{event.id}", {"text": event.text}))

    def _refer(self, number: int) -> object:
        """Return the reference of a file in a tool's JSON."""
        file = self._answer.files.get(number)
        return None if file is None else self._answer.show.reference(file)

    def _on_progress(self, event: types.ToolProgress) -> Chunks:
        data = {"tool_call_id": event.call_id, "done": event.done, "total": event.total, "note": event.note}
        if event.preview is not None:
            picture = pybase64.b64encode_as_string(event.preview.read())
            data["preview"] = f"data:{event.preview.media_type};base64,{picture}"
        return (ui.ProgressData(data),)

    def _on_retry(self, event: types.Retry) -> Chunks:
        return (ui.RetryData({"reason": event.reason, "seconds": event.seconds, "files": event.files}),)

    def _on_approval_needed(self, event: types.ApprovalNeeded) -> Chunks:
        if event.call_id not in self._calls:
            return ()
        self._approvals.add(event.call_id)
        seal = self._answer.seal
        signature = seal(ToolCall(event.call_id, event.tool, event.arguments)) if seal else None
        return (ui.ApprovalRequest(event.call_id, event.call_id, signature),)

    def _on_approval(self, event: Approval) -> Chunks:
        if event.call_id not in self._approvals:
            return ()
        (self._denied.discard if event.approved else self._denied.add)(event.call_id)
        return (ui.ApprovalResponse(event.call_id, event.approved, event.reason or None),)

    def _on_error(self, event: types.ErrorEvent) -> Chunks:
        """Store an error until the end, because the stock client ignores everything after an error."""
        self._error = event.text
        return ()

    def _finish(self, event: types.Finish) -> Chunks:
        chunks = self._close_step()
        metadata = {
            "status": event.status,
            "reason": event.reason,
            "usage": self._usage,  # of the complete answer, including what came before an approval
            "finished": self._answer.now(),
        }
        if event.status == "error" or self._error is not None:
            # The stock client stops reading at the error, so the metadata of the finish chunk would be lost.
            chunks += (ui.Metadata(metadata), ui.Error(self._error or event.reason or "the run failed"))
        elif event.reason == "cancelled":
            chunks.append(ui.Abort("cancelled"))
        reason = event.reason or "" if event.status == "incomplete" else event.status
        return [*chunks, ui.End(FINISH_REASONS.get(reason, "other"), metadata)]

    def _open_step_of_writer(self) -> Callable[[], Chunks]:
        """Return `_open_step` for the writer, which doesn't keep this stream alive: that would be a circle."""
        method = WeakMethod(self._open_step)

        def open_step() -> Chunks:
            own = method()
            return () if own is None else own()

        return open_step

    #: What handles the other events. With bound methods, a stream would wait for the garbage collection to be freed.
    _HANDLERS: ClassVar[Mapping[type[Any], Callable[[Any, Any], Chunks]]] = {
        types.ToolInputStart: _start_call,
        types.HostedCall: _on_hosted,
        types.SourceEvent: _on_source,
        types.StepStart: _start_step,
        types.StepFinish: _end_step,
        types.ToolProgress: _on_progress,
        types.ToolOutput: _on_output,
        types.FileEvent: _on_file,
        types.ReceiptEvent: _on_receipt,
        types.ApprovalNeeded: _on_approval_needed,
        types.Retry: _on_retry,
        types.ErrorEvent: _on_error,
        types.Finish: _finish,
        Approval: _on_approval,
        ModelChosen: _on_model,
        UserText: _on_user_text,
    }


def is_models_own(file: Attachment) -> bool:
    """Whether a file is part of the model's message: it or a tool of its provider made it."""
    return file.origin.by in {"assistant", "provider"}


def derivatives_of(record: Mapping[str, Any]) -> list[ui.Record]:
    """Return the derivatives in a receipt's record, each with its page or second if every one has one."""
    files: Sequence[ui.Record] = record.get("variants") or ()
    places = {"page": record.get("pages") or (), "seconds": record.get("times") or ()}
    complete = {name: values for name, values in places.items() if len(values) == len(files)}
    return [{**file, **{name: values[index] for name, values in complete.items()}} for index, file in enumerate(files)]
