"""Files that models generate: base64, a data URL, or an address, which is not fetched."""

from __future__ import annotations

import pybase64

from showandtell.core.events.types import FileMade

NO_BASE64 = "holds no base64"
NOT_FETCHED = "was given as an address, which is not fetched"
#: Media type of a file that is known only by its address.
UNKNOWN_TYPE = "application/octet-stream"


def read_base64(text: str, media_type: str, *, lenient: bool = False) -> FileMade:
    """Decode a file. An invalid or empty text becomes the file's `problem`.

    If `lenient`, the text may use the standard or the URL-safe alphabet, with or without padding.
    """
    if lenient:
        text = text.replace("-", "+").replace("_", "/")
        text += "=" * (-len(text) % 4)
    try:
        data = pybase64.b64decode(text, validate=True)
    except ValueError:
        data = b""
    return FileMade(media_type, data, problem=None if data else NO_BASE64)


def unfetched_file(media_type: str = UNKNOWN_TYPE) -> FileMade:
    """Return a file that is known only by its address."""
    return FileMade(media_type, b"", problem=NOT_FETCHED)


def read_data_url(url: str) -> FileMade:
    """Decode a `data:` URL. Any other URL becomes a file that was not fetched."""
    if not url.startswith("data:"):
        return unfetched_file()
    head, _, text = url.removeprefix("data:").partition(",")
    media_type = head.partition(";")[0] or UNKNOWN_TYPE
    if not head.endswith(";base64"):
        return FileMade(media_type, b"", problem=NO_BASE64)
    return read_base64(text, media_type)
