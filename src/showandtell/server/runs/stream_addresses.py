"""Addresses of files in the streams of runs: a stream is stored once, and each reader has addresses of their own.

In buffers and logs, a mark stands before each path of a file. A reader of the stream gets the address in its place,
made at that moment: with the prefix and host that the reader uses, and signed if the reader needs that.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from showandtell.core.messages.file_json import Link
from showandtell.server.auth.keys import Keys, base64url

#: Ends an address. Paths of files hold neither backslashes nor quotes.
END: Final = "\x1d"
ENCODED_END: Final = rb"\u001d"


class StreamAddresses:
    """Marks paths, and replaces the marks. The mark is secret, so that no text of a model or a tool holds one."""

    def __init__(self, keys: Keys) -> None:
        self._mark = f"{END}{base64url(keys.derive('addresses in streams'))[:16]}"
        self._encoded = ENCODED_END + self._mark[1:].encode()

    def mark(self, path: str) -> str:
        """Return a path as it is stored."""
        return f"{self._mark}{path}{END}"

    def resolve(self, data: bytes, link: Link) -> bytes:
        """Replace the marked paths in events, of which none is cut in the middle."""
        before, *marked = data.split(self._encoded)
        if not marked:
            return data
        pieces = [before]
        for piece in marked:
            path, _, rest = piece.partition(ENCODED_END)
            pieces += (link(path.decode()).encode(), rest)
        return b"".join(pieces)

    async def follow(self, events: AsyncGenerator[bytes], link: Link) -> AsyncGenerator[bytes]:
        """Replace the marked paths in a stream."""
        async with aclosing(events):
            async for data in events:
                yield self.resolve(data, link)
