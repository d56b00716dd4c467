"""The errors of identifying a user."""

from __future__ import annotations

from typing import Final

from showandtell.errors import ShowAndTellError


class Unauthorised(ShowAndTellError):
    """Status 401. `invalid_token`: the request had credentials. `challenge` is the header `WWW-Authenticate`."""

    status: Final = 401

    def __init__(self, text: str, *, invalid_token: bool = False) -> None:
        super().__init__(text)
        self.invalid_token = invalid_token
        self.challenge = 'Bearer realm="showandtell"' + (', error="invalid_token"' if invalid_token else "")


class Forbidden(ShowAndTellError):
    """The user is known and not allowed to do this: status 403."""

    status: Final = 403


class LoginUnavailable(ShowAndTellError):
    """The issuer of the accounts does not respond, so users can't be identified: status 503."""

    status: Final = 503


class IssuerSilent(LoginUnavailable):
    """The issuer gives no answer at all, to whatever is asked."""
