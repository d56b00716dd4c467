"""The door to a provider: `Send` takes a request and gives an answer. aiohttp, the inspector and fault scripts are such."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias


class HttpRequest(Protocol):
    """A POST: `size` is the exact content-length, `body()` gives the bytes anew for each try."""

    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def size(self) -> int: ...
    def body(self) -> AsyncIterator[bytes]: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: HTTP status, headers with lower-case names, and the bytes as they are read."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


Send: TypeAlias = Callable[[HttpRequest], AbstractAsyncContextManager[Answer]]
