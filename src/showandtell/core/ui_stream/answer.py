"""Accumulates chunks to a message as `processUIMessageStream` of npm's `ai` 7.0.173 does.

It only handles chunks made from stored messages, in which every call is complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

import msgspec
from msgspec import Raw

from showandtell.core.ui_stream import chunks as ui


class UiAccumulator:
    """Accumulates chunks; `message` is the result, as plain JSON values."""

    def __init__(self) -> None:
        self.message: ui.Record = {"id": "", "role": "assistant", "parts": []}
        self._parts: list[ui.Record] = self.message["parts"]
        self._texts: dict[str, ui.Record] = {}
        self._reasoning: dict[str, ui.Record] = {}
        self._calls: dict[str, ui.Record] = {}
        self._data: dict[tuple[str, str], ui.Record] = {}

    def add(self, chunks: Iterable[ui.Chunk]) -> None:
        """Apply chunks to the message."""
        for chunk in chunks:
            self._apply(chunk)

    def _apply(self, chunk: ui.Chunk) -> None:
        match chunk:
            case ui.Start() | ui.Metadata() | ui.End():
                self._merge_metadata(chunk)
            case ui.StartStep():
                self._parts.append({"type": "step-start"})
            case ui.ResetStep():
                self._drop_step()
            case ui.StartText() | ui.StartReasoning() | ui.MoreText() | ui.MoreReasoning():
                self._apply_text(chunk)
            case ui.EndText(name):
                self._texts.pop(name)["state"] = "done"
            case ui.EndReasoning(name):
                self._reasoning.pop(name)["state"] = "done"
            case ui.StartInput() | ui.MoreInput() | ui.Input() | ui.InputError():
                self._apply_call(chunk)
            case ui.ApprovalRequest() | ui.ApprovalResponse():
                self._apply_approval(chunk)
            case ui.Output() | ui.OutputError() | ui.OutputDenied():
                self._apply_output(chunk)
            case ui.UrlSource() | ui.DocumentSource():
                self._parts.append(msgspec.to_builtins(chunk))
            case ui.FileLink(url, media_type):
                self._parts.append({"type": "file", "mediaType": media_type, "url": url})
            case ui.AttachmentData() | ui.UserTextData() | ui.ReceiptData() | ui.StepData():
                self._apply_data(chunk)
            case ui.ProgressData() | ui.RetryData() | ui.WorkerData() | ui.QueueData():
                pass  # transient
            case ui.FinishStep() | ui.Error() | ui.Abort():
                pass
            case _:
                assert_never(chunk)

    def _merge_metadata(self, chunk: ui.Start | ui.Metadata | ui.End) -> None:
        if isinstance(chunk, ui.Start):
            self.message["id"] = chunk.message_id
        self.message["metadata"] = {**self.message.get("metadata", {}), **msgspec.to_builtins(chunk.message_metadata)}

    def _drop_step(self) -> None:
        while self._parts and self._parts[-1]["type"] != "step-start":
            dropped = self._parts.pop()
            self._data.pop((dropped["type"], dropped.get("id", "")), None)
        self._texts.clear()
        self._reasoning.clear()

    def _apply_text(self, chunk: ui.StartText | ui.StartReasoning | ui.MoreText | ui.MoreReasoning) -> None:
        match chunk:
            case ui.MoreText(name, more):
                self._texts[name]["text"] += more
            case ui.MoreReasoning(name, more):
                self._reasoning[name]["text"] += more
            case ui.StartText(name):
                self._texts[name] = part = {"type": "text", "text": "", "state": "streaming"}
                self._parts.append(part)
            case ui.StartReasoning(name):
                self._reasoning[name] = part = {"type": "reasoning", "id": name, "text": "", "state": "streaming"}
                self._parts.append(part)

    def _apply_call(self, chunk: ui.StartInput | ui.MoreInput | ui.Input | ui.InputError) -> None:
        if isinstance(chunk, ui.MoreInput):
            return
        if isinstance(chunk, ui.StartInput):
            started = {"type": f"tool-{chunk.tool_name}", "toolCallId": chunk.tool_call_id, "state": "input-streaming"}
            part = self._find_in_step(chunk.tool_call_id)
            if part is None:
                self._parts.append(part := {})
            _drop_output(part)
            part.pop("input", None)
            part |= started
            self._calls[chunk.tool_call_id] = part
            return
        if isinstance(chunk, ui.Input) and chunk.provider_executed and chunk.tool_call_id not in self._calls:
            started = {"type": f"tool-{chunk.tool_name}", "toolCallId": chunk.tool_call_id, "providerExecuted": True}
            self._parts.append(started)
            self._calls[chunk.tool_call_id] = started
        part = self._calls[chunk.tool_call_id]
        _drop_output(part)
        part["input"] = msgspec.json.decode(chunk.input) if isinstance(chunk.input, Raw) else chunk.input
        if isinstance(chunk, ui.InputError):
            part |= {"state": "output-error", "errorText": chunk.error_text}
        else:
            part["state"] = "input-available"

    def _find_in_step(self, call_id: str) -> ui.Record | None:
        """Return the part of a call that was started in the current step."""
        for part in reversed(self._parts):
            if part["type"] == "step-start":
                return None
            if part.get("toolCallId") == call_id:
                return part
        return None

    def _apply_approval(self, chunk: ui.ApprovalRequest | ui.ApprovalResponse) -> None:
        if isinstance(chunk, ui.ApprovalRequest):
            part = self._calls[chunk.tool_call_id]
            part |= {"state": "approval-requested", "approval": {"id": chunk.approval_id}}
            if chunk.signature is not None:
                part["approval"]["signature"] = chunk.signature
            return
        part = self._calls[chunk.approval_id]  # an approval's id is its call's id
        part["state"] = "approval-responded"
        part["approval"] |= {"approved": chunk.approved}
        if chunk.reason is not None:
            part["approval"]["reason"] = chunk.reason

    def _apply_output(self, chunk: ui.Output | ui.OutputError | ui.OutputDenied) -> None:
        part = self._calls[chunk.tool_call_id]
        match chunk:
            case ui.Output(_, output, metadata):
                _drop_output(part)
                part |= {"state": "output-available", "output": msgspec.json.decode(output)}
                if metadata:
                    part["toolMetadata"] = msgspec.to_builtins(metadata)
            case ui.OutputError(_, text):
                _drop_output(part)
                part |= {"state": "output-error", "errorText": text}
            case ui.OutputDenied():
                part["state"] = "output-denied"

    def _apply_data(self, chunk: ui.AttachmentData | ui.UserTextData | ui.ReceiptData | ui.StepData) -> None:
        part: ui.Record = msgspec.to_builtins(chunk)
        if part.get("transient"):
            return
        existing = self._data.setdefault((part["type"], part["id"]), part)
        if existing is part:
            self._parts.append(part)
        else:
            existing["data"] = part["data"]


def _drop_output(part: ui.Record) -> None:
    """Remove a call's earlier output."""
    part.pop("output", None)
    part.pop("errorText", None)
