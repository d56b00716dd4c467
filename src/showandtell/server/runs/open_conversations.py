"""Conversations that stay in memory between two messages, with what their agents have planned for them.

Bounded in number, size and time. One that is taken belongs to a single request, and is kept again when its run has
ended. It is used only if the database, which is asked for access first, has the same version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from showandtell.storage.conversations.stored_conversation import StoredConversation

#: Maximum number of conversations, and of bytes of their records.
MAX_CONVERSATIONS: Final = 256
MAX_BYTES: Final = 32_000_000
#: Seconds after which a conversation is dropped that nobody has used.
IDLE_SECONDS: Final = 600.0


class OpenConversations:
    """Conversations by id and user, the oldest first. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[StoredConversation, float]] = {}
        self._bytes = 0

    def take(self, conversation_id: str, user: str, version: int, *, is_free: bool) -> StoredConversation | None:
        """Take a conversation out, if it is here and has this version."""
        self._drop_idle()
        conversation = self._remove((conversation_id, user))
        return conversation if conversation and conversation.is_current(version, is_free=is_free) else None

    def keep(self, conversation: StoredConversation, user: str) -> None:
        """Keep a conversation that nobody uses any more."""
        key = conversation.id, user
        self._remove(key)
        self._kept[key] = conversation, self._clock()
        self._bytes += conversation.size
        while self._kept and (len(self._kept) > MAX_CONVERSATIONS or self._bytes > MAX_BYTES):
            self._remove(next(iter(self._kept)))
        self._drop_idle()

    def _drop_idle(self) -> None:
        before = self._clock() - IDLE_SECONDS
        while self._kept and (oldest := next(iter(self._kept))) and self._kept[oldest][1] < before:
            self._remove(oldest)

    def _remove(self, key: tuple[str, str]) -> StoredConversation | None:
        conversation, _ = self._kept.pop(key, (None, 0.0))
        if conversation is not None:
            self._bytes -= conversation.size
        return conversation
