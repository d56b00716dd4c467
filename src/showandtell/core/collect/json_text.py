"""Text that is JSON and holds files in its strings: base64 or hex of a known signature, data URIs, content blocks.

Blocks that are marked for one audience count, too: a mark isn't lost because a tool writes JSON itself.
Most text is ruled out by its first character or by four quick searches, before anything is parsed.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import Any, NoReturn

from showandtell.core.collect.data_uris import has_data_uri
from showandtell.core.media_types.signatures import SIGNATURES

#: Limits of the text and of the values in it, beyond which it stays text. No file that is stored is as long.
MAX_CHARACTERS, MAX_VALUES = 100_000_000, 1_000_000
#: A content block of a type that may hold a file, also in JSON inside JSON, whose quotes are escaped.
BLOCK = re.compile(
    r'"type\\{0,16}"\s{0,8}:\s{0,8}\\{0,16}"'
    r'(?:audio|document|file|image|image_url|input_audio|input_file|input_image|resource|video)\\{0,16}"'
)

#: The mark of a content block (MCP).
MARK = re.compile(r'"audience\\{0,16}"')


def base64_start(signature: bytes) -> str:
    """A regular expression for the base64 of a signature, in either alphabet. JSON may escape its slashes."""
    start = b64encode(signature + bytes(2)).decode()[: len(signature) * 8 // 6]
    return start.replace("+", "[+-]").replace("/", r"(?:\\{0,16}/|_)")


def compile_data() -> re.Pattern[str]:
    """The start of a JSON string that is base64 or hex of a file: of a signature, an MP4 box, or a frame of audio.

    A long word comes first, because that is quick to search and rare. No hash has as many hex digits.
    """
    signatures = [signature for signature, _ in SIGNATURES]
    base64 = [*map(base64_start, signatures), "AAA[A-Za-z0-9+/_-]{3}Z0eXB", r"(?:\\{0,16}/|_)(?:[+_-]|\\{0,16}/)"]
    hexadecimal = [*(signature.hex() for signature in signatures), "0000[0-9a-f]{4}66747970", "ff[ef]"]
    either = f"{'|'.join(base64)}|[0x]{{0,2}}(?i:{'|'.join(hexadecimal)})[0-9A-Fa-f]{{120}}"
    return re.compile(rf'"[\\nrtx\s]{{0,16}}+(?=[A-Za-z0-9+/_\\-]{{60}})(?:{either})')


DATA = compile_data()


def parse_json(text: str) -> Any:
    """The value of JSON text that may hold files or marks. None for other text, for most of it without parsing."""
    if not may_hold_parts(text) or len(text) > MAX_CHARACTERS:
        return None
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        return None
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def may_hold_parts(text: str) -> bool:
    """Whether a text looks like JSON with a file or a marked block in it."""
    if text[:64].lstrip()[:1] not in {"{", "[", '"'} or text[-64:].rstrip()[-1:] not in {"}", "]", '"'}:
        return False
    return has_data_uri(text) or bool(BLOCK.search(text) or MARK.search(text) or DATA.search(text))


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. Raises `ValueError` for a key that comes twice: one of its values, maybe a file, would be lost."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key comes twice")
    return members


def refuse(constant: str) -> NoReturn:
    """Raise `ValueError` for NaN and infinities, which Python's parser accepts."""
    raise ValueError(constant)
