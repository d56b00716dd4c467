"""Vertex: where a project's models are, and tokens by google-auth (the extra `vertex`), renewed when they expire."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

from showandtell.core.wire.http import HttpRequest
from showandtell.errors import BadInput, MissingKey, ProviderUnavailable
from showandtell.providers.auth import find

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
#: Locations of several regions have hosts of another form (google-genai 3.4, anthropic 2.12).
CONTINENTS = ("us", "eu")
PROJECTS = ("GOOGLE_CLOUD_PROJECT",)
LOCATIONS = ("GOOGLE_CLOUD_LOCATION",)
PLACE = re.compile(r"[a-z0-9][a-z0-9.:-]*")
#: Credentials are renewed by one at a time: all who wait then have them.
RENEWING = Lock()


def account_of(
    environ: Mapping[str, str], projects: tuple[str, ...] = PROJECTS, locations: tuple[str, ...] = LOCATIONS
) -> str:
    """`project/location` as the variables say, `global` where none names a location; empty without a project.

    Raises `BadInput` for a name that can't be one, since both stand in addresses.
    """
    project, location = find(projects, environ), find(locations, environ) or ("", "global")
    for source, value in (project or ("", "none"), location):
        if not PLACE.fullmatch(value):
            raise BadInput(f"{source} holds {value!r}, which is no name of Google's: letters, digits and hyphens")
    return f"{project[1]}/{location[1]}" if project else ""


def base_of(account: str) -> str:
    """The host of a location. Raises `MissingKey` without an account."""
    if not account:
        raise MissingKey("Vertex needs to know your project: set GOOGLE_CLOUD_PROJECT, and GOOGLE_CLOUD_LOCATION")
    location = account.partition("/")[2]
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in CONTINENTS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def authorise_with(load: Callable[[], Any]) -> Callable[[HttpRequest], Awaitable[dict[str, str]]]:
    """Headers with a token of google-auth's credentials; `load` gives them, and may block."""

    async def authorise(_: HttpRequest) -> dict[str, str]:
        credentials = await asyncio.to_thread(lambda: renew(load()))
        headers = {"authorization": f"Bearer {credentials.token}"}
        payer: str | None = getattr(credentials, "quota_project_id", None)
        return {**headers, "x-goog-user-project": payer} if payer else headers

    return authorise


def renew(credentials: Any) -> Any:
    """The same credentials with a token that holds. Blocks. Raises `ProviderUnavailable`."""
    with RENEWING:
        if not credentials.valid:
            errors = import_module("google.auth.exceptions")
            try:
                credentials.refresh(import_module("google.auth.transport.requests").Request())
            except (errors.GoogleAuthError, OSError) as error:
                raise ProviderUnavailable(f"Google's credentials can't be renewed: {words_of(error)}") from None
    return credentials


def default_credentials(environ: Mapping[str, str]) -> Any:
    """What this machine may: a service account's file, gcloud's login, or the machine's own account. Blocks.

    Raises `MissingKey` where there is none, and `BadInput` without google-auth, which itself reads the process's own
    environment.
    """
    return _default_credentials(environ.get("GOOGLE_APPLICATION_CREDENTIALS", ""))


@lru_cache(maxsize=8)
def _default_credentials(_: str) -> Any:
    try:
        auth, errors = import_module("google.auth"), import_module("google.auth.exceptions")
    except ImportError:
        raise BadInput("Vertex needs google-auth: pip install 'showandtell[vertex]'") from None
    try:
        return auth.default(scopes=[SCOPE])[0]
    except (errors.GoogleAuthError, OSError, ValueError) as error:
        raise MissingKey(
            f"Vertex needs Google's credentials ({words_of(error)}): set GOOGLE_APPLICATION_CREDENTIALS to a service"
            " account's file, or run `gcloud auth application-default login`"
        ) from None


def words_of(error: Exception) -> str:
    """The beginning of what an error says; what google-auth adds as further arguments may be a whole answer."""
    return f"{error.args[0] if error.args else type(error).__name__}".partition("\n")[0][:200]
