"""Files that models make, as apis hand them over: base64, a data URL, or an address, which is not fetched."""

from __future__ import annotations

import pybase64

from showandtell.core.events.types import FileMade

NO_BASE64 = "holds no base64"
NOT_FETCHED = "was given as an address, which is not fetched"
#: What is said of a file of which only an address is known.
UNKNOWN = "application/octet-stream"


def read_base64(text: str, media_type: str, *, loose: bool = False) -> FileMade:
    """The file in a base64 text; a broken or empty text is told as the file's problem.

    A `loose` text may be in either alphabet, with or without its padding.
    """
    if loose:
        text = text.replace("-", "+").replace("_", "/")
        text += "=" * (-len(text) % 4)
    try:
        data = pybase64.b64decode(text, validate=True)
    except ValueError:
        data = b""
    return FileMade(media_type, data, problem=None if data else NO_BASE64)


def linked(media_type: str = UNKNOWN) -> FileMade:
    """A file of which only the address is told."""
    return FileMade(media_type, b"", problem=NOT_FETCHED)


def read_data_url(url: str) -> FileMade:
    """The file in a `data:` URL; any other address is told as the file's problem."""
    if not url.startswith("data:"):
        return linked()
    head, _, text = url.removeprefix("data:").partition(",")
    media_type = head.partition(";")[0] or UNKNOWN
    if not head.endswith(";base64"):
        return FileMade(media_type, b"", problem=NO_BASE64)
    return read_base64(text, media_type)
