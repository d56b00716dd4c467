"""What stands for files' bytes in a run: uploads and links, made when a plan wants them, forgotten when they die.

Nothing here raises for a file: one that can't be uploaded goes as bytes, or is noted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from msgspec.structs import replace

from showandtell.agent.protocols import Conversation
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.planning.placement import LINK, UPLOAD, address_of
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import slots
from showandtell.errors import BadInput, ProviderError, ShowAndTellError, UnknownModel
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.rows import connect, locate
from showandtell.providers.uploads import Reach, delete

#: What dies within so many seconds isn't used any more: a request takes its time.
MARGIN = 300.0
#: Answers that may say that a file is not there.
GONE = frozenset({400, 403, 404, 410, 422})
#: How they say it, in words that are about no model.
MISSING = re.compile(
    r"not.?found|no such|n[o']t exist|no longer|expired|deleted|permission to access|can(?:no|')t be found"
    r"|download|fetch",
    re.IGNORECASE,
)
ABOUT_FILES = re.compile(r"\bfiles?\b|file_|upload|\burl\b|document|image", re.IGNORECASE)


def shared(known: Derivations) -> Iterator[tuple[DerivationRequest, Derivative]]:
    """Every upload and link that is known."""
    for want, variant in known.items():
        if want.conversion in {UPLOAD, LINK} and isinstance(variant, Derivative):
            yield want, variant


async def forget_expired(conversation: Conversation, now: float) -> None:
    """Forget what is dead, or about to die: the next plan wants it anew."""
    dead = [
        want for want, one in shared(conversation.known()) if one.expires is not None and one.expires - MARGIN <= now
    ]
    if dead:
        await conversation.forget(dead)


async def forget_failed(conversation: Conversation) -> None:
    """Forget what failed and may work now, so that a run tries anew.

    That is conversions that took too long, and uploads and links of files that the model wasn't given in another form.
    """
    given = {number for number, receipt in conversation.receipts.items() if receipt.place is not None}
    stand = {one.facts.sha256 for one in conversation.attachments.values() if one.facts and one.number in given}
    failed = [
        want
        for want, found in conversation.known().items()
        if isinstance(found, Failed)
        and (found.passing or (want.conversion in {UPLOAD, LINK} and want.sha256 not in stand))
    ]
    if failed:
        await conversation.forget(failed)


def gone(error: ProviderError, request: Request, known: Derivations) -> list[DerivationRequest]:
    """The uploads and links of a request that an answer says are not there; none for any other error."""
    if error.status not in GONE or not MISSING.search(error.text):
        return []
    placed = (request.locate(error.path) if error.path else ()) or [slot.placed for slot in slots(request.items)]
    sent = {one.file.value for one in placed if not isinstance(one.file, Facts)}
    held = {want: one.file_id or one.url or "" for want, one in shared(known) if {one.file_id, one.url} & sent}
    named = [want for want, value in held.items() if name_of(value) in error.text]
    return named or (list(held) if ABOUT_FILES.search(error.text) else [])


def name_of(value: str) -> str:
    """What an answer calls an id or a URL by: Gemini names a URI by its last step, nobody repeats a signature."""
    plain = value.partition("?")[0]
    return plain.rpartition("/")[2] if "/v1beta/files/" in plain else plain


def by_bytes(
    news: Mapping[DerivationRequest, Failed], known: Derivations, target: Target
) -> dict[DerivationRequest, Failed]:
    """Rejections of uploads and links as those of the bytes that they stand for: another id of them fares no better."""
    of = {address_of(one, "", target).sha256: want.sha256 for want, one in shared(known)}
    return {
        DerivationRequest(of.get(want.sha256, want.sha256), want.conversion, want.at): failed
        for want, failed in news.items()
    }


async def replace_gone(
    error: ProviderError, request: Request, conversation: Conversation, tried: set[DerivationRequest]
) -> tuple[DerivationRequest, ...]:
    """Forget what an answer says is not there, so that it is made anew; what is lost again goes as bytes from now on.

    Gives what was forgotten, nothing where the error is about something else. `tried` are those of this step so far.
    """
    wants = gone(error, request, conversation.known())
    lost = {want: Failed(f"the provider doesn't find it: {error.text[:200]}") for want in wants if want in tried}
    await conversation.forget([want for want in wants if want not in tried])
    await conversation.learn(lost)
    tried.update(wants)
    return tuple(wants)


async def drop_uploads(
    conversation: Conversation,
    target: Target,
    connect_own: Callable[[], Exchange],
    patience: RetryPolicy,
    *,
    numbers: Collection[int] | None = None,
) -> tuple[str, ...]:
    """Delete the uploads of a conversation, or of some of its files, at their providers; says which stay, and why.

    `target` and `connect_own` are one house's; others are reached as the environment says, where that is the account
    that holds the file: a key that opens another would find nothing there, or a stranger's file.
    """
    kept: list[str] = []
    files = conversation.attachments
    chosen = None if numbers is None else {facts.sha256 for at in numbers if at in files and (facts := files[at].facts)}
    for want, variant in [*shared(conversation.known())]:
        if want.conversion != UPLOAD or variant.file_id is None or (chosen is not None and want.sha256 not in chosen):
            continue
        try:
            there, exchange = find_way(want.at or "", target, connect_own)
            failed = await delete(Reach(exchange, patience), there, variant.file_id)
        except ShowAndTellError as error:
            failed = Failed(f"{variant.file_id} is still there: {error}")
        if failed is None:
            await conversation.forget([want])
        else:
            kept.append(failed.reason)
    return tuple(kept)


async def delete_uploads(conversation: Conversation, numbers: Collection[int] | None = None) -> tuple[str, ...]:
    """Delete the uploads of a conversation, or of the files with these numbers, with the environment's keys.

    Returns what is still there, and why. Each provider is asked once.
    """
    target = resolve("inspector")  # it holds no files, so every provider is reached as the environment says
    return await drop_uploads(conversation, target, lambda: connect(target), RetryPolicy(tries=0), numbers=numbers)


def find_way(upload_scope: str, target: Target, connect_own: Callable[[], Exchange]) -> tuple[Target, Exchange]:
    """A target of an upload scope and the way to it: ours, else the environment's. Raises if neither leads there."""
    if upload_scope == target.upload_scope:
        return target, connect_own()
    there = read_upload_scope(upload_scope)
    found = locate(replace(there, account=""))
    if found.upload_scope != upload_scope:
        raise BadInput(f"it is of {there.vendor}'s account {there.account!r}, the environment's is {found.account!r}")
    return found, connect(found)


def read_upload_scope(upload_scope: str) -> Target:
    """The inverse of `Target.upload_scope`: its provider and account. Raises `UnknownModel` if nobody has them."""
    for family in families():
        bare = Target(family.provider, family.api, family.example, ())
        if upload_scope.startswith(bare.upload_scope):
            return replace(bare, account=upload_scope.removeprefix(bare.upload_scope))
    raise UnknownModel(f"{upload_scope!r} is where no known provider keeps files")
