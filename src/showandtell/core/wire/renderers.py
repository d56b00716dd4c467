"""The five wire formats by name. Each is a module of the same few functions, so that knowing one is knowing all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from showandtell.core.capabilities.cells import Api as ApiName
from showandtell.core.capabilities.cells import Target
from showandtell.core.planning.values import Entry
from showandtell.core.wire.anthropic_messages import render as anthropic_messages
from showandtell.core.wire.bedrock_converse import render as bedrock_converse
from showandtell.core.wire.gemini import render as gemini
from showandtell.core.wire.openai_chat import render as openai_chat
from showandtell.core.wire.openai_responses import render as openai_responses
from showandtell.core.wire.options import Options
from showandtell.core.wire.tree import Tree


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
