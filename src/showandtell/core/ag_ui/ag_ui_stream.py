"""Converts the chunks of the UI message stream to AG-UI events: one run, which may continue an answer.

The UI message stream is what is stored of a run, so that a live run, a resumed one and one that was taken over are
served in either format from one log. Each step is one assistant message, and so is its text: blocks of it are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, assert_never, cast, get_args

import msgspec
from msgspec import Struct

from showandtell.core.ag_ui import events as ag
from showandtell.core.ag_ui.client_messages import MessageAccumulator
from showandtell.core.ag_ui.content import (
    file_record,
    hosted_record,
    is_for_user,
    output_of,
    result_content,
    source_record,
)
from showandtell.core.ag_ui.run_input import RunInput
from showandtell.core.events.types import Usage
from showandtell.core.messages.parts import ToolCall
from showandtell.core.ui_stream import chunks as ui
from showandtell.core.ui_stream.chunks import Record
from showandtell.core.wire.sse import Splitter

RECEIPT, FILE, HOSTED, SOURCE = (f"showandtell.{name}" for name in ("receipt", "file", "hosted_tool", "source"))
USER_TEXT = "showandtell.user_text"
PROGRESS, RETRY, WORKER = "showandtell.progress", "showandtell.retry", "showandtell.worker"
DENIED = "the user denied this call"
#: JSON schema of the payload that resolves an interrupt. A cancelled interrupt denies the call, too.
APPROVAL_SCHEMA: Record = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
#: Maximum characters of a call's arguments in the question to the user.
MAX_ARGUMENTS = 500

Events = Sequence[ag.Event]


@dataclass(frozen=True)
class AgUiContext:
    """The context of one run's stream.

    `is_legacy` is a peer of 0.0.x. `messages` returns what the client has, as JSON, and `state` is its state. `steps`
    is the number of steps that it already has of the answer. `is_repeat`: it may have more, which is sent again.
    `history` are the messages before the answer, if the client may not have them.
    `files` returns the files of the conversation as `attachment_json`, `seal` the seal of a call that the client holds.
    """

    thread_id: str
    run_id: str
    parent_run_id: str | None = None
    is_legacy: bool = False
    messages: Callable[[], Sequence[Any]] = tuple
    state: object = None
    steps: int = 0
    is_repeat: bool = False
    history: Sequence[Record] | None = None
    files: Callable[[], Iterable[Record]] = tuple
    seal: Callable[[ToolCall], str] | None = None

    @classmethod
    def of(cls, request: RunInput, **settings: Any) -> Self:
        """The context of a response to a request, with the other fields in `settings`."""
        return cls(
            request.thread_id,
            request.run_id,
            request.parent_run_id,
            is_legacy=request.is_legacy,
            messages=request.client_messages,
            state=request.state,
            **settings,
        )


class AgUiStream:
    """Converts the chunks of one run one by one."""

    def __init__(self, context: AgUiContext) -> None:
        self._context = context
        self._sse = Splitter()
        self._own = MessageAccumulator()
        self._answer, self._step = "", context.steps
        self._conversation_id: object = None
        self._step_start = 0
        self._held: list[ag.Event] = []
        self._is_reset = self._is_cancelled = self._has_ended = False
        self._open_texts = set[str]()
        self._calls: dict[str, tuple[str, list[str]]] = {}
        self._broken: dict[str, str] = {}
        self._interrupts: dict[str, ag.Interrupt] = {}
        self._files: dict[int, Record] = {}
        self._usage: dict[str, Usage] = {}
        self._hosted: dict[str, Record] = {}

    @property
    def messages(self) -> list[Record]:
        """The messages of the answer so far, as a client has them."""
        return self._own.messages

    def feed_bytes(self, data: bytes) -> bytes:
        """Convert bytes of the stream that end with an event; comments stay as they are."""
        events: list[ag.Event] = []
        blocks = self._sse.feed(data)
        for block in blocks:
            if block != b"[DONE]":
                events += self.feed(_decode(block))
        return b"".join(map(ui.serialize, events)) if blocks else data

    def feed(self, chunk: ui.Chunk | None) -> Events:
        """Convert one chunk. None is a chunk of an unknown type, and makes no event."""
        if chunk is None or self._has_ended:
            return ()
        if isinstance(chunk, ui.ResetStep):
            self._own.cut(self._step_start)
            self._broken.clear()
            self._held.clear()
            self._is_reset = True
            return ()
        events = self._convert(chunk)
        self._own.apply(events)
        if not self._is_reset:
            return events
        self._held += [event for event in events if isinstance(event, ag.ActivitySnapshot | ag.Custom)]
        return self._end_reset() if isinstance(chunk, ui.StepData) else ()

    def _end_reset(self) -> Events:
        """Replace what the client has of a step: it differs from the stored message, and only a snapshot can do that.

        Without activities in a snapshot, clients keep theirs. Requests don't have them.
        """
        held, self._held, self._is_reset = self._held, [], False
        own = [message for message in self._own.messages if message["role"] != "activity"]
        return [ag.MessagesSnapshot([*self._before(), *own]), *held]

    def _before(self) -> Sequence[Any]:
        """The messages before those that this stream sends."""
        context = self._context
        if context.history is not None:
            return context.history
        messages = context.messages()
        return [message for message in messages if not self._is_own(message)] if context.is_repeat else messages

    def _convert(self, chunk: ui.Chunk) -> Events:
        match chunk:
            case ui.Input() | ui.Output() | ui.OutputError() if chunk.provider_executed:
                self._hosted[chunk.tool_call_id] = hosted_record(chunk, self._hosted.get(chunk.tool_call_id, {}))
                name = f"{self._answer}.hosted.{chunk.tool_call_id}"
                return (ag.ActivitySnapshot(name, HOSTED, self._hosted[chunk.tool_call_id]),)
            case ui.Start():
                return self._start(chunk)
            case ui.StartStep():
                self._step += 1
                self._step_start = len(self._own)
                return (ag.StepStarted(f"step {self._step}"),)
            case ui.FinishStep():
                return (*self._close_broken_calls(), ag.StepFinished(f"step {self._step}"))
            case ui.StartText() | ui.MoreText() | ui.EndText():
                return self._text(chunk)
            case ui.StartReasoning() | ui.MoreReasoning() | ui.EndReasoning():
                return self._reasoning(chunk)
            case ui.StartInput() | ui.MoreInput() | ui.Input() | ui.InputError():
                return self._call(chunk)
            case ui.ApprovalRequest() | ui.ApprovalResponse():
                self._approval(chunk)
                return ()
            case ui.Output() | ui.OutputError() | ui.OutputDenied():
                return self._result(chunk)
            case ui.UrlSource() | ui.DocumentSource():
                return (ag.Custom(SOURCE, source_record(chunk)),)
            case ui.AttachmentData():
                return self._file(chunk)
            case ui.UserTextData(name, data):
                return (ag.ActivitySnapshot(f"{self._answer}.{name}", USER_TEXT, data),)
            case ui.ReceiptData(name, data):
                return (ag.ActivitySnapshot(f"{self._answer}.receipt.{name}", RECEIPT, data),)
            case ui.StepData():
                self._count(chunk)
                return ()
            case ui.ProgressData(data):
                return (ag.Custom(PROGRESS, data),)
            case ui.RetryData(data):
                return (ag.Custom(RETRY, data),)
            case ui.WorkerData(data):
                return (ag.Custom(WORKER, data),)
            case ui.Abort():
                self._is_cancelled = True
                return ()
            case ui.Error(text):
                self._has_ended = True
                return (*self._state(), ag.RunError(text))
            case ui.End():
                self._has_ended = True
                return (*self._state(), self._finished(chunk))
            case ui.Metadata() | ui.FileLink() | ui.ResetStep() | ui.QueueData():
                return ()
            case _:
                assert_never(chunk)

    def _start(self, chunk: ui.Start) -> Events:
        context = self._context
        self._answer = chunk.message_id
        self._conversation_id = chunk.message_metadata.get("conversation_id")
        version = None if context.is_legacy else ag.PROTOCOL_VERSION
        started = ag.RunStarted(context.thread_id, context.run_id, version, context.parent_run_id)
        if context.history is not None:
            return (started, ag.MessagesSnapshot([*context.history]))
        own = [message for message in context.messages() if self._is_own(message)] if context.is_repeat else []
        if not own:
            return (started,)
        # Clients keep reasoning that a snapshot without reasoning doesn't have, and would add to it.
        emptied = [{**message, "content": ""} for message in own if message.get("role") == "reasoning"]
        return (started, ag.MessagesSnapshot([*self._before(), *emptied]))

    def _is_own(self, message: object) -> bool:
        """Whether a client's message is one of this answer."""
        name = cast("Record", message).get("id") if isinstance(message, dict) else None
        return isinstance(name, str) and name.startswith(f"{self._answer}.")

    @property
    def _message_id(self) -> str:
        return f"{self._answer}.{self._step}"

    def _text(self, chunk: ui.StartText | ui.MoreText | ui.EndText) -> Events:
        """Blocks of a step share one message, which is open while any of them is."""
        match chunk:
            case ui.StartText(name):
                is_first = not self._open_texts
                self._open_texts.add(name)
                return (ag.TextStart(self._message_id, "assistant"),) if is_first else ()
            case ui.MoreText(_, delta):
                return (ag.TextContent(self._message_id, delta),)
            case ui.EndText(name):
                self._open_texts.discard(name)
                return () if self._open_texts else (ag.TextEnd(self._message_id),)

    def _reasoning(self, chunk: ui.StartReasoning | ui.MoreReasoning | ui.EndReasoning) -> Events:
        name = f"{self._answer}.reasoning.{chunk.id}"
        match chunk:
            case ui.StartReasoning():
                return (ag.ReasoningStart(name), ag.ReasoningMessageStart(name, "reasoning"))
            case ui.MoreReasoning(_, delta):
                return (ag.ReasoningContent(name, delta),)
            case ui.EndReasoning():
                return (ag.ReasoningMessageEnd(name), ag.ReasoningEnd(name))

    def _call(self, chunk: ui.StartInput | ui.MoreInput | ui.Input | ui.InputError) -> Events:
        call_id = chunk.tool_call_id
        match chunk:
            case ui.StartInput():
                self._calls[call_id] = (chunk.tool_name, [])
                return (ag.CallStart(call_id, chunk.tool_name, self._message_id),)
            case ui.MoreInput():
                self._calls[call_id][1].append(chunk.input_text_delta)
                return (ag.CallArguments(call_id, chunk.input_text_delta),)
            case ui.Input():
                return self._end_call(call_id)
            case ui.InputError():
                self._broken[call_id] = chunk.error_text
                return (ag.CallEnd(call_id),)

    def _end_call(self, call_id: str) -> Events:
        tool, pieces = self._calls[call_id]
        none: Events = () if pieces else (ag.CallArguments(call_id, "{}"),)
        if self._context.seal is None:
            return (*none, ag.CallEnd(call_id))
        seal = self._context.seal(ToolCall(call_id, tool, "".join(pieces) or "{}"))
        return (*none, ag.CallEnd(call_id, {"showandtell": {"seal": seal}}))

    def _close_broken_calls(self) -> Events:
        """A call that was cut off never runs, so it gets a result that says so."""
        results = [self._call_result(call_id, text, is_error=True) for call_id, text in self._broken.items()]
        self._broken.clear()
        return results

    def _approval(self, chunk: ui.ApprovalRequest | ui.ApprovalResponse) -> None:
        if isinstance(chunk, ui.ApprovalResponse):
            self._interrupts.pop(chunk.approval_id, None)
            return
        call_id = chunk.tool_call_id
        tool, pieces = self._calls.get(call_id, ("the tool", []))
        arguments = "".join(pieces)
        if len(arguments) > MAX_ARGUMENTS:
            arguments = arguments[:MAX_ARGUMENTS] + "…"
        question = f"Approve {tool}({arguments})?"
        self._interrupts[call_id] = ag.Interrupt(call_id, "tool_call", question, call_id, APPROVAL_SCHEMA)

    def _result(self, chunk: ui.Output | ui.OutputError | ui.OutputDenied) -> Events:
        call_id = chunk.tool_call_id
        self._interrupts.pop(call_id, None)
        self._broken.pop(call_id, None)
        match chunk:
            case ui.OutputError(_, text):
                return (self._call_result(call_id, text, is_error=True),)
            case ui.OutputDenied():
                return (self._call_result(call_id, DENIED, is_error=True),)
            case ui.Output():
                text, files = output_of(chunk)
                records = [record for number in files if (record := self._find_file(number)) is not None]
                content, named, beside = result_content(text, records, is_legacy=self._context.is_legacy)
                customs = [ag.Custom(FILE, record) for record in beside]
                return (self._call_result(call_id, content, files=named), *customs)

    def _call_result(
        self, call_id: str, content: str | list[Record], *, is_error: bool = False, files: Sequence[str] = ()
    ) -> ag.CallResult:
        """The metadata stays in the client's message. `files` are the ids of those that the content only names."""
        own: Record = {"is_error": True} if is_error else {}
        if files:
            own["files"] = [*files]
        metadata = {"showandtell": own} if own else None
        return ag.CallResult(f"{self._answer}.{call_id}", call_id, content, "tool", metadata)

    def _file(self, chunk: ui.AttachmentData) -> Events:
        """A tool's file comes with its result. The model's own is an activity, and so is one for the user alone."""
        data = chunk.data
        self._files[data["number"]] = data
        if chunk.transient or not (is_for_user(data) or data["origin"]["by"] in {"assistant", "provider"}):
            return ()
        if self._context.is_legacy:
            return (ag.Custom(FILE, file_record(data)),)
        return (ag.ActivitySnapshot(f"{self._answer}.file.{data['number']}", FILE, file_record(data)),)

    def _find_file(self, number: int) -> Record | None:
        if number not in self._files:  # an earlier answer's file that is shown again
            self._files = {record["number"]: record for record in self._context.files()} | self._files
        return self._files.get(number)

    def _count(self, chunk: ui.StepData) -> None:
        model = str(chunk.data["model"])
        usage = msgspec.convert(chunk.data["usage"], Usage, from_attributes=True)
        self._usage[model] = self._usage.get(model, Usage()) + usage

    def _state(self) -> Events:
        """The client's state with new addresses of the files, but those for the user alone: it may go to a model."""
        known = {record["number"]: record for record in self._context.files()} | self._files
        if not (files := {number: record for number, record in known.items() if not is_for_user(record)}):
            return ()
        client = self._context.state
        kept = cast("Record", client) if isinstance(client, dict) else {}
        own = {"conversation_id": self._conversation_id, "files": [file_record(files[key]) for key in sorted(files)]}
        return (ag.StateSnapshot({**kept, "showandtell": own}),)

    def _finished(self, chunk: ui.End) -> ag.RunFinished:
        context, metadata = self._context, chunk.message_metadata
        outcome = ag.Success()
        if chunk.finish_reason == "tool-calls" and self._interrupts:
            outcome = ag.Interrupted([*self._interrupts.values()])
        elif self._is_cancelled and not context.is_legacy:
            outcome = ag.Cancelled()
        result = {"status": metadata.get("status"), "reason": metadata.get("reason")}
        usage = [token_usage(model, usage) for model, usage in self._usage.items()]
        return ag.RunFinished(context.thread_id, context.run_id, result, outcome, usage)


def token_usage(model: str, usage: Usage) -> ag.TokenUsage:
    """The tokens of a model, as AG-UI counts them."""
    return ag.TokenUsage(
        model,
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        usage.written_tokens,
    )


class _Typed(Struct):
    """The type of any chunk."""

    type: str


#: The types that we know.
TYPES = frozenset(kind.__struct_config__.tag for kind in get_args(ui.Chunk))
_decode_type = msgspec.json.Decoder(_Typed).decode
_decode_chunk = msgspec.json.Decoder(ui.Chunk).decode


def _decode(data: bytes) -> ui.Chunk | None:
    """Read a chunk; None if its type is unknown, as in the log of a newer version."""
    try:
        return _decode_chunk(data)
    except msgspec.ValidationError:
        if _decode_type(data).type in TYPES:
            raise
        return None
