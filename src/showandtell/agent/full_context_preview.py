"""What an answer would leave out of a conversation that was too long for its model: planned without a request."""

from __future__ import annotations

from msgspec import Struct

from showandtell.agent.agent import Agent
from showandtell.agent.fit_context import ContextFit
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import Derivations
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import is_summary
from showandtell.core.planning.left_out import cut_at, left_out_before
from showandtell.core.planning.plain_text import as_plain_text
from showandtell.core.planning.plan import plan
from showandtell.core.planning.token_estimates import BYTES_PER_TOKEN
from showandtell.core.planning.values import View
from showandtell.errors import ProviderError
from showandtell.providers.full_context import read_full_context


class LeftOut(Struct, frozen=True):
    """The messages that requests would leave out, and files that are in none of the others.

    window: the tokens that the model takes, if its provider has said that. tokens: about how many a summary reads.
    """

    messages: tuple[Message, ...]
    files: tuple[Attachment, ...]
    window: int | None
    tokens: int


def preview_left_out(agent: Agent, view: View, known: Derivations, error: str) -> LeftOut | None:
    """What a run with `on_full` would leave out, after the provider has refused a request with this error.

    None if the error isn't about the context, or nothing can be left out. The run may leave out more if the provider
    refuses that, too.
    """
    full = read_full_context(ProviderError(error, 400))
    if full is None:
        return None
    fit, policy = ContextFit(), agent.settings.policy
    fit.restore(view, has_summaries=any(is_summary(message.parts) for message in view.messages))
    fit.learn(full, plan(fit.view(view), agent.target, known, policy), agent.target)
    target = fit.known(agent.target)
    index = fit.find_cut(view, target, policy.head_bytes)
    if index is None:
        return None
    cut = cut_at(view, index)
    messages = fit.to_sum_up(view, left_out_before(view, index))
    words = sum(len(as_plain_text(message, view.attachments).encode()) for message in messages)
    return LeftOut(
        tuple(message for message in messages if not is_summary(message.parts)),
        tuple(file.attachment for file in cut.left_out_files(cut.apply(view))),
        full.window,
        int(words / BYTES_PER_TOKEN * fit.scale),
    )
