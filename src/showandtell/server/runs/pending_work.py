"""Conversations of one worker whose pending messages are to be looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from weakref import WeakValueDictionary


class PendingWork:
    """What a worker knows of pending messages. They are stored: all of this may be lost."""

    def __init__(self) -> None:
        self._woken: dict[str, None] = {}
        self._is_woken = asyncio.Event()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        #: Of the last look at all conversations: what can change, by conversation.
        self._states: Mapping[str, object] = {}
        #: Conversations that got a message here since the begin of the last look, and of the one before.
        self._new = set[str]()
        self._earlier = set[str]()

    def add(self, conversation_id: str) -> None:
        """Look at a conversation soon, because a message was added or changed here."""
        self._new.add(conversation_id)
        self.wake(conversation_id)

    def wake(self, conversation_id: str) -> None:
        """Look at a conversation soon."""
        self._woken[conversation_id] = None
        self._is_woken.set()

    def wake_known(self, conversation_id: str) -> None:
        """Look at a conversation soon, if it is known to have messages: others need no query."""
        if conversation_id in self._new or conversation_id in self._earlier or conversation_id in self._states:
            self.wake(conversation_id)

    async def wait_woken(self) -> list[str]:
        """Wait until there are conversations to look at, and return them."""
        await self._is_woken.wait()
        self._is_woken.clear()
        woken, self._woken = [*self._woken], {}
        return woken

    def lock(self, conversation_id: str) -> asyncio.Lock:
        """Held while a message of a conversation is sent."""
        return self._locks.setdefault(conversation_id, asyncio.Lock())

    def begin_look(self) -> None:
        """Note that all conversations are about to be read."""
        self._new, self._earlier = set[str](), self._new

    def find_changed(self, states: Mapping[str, object]) -> list[str]:
        """Conversations whose state isn't the one of the last look."""
        before, self._states = self._states, states
        return [id for id in {**before, **states} if before.get(id) != states.get(id)]  # noqa: A001 - it is one
