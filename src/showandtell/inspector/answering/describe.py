"""Describe received files and results, mentioned files, and quote lines that answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from showandtell.core.media_types.kinds import kind_of
from showandtell.inspector.answering.compare import asks_to_compare, format_comparison
from showandtell.inspector.answering.context import AnswerContext, Examine
from showandtell.inspector.answering.pieces import format_count, is_later_piece
from showandtell.inspector.answering.quote import Quote, Source, find_quotes, format_quotes
from showandtell.inspector.answering.references import KnownFile, find_mentioned, format_missing, format_unclear
from showandtell.inspector.answering.report import (
    FileReport,
    examine_inlined,
    format_file,
    format_inlined,
    format_report,
    format_result,
    ocr_cache,
)
from showandtell.inspector.answering.summary import (
    fold,
    join_sentences,
    name_file,
    short_title,
    summarize_file,
    summarize_inlined,
    summarize_note,
    summarize_result,
)
from showandtell.inspector.answering.words import (
    InlinedFile,
    asks_for_text,
    asks_question,
    find_inlined,
    find_notes,
    has_failed,
    kinds_to_read,
    result_text,
    stems,
)
from showandtell.inspector.request import Call, ReceivedFile, RequestTurn, Result, calls_of, files_of, results_of

#: A list of records, such as the result of `list_files`. It contains nearly any word, so one shared word means nothing.
RECORDS = re.compile(r"\[\s*\{")


def describe_received(context: AnswerContext, examine: Examine) -> str:
    """Describe what came since the last user text, with quotes first if it asks a question."""
    question, read = asks_question(context.text), asks_for_text(context.text)
    received = [file for turn in context.current for file in files_of(turn)]
    reports = {file.position: examine(file, index, read=read) for index, file in enumerate(received, 1)}
    inlined = [file for turn in context.current for file in find_inlined(turn)]
    results = [result for turn in context.current for result in results_of(turn)]
    calls = calls_of(context.request.turns)
    result_lines = [format_result(result, name_tool(result, calls)) for result in results]
    sources = [Source(report.title, report.text) for report in reports.values()]
    sources += [
        *_sources_inlined(context.current),
        *_sources_in_results((r for r in results if not has_failed(r)), calls),
    ]
    quotes = format_quotes(find_answers(context, sources)) if question else ""
    notes = [note for turn in context.current for note in find_notes(turn)]
    groups = _group_pieces(received, reports)
    count = len(groups) + len(inlined)
    head = f"I received {format_count(count, types_of(reports.values(), inlined))}:" if count else ""
    facts = format_report(head, list(reports.values()), inlined, result_lines, notes)
    sentences = [
        *(summarize_result(result, name_tool(result, calls)) for result in results),
        *(_summarize_group(pieces, at) for at, pieces in enumerate(groups, 1)),
        *(summarize_inlined(file, at) for at, file in enumerate(inlined, len(groups) + 1)),
        *map(summarize_note, notes),
    ]
    summary = join_sentences([*filter(None, dict.fromkeys(sentences))]) or _say_nothing(results, calls)
    details = fold(_join(facts, _count_earlier(context)))
    return _join(quotes, _compare_received(context, examine, reports), summary, details)


def _summarize_group(pieces: Sequence[FileReport], index: int) -> str:
    return summarize_file(short_title(pieces[0].title, index, with_pages=len(pieces) == 1), pieces)


def _say_nothing(results: Sequence[Result], calls: Mapping[str, Call]) -> str:
    tools = dict.fromkeys(name_tool(result, calls) for result in results)
    return " ".join(f"The tool {tool} returned nothing." for tool in tools) or "Nothing arrived."


def _group_pieces(files: Sequence[ReceivedFile], reports: Mapping[str, FileReport]) -> list[list[FileReport]]:
    """The reports of each file, with those of its pages and frames together."""
    groups: list[list[FileReport]] = []
    for file in files:
        if not groups or not is_later_piece(file):
            groups.append([])
        groups[-1].append(reports[file.position])
    return groups


def types_of(reports: Iterable[FileReport], inlined: Sequence[InlinedFile]) -> list[str]:
    """The media types of files. Inlined files are text."""
    return [*(report.media_type for report in reports), *("text/plain" for _ in inlined)]


def _count_earlier(context: AnswerContext) -> str:
    count = sum(not is_later_piece(file) for turn in context.earlier for file in files_of(turn))
    return f"{count} earlier file{'' if count == 1 else 's'} came along." if count else ""


def _compare_received(context: AnswerContext, examine: Examine, reports: dict[str, FileReport]) -> str:
    """If the user asks for it, compare the mentioned files. Files in `reports` are not examined again."""
    files = [file for file in context.mentioned.files if file.is_present]
    if len(files) < 2 or not asks_to_compare(context.text):
        return ""
    return format_comparison([(file.title, _examine_once(file, examine, reports)) for file in files])


def _examine_once(file: KnownFile, examine: Examine, reports: dict[str, FileReport]) -> list[FileReport]:
    known = [reports[piece.position] for piece in file.pieces if piece.position in reports]
    return known or examine_known(file, examine, read=False)


def describe_mentioned(context: AnswerContext, examine: Examine) -> str:
    """Describe the files that the user mentions: only quotes if these answer the question, else reports."""
    files = [file for file in context.mentioned.files if file.is_present]
    question, read = asks_question(context.text), asks_for_text(context.text)
    reports = {file: examine_known(file, examine, read=read) for file in files}
    sources = [Source(report.title, report.text) for file_reports in reports.values() for report in file_reports]
    quotes = find_answers(context, sources) if question else []
    missing = format_missing(context.mentioned, context.files)
    notes = [file.note for file in context.mentioned.files if file.note and not file.is_present]
    if is_sure(quotes, context) and not asks_to_compare(context.text) and not context.mentioned.unclear:
        return _join(format_quotes(quotes), join_sentences(list(map(summarize_note, notes))), missing)
    pairs = [(file.title, file_reports) for file, file_reports in reports.items()]
    comparison = format_comparison(pairs) if len(pairs) > 1 else ""
    unclear = format_unclear(context.mentioned, context.files)
    sentences = [*(_summarize_known(*pair) for pair in reports.items()), *map(summarize_note, notes)]
    details = fold(_join(_format_mentioned(reports), "\n".join(f"- {note}" for note in notes)))
    return _join(unclear, format_quotes(quotes), comparison, join_sentences(sentences), missing, details)


def _summarize_known(file: KnownFile, reports: Sequence[FileReport]) -> str:
    if file.inlined is not None:
        return summarize_inlined(file.inlined, file.number)
    return summarize_file(name_file(file.label, file.name), reports)


def examine_known(file: KnownFile, examine: Examine, *, read: bool) -> list[FileReport]:
    """A report for each piece of a file."""
    if file.inlined is not None:
        return [examine_inlined(file.inlined)]
    return [examine(piece, file.number, read=read) for piece in file.pieces]


def _format_mentioned(reports: dict[KnownFile, list[FileReport]]) -> str:
    if not reports:
        return ""
    types = [
        report.media_type if file.inlined is None else "text/plain" for file in reports for report in reports[file]
    ]
    head = f"You name {format_count(len(reports), types)}:"
    lines = [
        format_inlined(file.inlined) if file.inlined else "\n".join(map(format_file, file_reports))
        for file, file_reports in reports.items()
    ]
    return "\n".join([head, *lines])


def earlier_sources(context: AnswerContext, examine: Examine) -> list[Source]:
    """All texts from earlier turns. The text in a picture or a scan is read only if the user asks about such a file."""
    calls, kinds = calls_of(context.request.turns), kinds_to_read(context.text)
    sources: list[Source] = []
    for turn in context.earlier:
        sources += [*_sources_inlined([turn]), *_sources_in_results(results_of(turn), calls)]
        for index, file in enumerate(files_of(turn), 1):
            report = examine(file, index, read=kind_of(file.media_type) in kinds)
            sources.append(Source(report.title, report.text or ocr_cache.get(report.sha256, "")))
    return sources


def _sources_inlined(turns: Iterable[RequestTurn]) -> list[Source]:
    return [Source(file.title, file.text) for turn in turns for file in find_inlined(turn)]


def _sources_in_results(results: Iterable[Result], calls: Mapping[str, Call]) -> list[Source]:
    texts = [(name_tool(result, calls), result_text(result)) for result in results]
    return [Source(tool, text, 2 if RECORDS.search(text) else 1) for tool, text in texts]


def name_tool(result: Result, calls: Mapping[str, Call]) -> str:
    """The tool that a result is from."""
    return calls[result.call_id].tool if result.call_id in calls else "a tool"


def find_answers(context: AnswerContext, sources: Sequence[Source]) -> list[Quote]:
    """The best lines for each question, without duplicates. References to files in the question don't count."""
    with_text = [source for source in sources if source.text.strip()]
    sentences = re.split(r"(?<=[?.!])\s+", context.text)
    questions = [
        find_mentioned(sentence, context.files, context.meanings).rest
        for sentence in sentences
        if asks_question(sentence)
    ]
    return list(dict.fromkeys(quote for question in questions for quote in find_quotes(question, with_text)))


def is_sure(quotes: Sequence[Quote], context: AnswerContext) -> bool:
    """Whether the quotes answer the question: a line shares two words with it, or all if it has fewer."""
    return bool(quotes) and quotes[0].shared_words >= min(2, len(set(stems(context.mentioned.rest))))


def _join(*paragraphs: str) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
