"""What an agent is made of and what runs it, loaded when an agent is made: importing `Agent` alone costs little."""

# ruff: noqa: F401 - the names are for the modules of `Agent` and `Run`
# pyright: reportUnusedImport=false
from __future__ import annotations

from asyncio import CancelledError
from dataclasses import replace
from warnings import warn

from showandtell.agent.answer import Answer
from showandtell.agent.configure import AgentSettings, describer_of, sharing_of, with_account
from showandtell.agent.drafts import new_drafts
from showandtell.agent.from_settings import arguments_of
from showandtell.agent.listed_tools import ListedTools
from showandtell.agent.loop import Loop
from showandtell.agent.memory import Memory
from showandtell.agent.output import read_output_type
from showandtell.agent.provider_uploads import drop_uploads
from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, Overrides, RunLimits
from showandtell.agent.toolsets import OpenToolsets, split_by_runner, split_tools
from showandtell.agent.unread_events import UnreadEvents
from showandtell.checking.checked import settings_of
from showandtell.config.read import read_configuration
from showandtell.config.user_settings import find_target
from showandtell.core.display.layout import Block, Words
from showandtell.core.display.words import counted, short
from showandtell.core.events.types import Finish, Usage
from showandtell.core.messages.file import Reader
from showandtell.core.messages.message import last_text, starts_turn
from showandtell.network.transport import Transport
from showandtell.providers.retry import RetryPolicy
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.display import answer_blocks
from showandtell.storage.files.file_cache import FileCache
