"""Cost of many steps without base64 and copying: planning and rendering every step, as the loop does.

Each step adds a result with a file of 1 MiB. Its request is planned and composed with the fragments of the run. The
figure is the sum over all steps, which should grow about linearly.

Also counts the bytes sent in all steps, with each file in every request, and with uploads.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from statistics import median

from msgspec.structs import replace

from cases import MIB, cpu, question, step, store, table, temporary, unlimited, verdict
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Attachment, Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.message import Message
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.plan import plan, prepare, raise_refused
from showandtell.core.planning.values import Policy, View
from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import Fragments, Request, compose
from showandtell.providers.exchange import Exchange
from showandtell.providers.uploads import FilesAccess, upload

COUNTS = (5, 10, 20, 40)
GOAL_MS, GOAL_GROWTH = 30.0, 2.2
ROUNDS = 60
#: Like `Agent`: with cache marks for the provider.
CACHED = Policy(cache=True)
#: Providers that store files, and see them in tool results.
UPLOADING = ("anthropic:claude-sonnet-4-5", "openai:gpt-5-mini")
OPTIONS = Options("You draw charts.", (ToolSpec("plot", "Draws a page.", '{"type":"object","properties":{}}'),))


def run(count: int, target: Target, files: Sequence[Facts], blobs: Blobs, seed: str) -> tuple[list[float], Request]:
    """The CPU seconds of each step of a run, and its last request."""
    asked = question(seed)
    messages: list[Message] = [asked]
    attachments: dict[int, Attachment] = {}
    fragments: Fragments = {}
    cache = PlanCache()
    known: dict[DerivationRequest, Derivative | Failed] = {}
    seconds: list[float] = []
    for index in range(count):
        more, new = step(index + 1, files[index : index + 1], seed)
        messages += more
        attachments |= new
        if files[index].kind == "text":
            known[DerivationRequest(files[index].sha256, "text")] = Derivative(text="A line of words.\n" * 60)
        start = time.process_time()
        planned = plan(View(tuple(messages), attachments, asked.id), target, known, CACHED, cache=cache)
        raise_refused(planned, target)
        request = compose(planned, target, OPTIONS, fragments, blobs)
        seconds.append(time.process_time() - start)
    return seconds, request


def rounds(target: Target, files: Sequence[Facts], blobs: Blobs) -> list[dict[int, float]]:
    """CPU milliseconds by number of steps, one after the other in each round, for the clock of a processor drifts.

    No two runs have an id in common, so nothing that one keeps can help the next.
    """
    seeds = [f"{at}_" for at in range(ROUNDS)]
    return [
        {count: sum(run(count, target, files, blobs, f"{count}x{seed}")[0]) * 1000 for count in COUNTS}
        for seed in seeds
    ]


def drained(target: Target, files: Sequence[Facts], blobs: Blobs) -> float:
    """CPU milliseconds of reading, encoding and copying the last body of 40 steps."""
    request = run(40, target, files, blobs, "drain_")[1]
    return min(cpu(lambda: sum(map(len, request.chunks()))) for _ in range(5)) * 1000


async def sent(count: int, target: Target, files: Sequence[Facts], blobs: Blobs, policy: Policy) -> tuple[int, int]:
    """The bytes of all requests to the model in a run, and those of all uploads."""
    asked = question()
    messages: list[Message] = [asked]
    attachments: dict[int, Attachment] = {}
    known: Derivations = {}
    site = Site()
    requests = 0
    facts_of = {file.sha256: file for file in files}

    async def load(wants: Iterable[DerivationRequest]) -> Derivations:
        reach = FilesAccess(Exchange(site.send, "https://house.invalid", {}))
        return {want: await upload(reach, target, facts_of[want.sha256], blobs) for want in wants}

    for index in range(count):
        more, new = step(index + 1, files[index : index + 1])
        messages += more
        attachments |= new
        planned, known = await prepare(View(tuple(messages), attachments, asked.id), target, known, load, policy)
        requests += compose(planned, target, OPTIONS, {}, blobs).size
    return requests, site.bytes


class Site:
    """A fake Files API that counts bytes."""

    def __init__(self) -> None:
        self.bytes = 0
        self.count = 0

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        """Receive a file."""
        self.bytes += sum([len(piece) async for piece in request.body()])
        self.count += 1
        yield HttpResponse(200, {"content-type": "application/json"}, self.answer(f"file_{self.count}"))

    async def answer(self, file_id: str) -> AsyncIterator[bytes]:
        """The response with the file id."""
        yield json.dumps({"id": file_id}).encode()


def weigh(files: Sequence[Facts], blobs: Blobs) -> list[Sequence[object]]:
    """MiB of a run by number of steps, and how the last doubling grows; no limit, so that nothing leaves the view."""
    rows: list[Sequence[object]] = []
    for model in UPLOADING:
        for name, policy in {"in requests": CACHED, "uploaded": replace(CACHED, uploads=True)}.items():
            runs = [asyncio.run(sent(count, unlimited(model), files, blobs, policy)) for count in COUNTS]
            sums = [requests + uploads for requests, uploads in runs]
            growth = sums[-1] / sums[-2]
            good = verdict(growth, GOAL_GROWTH) if policy.uploads else ""
            mib = [f"{item / MIB:.1f}" for item in sums]
            rows.append([model, name, *mib, f"{growth:.2f}", good, f"{runs[-1][1] / MIB:.1f}"])
    return rows


def main() -> None:
    """Print, for five targets, the cost of 5 to 40 steps, how the last doubling grows, and what is sent."""
    # Keep the garbage collector from scanning imported modules during a run.
    gc.freeze()
    folder = temporary()
    files = store(folder, max(COUNTS), MIB)
    texts = [replace(file, media_type="text/plain", pixels=None) for file in files]
    targets = {
        "anthropic, 32 MB a request": (resolve("anthropic:claude-sonnet-4-5"), files),
        "anthropic, no limit": (unlimited("anthropic:claude-sonnet-4-5"), files),
        "anthropic, text files as words": (unlimited("anthropic:claude-sonnet-4-5"), texts),
        "openai-chat, relocated, 50 MB a request": (resolve("openai-chat:gpt-5-mini"), files),
        "openai-chat, relocated, no limit": (unlimited("openai-chat:gpt-5-mini"), files),
    }
    rows: list[Sequence[object]] = []
    for name, (target, shown) in targets.items():
        costs = rounds(target, shown, folder)
        sums = [median(cost[count] for cost in costs) for count in COUNTS]
        growth = median(cost[40] / cost[20] for cost in costs)
        good = verdict(sums[-1], GOAL_MS), verdict(growth, GOAL_GROWTH)
        body = f"{drained(target, shown, folder):.1f}"
        rows.append([name, *(f"{ms:.2f}" for ms in sums), good[0], f"{growth:.2f}", good[1], body])
    head = ["target", *(f"{count} steps" for count in COUNTS), f"<= {GOAL_MS:.0f}", "40/20", f"<= {GOAL_GROWTH}"]
    print("CPU ms of planning and rendering, sum of all steps; drain: reading the last body once")
    print(table([*head, "drain"], rows))
    print("\nMiB sent in all steps, and the part of uploads in 40 steps")
    head = ["model", "files", *(f"{count} steps" for count in COUNTS), "40/20", f"<= {GOAL_GROWTH}", "uploads"]
    print(table(head, weigh(files, folder)))


if __name__ == "__main__":
    main()
