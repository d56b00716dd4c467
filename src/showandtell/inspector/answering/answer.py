"""Decide what to answer: obey commands, pick a tool by words, or report and quote what arrived."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from showandtell.inspector.answering.arguments import read_arguments, read_commands
from showandtell.inspector.answering.choose_tool import (
    choose_calls,
    choose_tool,
    find_paths,
    list_tools,
    sample_arguments,
    score,
)
from showandtell.inspector.answering.compare import compares
from showandtell.inspector.answering.context import AnswerContext, Look, set_scene
from showandtell.inspector.answering.describe import find_answers, is_sure, recall, tell_arrived, tell_named
from showandtell.inspector.answering.quote import spell_quotes
from showandtell.inspector.answering.words import asks, stems
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.request import Call, ModelRequest, OfferedTool, ReceivedFile, Reply, Result, Words, calls_of

CONFESSION = "I am the inspector, not a language model: I run tools, look at the files that reach me, and quote them."
#: Words that ask for what is already here, where other words ask to be shown it.
ABOUT = re.compile(r"\b(describ\w*|inspect|look at|report|check|verify|analy[sz]e|summari[sz]e)\b", re.IGNORECASE)
UNSURE = "I pick a tool by the words of a message, and obey `/tool_name key=value`. The tools are:"


def answer(asked: ModelRequest, look: Look) -> Reply:
    """Answer a request. `look` opens files, so this blocks."""
    text, calls = _decide(set_scene(asked), look)
    if not asked.parallel:
        calls = calls[:1]
    return _fit(Reply(text, _number(calls, asked), count_tokens(asked)), asked.max_tokens)


def _decide(scene: AnswerContext, look: Look) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    # Beside results only a message that is itself a command counts: other words there may be a tool's.
    if scene.fresh and (not scene.results or scene.words.startswith("/")) and (obeyed := _obey(scene)):
        return obeyed
    if scene.asked.tool_choice not in {"auto", "none"}:
        return "", [_force(scene)]
    if scene.results or not scene.fresh:
        return _tell_arrived(scene, look), []
    picked = choose_calls(scene.spelt, scene.offers, named=scene.uploads)
    if scene.named.found or scene.named.missing:
        return _run(_only_new(scene, picked)) if _wants_tool(scene, picked) else (tell_named(scene, look), [])
    quotes = [] if scene.uploads or not asks(scene.words) else find_answers(scene, recall(scene, look))
    if picked and (_names_anew(scene) or not is_sure(quotes, scene)):
        return _run(picked)
    if scene.uploads:
        return _tell_arrived(scene, look), []
    return spell_quotes(quotes) if quotes else _explain(scene), []


def _run(picked: Sequence[tuple[OfferedTool, dict[str, Any]]]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    times = f" {len(picked)} times" if len(picked) > 1 else ""
    said = f"By the words of your message I run {picked[0][0].name}{times}."
    return said, [(offer.name, arguments) for offer, arguments in picked]


def _names_anew(scene: AnswerContext) -> bool:
    """Whether the person names a file that has not come along yet."""
    return any(True for _ in scene.unseen(find_paths(scene.words)))


def _wants_tool(scene: AnswerContext, picked: Sequence[tuple[OfferedTool, dict[str, Any]]]) -> bool:
    """Whether words that name files mean a tool all the same: they aren't here, or are to be shown again."""
    here = [file for file in scene.named.found if file.came]
    if not here or _names_anew(scene):
        return bool(picked)
    return not _speaks_about(scene.words) and len(picked) >= len(here)


def _speaks_about(words: str) -> bool:
    return asks(words) or compares(words) or ABOUT.search(words) is not None


def _only_new(
    scene: AnswerContext, picked: Sequence[tuple[OfferedTool, dict[str, Any]]]
) -> Sequence[tuple[OfferedTool, dict[str, Any]]]:
    """Where files are spoken about, the calls for those that aren't here."""
    unseen = set(scene.unseen(find_paths(scene.words)))
    new = [(offer, arguments) for offer, arguments in picked if unseen & set(map(str, arguments.values()))]
    return new if new and _speaks_about(scene.words) else picked


def _tell_arrived(scene: AnswerContext, look: Look) -> str:
    return tell_arrived(scene, look) or f"Nothing arrived. {CONFESSION}"


def _obey(scene: AnswerContext) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
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


def _force(scene: AnswerContext) -> tuple[str, dict[str, Any]]:
    """A call that the request demands: the tool it names or the one that fits best, with samples where words lack."""
    offers = [offer for offer in scene.offers if scene.asked.tool_choice in {"required", offer.name}]
    asked = set(stems(scene.words))
    best = max(offers, key=lambda offer: score(offer, asked, offers))
    picked = choose_tool(scene.words, [best])
    return (best.name, picked[1] if picked else sample_arguments(best))


def _explain(scene: AnswerContext) -> str:
    if not scene.asked.tools:
        return f"{CONFESSION} No tools came with this request: send me a file."
    if not scene.offers:
        return f"{CONFESSION} No tool may be called in this step."
    return f"{CONFESSION} {UNSURE}\n{list_tools(scene.offers)}"


def _number(calls: Sequence[tuple[str, dict[str, Any]]], asked: ModelRequest) -> tuple[Call, ...]:
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


def count_tokens(asked: ModelRequest) -> int:
    """A plausible number of input tokens: four characters each, a picture by its area, any other file by its size."""
    texts = len(asked.system) + sum(len(offer.description) + len(repr(offer.schema)) for offer in asked.tools)
    return texts // 4 + sum(_weigh(part) for turn in asked.turns for part in turn.parts) + 8


def _weigh(part: Words | ReceivedFile | Call | Result) -> int:
    match part:
        case Words():
            return len(part.text) // 4 + 1
        case Call():
            return len(part.tool + part.arguments) // 4 + 4
        case Result():
            return 4 + sum(_weigh(inner) for inner in part.parts)
        case ReceivedFile():
            data = part.data or bytes(100_000)
            width, height = read_pixels(data) or (0, 0)
            return width * height // 750 + 1 if width else len(data) // 100 + 1
