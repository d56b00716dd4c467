"""The encoding of a text: that of its byte order mark, the declared one, UTF-8, or what a detector assumes.

A text in UTF-8 with a few wrong bytes, as at a cut, is read as such; the wrong bytes become U+FFFD.

A file keeps its bytes. Its facts name the encoding unless it is UTF-8, and whatever reads the text decodes it here.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections.abc import Iterator
from encodings.aliases import aliases
from typing import BinaryIO, Final

CHUNK: Final = 1 << 20
#: Bytes in which a declaration may stand, and bytes that the detector gets.
HEAD, SAMPLE = 4096, 1 << 16
UTF_8: Final = "utf-8"
#: UTF-8 with a few wrong bytes: no more than a quarter of its letters that aren't ASCII.
DAMAGED: Final = "utf-8-damaged"
#: Bytes without control characters from which on they are no chance, and the share of ASCII that fewer of them need.
LONG, MOSTLY = 200, 0.7
#: What is assumed if the detector finds nothing: a superset of Latin-1, and what Excel writes in western Europe.
USUAL: Final = "windows-1252"
#: C0 controls and DEL, but for tab, line feed, form feed, carriage return, and escape (terminal colours in logs).
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
MARKS: Final = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf-32le",  # begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32be",
    codecs.BOM_UTF16_LE: "utf-16le",
    codecs.BOM_UTF16_BE: "utf-16be",
}
#: The encodings that are read, with Python's codecs. As in browsers (https://encoding.spec.whatwg.org), names of ISO
#: and national standards stand for the extensions that programs write under these names.
CODECS: Final = {
    **{f"windows-125{digit}": f"cp125{digit}" for digit in range(9)},
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"ibm{page}": f"cp{page}" for page in (437, 850, 852, 858, 866)},
    "windows-874": "cp874",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "johab": "johab",
    "utf-16le": "utf_16_le",
    "utf-16be": "utf_16_be",
    "utf-32le": "utf_32_le",
    "utf-32be": "utf_32_be",
    DAMAGED: "utf_8",
    UTF_8: "utf_8",
}
#: Other codecs that declarations name.
STANDS_FOR: Final = {
    "latin_1": USUAL,
    "ascii": USUAL,
    "iso8859_9": "windows-1254",
    "iso8859_11": "windows-874",
    "tis_620": "windows-874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "cp950": "big5",
    "big5": "big5",
    "shift_jis": "shift_jis",
    "euc_kr": "euc-kr",
    "utf_16": "utf-16le",
    "utf_32": "utf-32le",
    "utf_8_sig": UTF_8,
    "unicode": "utf-16le",
    "ucs_2": "utf-16le",
    "windows_31j": "shift_jis",
    "iso_8859_8_i": "iso-8859-8",
    "logical": "iso-8859-8",
    "visual": "iso-8859-8",
    "dos_874": "windows-874",
    "mac": "macintosh",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "koi8_ru": "koi8-u",
}
LABELS: Final = {codec: label for label, codec in CODECS.items()} | STANDS_FOR
#: Encodings that the detector may name. The others are rare, and short texts look like them by chance.
DETECTED: Final = (
    *(f"cp125{digit}" for digit in (2, 0, 1, 3, 4, 5, 6, 7)),
    *("cp874", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
#: By how much another encoding has to be likelier than the usual one: shares of odd and of well-known letters.
ODDER, KNOWN = 0.1, 0.05
CHARSET_BYTES = re.compile(rb"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.ASCII | re.IGNORECASE)
#: Declarations inside of a text: XML, HTML, and Python (PEP 263: in the first two lines).
DECLARATIONS: Final = {
    "xml": re.compile(rb"""\s*<\?xml\s[^>]{0,200}encoding\s*=\s*["']([\w.:-]{1,40})"""),
    "html": re.compile(rb"""(?i)<meta\s[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})"""),
    "css": re.compile(rb"""@charset\s+["']([\w.:-]{1,40})"""),
    "python": re.compile(rb"(?:[ \t\f]*(?:#[^\r\n]*)?\r?\n)?[ \t\f]*#.*?coding[:=][ \t]*([\w.-]{1,40})"),
}


def find_label(declared: str) -> str | None:
    """The name of a declared encoding here; None for an unknown one. Looks at tables only, and imports no codec."""
    name = re.sub(r"[^a-z0-9]+", "_", declared.lower()).strip("_")
    for each in (name, name.removeprefix("x_"), name.replace("windows_", "cp")):
        if label := LABELS.get(aliases.get(each, each)):
            return label
    return declared.lower() if declared.lower() in CODECS else None


def charset_of(media_type: str | None) -> str | None:
    """The encoding that the parameter `charset` of a media type declares; None without a known one."""
    match = CHARSET.search((media_type or "").partition(";")[2])
    return find_label(match[1]) if match else None


def declared_in(head: bytes, claim: str | None) -> str | None:
    """The encoding that the start of a text declares for itself; None without a known one."""
    is_python = claim in {"text/x-python", "application/x-python-code"}
    match = DECLARATIONS["python"].match(head) if is_python else DECLARATIONS["xml"].match(head)
    if match is None and claim in {"text/html", "application/xhtml+xml"}:
        match = DECLARATIONS["html"].search(head)
    if match is None and claim == "text/css":
        match = DECLARATIONS["css"].match(head)
    return find_label(match[1].decode("ascii", "replace")) if match else None


