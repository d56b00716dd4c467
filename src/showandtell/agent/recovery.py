"""Recovers a step whose request was refused because of its files or fields: what the next request leaves out.

The files that the error names, or that are new, are left out, or replaced by smaller copies. If the model turns out not
to take a kind of file at all, that is kept, so that no later request sends one. So is a field of its own messages that
the host doesn't take back, or misses, if the step succeeds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from showandtell.agent.field_errors import read_fields
from showandtell.agent.fit_context import ADVICE, NOTHING_LEFT, ContextFit
from showandtell.agent.media_errors import (
    describe_files,
    files_at,
    files_of,
    is_about_files,
    may_be_modality,
    refused_kinds,
    rejections_of,
    unaccepted,
)
from showandtell.agent.model_knowledge import ModelKnowledge
from showandtell.agent.model_probe import takes_images
from showandtell.agent.provider_uploads import by_bytes, forget_missing
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.modalities import MessageField, with_fields
from showandtell.core.events.types import Retry
from showandtell.core.limits import OnFull
from showandtell.core.messages.derivations import DerivationRequest, Failed
from showandtell.core.planning.left_out import cut_at
from showandtell.core.planning.values import Entry, Plan, RenderedFile, View
from showandtell.core.wire.request import Request
from showandtell.errors import ContextFull, ProviderError, RejectedFiles
from showandtell.providers.full_context import context_full, read_full_context
from showandtell.storage.conversations.protocol import Conversation


@dataclass
class Recovery:
    """One step: what its refused requests have taught.

    failures: rejections of files; those of files that no error names are kept only if the step succeeds.
    missing: uploads that were missing at the provider. refused: the entries of each refused request, and the error.
    suspect: whether the model may take no images, though no error says so. probes_early: find that out before the next
        request, since a model without eyes gets descriptions. fit: what is known of the context window.
    summarize: stores a summary of the messages before one, if the model makes one. fields: what is known of fields.
    """

    conversation: Conversation
    knowledge: ModelKnowledge
    fit: ContextFit
    on_full: OnFull
    summarize: Callable[[View, int], Awaitable[bool]]
    failures: dict[DerivationRequest, Failed] = field(default_factory=dict[DerivationRequest, Failed])
    missing: set[DerivationRequest] = field(default_factory=set[DerivationRequest])
    refused: list[tuple[tuple[Entry, ...], ProviderError]] = field(
        default_factory=list[tuple[tuple[Entry, ...], ProviderError]]
    )
    suspect: bool = False
    probes_early: bool = False
    fields: list[MessageField] = field(default_factory=list[MessageField])

    @property
    def target(self) -> Target:
        """The target with all that is known of its model by now."""
        return self.fit.known(with_fields(self.knowledge.restricted, self.fields))

    def check(self, plan: Plan) -> None:
        """Raise the provider's error if the same request was refused before: it would be refused again."""
        if (error := self.find_refusal(plan)) is not None:
            raise error

    def find_refusal(self, plan: Plan) -> ProviderError | None:
        """The provider's error if the same request was refused before."""
        return next((error for entries, error in self.refused if entries == plan.entries), None)

    async def make_room(self, plan: Plan, target: Target, head_bytes: int) -> bool:
        """Leave the oldest messages out if a request is known to be too long, and that is allowed.

        False if the request can be sent. Raises `ContextFull` if it was refused before and nothing can be left out.
        """
        error = self.find_refusal(plan)
        is_full = isinstance(error, ContextFull)
        if self.on_full == "error" or not (is_full or self.fit.exceeds(plan, target)):
            return False
        view = self.conversation.view()
        if (index := self.fit.find_cut(view, target, head_bytes)) is not None:
            if self.on_full != "summarize" or not await self.summarize(view, index):
                self.fit.cut = cut_at(view, index)
            return True
        if isinstance(error, ContextFull):
            raise context_full(error, NOTHING_LEFT)
        return False

    async def learn_from(self, error: ProviderError, request: Request) -> Retry:
        """Learn from a refusal. Raises an error if it isn't about files, or no file is left."""
        if (full := read_full_context(error, request.target.dialect.errors)) is not None:
            self.fit.learn(full, request.plan, request.target)
            too_long = context_full(error, ADVICE)
            self.refused.append((request.plan.entries, too_long))
            if self.on_full == "error" and not files_of(request):
                raise too_long
            return Retry(f"{error} (again with less)", 0.0)
        if states := read_fields(error, request):
            self.fields += self.knowledge.fields(states, f"it said: {error.text[:300]}")
            self.refused.clear()  # the next request has other fields, even with the same entries
            changed = (f"{'without' if state == 'refused' else 'with'} {name}" for name, state in states.items())
            return Retry(f"{error} (again {', '.join(changed)})", 0.0)
        self.refused.append((request.plan.entries, error))
        if await forget_missing(error, request, self.conversation, self.missing):
            return Retry(f"{error} (uploading the missing files again)", 0.0)
        if kinds := refused_kinds(error, request):
            await self.knowledge.learn(kinds, f"it said: {error.text[:300]}", takes=False)
            return retry_without([file for file in files_of(request) if file.file.kind in kinds], error)
        return await self.leave_out(error, request)

    async def leave_out(self, error: ProviderError, request: Request) -> Retry:
        """Leave out the files that the error names for good, else all that no accepted request held."""
        if not is_about_files(error, request):
            raise error
        accepted = self.conversation.receipts
        at_path = files_at(error, request)
        files = at_path or unaccepted(request, accepted)
        if not files:
            raise RejectedFiles(error, describe_files(files_of(request))) if files_of(request) else error
        rejections = by_bytes(rejections_of(files, error, request), self.conversation.known(), request.target)
        if at_path:
            await self.conversation.learn(rejections)
        self.failures |= rejections
        seen = any(receipt.place is not None and receipt.kind == "image" for receipt in accepted.values())
        if not seen and may_be_modality(error) and any(file.file.kind == "image" for file in files):
            self.suspect = True
            if self.probes_early:
                await self.find_out(request)
        return retry_without(files, error)

    async def succeed(self, request: Request) -> None:
        """Keep what was left out. Find out whether the model takes images, if that is in doubt."""
        await self.conversation.learn(self.failures)
        await self.knowledge.learn_fields(self.fields)
        await self.find_out(request)

    async def find_out(self, request: Request) -> None:
        """Ask the model about a small image, if it is in doubt whether it takes any and not known yet."""
        if self.suspect and not self.knowledge.knows("image"):
            found = await takes_images(self.knowledge.target, request.options, self.knowledge.connect())
            if found is not None:
                await self.knowledge.learn(["image"], found[1], takes=found[0])


def retry_without(files: list[RenderedFile] | tuple[RenderedFile, ...], error: ProviderError) -> Retry:
    """The event of a retry without these files, or with other forms of them."""
    return Retry(str(error), 0.0, tuple(dict.fromkeys(file.number for file in files)))
