"""Tools that a provider runs itself: the events of their blocks, while they are read and when they are replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from showandtell.core.events.types import HostedCall
from showandtell.core.messages.parts import HostedBlock


@dataclass(slots=True)
class HostedCalls:
    """The calls so far by id. A call and its result may be two blocks; the events of both name tool and input."""

    calls: dict[str, HostedBlock[Any]] = field(default_factory=dict[str, HostedBlock[Any]])

    def follow(self, block: HostedBlock[Any]) -> HostedCall:
        """The event of a block."""
        call = self.calls.setdefault(block.call_id, block)
        tool = call.tool if block.input == "" else block.tool
        return HostedCall(block.call_id, tool, block.input or call.input, block.output, block.state)
