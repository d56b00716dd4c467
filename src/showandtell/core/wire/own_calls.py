"""Tells the calls that wait for a program from those that the provider has run itself and reports in the same form.

xAI reports its X Search as `custom_tool_call`. A call is the program's if the request declared its name. Another one in
an answer that ends as finished is the provider's if it is a custom call, which models can't make up, or if the answer
continues after it; else the model made the name up, and the result of the call says so.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import (
    ProviderFault,
    StepEnd,
    StreamEvent,
    TextDelta,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from showandtell.core.wire.hosted_blocks import hosted_block, parsed, read_block
from showandtell.core.wire.options import Options
from showandtell.core.wire.tree import Tree


@dataclass(slots=True)
class _Held:
    """A call that waits for the end of the answer. `continues`: what follows shows that the answer did not wait."""

    call_id: str
    tool: str
    is_declared: bool
    events: list[StreamEvent]
    continues: bool = False
    has_ended: bool = False
    is_custom: bool = False


@dataclass(slots=True)
class OwnCalls:
    """Sorts the calls of one answer. `declared` are the names of the request's tools; None: every name.

    From the first undeclared call on, calls are held back until the answer ends, in their order. Everything else passes
    at once.
    """

    declared: Container[str] | None = None
    has_own: bool = False
    held: list[_Held] = field(default_factory=list[_Held])
    by_id: dict[str, _Held] = field(default_factory=dict[str, _Held])

    def sort(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        """The events of one batch that pass now. A message that ends with calls of the program waits for them."""
        passed: list[StreamEvent] = []
        for event in events:
            match event:
                case ToolInputStart(call_id, tool):
                    self.start(event, call_id, tool, passed)
                case ToolInputDelta(call_id) | ToolInputEnd(call_id) if held := self.by_id.get(call_id):
                    held.events.append(event)
                    if isinstance(event, ToolInputEnd):
                        held.has_ended, held.is_custom = True, "custom" in (event.opaque or "")
                case StepEnd(stop):
                    self.release(passed, is_finished=stop == "end")
                    passed.append(replace(event, stop="tool_calls") if stop == "end" and self.has_own else event)
                case ProviderFault():
                    self.release(passed, is_finished=False)
                    passed.append(event)
                case TextDelta(text=text) if self.held and text.strip():
                    for held in self.held:
                        held.continues = True
                    passed.append(event)
                case _:
                    passed.append(event)
        return passed

    def start(self, event: ToolInputStart, call_id: str, tool: str, passed: list[StreamEvent]) -> None:
        """Let a call pass, or hold it back."""
        is_declared = self.declared is None or tool in self.declared
        self.by_id.pop(call_id, None)
        if is_declared and not self.held:
            self.has_own = True
            passed.append(event)
            return
        self.by_id[call_id] = held = _Held(call_id, tool, is_declared, [event])
        self.held.append(held)

    def release(self, passed: list[StreamEvent], *, is_finished: bool) -> None:
        """Append what was held back: blocks of the provider's calls if the answer is finished, and all other calls."""
        has_declared = self.has_own or any(held.is_declared for held in self.held)
        for held in self.held:
            # A model can't call a custom tool that the request doesn't have, but it makes up names of functions.
            is_providers = held.is_custom or (held.continues and not has_declared)
            if is_finished and held.has_ended and is_providers and not held.is_declared:
                block = hosted_block({}, held.call_id, held.tool, given=given_of(held))
                read_block(block, HostedCalls(), passed)
            else:
                self.has_own = True
                passed += held.events
        self.held, self.by_id = [], {}


def given_of(held: _Held) -> object:
    """What the tool of a call was given. The input of a custom tool is any text, here within an object."""
    given = parsed("".join(event.text for event in held.events if isinstance(event, ToolInputDelta)))
    match given:
        case {"input": str() as text} if held.is_custom:
            return parsed(text)
        case _:
            return given


def declared_names(options: Options, head: Tree) -> frozenset[str]:
    """The names of a request's tools. `head` has those that a program adds to the body itself."""
    return frozenset({tool.name for tool in options.tools} | _names(head))


def _names(value: Tree) -> set[str]:
    match value:
        case Mapping():
            own = {name} if isinstance(name := value.get("name"), str) else set[str]()
            return own.union(*map(_names, value.values()))
        case list() | tuple():
            return set[str]().union(*map(_names, value))
        case _:
            return set()
