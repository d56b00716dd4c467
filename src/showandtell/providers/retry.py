"""Retries of a model call, with one budget for all errors before the first event of the answer."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from showandtell.checking.checked import TakesDict
from showandtell.core.capabilities.cells import ErrorWords, Target
from showandtell.core.events.types import ProviderFault, Retry, StepEnd, StreamEvent
from showandtell.core.limits import AtLeast0, NotNegative
from showandtell.core.wire.request import Request
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.providers.exchange import Exchange
from showandtell.providers.full_context import NO_WORDS, is_full_context, read_full_context
from showandtell.providers.refused_media import read_refused_media

#: Statuses of temporary errors: busy, overloaded, broken. 529 is Anthropic's "overloaded".
BUSY_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529})
#: Texts of the same errors, if they come as the first event of a stream.
BUSY_TEXT = re.compile(
    "overloaded|rate.?limit|too.?many|throttl|timeout|temporar|try again|unavailable|internal|server_?error|api_error",
    re.IGNORECASE,
)
#: Errors, mostly with status 429, that no waiting resolves: the account is out of credit. Gemini's errors of all quotas
#: speak of billing, and name a delay if waiting helps.
NO_CREDIT = re.compile("insufficient_quota|credit balance", re.IGNORECASE)
BILLING = re.compile("billing", re.IGNORECASE)
#: Maximum pause between two tries in seconds. A provider may request a longer one.
MAX_PAUSE = 20.0


@dataclass(frozen=True, slots=True)
class RetryPolicy(TakesDict):
    """How a model call is retried while the provider is busy or unreachable.

    Pauses double from about half a second to 20 seconds, or are as long as the provider requests. A call whose answer
    has started is never retried.

    >>> from showandtell import Agent, RetryPolicy
    >>> agent = Agent("inspector", retry=RetryPolicy(tries=2, seconds=30))

    Args:
        tries (int): maximum number of retries of one call. 0: never retry. Default: 4.
        seconds (float): maximum total of the pauses in seconds. Default: 120.
        sleep (Callable): waits for a number of seconds, for tests. Default: `asyncio.sleep`.
        jitter (Callable): returns a random number from 0 to 1, for tests. Default: `random.random`.
    """

    tries: AtLeast0 = 4
    seconds: NotNegative = 120.0
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    jitter: Callable[[], float] = field(default=random.random, repr=False)


async def ask_with_retries(
    exchange: Exchange, request: Request, retry: RetryPolicy, emit: Callable[[Retry], None]
) -> AsyncGenerator[Sequence[StreamEvent]]:
    """Yield the batches of an answer, and retry until the first one. Raises `ProviderError`.

    An answer that has started is never requested again. If its stream breaks, it ends as cut.
    """
    waited, was_empty, words = 0.0, False, request.target.dialect.errors
    for retries in range(retry.tries + 1):
        has_started = False
        try:
            async with aclosing(exchange.ask(request)) as batches:
                async for batch in batches:
                    has_started = has_started or has_content(batch, request.target)
                    if has_started:
                        yield batch
            if has_started:
                return
            # An empty response is retried once.
            failure: ProviderError = BadAnswer(f"{request.target.name} returned an empty response")
            pause = None if was_empty else retry.jitter()
            was_empty = True
        except ProviderError as error:
            failure, pause = error, None if has_started else pause_before(error, retries, retry, words)
        if pause is None or retries == retry.tries or waited + pause > retry.seconds:
            raise final_error(failure, retries + 1, words)
        waited += pause
        emit(Retry(str(failure), pause))
        await retry.sleep(pause)


def has_content(batch: Sequence[StreamEvent], target: Target) -> bool:
    """Whether a first batch has content. Raises an error event at the start like an error response."""
    match batch:
        case [ProviderFault(text=text), *_]:
            is_busy = BUSY_TEXT.search(text) and not is_full_context(text, target.dialect.errors)
            raise (ProviderUnavailable if is_busy else ProviderError)(f"{target.name}: {text}")
        case [StepEnd(stop="cut", detail="")]:
            return False
        case _:
            return bool(batch)


def pause_before(error: ProviderError, retries: int, retry: RetryPolicy, words: ErrorWords = NO_WORDS) -> float | None:
    """The seconds to wait before the next try; None if a retry can't help. The provider's own word goes first."""
    wanted = is_temporary(error, words) if error.should_retry is None else error.should_retry
    if is_out_of_credit(error) or not wanted:
        return None
    backoff = min(0.5 * 2**retries, MAX_PAUSE) * (0.5 + retry.jitter() / 2)
    return backoff if error.retry_after is None else max(error.retry_after, backoff)


def is_temporary(error: ProviderError, words: ErrorWords) -> bool:
    """Whether a retry may succeed: the host is busy, or a connection failed, except for an unknown host name.

    llama.cpp and Ollama answer 500 to files that the model doesn't take, and will do so again.
    """
    if error.status:
        is_final = read_full_context(error, words) is not None or read_refused_media(error, words) is not None
        return error.status in BUSY_STATUSES and not is_final
    return isinstance(error, ProviderUnavailable) and isinstance(error.__cause__, ConnectionError | TimeoutError | None)


def is_out_of_credit(error: ProviderError) -> bool:
    """Whether the account pays for no model. A quota that says when it is there again, as Gemini's, is one model's."""
    is_about_billing = error.retry_after is None and BILLING.search(error.text)
    return bool(NO_CREDIT.search(error.text) or is_about_billing)


def final_error(error: ProviderError, tries: int, words: ErrorWords) -> ProviderError:
    """The error to raise after the last try. Temporary errors become `ProviderUnavailable`, whatever their status."""
    if not is_temporary(error, words):
        return error
    times = f" (tried {tries} times)" if tries > 1 else ""
    unavailable = ProviderUnavailable(error.text + times, error.status, path=error.path, retry_after=error.retry_after)
    unavailable.__cause__ = error
    return unavailable
