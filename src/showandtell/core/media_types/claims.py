"""What a file says it is: its media type in one spelling, or what the end of its name stands for. Claims prove nothing.

Spellings are IANA's where it has one, else the one that providers list.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from showandtell.core.media_types.kinds import TEXTS, kind_of

UNKNOWN = "application/octet-stream"

#: RFC 6838: a type and a subtype of at most 127 of these characters each.
MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")

SPELLINGS = {
    "application/ogg": "audio/ogg",
    "application/x-gzip": "application/gzip",
    "application/x-javascript": "application/javascript",
    "application/x-pdf": "application/pdf",
    "application/x-yaml": "application/yaml",
    "application/x-zip-compressed": "application/zip",
    "audio/m4a": "audio/mp4",
    "audio/mp3": "audio/mpeg",
    "audio/opus": "audio/ogg",
    "audio/vnd.wave": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-aac": "audio/aac",
    "audio/x-aiff": "audio/aiff",
    "audio/x-flac": "audio/flac",
    "audio/x-m4a": "audio/mp4",
    "audio/x-mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-icon": "image/vnd.microsoft.icon",
    "image/x-ms-bmp": "image/bmp",
    "image/x-png": "image/png",
    "text/json": "application/json",
    "text/x-markdown": "text/markdown",
    "text/xml": "application/xml",
    "text/yaml": "application/yaml",
    "video/avi": "video/x-msvideo",
    "video/matroska": "video/x-matroska",
    "video/vnd.avi": "video/x-msvideo",
    "video/x-m4v": "video/mp4",
}

#: Sound in a container that usually carries film: ".webm" and "video/mp4" are no lie there.
SOUND_ALONE = {"audio/mp4": "video/mp4", "audio/webm": "video/webm"}

#: The bytes prove no more than "text" or "a compound file" of these; the ending says which.
EXTENSIONS = {
    ".aac": "audio/aac",
    ".aif": "audio/aiff",
    ".aiff": "audio/aiff",
    ".avi": "video/x-msvideo",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".css": "text/css",
    ".csv": "text/csv",
    ".doc": "application/msword",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".epub": "application/epub+zip",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".flac": "audio/flac",
    ".gif": "image/gif",
    ".gz": "application/gzip",
    ".heic": "image/heic",
    ".htm": "text/html",
    ".html": "text/html",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "application/javascript",
    ".json": "application/json",
    ".log": "text/plain",
    ".m4a": "audio/mp4",
    ".md": "text/markdown",
    ".mkv": "video/x-matroska",
    ".mov": "video/quicktime",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".mpeg": "video/mpeg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".svg": "image/svg+xml",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webp": "image/webp",
    ".xls": "application/vnd.ms-excel",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".zip": "application/zip",
}


#: The other way round: the last ending of a type is its usual one, but for two.
ENDINGS = {media_type: ending for ending, media_type in EXTENSIONS.items()} | {
    "application/yaml": ".yaml",
    "audio/ogg": ".ogg",
}


def spell_type(claimed: str) -> str | None:
    """The media type without parameters, in lower case and its usual spelling; None where it isn't type/subtype."""
    bare = claimed.partition(";")[0].strip().lower()
    return SPELLINGS.get(bare, bare) if MEDIA_TYPE.fullmatch(bare) else None


def read_claim(claimed: str | None, name: str) -> str | None:
    """What the file claims to be, by a media type that parses, else by its name's ending; None where neither says."""
    spelled = spell_type(claimed) if claimed else None
    if spelled and spelled != UNKNOWN:
        return spelled
    return EXTENSIONS.get(PurePath(name).suffix.lower())


def name_correction(claimed: str | None, claim: str | None, proved: str) -> str | None:
    """What it claimed to be where that is wrong: a claim that is no media type at all is said so, and ignored.

    A name's ending is a weaker claim than a media type: it is wrong where the kind is another.
    """
    if claimed and spell_type(claimed) is None:
        return f"{claimed[:80]!r}, which is no media type"
    if claim is None or covers(claim, proved):
        return None
    is_said = claimed is not None and spell_type(claimed) == claim
    return claim if is_said or kind_of(claim) != kind_of(proved) else None


def respell(claimed: str | None) -> str | None:
    """A claim in its usual spelling; one that is no media type stays as it is, as far as it can be written."""
    return spell_type(claimed) or claimed.encode("utf-8", "replace").decode() if claimed else None


def name_ending(media_type: str | None) -> str:
    """What a name of this type usually ends in; empty where nothing does."""
    return ENDINGS.get(media_type or "", "")


def covers(claim: str, proved: str) -> bool:
    """Whether a claim holds for a proved type: the same, or a wider word for it."""
    if claim == "application/zip":
        return proved == claim or "openxmlformats" in proved or "opendocument" in proved or proved.endswith("+zip")
    if proved in SOUND_ALONE:
        return claim in {proved, SOUND_ALONE[proved]}
    return claim == proved or (proved == "image/svg+xml" and claim in {"application/xml", "text/plain"})


def is_text_claim(claim: str | None) -> bool:
    """Whether a claim is one that readable text may bear."""
    return claim is not None and (claim.startswith("text/") or claim in TEXTS)
