"""What the inspector says of files and results: what arrived, what a person names, and lines that answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from showandtell.inspector.answering.compare import compares, spell_comparison
from showandtell.inspector.answering.context import AnswerContext, Look
from showandtell.inspector.answering.pieces import goes_on, spell_count
from showandtell.inspector.answering.quote import Quote, Source, find_quotes, spell_quotes
from showandtell.inspector.answering.references import Known, find_named, say_missing, say_unclear
from showandtell.inspector.answering.report import (
    Sight,
    look_at_words,
    spell_inlined,
    spell_report,
    spell_result,
    spell_sight,
)
from showandtell.inspector.answering.words import Inlined, asks, has_failed, inlined_in, notes_in, result_words, stems
from showandtell.inspector.request import Call, RequestTurn, Result, calls_of, files_of, results_of

#: A list of records, as `list_files` gives: nearly any word occurs in one, so one word in common means nothing.
RECORDS = re.compile(r"\[\s*\{")


def tell_arrived(scene: AnswerContext, look: Look) -> str:
    """What arrived since the person last spoke, with quotes first where they asked; empty where nothing did."""
    question = asks(scene.words)
    seen = [file for turn in scene.now for file in files_of(turn)]
    sights = {file.position: look(file, index, read=question) for index, file in enumerate(seen, 1)}
    inlined = [file for turn in scene.now for file in inlined_in(turn)]
    results = [result for turn in scene.now for result in results_of(turn)]
    calls = calls_of(scene.asked.turns)
    told = [spell_result(result, name_tool(result, calls)) for result in results]
    sources = [Source(sight.title, sight.text) for sight in sights.values()]
    sources += [*_quote_inlined(scene.now), *_quote_results((r for r in results if not has_failed(r)), calls)]
    quotes = spell_quotes(find_answers(scene, sources)) if question else ""
    notes = [note for turn in scene.now for note in notes_in(turn)]
    files = sum(not goes_on(one) for one in seen) + len(inlined)
    head = f"I received {spell_count(files, types_of(sights.values(), inlined))}:" if files else ""
    report = spell_report(head, list(sights.values()), inlined, told, notes)
    return _join(quotes, _compare_arrived(scene, look, sights), report, _count_earlier(scene))


def types_of(sights: Iterable[Sight], inlined: Sequence[Inlined]) -> list[str]:
    """The media types of what came; words are text."""
    return [*(sight.media_type for sight in sights), *("text/plain" for _ in inlined)]


def _count_earlier(scene: AnswerContext) -> str:
    earlier = sum(not goes_on(seen) for turn in scene.before for seen in files_of(turn))
    return f"{earlier} earlier file{'' if earlier == 1 else 's'} came along." if earlier else ""


def _compare_arrived(scene: AnswerContext, look: Look, sights: dict[str, Sight]) -> str:
    """Where the person wants files compared, those they name, with what arrived just now looked at once only."""
    files = [file for file in scene.named.found if file.came]
    if len(files) < 2 or not compares(scene.words):
        return ""
    return spell_comparison([(file.called, _look_once(file, look, sights)) for file in files])


def _look_once(file: Known, look: Look, sights: dict[str, Sight]) -> list[Sight]:
    found = [sights[seen.position] for seen in file.seen if seen.position in sights]
    return found or look_at_known(file, look, read=False)


def tell_named(scene: AnswerContext, look: Look) -> str:
    """What the files are that the person names: a quote from them alone where it answers, else reports."""
    files = [file for file in scene.named.found if file.came]
    question = asks(scene.words)
    sights = {file: look_at_known(file, look, read=question) for file in files}
    sources = [Source(sight.title, sight.text) for some in sights.values() for sight in some]
    quotes = find_answers(scene, sources) if question else []
    missing = say_missing(scene.named, scene.known)
    notes = "\n".join(f"- {file.note}" for file in scene.named.found if file.note and not file.came)
    if is_sure(quotes, scene) and not compares(scene.words) and not scene.named.unclear:
        return _join(spell_quotes(quotes), notes, missing)
    pairs = [(file.called, some) for file, some in sights.items()]
    comparison = spell_comparison(pairs) if len(pairs) > 1 else ""
    unclear = say_unclear(scene.named, scene.known)
    return _join(unclear, spell_quotes(quotes), comparison, _spell_named(sights), notes, missing)


def look_at_known(file: Known, look: Look, *, read: bool) -> list[Sight]:
    """What is found in a file: once for each of its pieces."""
    if file.inlined is not None:
        return [look_at_words(file.inlined)]
    return [look(seen, file.number, read=read) for seen in file.seen]


def _spell_named(sights: dict[Known, list[Sight]]) -> str:
    if not sights:
        return ""
    types = [sight.media_type if file.inlined is None else "text/plain" for file in sights for sight in sights[file]]
    head = f"You name {spell_count(len(sights), types)}:"
    lines = [
        spell_inlined(file.inlined) if file.inlined else "\n".join(map(spell_sight, some))
        for file, some in sights.items()
    ]
    return "\n".join([head, *lines])


def recall(scene: AnswerContext, look: Look) -> list[Source]:
    """Every text that reached the conversation earlier."""
    calls = calls_of(scene.asked.turns)
    sources: list[Source] = []
    for turn in scene.before:
        sources += [*_quote_inlined([turn]), *_quote_results(results_of(turn), calls)]
        sights = [look(file, index, read=True) for index, file in enumerate(files_of(turn), 1)]
        sources += [Source(sight.title, sight.text) for sight in sights]
    return sources


def _quote_inlined(turns: Iterable[RequestTurn]) -> list[Source]:
    return [Source(file.title, file.text) for turn in turns for file in inlined_in(turn)]


def _quote_results(results: Iterable[Result], calls: dict[str, Call]) -> list[Source]:
    texts = [(name_tool(result, calls), result_words(result)) for result in results]
    return [Source(tool, text, 2 if RECORDS.search(text) else 1) for tool, text in texts]


def name_tool(result: Result, calls: dict[str, Call]) -> str:
    """Which tool gave a result."""
    return calls[result.call_id].tool if result.call_id in calls else "a tool"


def find_answers(scene: AnswerContext, sources: Sequence[Source]) -> list[Quote]:
    """The best lines for each sentence that asks, none twice; names and numbers of files are nothing to look for."""
    spoken = [source for source in sources if source.text.strip()]
    sentences = re.split(r"(?<=[?.!])\s+", scene.words)
    bare = [find_named(sentence, scene.known, scene.meanings).bare for sentence in sentences if asks(sentence)]
    return list(dict.fromkeys(quote for question in bare for quote in find_quotes(question, spoken)))


def is_sure(quotes: Sequence[Quote], scene: AnswerContext) -> bool:
    """Whether the quotes answer: two words of the question in a line, or all it has."""
    return bool(quotes) and quotes[0].words >= min(2, len(set(stems(scene.named.bare))))


def _join(*paragraphs: str) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
