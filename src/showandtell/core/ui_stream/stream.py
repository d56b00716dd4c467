"""Events of a run become the UI message stream, version 1: one answer, which is one message of the client.

A step begins in the stream with its first word, so that one of which nothing was said leaves no trace. What was sent of
a step is compared with the message that was stored, and where they differ that step is told anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from showandtell.core.events import types
from showandtell.core.events.annotations import Aside
from showandtell.core.events.replay import ModelChosen, Retold, find_step, replay_parts
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Approval
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.step import Chunks, Saying

#: What the end of a run is called in the stream, by status, and by reason where it is incomplete.
ENDS: dict[str, str] = {
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


class Show(Protocol):
    """How files are shown to this client."""

    def attachment(self, file: Attachment) -> ui.Record:
        """A file as JSON: `id`, `media_type`, `url` and more."""
        ...

    def variant(self, file: Attachment, sha256: str) -> str:
        """The URL of a conversion of a file."""
        ...


@dataclass(frozen=True)
class AnswerContext:
    """What one answer is told with. `files` are the conversation's by number, as they are at any time.

    `start` is the metadata that is known at the start, `model` who is asked, `receipts` the records of what the model
    was given of each file before. `messages` gives those of the branch that is talked on, `now` the time of the end.
    """

    id: str
    start: ui.Record
    files: Mapping[int, Attachment]
    show: Show
    model: str
    now: Callable[[], object]
    receipts: Mapping[int, Mapping[str, object]] = field(default_factory=dict[int, Mapping[str, object]])
    messages: Callable[[], Sequence[Message]] = tuple


def answer_id(message_id: str) -> str:
    """The id of the answer to a stored user message."""
    return "ans_" + message_id.removeprefix("msg_")


def question_id(message_id: str) -> str:
    """The id of the stored user message that an answer's id belongs to; any other id as it is."""
    return "msg_" + message_id.removeprefix("ans_") if message_id.startswith("ans_") else message_id


