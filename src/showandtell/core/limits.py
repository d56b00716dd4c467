"""Default limits, and what happens at one, apart from what keeps them: settings name them without importing it."""

from __future__ import annotations

from typing import Literal, TypeAlias

#: Bytes of one file.
MAX_FILE_BYTES = 20_000_000
#: Characters of one tool result, text and JSON together.
MAX_TOOL_TEXT = 40_000
#: What a run does if the conversation is longer than the model's context window.
OnFull: TypeAlias = Literal["error", "drop_oldest", "summarize"]
