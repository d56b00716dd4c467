"""Default limits, and what happens at one, apart from what keeps them: settings name them without importing it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

#: Numbers within limits: a configuration file, a field and an argument refuse all others.
AtLeast0: TypeAlias = Annotated[int, Meta(ge=0)]
AtLeast1: TypeAlias = Annotated[int, Meta(ge=1)]
Positive: TypeAlias = Annotated[float, Meta(gt=0)]
NotNegative: TypeAlias = Annotated[float, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
Port: TypeAlias = Annotated[int, Meta(ge=0, le=65535)]
#: The lowest maximum of one tool result: `get_document` has to fit its answer, with a heading, into it.
ToolText: TypeAlias = Annotated[int, Meta(ge=1000)]
#: Bytes of one file.
MAX_FILE_BYTES = 20_000_000
#: Characters of one tool result, text and JSON together.
MAX_TOOL_TEXT = 40_000
#: What a run does if the conversation is longer than the model's context window.
OnFull: TypeAlias = Literal["error", "drop_oldest", "summarize"]
