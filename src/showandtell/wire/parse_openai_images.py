"""Images that models make, as openai-responses and the hosts of openai-chat hand them over: base64, or a data URL."""

from __future__ import annotations

import pybase64

from showandtell.events.types import FileMade

NO_BASE64 = "holds no base64"
NOT_FETCHED = "was given as an address, which is not fetched"
#: What is said of a file of which only an address is known.
UNKNOWN = "application/octet-stream"


def read_base64(text: str, media_type: str) -> FileMade:
    """The file in a base64 text; a broken or empty text is told as the file's problem."""
    try:
        data = pybase64.b64decode(text, validate=True)
    except ValueError:
        data = b""
    return FileMade(media_type, data, problem=None if data else NO_BASE64)


def read_data_url(url: str) -> FileMade:
    """The file in a `data:` URL; any other address is told as the file's problem."""
    if not url.startswith("data:"):
        return FileMade(UNKNOWN, b"", problem=NOT_FETCHED)
    head, _, text = url.removeprefix("data:").partition(",")
    media_type = head.partition(";")[0] or UNKNOWN
    if not head.endswith(";base64"):
        return FileMade(media_type, b"", problem=NO_BASE64)
    return read_base64(text, media_type)
