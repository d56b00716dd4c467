"""Vertex: base URLs of projects, and tokens from google-auth (the extra `vertex`), renewed when they expire."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from showandtell.core.wire.http import HttpRequest
from showandtell.errors import BadInput, MissingKey, ProviderUnavailable
from showandtell.installation import ADVICE
from showandtell.providers.auth import find_variable
from showandtell.providers.credentials import get_credentials

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
#: Multi-region locations have another form of host (google-genai 3.4, anthropic 2.12).
MULTI_REGIONS = ("us", "eu")
PROJECT_VARIABLES = ("GOOGLE_CLOUD_PROJECT",)
LOCATION_VARIABLES = ("GOOGLE_CLOUD_LOCATION",)
FILE_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
NAME = re.compile(r"[a-z0-9][a-z0-9.:-]*")
#: Seconds without a byte after which a token endpoint is left (google-auth 2.62: 120).
REQUEST_SECONDS = 8.0


def account_of(
    environ: Mapping[str, str],
    projects: tuple[str, ...] = PROJECT_VARIABLES,
    locations: tuple[str, ...] = LOCATION_VARIABLES,
) -> str:
    """`project/location` from variables. The default location is `global`. Empty without a project.

    Raises `BadInput` for an invalid name, since both are parts of URLs.
    """
    project, location = find_variable(projects, environ), find_variable(locations, environ) or ("", "global")
    for source, value in (project or ("", "none"), location):
        if not NAME.fullmatch(value):
            raise BadInput(f"{source} is {value!r}, which is not a valid name: use letters, digits and hyphens")
    return f"{project[1]}/{location[1]}" if project else ""


def base_of(account: str) -> str:
    """The base URL of an account's location. Raises `MissingKey` for an empty account."""
    if not account:
        raise MissingKey(
            "Vertex needs your project: set GOOGLE_CLOUD_PROJECT, and GOOGLE_CLOUD_LOCATION; for Gemini, GOOGLE_API_KEY"
            " alone is enough"
        )
    location = account.partition("/")[2]
    if location in {"", "global"}:  # a key alone has no location
        return "https://aiplatform.googleapis.com"
    if location in MULTI_REGIONS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def authorize_with(load: Callable[[], Any], key: Hashable = None) -> Callable[[HttpRequest], Awaitable[dict[str, str]]]:
    """A function that makes headers with a token. `load` and `key` are those of `token_headers`."""

    async def authorize(_: HttpRequest) -> dict[str, str]:
        return await token_headers(load, key)

    return authorize


async def token_headers(load: Callable[[], Any], key: Hashable = None) -> dict[str, str]:
    """The headers with a token of the credentials that `load` returns. Raises `ProviderUnavailable`.

    `load` may block. Requests with the same `key`, by default `load`, share a renewal.
    """
    credentials = await get_credentials(lambda: renew(load()), load if key is None else key)
    headers = {"authorization": f"Bearer {credentials.token}"}
    quota_project: str | None = getattr(credentials, "quota_project_id", None)
    return {**headers, "x-goog-user-project": quota_project} if quota_project else headers


def renew(credentials: Any) -> Any:
    """Renew the token of credentials if it has expired. Blocks. Raises `ProviderUnavailable`."""
    if not credentials.valid:
        errors = import_module("google.auth.exceptions")
        try:
            credentials.refresh(request_type()())
        except (errors.GoogleAuthError, OSError) as error:
            raise ProviderUnavailable(f"Google's credentials can't be renewed: {error_text(error)}") from None
    return credentials


@lru_cache(maxsize=1)
def request_type() -> type[Any]:
    """google-auth's `Request` with a shorter timeout."""
    base = import_module("google.auth.transport.requests").Request

    def call(self: Any, *values: Any, timeout: float = REQUEST_SECONDS, **options: Any) -> Any:
        return base.__call__(self, *values, timeout=timeout, **options)

    return type("Request", (base,), {"__call__": call})


def default_credentials(environ: Mapping[str, str]) -> Any:
    """The default credentials: a service account's file, gcloud's login, or the machine's own account. Blocks.

    google-auth itself reads the process's environment. Raises `MissingKey` if there are none, and `BadInput` if
    google-auth isn't installed.
    """
    return _default_credentials(environ.get(FILE_VARIABLE, ""))


def default_key(environ: Mapping[str, str]) -> Hashable:
    """What identifies the default credentials of an environment."""
    return FILE_VARIABLE, environ.get(FILE_VARIABLE, "")


@lru_cache(maxsize=8)
def _default_credentials(_: str) -> Any:
    try:
        auth, errors = import_module("google.auth"), import_module("google.auth.exceptions")
    except ImportError:
        raise BadInput(f"Vertex needs google-auth, of showandtell[vertex]: {ADVICE}") from None
    try:
        return auth.default(scopes=[SCOPE])[0]
    except (errors.GoogleAuthError, OSError, ValueError) as error:
        raise MissingKey(
            f"Vertex needs Google's credentials ({error_text(error)}): set GOOGLE_APPLICATION_CREDENTIALS to a service"
            " account's file, or run `gcloud auth application-default login`"
        ) from None


def error_text(error: Exception) -> str:
    """The start of an error's text, without google-auth's further arguments, which may be a complete response."""
    return f"{error.args[0] if error.args else type(error).__name__}".partition("\n")[0][:200]
