"""What the stored data tells of the person at this machine: the model that they chose or used last, and their keys.

What the commands advise them to do next goes by that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from showandtell.agent.from_settings import model_of
from showandtell.agent.settings import Connection
from showandtell.config.settings import Settings
from showandtell.config.user_settings import data_folder
from showandtell.core.capabilities.default_models import CURRENT_MODELS
from showandtell.core.capabilities.registry import INSPECTOR
from showandtell.core.capabilities.resolve import split_name
from showandtell.core.wire.http import KEYS_HEADER
from showandtell.errors import StorageFailed
from showandtell.providers.default_model import DefaultModel, choose_default
from showandtell.providers.hosts import Environ, host_of, key_provider
from showandtell.server.provider_keys.provider_key import EVERYONE, ProviderKey, StoredKey, usable_providers
from showandtell.storage.location import StorageLocation

if TYPE_CHECKING:
    from showandtell.server.provider_keys.stored_keys import StoredKeys
    from showandtell.storage.conversations.store import Store

#: The owner of the conversations and settings of the command line, and of a server without accounts.
OWNER = "local"
WHAT_IT_IS = "It is not a language model: it reports what it receives."


class Person(Struct, frozen=True):
    """The model that was chosen on the page, the real one that was used last, and the stored keys by provider."""

    preferred: str | None = None
    used: str | None = None
    keys: Mapping[str, StoredKey] = field(default_factory=dict[str, StoredKey])

    def choose(self, settings: Settings) -> DefaultModel:
        """The model of an answer for which no other one is named."""
        return model_of(settings, self.used, usable_providers(self.keys), self.preferred)

    def key_for(self, model: str) -> ProviderKey | None:
        """The stored key for a model; None if the environment's counts. Raises `UnknownModel`."""
        stored = self.keys.get(key_provider(split_name(model)[0]))
        return None if stored is None else stored.key

    def connection_to(self, model: str) -> Connection | None:
        """A connection with the stored key; None if there is none. Raises `UnknownModel`."""
        key = self.key_for(model)
        if key is None and split_name(model)[0] == INSPECTOR and usable_providers(self.keys):
            return Connection(headers={KEYS_HEADER: "yes"})
        return None if key is None else Connection(base_url=key.base_url, api_key=key.api_key)


async def read_person(store: Store, place: StorageLocation) -> Person:
    """Read what is stored. Damaged settings count as none."""
    from showandtell.storage.conversations.preferences import Preferences, read_preferences  # noqa: PLC0415 - an extra

    own = Preferences()
    with suppress(StorageFailed):
        own = await read_preferences(store.database, OWNER)
    return Person(own.model, own.used, await read_keys(store, place))


async def read_keys(store: Store, place: StorageLocation) -> Mapping[str, StoredKey]:
    """The stored keys by provider. Without any, no secret is needed, and none is made."""
    from sqlalchemy import select  # noqa: PLC0415 - an extra

    from showandtell.storage.database.tables import provider_keys  # noqa: PLC0415 - the same

    if not await store.database.read(select(provider_keys.c.provider).limit(1)):
        return {}
    try:
        return await open_keys(store, place).of(EVERYONE)
    except ImportError:  # the server's libraries, which decrypt them, are missing
        return {}


def open_keys(store: Store, place: StorageLocation) -> StoredKeys:
    """The keys of a store, with the secret of its server. Raises `BadInput` for an unusable secret."""
    from showandtell.server.auth.keys import load_secret, previous_secrets  # noqa: PLC0415 - an extra
    from showandtell.server.auth.stored_secrets import StoredSecrets  # noqa: PLC0415 - the same
    from showandtell.server.provider_keys.stored_keys import StoredKeys  # noqa: PLC0415 - the same

    folder: Path = place.data or data_folder()
    return StoredKeys(store.database, StoredSecrets(load_secret(folder), *previous_secrets()), time.time)


async def remember_model(store: Store, model: str, person: Person) -> Person:
    """Keep which real model was used last, for answers that name none. Returns what is stored then."""
    from showandtell.storage.conversations.preferences import change_preferences  # noqa: PLC0415 - an extra

    if model == person.used or split_name(model)[0] == INSPECTOR:
        return person
    with suppress(StorageFailed):  # the answer is more important
        await change_preferences(store.database, OWNER, used=model)
    return replace(person, used=model)


def about_inspector(person: Person, environ: Environ = os.environ) -> str:
    """What the inspector is, and how to talk to a real model."""
    return f"{WHAT_IT_IS} {how_to_a_real_model(person, environ)}"


def how_to_a_real_model(person: Person, environ: Environ = os.environ) -> str:
    """With a key, the option that names a model; else how to store a key or set its variable."""
    best = choose_default((), person.used, usable_providers(person.keys), environ)
    if best.reason != "no key":
        return f"For a real model: --model {best.model}"
    first = CURRENT_MODELS[0].provider
    variable = host_of(first).keys[0][0]
    return f"For a real model, store a key (showandtell keys set {first}) or set its variable, such as {variable}."
