"""Decide what to answer: obey commands, pick a tool by words, or report and quote what arrived."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from showandtell.inspector.arguments import read_arguments, read_commands
from showandtell.inspector.choose import choose_tool, list_tools, sample_arguments, score
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.quote import Quote, Source, find_quotes, spell_quotes
from showandtell.inspector.report import Sight, spell_report, spell_result
from showandtell.inspector.seen import (
    Asked,
    Call,
    Offer,
    Reply,
    Result,
    Seen,
    Turn,
    Words,
    calls_of,
    files_of,
    results_of,
)
from showandtell.inspector.words import asks, inlined_in, notes_in, person_words, result_words, stems, title_of

CONFESSION = "I am the inspector, not a language model: I run tools, look at the files that reach me, and quote them."
UNSURE = "I pick a tool by the words of a message, and obey `/tool_name key=value`. The tools are:"


class Look(Protocol):
    """How a file is looked at; `report.look_at`."""

    def __call__(self, seen: Seen, index: int, *, read: bool) -> Sight:
        """Say what the file is; with `read`, its words too."""
        ...


class Scene(Struct, frozen=True):
    """A request as the mind sees it: what the person last said, and the turns since then."""

    asked: Asked
    words: str
    now: tuple[Turn, ...]
    before: tuple[Turn, ...]

    @property
    def results(self) -> list[Result]:
        """Results in the turn that is to be answered."""
        return results_of(self.asked.turns[-1])

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The tools that may be called in this step."""
        return () if self.asked.tool_choice == "none" else self.asked.tools


def answer(asked: Asked, look: Look) -> Reply:
    """Answer a request. `look` opens files, so this blocks."""
    text, calls = _decide(_set_scene(asked), look)
    if not asked.parallel:
        calls = calls[:1]
    return _fit(Reply(text, _number(calls, asked), count_tokens(asked)), asked.max_tokens)


def _set_scene(asked: Asked) -> Scene:
    spoken = [at for at, turn in enumerate(asked.turns) if person_words(turn)]
    start = spoken[-1] if spoken else 0
    words = person_words(asked.turns[start]) if spoken else ""
    return Scene(asked, words, asked.turns[start:], asked.turns[:start])


def _decide(scene: Scene, look: Look) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    fresh = bool(person_words(scene.asked.turns[-1]))
    # Beside results only a message that is itself a command counts: other words there may be a tool's.
    if fresh and (not scene.results or scene.words.startswith("/")) and (obeyed := _obey(scene)):
        return obeyed
    if scene.asked.tool_choice not in {"auto", "none"}:
        return "", [_force(scene)]
    if scene.results or not fresh:
        return _report(scene, look), []
    uploads = any(True for turn in scene.now for _ in files_of(turn)) or any(map(_has_inlined, scene.now))
    picked = choose_tool(scene.words, scene.offers, named=uploads)
    quotes = [] if uploads or not asks(scene.words) else _quote(scene.words, _recall(scene, look))
    if picked and (_names_anew(scene) or not _is_sure(quotes, scene.words)):
        offer, arguments = picked
        return f"By the words of your message I run {offer.name}.", [(offer.name, arguments)]
    if uploads:
        return _report(scene, look), []
    return spell_quotes(quotes) if quotes else _explain(scene), []


def _names_anew(scene: Scene) -> bool:
    """Whether the person names a file that has not come along yet."""
    seen = " ".join(title_of(file, 0) for turn in scene.before for file in files_of(turn))
    return any(name not in seen for name in re.findall(r"[\w-]+\.[A-Za-z]\w{1,4}\b", scene.words))


def _has_inlined(turn: Turn) -> bool:
    return any(True for _ in inlined_in(turn))


def _obey(scene: Scene) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
    """The commands of a message as calls, and words about those that can't be run."""
    known = {offer.name: offer for offer in scene.offers}
    commands = read_commands(scene.words, frozenset(known))
    if not commands:
        return None
    calls = [(c.name, read_arguments(c, known[c.name])) for c in commands if c.name in known]
    unknown = [f"/{command.name}" for command in commands if command.name not in known]
    if not unknown:
        return "", calls
    if not known:
        return f"I can't run {', '.join(unknown)}: no tool may be called in this step. {CONFESSION}", []
    return f"There is no tool {', '.join(unknown)}. {CONFESSION} The tools are:\n{list_tools(scene.offers)}", calls


def _force(scene: Scene) -> tuple[str, dict[str, Any]]:
    """A call that the request demands: the tool it names or the one that fits best, with samples where words lack."""
    offers = [offer for offer in scene.offers if scene.asked.tool_choice in {"required", offer.name}]
    asked = set(stems(scene.words))
    best = max(offers, key=lambda offer: score(offer, asked, offers))
    picked = choose_tool(scene.words, [best])
    return (best.name, picked[1] if picked else sample_arguments(best))


