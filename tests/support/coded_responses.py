"""Requests with exactly the given Accept-Encoding, and responses as they were on the wire."""

import gzip
from typing import NamedTuple

import msgspec

from showandtell.storage.blobs.zstd import zstd_module

DECODERS = {None: bytes, "gzip": gzip.decompress, "zstd": lambda body: zstd_module().decompress(body)}


class CodedResponse(NamedTuple):
    """A response whose body was not decoded."""

    status: int
    headers: dict
    body: bytes

    @property
    def coding(self):
        return self.headers.get("content-encoding")

    @property
    def json(self):
        return msgspec.json.decode(DECODERS[self.coding](self.body))


async def load(session, path, accept_encoding=None, method="GET", **headers):
    """Request a path; without `accept_encoding` the header is absent."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if accept_encoding is not None:
        headers["accept-encoding"] = accept_encoding
    settings = {"skip_auto_headers": ["accept-encoding"], "auto_decompress": False}
    async with session.request(method, path, headers=headers, **settings) as response:
        found = {name.lower(): value for name, value in response.headers.items()}
        return CodedResponse(response.status, found, await response.read())
