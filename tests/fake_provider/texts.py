"""Stop reasons and texts that faults use."""

from __future__ import annotations

from typing import Literal, TypeAlias

#: max_tokens, a content filter, a refusal by the model (or a blocked prompt).
StopReason: TypeAlias = Literal["length", "filter", "refusal"]
ANSWER_TEXT = "These words stand for an answer that is long enough to be broken in the middle of one of its events."
OVERLOADED = "Overloaded"
#: Temporarily marks the position where bytes are inserted or cut off.
MARK = "broken-here"