def _report(scene: Scene, look: Look) -> str:
    """What arrived since the person last spoke, with quotes first where they asked."""
    question = asks(scene.words)
    seen = [file for turn in scene.now for file in files_of(turn)]
    sights = [look(file, index, read=question) for index, file in enumerate(seen, 1)]
    inlined = [file for turn in scene.now for file in inlined_in(turn)]
    calls = calls_of(scene.asked.turns)
    results = [result for turn in scene.now for result in results_of(turn)]
    told = [spell_result(result, _tool_of(result, calls)) for result in results]
    sources = [Source(sight.title, sight.text) for sight in sights] + [Source(f.title, f.text) for f in inlined]
    sources += [Source(_tool_of(result, calls), result_words(result)) for result in results]
    quotes = spell_quotes(_quote(scene.words, sources)) if question else ""
    notes = [note for turn in scene.now for note in notes_in(turn)]
    earlier = sum(1 for turn in scene.before for _ in files_of(turn))
    count = f"{earlier} earlier file{'' if earlier == 1 else 's'} came along." if earlier else ""
    report = spell_report(sights, inlined, told, notes)
    return "\n\n".join(part for part in (quotes, report, count) if part) or f"Nothing arrived. {CONFESSION}"


def _tool_of(result: Result, calls: dict[str, Call]) -> str:
    return calls[result.call_id].tool if result.call_id in calls else "a tool"


def _recall(scene: Scene, look: Look) -> list[Source]:
    """Every text that reached the conversation earlier."""
    calls = calls_of(scene.asked.turns)
    sources: list[Source] = []
    for turn in scene.before:
        sources += [Source(file.title, file.text) for file in inlined_in(turn)]
        sources += [Source(_tool_of(result, calls), result_words(result)) for result in results_of(turn)]
        sights = [look(file, index, read=True) for index, file in enumerate(files_of(turn), 1)]
        sources += [Source(sight.title, sight.text) for sight in sights]
    return sources


def _quote(words: str, sources: Sequence[Source]) -> list[Quote]:
    """The best lines for each sentence that asks, none twice."""
    spoken = [source for source in sources if source.text.strip()]
    questions = [sentence for sentence in re.split(r"(?<=[?.!])\s+", words) if asks(sentence)]
    return list(dict.fromkeys(quote for question in questions for quote in find_quotes(question, spoken)))


def _is_sure(quotes: Sequence[Quote], words: str) -> bool:
    """Whether what is already here answers: two words of the question in a line, or all it has."""
    return bool(quotes) and quotes[0].words >= min(2, len(set(stems(words))))


def _explain(scene: Scene) -> str:
    if not scene.asked.tools:
        return f"{CONFESSION} No tools came with this request: send me a file."
    if not scene.offers:
        return f"{CONFESSION} No tool may be called in this step."
    return f"{CONFESSION} {UNSURE}\n{list_tools(scene.offers)}"


def _number(calls: Sequence[tuple[str, dict[str, Any]]], asked: Asked) -> tuple[Call, ...]:
    """Give calls ids that follow from the ids already in the conversation, so that the same request gives the same."""
    known = ",".join(calls_of(asked.turns))
    return tuple(
        Call(hashlib.sha256(f"{known}|{at}".encode()).hexdigest()[:16], tool, msgspec.json.encode(arguments).decode())
        for at, (tool, arguments) in enumerate(calls)
    )


def _fit(reply: Reply, max_tokens: int | None) -> Reply:
    """Cut what is longer than the request allows, as a model is cut."""
    if max_tokens is None or reply.output_tokens <= max_tokens:
        return reply
    return msgspec.structs.replace(reply, text=reply.text[: max_tokens * 4], calls=(), cut=True)


def count_tokens(asked: Asked) -> int:
    """A plausible number of input tokens: four characters each, a picture by its area, any other file by its size."""
    texts = len(asked.system) + sum(len(offer.description) + len(repr(offer.schema)) for offer in asked.tools)
    return texts // 4 + sum(_weigh(part) for turn in asked.turns for part in turn.parts) + 8


def _weigh(part: Words | Seen | Call | Result) -> int:
    match part:
        case Words():
            return len(part.text) // 4 + 1
        case Call():
            return len(part.tool + part.arguments) // 4 + 4
        case Result():
            return 4 + sum(_weigh(inner) for inner in part.parts)
        case Seen():
            data = part.data or bytes(100_000)
            width, height = read_pixels(data) or (0, 0)
            return width * height // 750 + 1 if width else len(data) // 100 + 1
