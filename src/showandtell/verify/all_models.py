"""Vision checks of every model of the table whose provider has a key: which, what they will take, and their results.

Providers are asked side by side, each about one model after the other. Nothing is stored and nothing printed here.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from itertools import groupby
from math import ceil
from random import Random
from typing import Literal, TypeAlias

from msgspec import Struct

from showandtell.agent.render import ingest
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.messages.attachments import Facts
from showandtell.core.planning.token_estimates import file_tokens, text_tokens
from showandtell.core.wire.parsers import parser_of
from showandtell.core.wire.renderers import renderer_of
from showandtell.errors import BadInput, ProviderError, ShowAndTellError
from showandtell.plugins import MISTAKES
from showandtell.providers.connect import connect, locate, variables_of
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import find_host
from showandtell.providers.retry import RetryPolicy, is_out_of_credit
from showandtell.providers.secrets import conceal, secrets_in
from showandtell.verify.ask import ModelUnderTest, is_available, make_conversation, options_for
from showandtell.verify.judge import Finding
from showandtell.verify.probes import KINDS, Make, ProbeKind, make_probe, new_seed
from showandtell.verify.run import ROUTES, TRIES, verify

#: Variables of credentials that sign requests in place of a key, by the start of the variable of their host.
SIGNING = {
    "AWS": ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    "GOOGLE": ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"),
}
#: Words of a prompt and an answer, in bytes.
TEXT_BYTES = 1500
#: Files of a kind that are sent if no answer is wrong: one as an upload, and two by each other route, with a decoy.
FILES_OF_KIND = 2 * len(ROUTES) - 1

#: How long a model's check may take, and its answer to the request without a file.
MODEL_SECONDS, FIRST_ANSWER_SECONDS = 600.0, 60.0

RETRY = RetryPolicy()

#: How a model's check ended: "refused", "out of credit" and "unreachable" are about its provider, "unavailable" about
#: the model, "failed" about the code that asks it.
End: TypeAlias = Literal["checked", "refused", "out of credit", "unreachable", "unavailable", "too slow", "failed"]


class Candidate(Struct, frozen=True):
    """A model that can be checked, and the exchange with its host."""

    target: Target
    exchange: Exchange


class Candidates(Struct, frozen=True):
    """The models that can be checked, and why other providers can't."""

    models: tuple[Candidate, ...]
    left_out: dict[str, str]


class Estimate(Struct, frozen=True):
    """What a check of several models takes. More requests are sent after wrong answers and unclear errors.

    tokens: of input. model_seconds, seconds: after which time a model's check is given up, and all have ended.
    """

    models: int
    requests: int
    max_requests: int
    bytes: int
    tokens: int
    model_seconds: float
    seconds: float


class Result(Struct, frozen=True):
    """What a model's check gave, or why it gave nothing."""

    candidate: Candidate
    end: End
    findings: tuple[Finding, ...] = ()
    reason: str = ""


def find_candidates(environ: Mapping[str, str]) -> Candidates:
    """One model of each row of the table, if its provider has a key, credentials or an address in the environment."""
    models: list[Candidate] = []
    left_out: dict[str, str] = {}
    for provider, rows in groupby(families(), key=lambda family: family.provider):
        if provider == "inspector":
            continue
        try:
            if not has_access(provider, environ):
                left_out[provider] = "no key"
                continue
            names = [row.example for row in rows if row.has_example]
            models += [find_candidate(f"{provider}:{name}", environ) for name in dict.fromkeys(names)]
        except MISTAKES as error:
            left_out[provider] = reason_of(error)
    return Candidates(tuple(models), left_out)


def find_candidate(name: str, environ: Mapping[str, str]) -> Candidate:
    """A model whose API can be used. Raises what the API's code raises, before anybody is asked whether to begin."""
    target = locate(resolve(name), environ)
    renderer_of(target.api).head(target, options_for("upload"))
    parser_of(target.api).new_reader()
    return Candidate(target, connect(target, environ=environ))


def reason_of(error: BaseException) -> str:
    """The text of an error; the class, too, of errors that aren't ours, whose texts may say little."""
    return str(error) if isinstance(error, ShowAndTellError) else f"{type(error).__name__}: {error}"


def has_access(provider: str, environ: Mapping[str, str]) -> bool:
    """Whether the environment has a key, or credentials that sign; for a server without keys, its address."""
    row = find_host(provider)
    if row is None:
        return False
    variables = variables_of(provider)
    names = list(variables["api_key"])
    if row.by_key is not None:
        names += [name for name, _ in row.by_key.keys]
    if row.authorize is not None:
        names += SIGNING["GOOGLE" if row.account_in_url else "AWS"]
    if not row.needs_key:
        names += variables["base_url"]
    return any(environ.get(name, "").strip() for name in names)


