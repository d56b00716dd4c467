"""Asks a model one thing beside a conversation, as text alone: for a summary of it, or its title."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import Event, Usage
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Text
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, View
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import compose
from showandtell.errors import ProviderError
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy, ask_with_retries
from showandtell.storage.conversations.protocol import Conversation


@dataclass
class PlainModel:
    """The model of a conversation, without its tools and files. `usage` counts what its answers take."""

    conversation: Conversation
    target: Target
    options: Options
    connect: Callable[[], Exchange]
    retry: RetryPolicy
    emit: Callable[[Event], None]
    usage: Usage = field(default_factory=Usage)

    async def ask(self, instructions: str, text: str) -> str:
        """The model's answer to one message. Raises `ProviderError`, also if it is empty or not complete."""
        accumulator = Accumulator(self.target.signer)
        view = View((Message("plain", "user", (Text(text),)),), {})
        options = replace(self.options, instructions=instructions, tools=(), hosted=(), tool_choice="auto", schema=None)
        request = compose(plan(view, self.target, {}, Policy()), self.target, options, self.conversation.blobs)
        try:
            async with aclosing(ask_with_retries(self.connect(), request, self.retry, self.emit)) as batches:
                async for batch in batches:
                    accumulator.add(batch)
        finally:
            self.usage += accumulator.usage
        answer = accumulator.draft()
        words = answer.text.strip()
        if answer.stop != "end" or not words:
            raise ProviderError(f"its answer ended with {answer.stop}" if words else "its answer is empty")
        return words
