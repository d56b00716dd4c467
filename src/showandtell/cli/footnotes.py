"""Tools that a provider ran, and the sources of texts, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from showandtell.core.display.words import plain, short
from showandtell.core.events.hosted_calls import HostedCalls
from showandtell.core.events.types import HostedCall
from showandtell.core.messages.parts import HostedBlock, HostedState, Shown, Source

#: How a call ended.
STATES: dict[HostedState, str] = {
    "running": "not finished",
    "done": "done",
    "error": "failed",
    "waiting": "waits for approval",
}


def hosted_line(call: HostedCall) -> str:
    """A tool that the provider ran: its input, how it ended, and its output."""
    given, output = (f" {short(text)}" if text else "" for text in (call.input, call.output))
    return f"→ {short(call.tool)}{given} (run by the provider): {STATES[call.state]}{output}"


def hosted_lines(blocks: Iterable[HostedBlock[Shown]]) -> Iterator[tuple[HostedBlock[Shown], str]]:
    """The line of each call, with its last block."""
    calls, last = HostedCalls(), dict[str, tuple[HostedBlock[Shown], str]]()
    for block in blocks:
        if block.tool:
            last[block.call_id] = (block, hosted_line(calls.follow(block)))
    yield from last.values()


class Footnotes:
    """The sources of an answer, numbered from 1; one that is named again keeps its number."""

    def __init__(self) -> None:
        self.sources: dict[tuple[object, ...], Source] = {}

    def add(self, source: Source) -> int:
        """The number of a source."""
        place = (source.number, source.page, source.seconds)
        key = (
            (source.url,) if source.url else (*place, "" if source.number is not None else source.title or source.name)
        )
        self.sources.setdefault(key, source)
        return [*self.sources].index(key) + 1

    def lines(self, label_of: Callable[[int], str]) -> Iterator[str]:
        """The sources, one per line. `label_of` is the label of a file by its number."""
        for number, source in enumerate(self.sources.values(), 1):
            label = "" if source.number is None else label_of(source.number)
            page = f"page {source.page}" if source.page is not None else ""
            time = f"{source.seconds:g} s" if source.seconds is not None else ""
            where = [short(source.title or source.name), plain(source.url), label, page, time]
            quote = f': "{short(source.quote)}"' if source.quote else ""
            yield f"[{number}] {', '.join(word for word in where if word)}{quote}"
