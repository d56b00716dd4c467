"""Finds data URIs in text, in all forms that programs write, and reads their files.

Every search takes linear time, whatever the text.
"""

from __future__ import annotations

import binascii
import re
from urllib.parse import unquote

import pybase64

from showandtell.core.media_types.claims import normalize_claim
from showandtell.core.messages.file import File

#: Type, at most eight parameters, and "base64". The slash may be escaped as in JSON.
HEAD = re.compile(
    r"data:\s{0,8}([\w.+-]{1,127}+\\?/[\w.+-]{1,127}+)\s{0,8}"
    r"((?:;[^;,]{0,200}+){0,8}?);\s{0,8}base64\s{0,8},\s{0,8}",
    re.IGNORECASE,
)
#: The end of a head, searched first because most texts don't contain it. Its digits are the rarest part.
MARK = re.compile(r"64(?<=[Bb][Aa][Ss][Ee]64)\s{0,8},")
#: One line of base64 in either alphabet. + and / may be percent-encoded, and the slash escaped as in JSON.
LINE = re.compile(r"(?:[A-Za-z0-9+/_-]++|\\/|%2[BbFf])++")
PADDING = re.compile(r"(?:=|%3[Dd])++")
#: Between two lines. In JSON text, line ends are escaped.
BREAK = re.compile(r"\s{1,16}|(?:\\r)?\\n")
#: Lengths of a full line: MIME breaks lines at 76, PEM at 64. No line of prose is as long without a space.
FULL_LINE = range(60, 81)
#: Percent-encoding and JSON escapes.
ESCAPES = {"%2B": "+", "%2b": "+", "%2F": "/", "%2f": "/", "%3D": "=", "%3d": "=", "\\r": "", "\\n": ""}
URL_SAFE = str.maketrans("-_", "+/", " \t\r\n\f\v\\=")


def has_data_uri(text: str) -> bool:
    """Whether a text may hold a data URI. Quick for text without one."""
    return MARK.search(text) is not None


def decode_base64(text: str) -> bytes | None:
    """Decode base64 of either alphabet, escaped, broken into lines or unpadded. None if it is invalid."""
    try:
        return pybase64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    unescaped = text
    for escape, character in ESCAPES.items():
        unescaped = unescaped.replace(escape, character)
    padding = len(unescaped) - len(unescaped.rstrip("= \t\r\n\f\v"))
    if "=" in unescaped[: len(unescaped) - padding]:
        return None
    unescaped = unescaped.translate(URL_SAFE)
    try:
        return pybase64.b64decode(unescaped + "=" * (-len(unescaped) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def read_data_uri(text: str) -> File | None:
    """The file of a text that is exactly one data URI. None for other texts."""
    text = text.strip()
    head = HEAD.match(text)
    data = decode_base64(text[head.end() :]) if head else None
    return build_file(head, data) if head and data else None


def build_file(head: re.Match[str], data: bytes) -> File:
    """A file with the type and the name in a data URI's head."""
    parameters = (parameter.strip().partition("=") for parameter in head[2].split(";"))
    names = (unquote(value.strip().strip('"')) for key, _, value in parameters if key.lower() == "name")
    return File(data, normalize_claim(head[1].replace("\\", "")), next(names, None))


def split_data_uris(text: str) -> list[str | File] | None:
    """Split text into text and the files of its data URIs, in order. None if there are none."""
    pieces: list[str | File] = []
    end = at = 0
    while head := HEAD.search(text, at):
        data, at = read_body(text, head)
        if data:
            pieces += [text[end : head.start()], build_file(head, data)]
            end = at
    if not pieces:
        return None
    return [piece for piece in (*pieces, text[end:]) if piece]


def read_body(text: str, head: re.Match[str]) -> tuple[bytes | None, int]:
    """The bytes after a head, and their end in the text. Joins lines if the joined text decodes."""
    ends = list_ends(text, head)
    for end in dict.fromkeys((ends[-1], ends[0])):
        body = text[head.end() : end]
        # Base64 that was cut within a group of four is a truncated file rather than text.
        data = decode_base64(body) or decode_base64(body[:-1])
        if data:
            return data, end
    return None, head.end()


def list_ends(text: str, head: re.Match[str]) -> list[int]:
    """Where the data may end: after each of its lines. Only a full line continues in the next one."""
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
    """Whether the last of these lines has the length of a full line. The first line may include the head."""
    if len(lines) > 1:
        return lines[-1] in FULL_LINE
    before = head.end() - max(text.rfind("\n", head.end() - FULL_LINE.stop, head.end()) + 1, head.start())
    return lines[0] in FULL_LINE or lines[0] + before in FULL_LINE


def count_lines(lines: list[int]) -> int:
    """How many of these lines are data. A short second line that doesn't complete a group of four is text."""
    return 1 if len(lines) == 2 and lines[1] not in FULL_LINE and sum(lines) % 4 else len(lines)
