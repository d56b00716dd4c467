"""What `get_document` answers: a document's text, a piece of a long one, or the places where a text occurs in it.

An answer is always shorter than the limit of a tool's result, so it is never cut itself.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO

from showandtell.agent.context import Files, format_name, stored_facts
from showandtell.agent.text_pieces import CONTEXT, TextPieces
from showandtell.core.messages.attachments import Attachment
from showandtell.errors import BadInput
from showandtell.media.encodings import decoded
from showandtell.storage.blobs.threads import run_in_thread

#: Maximum number of characters of an answer, if a tool's result has no limit.
MAX_TEXT = 100_000
#: Characters of an answer for its heading and its last line, and for those of one match besides its excerpt.
FRAME, MATCH_FRAME = 400, 30
#: Maximum number of places in one answer, and of characters to search for.
MAX_MATCHES, MAX_QUERY = 20, 100
#: Characters of the searched text that the heading repeats.
SHOWN_QUERY = 40
#: A piece may be shorter by this share, to end at the end of a line.
SLACK = 8


async def read_document(files: Files, file: Attachment, offset: int, search: str | None) -> str:
    """The text of a file from `offset` on, or where `search` occurs from there on. Raises `BadInput`, `FileChanged`."""
    limit = min(MAX_TEXT, files.max_text or MAX_TEXT)
    pieces = await open_pieces(files, file)
    total = pieces.index.total
    if not 0 <= offset <= total:
        raise BadInput(f"{format_name(file)} has {total} characters: offset goes from 0 to {total}, not {offset}")
    if search is None:
        answer = await run_in_thread(format_piece, pieces, file, offset, limit - FRAME)
    elif 0 < len(search) <= MAX_QUERY:
        answer = await run_in_thread(format_matches, pieces, file, search, offset, limit - FRAME)
    else:
        raise BadInput(f"search takes 1 to {MAX_QUERY} characters, not {len(search)}")
    return answer[:limit]


async def open_pieces(files: Files, file: Attachment) -> TextPieces:
    """The text of a file in pieces: its own bytes if they are text, else what it is converted to."""
    facts = stored_facts(file)
    if is_plain(file) and facts.encoding:
        return await run_in_thread(decode_pieces, files.get(file.number).open, facts.encoding)
    if is_plain(file):
        return await run_in_thread(TextPieces.of, files.get(file.number).open, facts.sha256)
    data = (await files.text(file.number)).encode()
    return await run_in_thread(TextPieces.of, lambda: io.BytesIO(data))


def decode_pieces(open: Callable[[], BinaryIO], encoding: str) -> TextPieces:  # noqa: A002 - it is what it does
    """The text of a file in another encoding, decoded as a whole."""
    data = "".join(decoded(open(), encoding)).encode()
    return TextPieces.of(lambda: io.BytesIO(data))


def is_plain(file: Attachment) -> bool:
    """Whether the bytes of a file are its text. HTML is converted."""
    return not file.in_context or (file.kind == "text" and file.media_type != "text/html")


def format_piece(pieces: TextPieces, file: Attachment, offset: int, room: int) -> str:
    """The piece of a text that begins at `offset`, up to the end of a line."""
    total = pieces.index.total
    text = pieces.read(offset, room)
    end = offset + len(text)
    if end < total:
        line = text.rfind("\n", len(text) - len(text) // SLACK)
        text = text[: line + 1] if line >= 0 else text
        end = offset + len(text)
    shown = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if offset == 0 and end == total:
        return f"{format_name(file)} as text:\n{shown}"
    more = f"(more follows: offset={end})" if end < total else "(end of the text)"
    return f"{format_name(file)} as text, characters {offset} to {end} of {total}:\n{shown}\n{more}"


def format_matches(pieces: TextPieces, file: Attachment, query: str, offset: int, room: int) -> str:
    """The places where a text occurs, as many as fit, and how to get the others."""
    max_count = max(1, min(MAX_MATCHES, room // (2 * CONTEXT + len(query) + MATCH_FRAME)))
    matches, count = pieces.search(query, offset, max_count)
    after = f" after {offset}" if offset else ""
    shown = query if len(query) <= SHOWN_QUERY else f"{query[:SHOWN_QUERY]}…"
    heading = f"{shown!r} occurs {count} time{'' if count == 1 else 's'}{after} in {format_name(file)}"
    heading += f", which has {pieces.index.total} characters"
    lines = [f"at {match.at}: … {match.excerpt} …" for match in matches]
    more = [f"({count - len(matches)} more: offset={matches[-1].at + 1})"] if count > len(matches) else []
    return "\n".join([f"{heading}{':' if lines else ''}", *lines, *more])
