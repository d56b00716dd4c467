"""Addresses of files: made for a user when they leave, and read for the file's id when a client sends them back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from fastapi import Depends
from starlette.requests import HTTPConnection

from showandtell.core.messages.file_json import Link
from showandtell.errors import BadInput, NotFound
from showandtell.server.addresses import prefix_of, public_origin, public_url
from showandtell.server.auth.authenticate import CurrentUser
from showandtell.server.state import CurrentServer, Server


async def current_link(request: HTTPConnection, server: CurrentServer, user: CurrentUser) -> Link:
    """Return the function that makes the absolute URLs of files for a user: with a cookie unsigned, else signed.

    A signature is for this user only. It doesn't cover the prefix, which a proxy may add or take off.
    """
    base = public_url(request, "")
    return base.__add__ if user.method == "cookie" else signed_link(server, base, user.name)


def signed_link(server: Server, base: str, user: str) -> Link:
    """Return the function that makes addresses below `base` that are signed for a user."""

    def link(path: str) -> str:
        return base + server.keys.sign_path(path, user, server.clock())

    return link


CurrentLink = Annotated[Link, Depends(current_link)]

#: Returns the id of a file from an address that this server made. It gives no access: that is for the user to have.
ReadAddress: TypeAlias = Callable[[str], str]
FILE_PATH = re.compile(r"(.*)(/api/attachments/(att_[A-Za-z0-9_-]{22})(?:/.*)?)", re.ASCII | re.DOTALL)
UPLOAD_FIRST = (
    "the message has a file that was not uploaded to this server: POST it to /api/attachments, "
    "and send a part with the url or id of the response"
)


async def current_address_reader(request: HTTPConnection, server: CurrentServer, user: CurrentUser) -> ReadAddress:
    """Return the function that reads addresses which the user sends back.

    A signature must be this server's and the user's, but may have expired. An address without one must be of this
    origin, or relative to it. The function raises `NotFound` and `BadInput`.
    """
    origin = public_origin(request)

    def read_address(address: str) -> str:
        try:
            url = urlsplit(address)
        except ValueError:
            raise BadInput(UPLOAD_FIRST) from None
        match = FILE_PATH.fullmatch(url.path)
        if match is None:
            raise BadInput(UPLOAD_FIRST)
        prefix, path, identifier = match.groups()
        if "sig=" in url.query:
            signed = server.keys.verify_url(path, url.query)
            if signed is None or signed.user != user.name:
                raise NotFound(f"the address of {identifier} was not made for you: upload the file again")
        elif (url.netloc and f"{url.scheme}://{url.netloc}" != origin) or prefix not in {"", prefix_of(request.scope)}:
            raise BadInput(UPLOAD_FIRST)
        return identifier

    return read_address


CurrentAddressReader = Annotated[ReadAddress, Depends(current_address_reader)]
