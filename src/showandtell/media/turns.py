"""Fair use of what is scarce: places that owners take in turn, and a budget of seconds for each owner.

For threads and event loops alike. An owner is a user's name; a library without users has one owner, without a name.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct

from showandtell.errors import TooBusy

#: Maximum number of requests of one owner that wait.
MAX_WAITING: Final = 100
#: Seconds for which an owner counts as present after asking for a place.
PRESENT_SECONDS: Final = 60.0
#: Maximum number of owners whose presence or seconds are remembered; the oldest are dropped first.
MAX_OWNERS: Final = 10_000


T = TypeVar("T")


class Caller(Struct, frozen=True):
    """For whom the current context works. `in_lane`: for a thumbnail, which has decoders of its own."""

    owner: str = ""
    in_lane: bool = False


#: Set where a request or a run enters the server. Tasks and `asyncio.to_thread` copy it, other threads need it passed.
caller: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039 - it is frozen


@contextmanager
def acting_for(owner: str, *, in_lane: bool = False) -> Generator[None]:
    """Work for an owner inside of a `with` block."""
    token = caller.set(Caller(owner, in_lane))
    try:
        yield
    finally:
        caller.reset(token)


class Work(Protocol):
    """A future or a task."""

    def add_done_callback(self, fn: Callable[[Any], object], /) -> None:
        """Call a function once it is done."""
        ...


AnyWork = TypeVar("AnyWork", bound=Work)


class Place:
    """A place that is held until the end of a `with` block, or of the work that it is kept for."""

    def __init__(self) -> None:
        self.work: Work | None = None

    def keep_for(self, work: AnyWork) -> AnyWork:
        """Hold the place until the work is done. A thread works on if the task that waits for it is cancelled."""
        self.work = work
        return work


class Presence:
    """When owners last asked for a place of any kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: dict[str, float] = {}

    def note(self, owner: str) -> None:
        """The owner is here."""
        with self._lock:
            remember(self._times, owner, time.monotonic())

    def has_others(self, owner: str) -> bool:
        """Whether another owner was here within the last minute."""
        with self._lock:
            latest = next((when for other, when in reversed(self._times.items()) if other != owner), None)
        return latest is not None and latest > time.monotonic() - PRESENT_SECONDS


#: Of all places in this process: a user who uploads is present for conversions, too.
PRESENCE: Presence = Presence()


