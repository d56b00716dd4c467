"""Answers of providers as stored messages, and the next request that holds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import StreamEvent
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import HostedBlock, Shown, Text
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import compose
from support.builders import attachment, planned, user, view


def accumulated(events: Sequence[StreamEvent], provider: str) -> Draft:
    """The message that the events of one answer make."""
    message = Accumulator(provider)
    message.add(CallIds().rename(events))
    return message.draft()


def hosted_blocks(draft: Draft | Message) -> list[Any]:
    """The blocks of hosted tools and unknown types, as JSON values."""
    return [json.loads(part.block) for part in draft.parts if isinstance(part, HostedBlock)]


def next_body(answer: Draft, model: str, *later: Message, options: Options = Options()) -> dict[str, Any]:  # noqa: B008 - frozen
    """The body of the request after an answer: a question, the answer, then `later` messages or a second question."""
    message = Message("a1", "assistant", answer.parts, stop=answer.stop)  # pyright: ignore[reportArgumentType]
    files = [attachment(part.number) for part in answer.parts if isinstance(part, Shown)]
    later = later or (Message("u2", "user", (Text("And now?"),)),)
    plan = planned(view(user("What is it?"), message, *later, files=files, answering=later[-1].id), model)
    return compose(plan, resolve(model), options, {}, None).json()  # pyright: ignore[reportArgumentType]
