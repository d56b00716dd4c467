"""The models that hosts list for the keys of a server. Lists of hosts with keys are kept for a day, in a file."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from showandtell.agent.model_knowledge import fingerprint
from showandtell.config.user_settings import read_optional, state_folder, write_atomically
from showandtell.errors import BadInput, ShowAndTellError
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import needs_no_key
from showandtell.providers.model_lists import ListedModel, ModelList, list_models, model_list_of

FILE: Final = "model_lists.json"
#: Seconds for which a list counts, and until a host that gave none is asked again.
LIFETIME: Final = 24 * 3600.0
PAUSE: Final = 300.0
#: Seconds to wait for a list: of a host with a key, and of a server that may not be running.
TIMEOUT, LOCAL_TIMEOUT = 3.0, 0.5
#: Maximum number of lists in the file.
MAX_LISTS: Final = 100


class KeptList(Struct, frozen=True):
    """A list, the account that it belongs to, and when it was read (epoch seconds). The account is never a key."""

    base_url: str
    account: str
    read: float
    models: tuple[ListedModel, ...]


#: A base URL, and a fingerprint of the headers that are sent there.
Account: TypeAlias = tuple[str, str]


@dataclass
class ListedModels:
    """Asks hosts for their models. The file is read once, and written with each new list. `clock`: epoch seconds."""

    path: Path
    clock: Callable[[], float] = time.time
    _failed: dict[Account, float] = field(default_factory=dict[Account, float])
    _kept: dict[Account, KeptList] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, provider: str, exchange: Exchange) -> tuple[ListedModel, ...] | None:
        """The models that a host lists; None if it has no list, or gives none in time."""
        models = model_list_of(provider)
        if models is None:
            return None
        if needs_no_key(provider):  # what it lists changes with what is installed, and isn't kept
            return await list_in_time(exchange, models, LOCAL_TIMEOUT)
        account, now = account_of(exchange), self.clock()
        kept = (await self._read()).get(account)
        if kept is not None and 0 <= now - kept.read < LIFETIME:
            return kept.models
        if now - self._failed.get(account, -PAUSE) < PAUSE:
            return None
        found = await list_in_time(exchange, models, TIMEOUT)
        if found is None:
            self._failed[account] = now
        else:
            await self.keep(exchange, found)
        return found

    async def keep(self, exchange: Exchange, models: tuple[ListedModel, ...]) -> None:
        """Keep a list in place of an older one: only in memory if the file can't be written."""
        account = account_of(exchange)
        kept = await self._read()
        self._failed.pop(account, None)
        async with self._lock:
            kept.pop(account, None)
            kept[account] = KeptList(*account, self.clock(), models)
            while len(kept) > MAX_LISTS:
                del kept[next(iter(kept))]
            data = msgspec.json.encode(list(kept.values()))
            with suppress(BadInput):
                await asyncio.to_thread(write_atomically, self.path, data)

    async def _read(self) -> dict[Account, KeptList]:
        """The lists of the file. A damaged one counts as empty, because everything in it can be read again."""
        async with self._lock:
            if self._kept is None:
                lists: list[KeptList] = []
                with suppress(BadInput, msgspec.DecodeError, UnicodeDecodeError):
                    data = await asyncio.to_thread(read_optional, self.path)
                    lists = msgspec.json.decode(data or b"[]", type=list[KeptList])
                self._kept = {(kept.base_url, kept.account): kept for kept in lists}
            return self._kept


async def list_in_time(exchange: Exchange, models: ModelList, seconds: float) -> tuple[ListedModel, ...] | None:
    """The models of a list; None if the host gives none in time."""
    try:
        async with asyncio.timeout(seconds):
            return await list_models(exchange, models)
    except (ShowAndTellError, OSError, ValueError):
        return None


def account_of(exchange: Exchange) -> Account:
    """What a list belongs to. It shows no key."""
    return exchange.base, fingerprint(exchange.headers)


def kept_lists(environ: Mapping[str, str] = os.environ) -> ListedModels:
    """The lists of this user of the machine."""
    return ListedModels(state_folder(environ) / FILE)
