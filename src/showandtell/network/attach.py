"""Fetches a file that a person attaches by its address: public hosts by https alone, and no web page instead of a file.

`fetch` is the one gate; here are the limits and the words for a person, who can't change the program.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from showandtell.core.media_types.claims import EXTENSIONS, suffix_of
from showandtell.core.messages.file import File
from showandtell.errors import BadFile
from showandtell.network.fetch import FetchedFile, FetchPolicy, OnProgress, fetch

if TYPE_CHECKING:
    from showandtell.network.fetch import Dialer

#: Seconds for a download with all its redirects.
SECONDS: Final = 60.0
WEB_PAGE: Final = "text/html"
DOWNLOAD: Final = "download the file and attach it"


async def fetch_attachment(
    url: str,
    folder: Path,
    *,
    max_bytes: int,
    policy: FetchPolicy | None = None,
    dialer: Dialer | None = None,
    on_progress: OnProgress | None = None,
    ask: str = DOWNLOAD,
) -> File:
    """Fetch a file into `folder`. Raises `BadFile` in words for people; `ask` is the advice for what isn't allowed."""
    try:
        fetched = await fetch(
            url,
            folder,
            max_bytes=max_bytes,
            policy=(policy or FetchPolicy()).for_people,
            seconds=SECONDS,
            dialer=dialer,
            on_progress=on_progress,
        )
    except BadFile as error:
        raise for_people(error, ask) from None
    refuse_web_page(url, fetched)
    return File(fetched.path, fetched.media_type, name_of(fetched))


def name_of(fetched: FetchedFile) -> str:
    """The name of a fetched file: that of its host if it has none, and with a suffix by its type."""
    name, suffix = fetched.name or "", suffix_of(fetched.media_type)
    if not name:
        return (urlsplit(fetched.url).hostname or "file") + suffix
    return name if "." in name else name + suffix


def refuse_web_page(url: str, fetched: FetchedFile) -> None:
    """Raise `BadFile` for a web page instead of a file: a login, or a page about the file."""
    suffixes = (PurePosixPath(urlsplit(address).path).suffix.lower() for address in (url, fetched.url))
    expected = next(filter(None, map(EXTENSIONS.get, suffixes)), WEB_PAGE)
    if fetched.media_type == WEB_PAGE != expected:
        advice = f"copy the address of the file itself, or {DOWNLOAD}"
        raise BadFile(urlsplit(fetched.url).hostname or "the address", "sends a web page in place of the file", advice)


def for_people(error: BadFile, ask: str) -> BadFile:
    """An error with advice for a person. Its class stays."""
    advice, program, _ = error.advice.partition("the program allows")
    return type(error)(error.name, error.problem, advice.rstrip("; ") or ask if program else error.advice)
