"""Downloads objects of Google Cloud Storage with the program's own credentials, within a `FetchPolicy`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from showandtell.errors import BadFile, BadInput, ProviderUnavailable
from showandtell.network.fetch import FetchedFile, FetchPolicy, fetch
from showandtell.providers import google

if TYPE_CHECKING:
    from showandtell.network.fetch import Dialer

#: The JSON API (Google Cloud docs, "Request endpoints"). Its downloads are not redirected.
OBJECT = "https://storage.googleapis.com/storage/v1/b/{bucket}/o/{name}?alt=media"
SCHEME = "gs://"
BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,221}")
GRANT = "give the program's Google credentials the role Storage Object Viewer for the bucket"


def load_credentials() -> Any:
    """Google's default credentials. Blocks. Raises `MissingKey` or `BadInput`."""
    return google.default_credentials(os.environ)


async def fetch_object(
    uri: str,
    folder: Path,
    *,
    max_bytes: int,
    policy: FetchPolicy,
    load: Callable[[], Any] = load_credentials,
    dialer: Dialer | None = None,
) -> FetchedFile:
    """Download `gs://bucket/object` into a new file in `folder`, like `fetch`. Raises `BadFile`.

    The token goes to storage.googleapis.com alone. `load` returns google-auth's credentials and may block.
    """
    bucket, _, name = uri.removeprefix(SCHEME).partition("/")
    place = f"{SCHEME}{bucket}"
    if not BUCKET.fullmatch(bucket) or name in {"", ".", ".."}:
        raise BadFile(uri[:80], "names no object", "write it as gs://bucket/object")
    url = OBJECT.format(bucket=quote(bucket, safe=""), name=quote(name, safe=""))
    try:
        headers = await google.token_headers(load)
    except (BadInput, ProviderUnavailable) as error:
        raise BadFile(place, f"can't be read: {error}", GRANT) from None
    try:
        return await fetch(url, folder, max_bytes=max_bytes, policy=policy, headers=headers, dialer=dialer)
    except BadFile as error:
        refused = error.problem in {"answers 401", "answers 403", "answers 404"}
        raise BadFile(place if refused else error.name, error.problem, GRANT if refused else error.advice) from None
