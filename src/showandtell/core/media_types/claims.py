"""Claimed media types: from a declared type in normal form, or from the suffix of a file name. A claim proves nothing.

The normal form of a type is IANA's if it is registered, else the one that providers list.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from showandtell.core.media_types.kinds import TEXTS, kind_of

UNKNOWN = "application/octet-stream"

#: RFC 6838: a type and a subtype of at most 127 of these characters each.
MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")

ALIASES = {
    "application/ogg": "audio/ogg",
    "application/parquet": "application/vnd.apache.parquet",
    "application/x-gzip": "application/gzip",
    "application/x-javascript": "application/javascript",
    "application/x-parquet": "application/vnd.apache.parquet",
    "application/x-pdf": "application/pdf",
    "application/x-sqlite3": "application/vnd.sqlite3",
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

#: Audio in a container that usually holds video: a claim of "video/mp4" or ".webm" is right for it, too.
AUDIO_ONLY = {"audio/mp4": "video/mp4", "audio/webm": "video/webm"}
AUDIO_TYPES = {video: audio for audio, video in AUDIO_ONLY.items()}

#: Media types by suffix. The bytes of some only show "text" or "compound file", and the suffix says which.
EXTENSIONS = {
    ".7z": "application/x-7z-compressed",
    ".aac": "audio/aac",
    ".aif": "audio/aiff",
    ".aiff": "audio/aiff",
    ".arrow": "application/vnd.apache.arrow.file",
    ".avi": "video/x-msvideo",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".css": "text/css",
    ".csv": "text/csv",
    ".doc": "application/msword",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".docm": "application/vnd.ms-word.document.macroenabled.12",
    ".dotm": "application/vnd.ms-word.template.macroenabled.12",
    ".dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    ".potm": "application/vnd.ms-powerpoint.template.macroenabled.12",
    ".potx": "application/vnd.openxmlformats-officedocument.presentationml.template",
    ".ppsm": "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
    ".ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
    ".pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".xltm": "application/vnd.ms-excel.template.macroenabled.12",
    ".xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
    ".epub": "application/epub+zip",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".flac": "audio/flac",
    ".gif": "image/gif",
    ".gz": "application/gzip",
    ".h5": "application/x-hdf5",
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
    ".msg": "application/vnd.ms-outlook",
    ".mpeg": "video/mpeg",
    ".npy": "application/x-npy",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".sqlite": "application/vnd.sqlite3",
    ".svg": "image/svg+xml",
    ".tar": "application/x-tar",
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
    ".xz": "application/x-xz",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".zip": "application/zip",
    ".zst": "application/zstd",
}


#: Usual suffix by media type: the last one of each type above, with two exceptions.
SUFFIXES = {media_type: suffix for suffix, media_type in EXTENSIONS.items()} | {
    "application/yaml": ".yaml",
    "audio/ogg": ".ogg",
}


def normalize_type(claimed: str) -> str | None:
    """The media type in lower case and normal form, without parameters. None if it isn't type/subtype."""
    media_type = claimed.partition(";")[0].strip().lower()
    return ALIASES.get(media_type, media_type) if MEDIA_TYPE.fullmatch(media_type) else None


def read_claim(claimed: str | None, name: str) -> str | None:
    """The claimed type: a valid media type, else the type of the name's suffix. None if neither is known."""
    media_type = normalize_type(claimed) if claimed else None
    if media_type and media_type != UNKNOWN:
        return media_type
    return EXTENSIONS.get(PurePath(name).suffix.lower())


def find_wrong_claim(claimed: str | None, claim: str | None, detected: str) -> str | None:
    """The claim as text if it is wrong, None if it is right. An invalid media type is reported, too.

    The suffix of a name is a weaker claim than a media type: it is wrong only if the detected kind differs.
    """
    if claimed and normalize_type(claimed) is None:
        return f"{claimed[:80]!r}, which is no media type"
    if claim is None or covers(claim, detected):
        return None
    is_declared = claimed is not None and normalize_type(claimed) == claim
    return claim if is_declared or kind_of(claim) != kind_of(detected) else None


def normalize_claim(claimed: str | None) -> str | None:
    """A claim in normal form. An invalid media type stays as it is, without lone surrogates."""
    return normalize_type(claimed) or claimed.encode("utf-8", "replace").decode() if claimed else None


def suffix_of(media_type: str | None) -> str:
    """The usual file suffix of a media type, or an empty string."""
    return SUFFIXES.get(media_type or "", "")


def covers(claim: str, detected: str) -> bool:
    """Whether a claim is right for a detected type: equal, or more general."""
    if claim == "application/zip":
        return (
            detected == claim or "openxmlformats" in detected or "opendocument" in detected or detected.endswith("+zip")
        )
    if detected in AUDIO_ONLY:
        return claim in {detected, AUDIO_ONLY[detected]}
    return claim == detected or (detected == "image/svg+xml" and claim in {"application/xml", "text/plain"})


def is_text_claim(claim: str | None) -> bool:
    """Whether a claim is right for readable text."""
    return claim is not None and (claim.startswith("text/") or claim in TEXTS)
