"""Uploads and links that replace files' bytes in requests: expiry, files missing at the provider, deletion.

Failures with one file never end a run: the file is sent as bytes, or noted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.registry import families
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.planning.placement import LINK, UPLOAD, address_of
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import iter_slots
from showandtell.errors import BadInput, ProviderError, ShowAndTellError, UnknownModel
from showandtell.providers.connect import connect, locate
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.uploads import FilesAccess, delete
from showandtell.storage.conversations.protocol import Conversation

#: Uploads and links that expire within this many seconds are no longer used, since a request takes time.
EXPIRY_MARGIN = 300.0
#: Statuses that may mean that a file is missing.
MISSING_STATUSES = frozenset({400, 403, 404, 410, 422})
#: Error texts that mean it, and that aren't about a missing model.
MISSING_TEXT = re.compile(
    r"not.?found|no such|n[o']t exist|no longer|expired|deleted|permission to access|can(?:no|')t be found"
    r"|download|fetch",
    re.IGNORECASE,
)
#: A target that holds no uploads, so that every provider is reached by the environment's settings.
NOWHERE = resolve("inspector")
NO_RETRY = RetryPolicy(tries=0)
ABOUT_FILES = re.compile(r"\bfiles?\b|file_|upload|\burl\b|document|image", re.IGNORECASE)


def uploads_and_links(known: Derivations) -> Iterator[tuple[DerivationRequest, Derivative]]:
    """All uploads and links among the stored results."""
    for request, derivative in known.items():
        if request.conversion in {UPLOAD, LINK} and isinstance(derivative, Derivative):
            yield request, derivative


async def forget_expired(conversation: Conversation, now: float) -> None:
    """Forget uploads and links that expire soon, so that the next plan requests them again."""
    expired = [
        request
        for request, derivative in uploads_and_links(conversation.known())
        if derivative.expires is not None and derivative.expires - EXPIRY_MARGIN <= now
    ]
    if expired:
        await conversation.forget(expired)


async def forget_failed(conversation: Conversation) -> None:
    """Forget failures that may succeed now, so that a run tries again.

    These are temporary failures, and uploads and links of files that the model didn't get in another form.
    """
    shown_numbers = {number for number, receipt in conversation.receipts.items() if receipt.place is not None}
    shown = {
        attachment.facts.sha256
        for attachment in conversation.attachments.values()
        if attachment.facts and attachment.number in shown_numbers
    }
    failed = [
        request
        for request, result in conversation.known().items()
        if isinstance(result, Failed)
        and (result.passing or (request.conversion in {UPLOAD, LINK} and request.sha256 not in shown))
    ]
    if failed:
        await conversation.forget(failed)


def find_missing(error: ProviderError, request: Request, known: Derivations) -> list[DerivationRequest]:
    """The uploads and links of a request that an error reports as missing; none for any other error."""
    if error.status not in MISSING_STATUSES or not MISSING_TEXT.search(error.text):
        return []
    files = (request.locate(error.path) if error.path else ()) or [slot.rendered for slot in iter_slots(request.items)]
    sent = {rendered.file.value for rendered in files if not isinstance(rendered.file, Facts)}
    ids = {
        source: upload.file_id or upload.url or ""
        for source, upload in uploads_and_links(known)
        if {upload.file_id, upload.url} & sent
    }
    matches = [source for source, value in ids.items() if error_name(value) in error.text]
    return matches or (list(ids) if ABOUT_FILES.search(error.text) else [])


def error_name(value: str) -> str:
    """How an error names an id or URL: Gemini uses the last segment of a URI, and no provider repeats a signature."""
    without_query = value.partition("?")[0]
    return without_query.rpartition("/")[2] if "/v1beta/files/" in without_query else without_query


def by_bytes(
    rejections: Mapping[DerivationRequest, Failed], known: Derivations, target: Target
) -> dict[DerivationRequest, Failed]:
    """Rejections of uploads and links as rejections of their bytes, which another id would not help."""
    origins = {
        address_of(derivative, "", target).sha256: request.sha256 for request, derivative in uploads_and_links(known)
    }
    return {
        DerivationRequest(origins.get(request.sha256, request.sha256), request.conversion, request.scope): failed
        for request, failed in rejections.items()
    }


async def forget_missing(
    error: ProviderError, request: Request, conversation: Conversation, tried: set[DerivationRequest]
) -> tuple[DerivationRequest, ...]:
    """Forget uploads and links that an error reports as missing, so that the next plan makes them again.

    One that is missing again in the same step (`tried`) is stored as failed, and sent as bytes from then on. Returns
    the missing ones; none if the error is about something else.
    """
    missing = find_missing(error, request, conversation.known())
    repeated = {
        upload: Failed(f"the provider doesn't find it: {error.text[:200]}") for upload in missing if upload in tried
    }
    await conversation.forget([upload for upload in missing if upload not in tried])
    await conversation.learn(repeated)
    tried.update(missing)
    return tuple(missing)


async def drop_uploads(
    conversation: Conversation,
    target: Target,
    connect_own: Callable[[], Exchange],
    retry: RetryPolicy,
    *,
    numbers: Collection[int] | None = None,
) -> tuple[str, ...]:
    """Delete a conversation's uploads, or those of some of its files, from their providers.

    Returns the reasons for those that remain. `connect_own` connects to `target`. Other providers are reached by the
    environment's settings, if these are for the account that holds the file: a key of another account would find
    nothing, or another file.
    """
    remaining: list[str] = []
    files = conversation.attachments
    chosen = {facts.sha256 for number in numbers or () if number in files and (facts := files[number].facts)}
    for request, upload in [*uploads_and_links(conversation.known())]:
        is_chosen = numbers is None or request.sha256 in chosen
        if request.conversion != UPLOAD or upload.file_id is None or not is_chosen:
            continue
        reason = await drop_upload(request.scope or "", upload.file_id, target, connect_own, retry)
        if reason is None:
            await conversation.forget([request])
        else:
            remaining.append(reason)
    return tuple(remaining)


async def drop_upload(
    upload_scope: str, file_id: str, target: Target, connect_own: Callable[[], Exchange], retry: RetryPolicy
) -> str | None:
    """Delete an upload from its provider, like `drop_uploads`. Returns the reason if it remains."""
    try:
        holder, exchange = connect_to_scope(upload_scope, target, connect_own)
        failed = await delete(FilesAccess(exchange, retry), holder, file_id)
    except ShowAndTellError as error:
        return f"{file_id} is still there: {error}"
    return None if failed is None else failed.reason


async def delete_uploads(conversation: Conversation, numbers: Collection[int] | None = None) -> tuple[str, ...]:
    """Delete a conversation's uploads, or those of the files in `numbers`, with the environment's keys.

    Returns one text for each upload that remains, with the reason. Does not retry.
    """
    return await drop_uploads(conversation, NOWHERE, lambda: connect(NOWHERE), NO_RETRY, numbers=numbers)


async def delete_upload(upload_scope: str, file_id: str) -> str | None:
    """Delete an upload that no conversation has any more, with the environment's keys.

    Returns the reason if it remains. Does not retry.
    """
    return await drop_upload(upload_scope, file_id, NOWHERE, lambda: connect(NOWHERE), NO_RETRY)


def connect_to_scope(upload_scope: str, target: Target, connect_own: Callable[[], Exchange]) -> tuple[Target, Exchange]:
    """A target in an upload scope and its exchange: the own one, else the environment's. Raises if neither matches."""
    if upload_scope == target.upload_scope:
        return target, connect_own()
    owner = read_upload_scope(upload_scope)
    located = locate(replace(owner, account=""))
    if located.upload_scope != upload_scope:
        raise BadInput(f"it is of {owner.vendor}'s account {owner.account!r}, the environment's is {located.account!r}")
    return located, connect(located)


def read_upload_scope(upload_scope: str) -> Target:
    """The inverse of `Target.upload_scope`: a target with its provider and account. Raises `UnknownModel`."""
    for family in families():
        candidate = Target(family.provider, family.api, family.example, ())
        if upload_scope.startswith(candidate.upload_scope):
            return replace(candidate, account=upload_scope.removeprefix(candidate.upload_scope))
    raise UnknownModel(f"{upload_scope!r} is where no known provider keeps files")
