"""Words for people and models when a decoder fails: never a library's own, which name classes, addresses and paths."""

from __future__ import annotations

import unicodedata

from showandtell.core.media_types.claims import suffix_of
from showandtell.core.messages.display_names import INVISIBLE
from showandtell.core.planning.labels import escape_line
from showandtell.errors import BadFile

#: Parts of messages of Pillow, FFmpeg, zipfile, expat and others for a file whose end is missing.
ENDS_EARLY = ("truncat", "end of file", "ends prematurely", "no element found", "unclosed", "not enough image data")
TOO_DEEP = "is nested too deeply to be read"
END_MISSING = "its end is missing"
DAMAGED = "it is damaged, or made in an unusual way"
DOWNLOAD_ANEW = "save or download it anew"
SAVE_ANEW = "check that it opens in its own program, and save it anew"


def clean_line(text: str, length: int) -> str:
    """Untrusted words on one line of at most this length, without our brackets and invisible characters."""
    line = escape_line(text[: 4 * length])
    return "".join(character for character in line if unicodedata.category(character) not in INVISIBLE)[:length]


def explain(error: BaseException, media_type: str) -> tuple[str, str]:
    """Problem and advice for a failure of any decoder; the problem is text that follows the file's name."""
    what = f" as {name_type(media_type)}" if media_type else ""
    if isinstance(error, MemoryError):
        return "needs more memory to decode than is allowed", "use a smaller version of it"
    if isinstance(error, RecursionError):
        return TOO_DEEP, "save it in a simpler form"
    if isinstance(error, NotImplementedError):  # what Pillow says of variants of DDS and BLP that it lacks
        return f"can't be decoded{what}: it uses a feature that isn't known here", "save it in another format"
    advice = "change its owner or mode" if isinstance(error, PermissionError) else SAVE_ANEW
    return f"can't be decoded{what}: {explain_damage(error)}", advice


def explain_damage(error: BaseException) -> str:
    """What is wrong with a damaged file, as far as the kind of failure shows it."""
    if isinstance(error, PermissionError):
        return "the user of this program may not read it"
    text = str(error).lower()
    ends_early = isinstance(error, EOFError) or any(part in text for part in ENDS_EARLY)
    return END_MISSING if ends_early else DAMAGED


def torn_image(format_name: str, reason: str) -> BadFile:
    """The error for an image that isn't whole."""
    return BadFile("", f"is torn: it begins as {format_name} but can't be decoded: {reason}", DOWNLOAD_ANEW)


def torn_sound(media_type: str, reason: str) -> BadFile:
    """The error for audio or video that isn't whole."""
    return BadFile("", f"is torn: it begins as {media_type} but can't be read: {reason}", DOWNLOAD_ANEW)


def torn_document(reason: str) -> BadFile:
    """The error for a PDF that isn't whole."""
    return BadFile("", f"can't be opened: it begins as a PDF but {reason}", DOWNLOAD_ANEW)


def name_type(media_type: str) -> str:
    """A short name of a type: its usual suffix in capitals, else the media type."""
    return suffix_of(media_type).removeprefix(".").upper() or media_type
