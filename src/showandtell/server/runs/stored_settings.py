"""What a run was started with, as it is stored with the run: it continues with that at any worker, at any time."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Struct, structs

from showandtell.agent.settings import ModelSettings, RunLimits
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.errors import StorageFailed


class StoredSettings(Struct, frozen=True):
    """The settings of a run beside its model, which is a column. Keys, tools and `deps` are the server's: never stored.

    `instructions` are the user's own, `operator` those of the server, `conversation` those of the conversation. `tools`
    are the names of the tools that are on; None: all. Defaults are stored, too, since those of a later version may
    differ.
    """

    instructions: str
    limits: RunLimits
    model_settings: ModelSettings = ModelSettings()
    operator: str = ""
    conversation: str = ""
    tools: tuple[str, ...] | None = None

    @property
    def chosen(self) -> frozenset[str] | None:
        """The names of the tools that are on, with the one that the server's settings make models call; None: all."""
        return None if self.tools is None else frozenset((*self.tools, self.model_settings.tool_choice))

    def of(self, own: ConversationSettings) -> StoredSettings:
        """The same with those of a conversation, whose temperature and `on_full` count before the server's."""
        model = self.model_settings
        if own.temperature is not None:
            model = replace(model, temperature=own.temperature)
        limits = self.limits if own.on_full is None else replace(self.limits, on_full=own.on_full)
        return structs.replace(
            self, model_settings=model, limits=limits, conversation=own.instructions, tools=own.tools
        )


def read_settings(record: str) -> StoredSettings:
    """Decode a record. Raises `StorageFailed` if it is damaged."""
    try:
        return msgspec.json.decode(record, type=StoredSettings)
    except msgspec.DecodeError as error:
        raise StorageFailed(f"the stored settings of a run are damaged ({error}): send another message") from error
