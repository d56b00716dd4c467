"""The five wire formats by name. Each is a module of the same few functions, so that knowing one is knowing all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from showandtell.capabilities.cells import Api as ApiName
from showandtell.capabilities.cells import Target
from showandtell.delivery.values import Entry
from showandtell.wire import anthropic_messages, bedrock_converse, gemini, openai_chat, openai_responses
from showandtell.wire.options import Options
from showandtell.wire.tree import Tree


class Api(Protocol):
    """What a wire module offers. All of it is pure."""

    @property
    def LIST(self) -> str:  # noqa: N802 - a constant of the module
        """The key of the body's list of messages; it comes last."""
        ...

    @property
    def RAW_BYTES(self) -> bool:  # noqa: N802 - a constant of the module
        """Whether the provider's SDK wants bytes where the REST body has base64."""
        ...

    def head(self, target: Target, options: Options) -> dict[str, Tree]:
        """The body without its messages."""
        ...

    def leading(self, options: Options, target: Target) -> list[Tree]:
        """The wire messages before the first entry."""
        ...

    def entry(self, entry: Entry, target: Target) -> list[Tree]:
        """The wire messages of one entry."""
        ...

    def marked(self, items: Sequence[Tree], target: Target) -> list[Tree]:
        """The same wire messages with a cache mark at their end, where the host takes one there."""
        ...

    def url(self, target: Target, base: str, *, stream: bool) -> str:
        """Where the request goes, below a base URL."""
        ...

    def kwargs(self, body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
        """What the provider's SDK call takes, from the REST body as Python values."""
        ...


APIS: dict[ApiName, Api] = {
    "anthropic-messages": anthropic_messages,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "gemini": gemini,
    "bedrock-converse": bedrock_converse,
}