class Turns:
    """`places` that owners take in turn.

    An owner holds at most `each` of them if others were present within the last minute, otherwise at most `alone`: by
    default all but one, which the next owner then gets at once. `what` names the places in errors, like "conversions".
    """

    def __init__(self, what: str, places: float = math.inf, each: int = 1, alone: float | None = None) -> None:
        self.what, self.places, self.each = what, places, each
        self.alone = max(1, places - 1) if alone is None else alone
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Future[None]]] = {}
        self._held = Counter[str]()

    def check(self, owner: str) -> None:
        """Raise `TooBusy` if too many requests of the owner are waiting."""
        if self.count_waiting(owner) >= MAX_WAITING:
            text = f"{MAX_WAITING} of your {self.what} are waiting already: try again when some of them are done"
            raise TooBusy(text, retry_after=10)

    def count_waiting(self, owner: str) -> int:
        """The number of the owner's requests that wait."""
        return len(self._waiting.get(owner, ()))

    def must_wait(self, owner: str) -> bool:
        """Whether the next request of the owner would have to wait."""
        with self._lock:
            is_full = self._held[owner] >= self._limit(owner) or self._held.total() >= self.places
            return is_full or bool(self._waiting)

    @contextmanager
    def taken(self, owner: str, seconds: float) -> Generator[None]:
        """Hold a place in a thread. Raises `TooBusy` if none is free for the owner within these seconds."""
        if not self._take(owner):
            turn = self._ask(owner)
            wait([turn], seconds)
            if self._withdraw(owner, turn):
                raise self._late(seconds)
        try:
            yield
        finally:
            self._give_back(owner)

    @asynccontextmanager
    async def awaited(self, owner: str, seconds: float = math.inf) -> AsyncGenerator[Place]:
        """Hold a place in a task. Raises `TooBusy` if none is free for the owner within these seconds."""
        if not self._take(owner):
            await self._wait(owner, seconds)
        place = Place()
        try:
            yield place
        finally:
            if place.work is None:
                self._give_back(owner)
            else:
                place.work.add_done_callback(lambda _: self._give_back(owner))

    async def _wait(self, owner: str, seconds: float) -> None:
        turn = self._ask(owner)
        try:
            if not turn.done():
                async with asyncio.timeout(None if math.isinf(seconds) else seconds):
                    await asyncio.wrap_future(turn)
        except BaseException as error:
            if not self._withdraw(owner, turn):
                self._give_back(owner)
            if isinstance(error, TimeoutError):
                raise self._late(seconds) from None
            raise

    def _late(self, seconds: float) -> TooBusy:
        text = f"waited {seconds:g} s behind other {self.what}: try again later, with fewer at once"
        return TooBusy(text, retry_after=10)

    def _take(self, owner: str) -> bool:
        """Take a place at once, if one is free for the owner and nobody waits. Raises `TooBusy` like `check`."""
        PRESENCE.note(owner)
        with self._lock:
            self.check(owner)
            if self._waiting or self._held.total() >= self.places or self._held[owner] >= self._limit(owner):
                return False
            self._held[owner] += 1
            return True

    def _ask(self, owner: str) -> Future[None]:
        turn = Future[None]()
        with self._lock:
            self.check(owner)
            self._waiting.setdefault(owner, deque()).append(turn)
        self._grant()
        return turn

    def _withdraw(self, owner: str, turn: Future[None]) -> bool:
        """Stop waiting. False if the place was given meanwhile."""
        with self._lock:
            if not turn.cancel():
                return False
            turns = self._waiting.get(owner, deque())
            with suppress(ValueError):  # the event loop cancelled it before, and it was skipped
                turns.remove(turn)
            if not turns:
                self._waiting.pop(owner, None)
            return True

    def _give_back(self, owner: str) -> None:
        with self._lock:
            self._held[owner] -= 1
            if not self._held[owner]:
                del self._held[owner]
        self._grant()

    def _grant(self) -> None:
        """Give free places to the next owners."""
        granted: list[Future[None]] = []
        with self._lock:
            while (owner := self._next_owner()) is not None:
                turns = self._waiting.pop(owner)
                turn = turns.popleft()
                if turns:
                    self._waiting[owner] = turns  # at the end: all others are before it
                if turn.set_running_or_notify_cancel():
                    self._held[owner] += 1
                    granted.append(turn)
        for turn in granted:
            turn.set_result(None)

    def _next_owner(self) -> str | None:
        if self._held.total() >= self.places:
            return None
        return next((owner for owner in self._waiting if self._held[owner] < self._limit(owner)), None)

    def _limit(self, owner: str) -> float:
        """Number of places that the owner may hold now."""
        if PRESENCE.has_others(owner) or any(other != owner for other in self._held):
            return self.each
        return self.alone


class Budget:
    """`seconds` of work for each owner per `window` seconds, which starts with the first work.

    Work without an owner is not counted.
    """

    def __init__(
        self, seconds: float = math.inf, window: float = 3600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds, self.window, self.clock = seconds, window, clock
        self._lock = threading.Lock()
        self._used: dict[str, tuple[float, float]] = {}

    def check(self, owner: str) -> None:
        """Raise `TooBusy` if the owner has no seconds left."""
        started, used = self._used.get(owner, (0.0, 0.0))
        left = started + self.window - self.clock()
        if used >= self.seconds and left > 0:
            wait_seconds = math.ceil(left)
            text = f"used {self.seconds:g} s of decoding, all that a user has in {self.window:g} s"
            raise TooBusy(f"{text}: try again in {wait_seconds} s", retry_after=wait_seconds)

    def charge(self, owner: str, seconds: float) -> None:
        """Count work that was done for an owner."""
        if not owner:
            return
        with self._lock:
            started, used = self._used.get(owner, (0.0, 0.0))
            now = self.clock()
            if used and now < started + self.window:
                self._used[owner] = (started, used + seconds)
            else:
                remember(self._used, owner, (now, seconds))


def remember(values: dict[str, T], owner: str, value: T) -> None:
    """Set an owner's value as the newest one; drop the oldest one if there are too many."""
    values.pop(owner, None)
    values[owner] = value
    if len(values) > MAX_OWNERS:
        del values[next(iter(values))]