def estimate(
    models: Sequence[Candidate],
    kinds: Sequence[ProbeKind] = KINDS,
    *,
    limit: Callable[[Target], float] = lambda _: MODEL_SECONDS,
    make: Make = make_probe,
) -> Estimate:
    """What a check takes, by files that are made for it. Kinds that this machine can't make are left out."""
    facts: list[tuple[int, Facts]] = []
    for kind in kinds:
        try:
            probe = make(kind, Random(0))  # noqa: S311 - only its size counts
        except BadInput:
            continue
        attachments = ingest(make_conversation("upload", probe)).attachments.values()
        facts += [(len(probe.data), attachment.facts) for attachment in attachments if attachment.facts]
    requests = 1 + len(facts) * len(ROUTES)
    tokens = sum(
        requests * text_tokens(TEXT_BYTES)
        + FILES_OF_KIND * sum(file_tokens(fact, model.target.costs) for _, fact in facts)
        for model in models
    )
    sent = len(models) * (requests * TEXT_BYTES + FILES_OF_KIND * sum(ceil(size / 3) * 4 for size, _ in facts))
    max_per_model = 1 + len(facts) * len(ROUTES) * TRIES
    limits = [(model.target.provider, limit(model.target)) for model in models]
    in_turn = defaultdict[str, float](float)
    for provider, seconds in limits:
        in_turn[provider] += seconds
    return Estimate(
        len(models),
        requests * len(models),
        max_per_model * len(models),
        sent,
        tokens,
        max((seconds for _, seconds in limits), default=0),
        max(in_turn.values(), default=0),
    )


async def check_all(
    models: Iterable[Candidate],
    kinds: Sequence[ProbeKind] = KINDS,
    *,
    limit: Callable[[Target], float] = lambda _: MODEL_SECONDS,
    retry: RetryPolicy = RETRY,
    make: Make = make_probe,
) -> AsyncGenerator[Candidate | Result]:
    """Yield each model as its check begins, and its result. `limit`: after how many seconds a check is given up.

    After a refused key, an account without credit, a host that can't be reached and a first answer that doesn't come,
    the provider's other models aren't asked.
    """
    queue: asyncio.Queue[Candidate | Result | None] = asyncio.Queue()

    async def check_provider(candidates: Sequence[Candidate]) -> None:
        failed: Result | None = None
        for candidate in candidates:
            if failed is not None:
                queue.put_nowait(Result(candidate, failed.end, reason=f"as {failed.candidate.target.name}"))
                continue
            queue.put_nowait(candidate)
            result = await check(candidate, kinds, limit(candidate.target), retry, make)
            queue.put_nowait(result)
            is_early = not result.findings and result.end in {"refused", "unreachable", "too slow"}
            if is_early or result.end == "out of credit":
                failed = result

    async def check_providers() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _, candidates in groupby(models, key=lambda candidate: candidate.target.provider):
                    group.create_task(check_provider(list(candidates)))
        finally:
            queue.put_nowait(None)

    task = asyncio.create_task(check_providers())
    try:
        while (item := await queue.get()) is not None:
            yield item
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def check(
    candidate: Candidate, kinds: Sequence[ProbeKind], seconds: float, retry: RetryPolicy, make: Make
) -> Result:
    """Check one model, after a request without a file that tells whether it answers at all."""
    model = ModelUnderTest(candidate.target, candidate.exchange, retry)
    findings: list[Finding] = []
    try:
        async with asyncio.timeout(seconds):
            async with asyncio.timeout(FIRST_ANSWER_SECONDS):
                missing = await is_available(model)
            if missing:
                return Result(candidate, "unavailable", reason=missing)
            async with aclosing(verify(model, kinds, make=make, seed=new_seed())) as found:
                async for finding in found:
                    findings.append(finding)  # noqa: PERF401 - those before an error count, too
    except ProviderError as error:
        return Result(candidate, name_end(error), tuple(findings), error.text)
    except BadInput as error:
        return Result(candidate, "unavailable", tuple(findings), str(error))
    except TimeoutError:
        return Result(candidate, "too slow", tuple(findings), "it took too long")
    except MISTAKES as error:
        reason = conceal(reason_of(error), secrets_in(candidate.exchange.headers))
        return Result(candidate, "failed", tuple(findings), reason)
    return Result(candidate, "checked", tuple(findings))


def name_end(error: ProviderError) -> End:
    """What an error says of its provider."""
    if is_out_of_credit(error):
        return "out of credit"
    return "refused" if error.status in {401, 403} else "unreachable"


def was_checked(cells: Iterable[Capability], kinds: Iterable[ProbeKind], since: str) -> str:
    """The date of a model's check among its stored cells, if it isn't before `since`; else empty.

    Of audio and video there is no verdict where an API has no form for them, so that images and documents decide.
    """
    tested = [cell for cell in cells if cell.evidence.startswith("eye test") and cell.date >= since]
    needed = {kind for kind in kinds if kind in {"image", "document"}} or set(kinds)
    return max(cell.date for cell in tested) if needed <= {cell.kind for cell in tested} else ""
