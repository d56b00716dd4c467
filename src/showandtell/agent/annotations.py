"""The names in annotations that the modules of `Agent` and of its settings import for type checkers alone.

The checks of their arguments look them up here, when an agent or settings are made.
"""

# ruff: noqa: F401 - the names are for annotations, which are read at run time
# pyright: reportUnusedImport=false
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from typing_extensions import TypeForm

from showandtell.agent.descriptions import Describe
from showandtell.agent.loader import Sign, Transcribe
from showandtell.agent.settings import (
    Connection,
    FilePolicy,
    ModelSettings,
    Overrides,
    RunArguments,
    RunLimits,
)
from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import AnyTool, Toolset
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.events.types import Event
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.file import File
from showandtell.core.messages.message import BranchPoint, Draft
from showandtell.core.planning.values import OnUnsupported
from showandtell.network.fetch import FetchPolicy
from showandtell.network.transport import Transport
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.storage.conversations.protocol import Conversation
