"""HTTP types. `Send` takes a request and returns a response from the network, the inspector or a fault script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from showandtell.checking.checked import Checked

#: Tells the inspector that there is a provider's key, so that it doesn't advise to store one.
KEYS_HEADER: Final = "x-inspector-keys"


class HttpRequest(Protocol):
    """An HTTP request to a provider. Model calls are POSTs; requests that manage uploaded files use other methods."""

    @property
    def method(self) -> str:
        """The HTTP method, in capitals."""
        ...

    @property
    def url(self) -> str:
        """The absolute URL."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers. They contain API keys, so they must never be logged."""
        ...

    @property
    def size(self) -> int:
        """The exact content length in bytes."""
        ...

    def body(self) -> AsyncIterator[bytes]:
        """Return a new iterator over the body; each attempt calls this once."""
        ...


@dataclass(frozen=True, slots=True)
class HttpResponse(Checked):
    """An HTTP response. Header names are in lower case, and `body` yields the bytes as they are read."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


#: Returns the authorization headers of one request, such as a renewed token or a signature of its body.
Authorize: TypeAlias = Callable[[HttpRequest], Awaitable[Mapping[str, str]]]
Send: TypeAlias = Callable[[HttpRequest], AbstractAsyncContextManager[HttpResponse]]