class UiStream:
    """Takes a run's events one by one and gives the bytes that tell of each, if any."""

    def __init__(self, answer: AnswerContext) -> None:
        self._answer, self._model = answer, answer.model
        self._saying = Saying(self._open_step)
        self._step, self._is_open, self._is_live = 0, False, True
        self._pending: dict[int, dict[str, object]] = {}
        self._latest = {number: dict(record) for number, record in answer.receipts.items()}
        self._given: list[dict[str, object]] = []
        self._made: list[ui.Chunk] = []
        self._calls: set[str] = set()
        self._asked: set[str] = set()
        self._denied: set[str] = set()
        self._error: str | None = None
        self._usage = types.Usage()
        self._deeds: dict[type[Any], Callable[[Any], Chunks]] = {
            types.TextStart: self._saying.start_text,
            types.TextDelta: self._saying.add_text,
            types.TextEnd: self._saying.end_text,
            types.ReasoningStart: self._saying.start_thought,
            types.ReasoningDelta: self._saying.add_thought,
            types.ReasoningEnd: self._saying.end_thought,
            types.ToolInputStart: self._start_call,
            types.ToolInputDelta: self._saying.add_input,
            types.ToolInputEnd: self._saying.end_call,
            types.StepStart: self._start_step,
            types.StepFinish: self._end_step,
            types.ToolProgress: self._tell_progress,
            types.ToolOutput: self._tell_output,
            types.FileEvent: self._tell_file,
            types.ReceiptEvent: self._keep_receipt,
            types.ApprovalNeeded: self._ask_person,
            types.Retry: self._tell_retry,
            types.ErrorEvent: self._keep_error,
            types.Finish: self._finish,
            Approval: self._tell_approval,
            ModelChosen: self._name_model,
        }

    def start(self) -> bytes:
        """The answer begins, or goes on."""
        return ui.spell(self.begin())

    def take(self, event: Retold) -> bytes:
        """What is sent for one event; nothing for those that a page doesn't need."""
        chunks = self.chunks(event)
        if len(chunks) == 1 and not isinstance(chunks[0], ui.End):
            return ui.spell(chunks[0])
        done = ui.DONE if isinstance(event, types.Finish) else b""
        return b"".join([ui.spell(chunk) for chunk in chunks]) + done

    def begin(self) -> ui.Start:
        """The chunk of `start`."""
        return ui.Start(self._answer.id, self._answer.start)

    def chunks(self, event: Retold) -> Chunks:
        """The chunks of `take`."""
        deed = self._deeds.get(type(event))
        return () if deed is None else deed(event)

    def replay(self, retold: Iterable[Retold]) -> list[ui.Chunk]:
        """The chunks of `look_back`."""
        self._is_live = False
        found = [chunk for event in retold for chunk in self.chunks(event)]
        self._is_live = True
        return found

    def look_back(self, retold: Iterable[Retold]) -> bytes:
        """Take what an earlier run of this answer has stored, before the first event of this one.

        Gives its chunks, for readers that hold nothing of the answer yet; whoever reads on from here has its last step
        ended already.
        """
        return b"".join([ui.spell(chunk) for chunk in (*self.replay(retold), *self._close_step())])

    def _name_model(self, event: ModelChosen) -> Chunks:
        self._model = event.model
        return ()

    def _start_step(self, event: types.StepStart) -> Chunks:
        found = self._close_step()
        if self._is_live:
            self._model = self._answer.model
        self._pending.clear()
        self._say(event.step)
        return found

    def _close_step(self) -> list[ui.Chunk]:
        """What ends a step, if one is open."""
        found: list[ui.Chunk] = [*self._saying.end(drops=True), ui.FinishStep()] if self._is_open else []
        self._is_open = False
        return found

    def _say(self, step: int) -> None:
        """From now on this step is said."""
        self._step = step
        self._given.clear()
        self._made.clear()
        self._saying.begin(step, watches=self._is_live)

    def _open_step(self) -> Chunks:
        """What begins the step, unless it has begun: that it does, and what the model was given."""
        if self._is_open and not self._pending:
            return ()
        opening: list[ui.Chunk] = [] if self._is_open else [ui.StartStep()]
        self._is_open = True
        fresh = [self._pending[number] for number in sorted(self._pending)]
        self._given += fresh
        self._pending.clear()
        return [*opening, *map(self._show_receipt, fresh)]

    def _keep_receipt(self, event: types.ReceiptEvent) -> Chunks:
        """A step that is asked again may be given a file as it was before: then nothing is told of it."""
        record = event.receipt
        number = int(str(record["number"]))
        if number in self._pending and self._latest.get(number) == record:
            del self._pending[number]
        else:
            self._pending[number] = record
        return ()

    def _show_receipt(self, record: dict[str, object]) -> ui.ReceiptData:
        number = int(str(record["number"]))
        self._latest[number] = record
        file = self._answer.files.get(number)
        variants = (
            []
            if file is None
            else [{**one, "url": self._answer.show.variant(file, one["sha256"])} for one in variants_of(record)]
        )
        return ui.ReceiptData(f"{self._step}.{number}", {"step": self._step, **record, "variants": variants})

    def _start_call(self, event: types.ToolInputStart) -> Chunks:
        self._calls.add(event.call_id)
        return self._saying.start_call(event)

    def _end_step(self, event: types.StepFinish) -> Chunks:
        self._usage += event.usage
        stored = find_step(self._answer.messages(), event.step) if self._is_live else None
        differs = stored is not None and self._saying.differs(stored, event.asides)
        found = [*self._open_step(), *self._saying.end(drops=differs)]
        if stored is not None and differs:
            found += (ui.ResetStep(), *map(self._show_receipt, self._given), *self._retell(stored, event.asides))
            found += self._made
        data = {"step": event.step, "model": self._model, "usage": event.usage, "stop": event.stop}
        self._say(event.step)
        return [*found, ui.StepData(f"step {event.step}", data)]

    def _retell(self, stored: Message, asides: Sequence[Aside]) -> list[ui.Chunk]:
        """What was stored of this step, in place of what was sent."""
        self._saying.begin(self._step, watches=False)
        found = [chunk for event in replay_parts(stored, asides) for chunk in self.chunks(event)]
        return [*found, *self._saying.end()]

    def _tell_file(self, event: types.FileEvent) -> Chunks:
        """A file of this answer becomes part of it; of others the client is told."""
        file = self._answer.files.get(event.number)
        if file is None:
            return ()
        data = self._answer.show.attachment(file)
        if file.origin.by != "assistant" and file.origin.call_id not in self._calls:
            return (ui.AttachmentData(file.id, data, transient=True),)
        found: list[ui.Chunk] = [ui.AttachmentData(file.id, data)]
        if has_bytes(file):
            found.append(ui.FileLink(data["url"], file.media_type))
        opening = self._open_step()
        if file.origin.by == "assistant":
            self._made += found
        return [*opening, *found]

    def _tell_output(self, event: types.ToolOutput) -> Chunks:
        """Results of calls of an earlier answer belong to that one."""
        if event.call_id not in self._calls:
            return ()
        if event.call_id in self._denied:
            return (ui.OutputDenied(event.call_id),)
        if event.is_error:
            return (ui.OutputError(event.call_id, event.text),)
        return (ui.Output(event.call_id, {"text": event.text, "files": event.files}),)

    def _tell_progress(self, event: types.ToolProgress) -> Chunks:
        data = {"tool_call_id": event.call_id, "done": event.done, "total": event.total, "note": event.note}
        return (ui.ProgressData(data),)

    def _tell_retry(self, event: types.Retry) -> Chunks:
        return (ui.RetryData({"reason": event.reason, "seconds": event.seconds, "files": event.files}),)

    def _ask_person(self, event: types.ApprovalNeeded) -> Chunks:
        if event.call_id not in self._calls:
            return ()
        self._asked.add(event.call_id)
        return (ui.ApprovalRequest(event.call_id, event.call_id),)

    def _tell_approval(self, event: Approval) -> Chunks:
        if event.call_id not in self._asked:
            return ()
        (self._denied.discard if event.approved else self._denied.add)(event.call_id)
        return (ui.ApprovalResponse(event.call_id, event.approved, event.reason or None),)

    def _keep_error(self, event: types.ErrorEvent) -> Chunks:
        """An error is told at the end: after one the stock client reads no further."""
        self._error = event.text
        return ()

    def _finish(self, event: types.Finish) -> Chunks:
        found = self._close_step()
        known = {
            "status": event.status,
            "reason": event.reason,
            "usage": self._usage,  # of the whole answer, which may have gone on after a person's yes
            "finished": self._answer.now(),
        }
        if event.status == "error" or self._error is not None:
            # For the stock client metadata that comes with the finish is too late.
            found += (ui.Metadata(known), ui.Error(self._error or event.reason or "the run failed"))
        elif event.reason == "cancelled":
            found.append(ui.Abort("cancelled"))
        why = event.reason or "" if event.status == "incomplete" else event.status
        return [*found, ui.End(ENDS.get(why, "other"), known)]


def variants_of(record: Mapping[str, Any]) -> list[ui.Record]:
    """What was made of a file, of a receipt's record: each with its page or second, where each shows one."""
    files: Sequence[ui.Record] = record.get("variants") or ()
    places = {"page": record.get("pages") or (), "seconds": record.get("times") or ()}
    shown = {name: there for name, there in places.items() if len(there) == len(files)}
    return [{**one, **{name: there[at] for name, there in shown.items()}} for at, one in enumerate(files)]


def has_bytes(file: Attachment) -> bool:
    """Whether a file can be fetched from here."""
    return file.state == "ready" and file.facts is not None and file.problem is None
