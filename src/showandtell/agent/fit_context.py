"""What the steps of a conversation have shown about the model's context window, and what its requests leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target, Window
from showandtell.core.events.types import Usage
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Summary, is_summary
from showandtell.core.planning.left_out import Cut, find_cut, no_cut, stored_cut
from showandtell.core.planning.receipts import make_receipts
from showandtell.core.planning.token_estimates import BYTES_PER_TOKEN
from showandtell.core.planning.values import Plan, View
from showandtell.providers.full_context import FullContext

#: Requests with fewer estimated tokens say little about the estimate: hosts add some of their own.
MIN_MEASURED = 4_000
#: The limits of the correction. A host that counts too few must not lead to requests beyond the window.
MIN_SCALE, MAX_SCALE = 0.6, 8.0
#: An estimate that was never measured is wrong by less than this factor. Else the window is smaller than thought.
MAX_ERROR = 3.0
#: A request was this much longer than the window, if the provider doesn't say how long it was.
BEYOND = 1.05
#: The part of the window that text keeps after a cut: requests then begin alike for many steps.
AFTER_CUT = 0.4
ADVICE = (
    'start a new conversation, shorten the newest message, or set RunLimits(on_full="drop_oldest") to leave out '
    'the oldest messages, or on_full="summarize" to have the model sum them up'
)
NOTHING_LEFT = "nothing more can be left out: shorten the newest message, the instructions or the tools' descriptions"


@dataclass
class ContextFit:
    """One conversation with one model, for as long as its agent keeps it.

    scale: how many tokens the model counts for one that was estimated. window: what the provider has said of it.
    is_measured: whether `scale` is by its own count. cut: the messages that requests leave out.
    """

    scale: float = 1.0
    is_measured: bool = False
    window: Window | None = None
    cut: Cut = field(default_factory=Cut)

    def known(self, target: Target) -> Target:
        """The target with the window that its provider has told."""
        return target if self.window is None else replace(target, window=self.window)

    def view(self, view: View) -> View:
        """The view without the messages that are left out."""
        if not self.cut.fits(view):  # a new run, or another branch
            self.cut = stored_cut(view)
        return self.cut.apply(view)

    def restore(self, view: View, *, has_summaries: bool) -> None:
        """Leave out what stored summaries of a conversation stand for, unless more is left out already."""
        if not self.cut.index and (has_summaries or not (self.cut.is_whole and self.cut.fits(view))):
            self.cut = stored_cut(view) if has_summaries else no_cut(view)

    def with_left_out(self, plan: Plan, view: View) -> Plan:
        """The plan with receipts of files whose messages are left out. `view` is without these messages."""
        if not self.cut.numbers:
            return plan
        receipts = {receipt.number: receipt for receipt in plan.receipts}
        receipts = {**make_receipts(self.cut.left_out_files(view)), **receipts}
        return replace(plan, receipts=tuple(receipts[number] for number in sorted(receipts)))

    def measure(self, plan: Plan, usage: Usage) -> None:
        """Correct the estimate by what the provider has counted for a request."""
        if usage.input_tokens and plan.tokens >= MIN_MEASURED:
            self.scale, self.is_measured = clamp(usage.input_tokens / plan.tokens), True

    def exceeds(self, plan: Plan, target: Target) -> bool:
        """Whether a request is longer than the window by the estimate."""
        return target.window is not None and plan.tokens * self.scale > target.window.tokens

    def learn(self, full: FullContext, plan: Plan, target: Target) -> None:
        """Learn the window and the request's tokens from an answer that the request was too long."""
        estimated = max(1, plan.tokens) * self.scale
        tokens = full.window or (target.window.tokens if target.window is not None else 0)
        if full.asked is not None and full.asked <= tokens:  # the window also has to hold the answer
            tokens = int(full.asked / BEYOND)
        elif not full.window and (self.is_measured or tokens > estimated * MAX_ERROR):
            tokens = int(estimated / BEYOND)
        if target.window is None or tokens != target.window.tokens:
            self.window = Window(tokens, "told by the provider: the context is full", "")
        self.scale = max(self.scale, clamp((full.asked or tokens * BEYOND) / max(1, plan.tokens)))

    def room(self, target: Target, share: float) -> float:
        """The bytes of text that take a share of the window, by the estimate; 0 if no window is known."""
        return 0 if target.window is None else target.window.tokens * share / self.scale * BYTES_PER_TOKEN

    def find_cut(self, view: View, target: Target, head_bytes: int) -> int | None:
        """The message of a conversation's complete view to begin with; None if nothing more can be left out."""
        if target.window is None:
            return None
        return find_cut(view, target, self.room(target, AFTER_CUT) - head_bytes, self.cut.index)

    def to_sum_up(self, view: View, left_out: Sequence[int]) -> list[Message]:
        """The messages at some positions, with an earlier summary in place of those that it stands for."""
        summary = next((message for message in self.cut.start if has_summary(message)), None)
        earlier = [] if summary is None else [summary]
        begin = self.cut.index if earlier else 0
        newer = (view.messages[at] for at in left_out if at >= begin)
        return [*earlier, *(message for message in newer if not is_summary(message.parts))]


def has_summary(message: Message) -> bool:
    """Whether a message sums up others, and isn't only a note that they are left out."""
    return any(isinstance(part, Summary) and part.text for part in message.parts)


def clamp(scale: float) -> float:
    """Limit a correction of the estimate."""
    return min(max(scale, MIN_SCALE), MAX_SCALE)
