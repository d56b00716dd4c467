"""What a run was started with, as it is stored with the run: it continues with that at any worker, at any time."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from showandtell.agent.settings import ModelSettings, RunLimits
from showandtell.errors import StorageFailed


class StoredSettings(Struct, frozen=True):
    """The settings of a run beside its model, which is a column. Keys, tools and `deps` are the server's: never stored.

    `instructions` are the user's own, `operator` those of the server. Defaults are stored, too, since those of a later
    version may differ.
    """

    instructions: str
    limits: RunLimits
    model_settings: ModelSettings = ModelSettings()
    operator: str = ""


def read_settings(record: str) -> StoredSettings:
    """Decode a record. Raises `StorageFailed` if it is damaged."""
    try:
        return msgspec.json.decode(record, type=StoredSettings)
    except msgspec.DecodeError as error:
        raise StorageFailed(f"the stored settings of a run are damaged ({error}): send another message") from error
