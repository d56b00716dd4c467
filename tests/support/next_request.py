"""Answers of providers as stored messages, and the next request that holds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from showandtell import render
from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import StreamEvent
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import HostedBlock, Text


def accumulated(events: Sequence[StreamEvent], provider: str) -> Draft:
    """The message that the events of one answer make."""
    message = Accumulator(provider)
    message.add(CallIds().rename(events))
    return message.draft()


def hosted_blocks(draft: Draft | Message) -> list[Any]:
    """The blocks of hosted tools and unknown types, as JSON values."""
    return [json.loads(part.block) for part in draft.parts if isinstance(part, HostedBlock)]


def next_body(answer: Draft, model: str, *later: Draft, **settings: Any) -> dict[str, Any]:
    """The body of the request after an answer: a question, the answer, then `later` messages or a second question."""
    history = [Draft("user", (Text("What is it?"),)), answer, *(later or [Draft("user", (Text("And now?"),))])]
    return render(history, model=model, **settings).json()


def output(call_id: str, text: str = "done", tool: str = "draw") -> Draft:
    """The result of a call."""
    return Draft("tool", (Text(text),), call_id, tool)
