"""Accumulates events to messages as `defaultApplyEvents` of npm's `@ag-ui/client` 1.0.0 does."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from showandtell.core.ag_ui import events as ag
from showandtell.core.ui_stream.chunks import Record


class _Pieces(Struct):
    """A text that grows."""

    target: Record
    key: str
    pieces: list[str]


class MessageAccumulator:
    """The messages that a client has of the events so far."""

    def __init__(self) -> None:
        self._messages: list[Record] = []
        self._texts: dict[str, _Pieces] = {}
        self._calls: dict[str, _Pieces] = {}
        self._records: dict[str, Record] = {}

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def messages(self) -> list[Record]:
        """The messages as plain JSON values."""
        for text in (*self._texts.values(), *self._calls.values()):
            text.target[text.key] = "".join(text.pieces)
        return self._messages

    def cut(self, length: int) -> None:
        """Drop all messages but the first `length`."""
        for message in self._messages[length:]:
            self._texts.pop(message["id"], None)
            for call in message.get("toolCalls", ()):
                self._calls.pop(call["id"], None)
        del self._messages[length:]

    def apply(self, events: Iterable[ag.Event]) -> None:
        """Apply events. All but those of texts, calls and activities make no message."""
        for event in events:
            match event:
                case ag.TextStart(message_id) | ag.ReasoningMessageStart(message_id):
                    self._start_text(message_id, event.role)
                case ag.TextContent(message_id, delta) | ag.ReasoningContent(message_id, delta):
                    self._texts[message_id].pieces.append(delta)
                case ag.CallStart():
                    self._start_call(event)
                case ag.CallArguments(call_id, delta):
                    self._calls[call_id].pieces.append(delta)
                case ag.CallEnd(call_id, metadata):
                    if metadata is not None:
                        self._records[call_id]["metadata"] = metadata
                case ag.CallResult():
                    self._add_result(event)
                case ag.ActivitySnapshot():
                    self._add_activity(event)
                case _:
                    pass

    def _start_text(self, message_id: str, role: str) -> None:
        if message_id not in self._texts:
            message = self._find(message_id)
            if message is None:
                self._messages.append(message := {"id": message_id, "role": role})
            self._texts[message_id] = _Pieces(message, "content", [])

    def _start_call(self, event: ag.CallStart) -> None:
        parent = self._find(event.parent_message_id)
        if parent is None:
            self._messages.append(parent := {"id": event.parent_message_id, "role": "assistant"})
        function: Record = {"name": event.tool_call_name, "arguments": ""}
        call: Record = {"id": event.tool_call_id, "type": "function", "function": function}
        parent.setdefault("toolCalls", []).append(call)
        self._records[event.tool_call_id] = call
        self._calls[event.tool_call_id] = _Pieces(function, "arguments", [])

    def _add_result(self, event: ag.CallResult) -> None:
        """Add a result after its call's message and that message's earlier results."""
        message: Record = {
            "id": event.message_id,
            "role": "tool",
            "toolCallId": event.tool_call_id,
            "content": event.content,
        }
        if event.metadata is not None:
            message["metadata"] = event.metadata
        place = len(self._messages)
        while place and not any(
            call["id"] == event.tool_call_id for call in self._messages[place - 1].get("toolCalls", ())
        ):
            place -= 1
        while 0 < place < len(self._messages) and self._messages[place]["role"] == "tool":
            place += 1
        self._messages.insert(place or len(self._messages), message)

    def _add_activity(self, event: ag.ActivitySnapshot) -> None:
        activity: Record = {
            "id": event.message_id,
            "role": "activity",
            "activityType": event.activity_type,
            "content": event.content,
        }
        earlier = self._find(event.message_id)
        if earlier is None:
            self._messages.append(activity)
        else:
            earlier |= activity

    def _find(self, message_id: str) -> Record | None:
        return next((message for message in reversed(self._messages) if message["id"] == message_id), None)
