"""The five spellings by api. Each is a module of the same few functions, so that knowing one is knowing all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from showandtell.capabilities.cells import Api

from . import spell_anthropic, spell_bedrock, spell_chat, spell_gemini, spell_responses
from .frames import Event, Form, Path
from .words import Why


class Spelling(Protocol):
    """What each of them offers. All of it is pure."""

    @property
    def TEXT(self) -> Path:  # noqa: N802 - a constant of the module
        """Where the words stand in an event that has some."""
        ...

    def is_text(self, event: Event) -> bool:
        """Whether an event holds words of the answer."""
        ...

    def is_arguments(self, event: Event) -> bool:
        """Whether an event holds a piece of a call's arguments."""
        ...

    def put_arguments(self, events: Sequence[Event], text: str) -> list[Event]:
        """The answer with this text for every call's arguments."""
        ...

    def put_stop(self, events: Sequence[Event], why: Why) -> list[Event]:
        """The answer with another reason to end."""
        ...

    def spell_error(self, form: Form, words: str) -> list[Event]:
        """An error in the middle of a stream."""
        ...


SPELLINGS: dict[Api, Spelling] = {
    "anthropic-messages": spell_anthropic,
    "openai-chat": spell_chat,
    "openai-responses": spell_responses,
    "gemini": spell_gemini,
    "bedrock-converse": spell_bedrock,
}
