"""Data URIs in any spelling that programs give them: where one begins in a text, how far it goes, and its file.

Every search here takes time in proportion to the text, whatever is in it.
"""

from __future__ import annotations

import binascii
import re
from urllib.parse import unquote

import pybase64

from showandtell.core.media_types.claims import respell
from showandtell.core.messages.file import File

#: Type, at most eight parameters, and the word base64. A slash may be escaped, as JSON's writers do.
HEAD = re.compile(
    r"data:\s{0,8}([\w.+-]{1,127}+\\?/[\w.+-]{1,127}+)\s{0,8}"
    r"((?:;[^;,]{0,200}+){0,8}?);\s{0,8}base64\s{0,8},\s{0,8}",
    re.IGNORECASE,
)
#: One line of base64 in either alphabet; some write + and / with percent signs, and JSON's writers escape the slash.
LINE = re.compile(r"(?:[A-Za-z0-9+/_-]++|\\/|%2[BbFf])++")
PADDING = re.compile(r"(?:=|%3[Dd])++")
#: What stands between two lines; in a text that is itself JSON, line ends are spelled out.
BREAK = re.compile(r"\s{1,16}|(?:\\r)?\\n")
#: MIME breaks lines at 76, PEM at 64; no line of words is as long without a space.
FULL = range(60, 81)
#: As percent signs and JSON's escapes write it.
SPELLED = {"%2B": "+", "%2b": "+", "%2F": "/", "%2f": "/", "%3D": "=", "%3d": "=", "\\r": "", "\\n": ""}
URL_SAFE = str.maketrans("-_", "+/", " \t\r\n\f\v\\=")


def decode_base64(text: str) -> bytes | None:
    """The bytes of base64 in any spelling, None where it is something else; line breaks may stand in it."""
    try:
        return pybase64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    bare = text
    for spelled, letter in SPELLED.items():
        bare = bare.replace(spelled, letter)
    padding = len(bare) - len(bare.rstrip("= \t\r\n\f\v"))
    if "=" in bare[: len(bare) - padding]:
        return None
    bare = bare.translate(URL_SAFE)
    try:
        return pybase64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def read_data_uri(text: str) -> File | None:
    """The file of a text that is one data URI from end to end, None for every other text."""
    text = text.strip()
    head = HEAD.match(text)
    data = decode_base64(text[head.end() :]) if head else None
    return name_file(head, data) if head and data else None


def name_file(head: re.Match[str], data: bytes) -> File:
    """A file with the type and the name that a data URI's head says."""
    parameters = (word.strip().partition("=") for word in head[2].split(";"))
    names = (unquote(value.strip().strip('"')) for key, _, value in parameters if key.lower() == "name")
    return File(data, respell(head[1].replace("\\", "")), next(names, None))


def split_data_uris(text: str) -> list[str | File] | None:
    """Words and the files of data URIs among them, in order; None where there are none."""
    pieces: list[str | File] = []
    end = at = 0
    while head := HEAD.search(text, at):
        found, at = read_body(text, head)
        if found:
            pieces += [text[end : head.start()], name_file(head, found)]
            end = at
    if not pieces:
        return None
    return [piece for piece in (*pieces, text[end:]) if piece]


def read_body(text: str, head: re.Match[str]) -> tuple[bytes | None, int]:
    """The bytes behind a head, and where they end; broken lines are joined where they have the bytes of a file."""
    ends = list_ends(text, head)
    for end in dict.fromkeys((ends[-1], ends[0])):
        body = text[head.end() : end]
        # Cut in the middle of a quantum it is still a file, a torn one, and no words.
        found = decode_base64(body) or decode_base64(body[:-1])
        if found:
            return found, end
    return None, head.end()


def list_ends(text: str, head: re.Match[str]) -> list[int]:
    """Where the data may end: behind each line of it. A line goes on in the next one only where it is full."""
    at = head.end()
    lines: list[int] = []
    ends: list[int] = []
    while line := LINE.match(text, at):
        lines.append(line.end() - at)
        if padding := PADDING.match(text, line.end()):
            return [*ends, padding.end()]
        ends.append(line.end())
        gap = BREAK.match(text, line.end()) if is_full(text, head, lines) else None
        if gap is None:
            break
        at = gap.end()
    return ends[: count_lines(lines)] or [at]


def is_full(text: str, head: re.Match[str], lines: list[int]) -> bool:
    """Whether the last of these lines is as long as a writer makes them; the first one may begin with the head."""
    if len(lines) > 1:
        return lines[-1] in FULL
    before = head.end() - max(text.rfind("\n", head.end() - FULL.stop, head.end()) + 1, head.start())
    return lines[0] in FULL or lines[0] + before in FULL


def count_lines(lines: list[int]) -> int:
    """How many of these are lines of data: what follows a single one and doesn't complete its bytes is a word."""
    return 1 if len(lines) == 2 and lines[1] not in FULL and sum(lines) % 4 else len(lines)
