"""Asking again: one budget for a model call, whatever goes wrong before the model has said anything."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from showandtell.core.events.types import ProviderFault, Retry, StepEnd, StreamEvent
from showandtell.core.wire.request import Request
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.providers.exchange import Exchange

#: Statuses that may be another one the next time: busy, overloaded, broken. 529 is Anthropic's "overloaded".
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
#: What a stream that has hardly begun says where a status would have been one of those.
BUSY_WORDS = re.compile(
    "overloaded|rate.?limit|too.?many|throttl|timeout|temporar|try again|unavailable|internal|server_?error|api_error",
    re.IGNORECASE,
)
#: Answered with 429, but no waiting helps: the account has no money left.
HOPELESS = re.compile("insufficient_quota|credit balance|billing", re.IGNORECASE)
#: The longest single pause that is chosen here, in seconds; a provider may ask for more.
LONGEST = 20.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often one model call is asked again, and how many seconds of waiting that may take in all."""

    tries: int = 4
    seconds: float = 120.0
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    jitter: Callable[[], float] = field(default=random.random, repr=False)


async def persist(
    exchange: Exchange, request: Request, patience: RetryPolicy, tell: Callable[[Retry], None]
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """The batches of an answer, asked for again while nothing of it was given. Raises `ProviderError`.

    What has begun is never asked for again: a stream that breaks after its first word ends as a cut one.
    """
    waited, was_empty = 0.0, False
    for tried in range(patience.tries + 1):
        given = False
        try:
            async with aclosing(exchange.ask(request)) as batches:
                async for batch in batches:
                    given = given or is_something(batch, request.target.name)
                    if given:
                        yield batch
            if given:
                return
            # Nothing came at all: that is worth one more try, and an error if it happens again.
            failed: ProviderError = BadAnswer(f"{request.target.name} gave an empty answer")
            pause = None if was_empty else patience.jitter()
            was_empty = True
        except ProviderError as error:
            failed, pause = error, None if given else pause_before(error, tried, patience)
        if pause is None or tried == patience.tries or waited + pause > patience.seconds:
            raise given_up(failed, tried + 1)
        waited += pause
        tell(Retry(str(failed), pause))
        await patience.sleep(pause)


def is_something(batch: Sequence[StreamEvent], name: str) -> bool:
    """Whether a first batch says anything. An error instead of a first word is raised like one before the stream."""
    match batch:
        case [ProviderFault(text=text), *_]:
            raise (ProviderUnavailable if BUSY_WORDS.search(text) else ProviderError)(f"{name}: {text}")
        case [StepEnd(stop="cut", detail="")]:
            return False
        case _:
            return bool(batch)


def pause_before(error: ProviderError, tried: int, patience: RetryPolicy) -> float | None:
    """How long to wait before asking again; None where that is no use."""
    if HOPELESS.search(error.text) or not may_pass(error):
        return None
    own = min(0.5 * 2**tried, LONGEST) * (0.5 + patience.jitter() / 2)
    return own if error.retry_after is None else max(error.retry_after, own)


def may_pass(error: ProviderError) -> bool:
    """Whether the same request may fare better later: a busy host, a connection that failed, but not for its name."""
    if error.status:
        return error.status in BUSY
    return isinstance(error, ProviderUnavailable) and isinstance(error.__cause__, ConnectionError | TimeoutError | None)


def given_up(error: ProviderError, tries: int) -> ProviderError:
    """The error to raise: what could have passed and didn't is unavailable, whatever its status."""
    if not may_pass(error):
        return error
    times = f" (asked {tries} times)" if tries > 1 else ""
    found = ProviderUnavailable(error.text + times, error.status, path=error.path, retry_after=error.retry_after)
    found.__cause__ = error
    return found