def hinted_in(head: bytes) -> str | None:
    """The encoding that a text of any type names where editors and tools look for it; None without a known one.

    As in Python and Ruby, and in the header of a translation (.po). In UTF-8 such words may be about another text.
    """
    match = DECLARATIONS["python"].match(head) or CHARSET_BYTES.search(head)
    return find_label(match[1].decode("ascii", "replace")) if match else None


def find_encoding(stream: BinaryIO, *, is_claimed: bool, charset: str | None, claim: str | None) -> str | None:
    """The encoding of a text; None for bytes that aren't text.

    `is_claimed`: a name or a media type says that it is text. A mark or a declaration counts if all bytes are
    text in it. Reads the stream a few times at most, in chunks.
    """
    stream.seek(0)
    head = stream.read(HEAD)
    marked = next((label for mark, label in MARKS.items() if head.startswith(mark)), None)
    declared = charset or declared_in(head, claim)
    for label in dict.fromkeys((marked, declared, UTF_8, hinted_in(head))):
        if label is not None and is_text_in(stream, label):
            return label
    if is_nearly_utf_8(stream, is_marked=marked == UTF_8):
        return DAMAGED
    return assume(stream) if is_claimed or is_like_text(head) else None


def is_text_in(stream: BinaryIO, label: str) -> bool:
    """Whether all bytes are text in an encoding, without control characters."""
    stream.seek(0)
    decoder = codecs.getincrementaldecoder(CODECS[label])()
    try:
        while chunk := stream.read(CHUNK):
            if CONTROLS.search(decoder.decode(chunk)):
                return False
        return not CONTROLS.search(decoder.decode(b"", final=True))
    except UnicodeError:
        return False


def is_nearly_utf_8(stream: BinaryIO, *, is_marked: bool) -> bool:
    """Whether bytes are UTF-8 but for a few, without control characters. Other encodings rarely look like it."""
    stream.seek(0)
    decoder, right, wrong = codecs.getincrementaldecoder("utf-8")("replace"), 0, 0
    chunk = b"\n"
    while chunk:
        chunk = stream.read(CHUNK)
        text = decoder.decode(chunk, final=not chunk)
        if CONTROLS.search(text):
            return False
        replaced = text.count("\ufffd")
        wrong += replaced
        right += len(text) - replaced - (0 if is_marked else len(text.encode("ascii", "ignore")))
    return 4 * wrong <= right


def is_like_text(head: bytes) -> bool:
    """Whether bytes that nothing claims to be text may be one, if none of them is a control character."""
    ascii_size = len(head) - len(head.translate(None, bytes(range(128))))
    return b"\0" not in head and (len(head) >= LONG or ascii_size >= MOSTLY * len(head))


def assume(stream: BinaryIO) -> str | None:
    """The likeliest encoding of a text that declares none; None if the bytes are no text in any."""
    stream.seek(0)
    head = stream.read(SAMPLE)
    if b"\0" in head:
        is_big = head[::2].count(0) > head[1::2].count(0)
        label = "utf-16be" if is_big else "utf-16le"
        return label if is_assigned(head, label) and is_text_in(stream, label) else None
    stream.seek(0)
    while chunk := stream.read(CHUNK):
        if CONTROLS.search(chunk.decode("latin-1")):
            return None
    label = detect(sample_of(stream))
    return label if is_text_in(stream, label) else USUAL


def is_assigned(head: bytes, label: str) -> bool:
    """Whether the start of a text has only characters that exist."""
    text = head[: len(head) // 2 * 2].decode(CODECS[label], "replace")
    return not any(unicodedata.category(character) in {"Cn", "Co"} for character in text)


def sample_of(stream: BinaryIO) -> bytes:
    """Up to 64 KiB of the first lines that aren't ASCII."""
    stream.seek(0)
    while (chunk := stream.read(CHUNK)) and chunk.isascii():
        pass
    lines = b"\n".join(line for line in chunk.split(b"\n") if not line.isascii())
    if len(lines) <= SAMPLE:
        return lines
    cut = lines[:SAMPLE]
    return cut[: max(cut.rfind(b"\n"), cut.rfind(b" ")) + 1] or cut  # not within a character


def detect(sample: bytes) -> str:
    """The likeliest encoding of some bytes. The usual one, unless another is clearly likelier."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 - takes 0.1 s, and few texts need it

    matches = [*from_bytes(sample, cp_isolation=[*DETECTED], preemptive_behaviour=False, enable_fallback=False)]
    if not matches:
        return USUAL
    best = matches[0]
    for match in matches:
        is_usual = CODECS[USUAL] in match.could_be_from_charset
        if is_usual and match.chaos <= best.chaos + ODDER and match.coherence >= best.coherence - KNOWN:
            return USUAL
    return LABELS[best.encoding]


def open_text(stream: BinaryIO, encoding: str | None) -> io.TextIOWrapper:
    """A stream of bytes as text; what can't be decoded becomes U+FFFD. A byte order mark is its first character."""
    return io.TextIOWrapper(stream, encoding=CODECS[encoding or UTF_8], errors="replace", newline=None)


def read_start(stream: BinaryIO, encoding: str | None, count: int) -> str:
    """The first characters of a text, without a byte order mark. Closes the stream."""
    with open_text(stream, encoding) as text:
        return (text.read(1).removeprefix("\ufeff") + text.read(count))[:count]


def decoded(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """A text in chunks, with its line ends as they are. Closes the stream."""
    with stream:
        decoder = codecs.getincrementaldecoder(CODECS[encoding])("replace")
        while chunk := stream.read(CHUNK):
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)
