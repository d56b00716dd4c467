"""What faults are made of besides bytes: why an answer ends, and the words that stand for one."""

from __future__ import annotations

from typing import Literal, TypeAlias

#: max_tokens, a filter of the host's, the model's own refusal (or the host's of the prompt).
Why: TypeAlias = Literal["length", "filter", "refusal"]
SPOKEN = "These words stand for an answer that is long enough to be broken in the middle of one of its events."
OVERLOADED = "Overloaded"
#: Stands for a moment where bytes are to be broken.
MARK = "broken-here"
