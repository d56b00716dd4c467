"""The door to a provider: `Send` takes a request and gives an answer, be it by network, inspector or fault script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias


class HttpRequest(Protocol):
    """A request, nearly always a POST: `size` is its exact content-length, `body()` the bytes anew for each try."""

    @property
    def method(self) -> str:
        """What is asked for: a POST, but where files at a provider are looked after."""
        ...

    @property
    def url(self) -> str:
        """Where it goes."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, keys included: never logged."""
        ...

    @property
    def size(self) -> int:
        """The exact content-length."""
        ...

    def body(self) -> AsyncIterator[bytes]:
        """The bytes, anew for each try."""
        ...


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response: HTTP status, headers with lower-case names, and the bytes as they are read."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


#: Headers of one very request: a token that is renewed, a signature over its body.
Authorise: TypeAlias = Callable[[HttpRequest], Awaitable[Mapping[str, str]]]
Send: TypeAlias = Callable[[HttpRequest], AbstractAsyncContextManager[HttpResponse]]
