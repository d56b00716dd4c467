"""Chunks become the message that npm `ai` 7.0.173 makes of them (`processUIMessageStream`).

It reads the chunks that we make of what is stored, where every call has come to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

import msgspec
from msgspec import Raw

from showandtell.core.ui_stream import chunks as ui


class UiAccumulator:
    """Takes chunks one by one; `message` is what they came to, as plain JSON values."""

    def __init__(self) -> None:
        self.message: ui.Record = {"id": "", "role": "assistant", "parts": []}
        self._parts: list[ui.Record] = self.message["parts"]
        self._texts: dict[str, ui.Record] = {}
        self._thoughts: dict[str, ui.Record] = {}
        self._calls: dict[str, ui.Record] = {}
        self._data: dict[tuple[str, str], ui.Record] = {}

    def add(self, chunks: Iterable[ui.Chunk]) -> None:
        """Take chunks."""
        for chunk in chunks:
            self._take(chunk)

    def _take(self, chunk: ui.Chunk) -> None:
        match chunk:
            case ui.Start() | ui.Metadata() | ui.End():
                self._learn(chunk)
            case ui.StartStep():
                self._parts.append({"type": "step-start"})
            case ui.ResetStep():
                self._drop_step()
            case ui.BeginText() | ui.BeginReasoning() | ui.MoreText() | ui.MoreReasoning():
                self._take_words(chunk)
            case ui.EndText(name):
                self._texts.pop(name)["state"] = "done"
            case ui.EndReasoning(name):
                self._thoughts.pop(name)["state"] = "done"
            case ui.BeginInput() | ui.MoreInput() | ui.Input() | ui.InputError():
                self._take_call(chunk)
            case ui.ApprovalRequest() | ui.ApprovalResponse():
                self._take_approval(chunk)
            case ui.Output() | ui.OutputError() | ui.OutputDenied():
                self._take_output(chunk)
            case ui.FileLink(url, media_type):
                self._parts.append({"type": "file", "mediaType": media_type, "url": url})
            case ui.AttachmentData() | ui.ReceiptData() | ui.StepData():
                self._take_data(chunk)
            case ui.FinishStep() | ui.ProgressData() | ui.RetryData() | ui.Error() | ui.Abort():
                pass
            case _:
                assert_never(chunk)

    def _learn(self, chunk: ui.Start | ui.Metadata | ui.End) -> None:
        if isinstance(chunk, ui.Start):
            self.message["id"] = chunk.message_id
        self.message["metadata"] = {**self.message.get("metadata", {}), **msgspec.to_builtins(chunk.message_metadata)}

    def _drop_step(self) -> None:
        while self._parts and self._parts[-1]["type"] != "step-start":
            dropped = self._parts.pop()
            self._data.pop((dropped["type"], dropped.get("id", "")), None)
        self._texts.clear()
        self._thoughts.clear()

    def _take_words(self, chunk: ui.BeginText | ui.BeginReasoning | ui.MoreText | ui.MoreReasoning) -> None:
        match chunk:
            case ui.MoreText(name, more):
                self._texts[name]["text"] += more
            case ui.MoreReasoning(name, more):
                self._thoughts[name]["text"] += more
            case ui.BeginText(name):
                self._texts[name] = part = {"type": "text", "text": "", "state": "streaming"}
                self._parts.append(part)
            case ui.BeginReasoning(name):
                self._thoughts[name] = part = {"type": "reasoning", "id": name, "text": "", "state": "streaming"}
                self._parts.append(part)

    def _take_call(self, chunk: ui.BeginInput | ui.MoreInput | ui.Input | ui.InputError) -> None:
        if isinstance(chunk, ui.MoreInput):
            return
        if isinstance(chunk, ui.BeginInput):
            begun = {"type": f"tool-{chunk.tool_name}", "toolCallId": chunk.tool_call_id, "state": "input-streaming"}
            part = self._of_step(chunk.tool_call_id)
            if part is None:
                self._parts.append(part := {})
            _forget(part)
            part.pop("input", None)
            part |= begun
            self._calls[chunk.tool_call_id] = part
            return
        part = self._calls[chunk.tool_call_id]
        _forget(part)
        part["input"] = msgspec.json.decode(chunk.input) if isinstance(chunk.input, Raw) else chunk.input
        if isinstance(chunk, ui.InputError):
            part |= {"state": "output-error", "errorText": chunk.error_text}
        else:
            part["state"] = "input-available"

    def _of_step(self, call_id: str) -> ui.Record | None:
        """The part of a call that this step has begun."""
        for part in reversed(self._parts):
            if part["type"] == "step-start":
                return None
            if part.get("toolCallId") == call_id:
                return part
        return None

    def _take_approval(self, chunk: ui.ApprovalRequest | ui.ApprovalResponse) -> None:
        if isinstance(chunk, ui.ApprovalRequest):
            part = self._calls[chunk.tool_call_id]
            part |= {"state": "approval-requested", "approval": {"id": chunk.approval_id}}
            return
        part = self._calls[chunk.approval_id]  # an approval has the id of its call
        part["state"] = "approval-responded"
        part["approval"] |= {"approved": chunk.approved}
        if chunk.reason is not None:
            part["approval"]["reason"] = chunk.reason

    def _take_output(self, chunk: ui.Output | ui.OutputError | ui.OutputDenied) -> None:
        part = self._calls[chunk.tool_call_id]
        match chunk:
            case ui.Output(_, output):
                _forget(part)
                part |= {"state": "output-available", "output": msgspec.to_builtins(output)}
            case ui.OutputError(_, text):
                _forget(part)
                part |= {"state": "output-error", "errorText": text}
            case ui.OutputDenied():
                part["state"] = "output-denied"

    def _take_data(self, chunk: ui.AttachmentData | ui.ReceiptData | ui.StepData) -> None:
        found: ui.Record = msgspec.to_builtins(chunk)
        if found.get("transient"):
            return
        there = self._data.setdefault((found["type"], found["id"]), found)
        if there is found:
            self._parts.append(found)
        else:
            there["data"] = found["data"]


def _forget(part: ui.Record) -> None:
    """What a call gave before holds no more."""
    part.pop("output", None)
    part.pop("errorText", None)
