"""Fulfills a plan's requests: conversions, uploads to a provider, signed URLs, files from the web, words of files.

Failures are returned as `Failed`, never raised: the planner then chooses another form, or a note.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from showandtell.agent.descriptions import Describer
from showandtell.core.capabilities.cells import Target
from showandtell.core.events.types import Usage
from showandtell.core.messages.attachments import Attachment, Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.conversion import MAX_CHARACTERS, parse_conversion
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed, Link
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.planning.conversions import DESCRIPTION, FETCH, TRANSCRIPT
from showandtell.core.planning.placement import LINK, UPLOAD
from showandtell.errors import BadFile, FileChanged
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.uploads import FilesAccess, upload
from showandtell.storage.blobs.threads import run_long_job
from showandtell.storage.conversations.protocol import Conversation

#: Maximum number of uploads and other requests at a time.
MAX_CONCURRENT = 4
#: Returns an https URL for stored bytes, or a `Link` with an expiry time. May block.
Sign: TypeAlias = Callable[[Facts], str | Link]
#: Fetches a URL into a folder, up to a number of bytes. Raises `BadFile`.
Fetch: TypeAlias = Callable[[str, Path, int], Awaitable[File]]
#: Returns the speech in the audio or video file at a path as text. May block.
Transcribe: TypeAlias = Callable[[Path], str]
#: Fulfills one request, or returns the reason why it can't.
Make: TypeAlias = Callable[[DerivationRequest], Awaitable[Derivative | Failed]]


@dataclass(frozen=True, slots=True)
class Sharing:
    """The program's own functions for files: signed URLs, transcripts and fetching. `clock` gives epoch seconds.

    `fetch_linked` fetches addresses that tools return. `describer` may be a model instead of a function.
    """

    link: Sign | None = None
    clock: Callable[[], float] = time.time
    transcribe: Transcribe | None = None
    fetch: Fetch | None = None
    fetch_linked: Fetch | None = None
    describer: Describer | None = None


def spend_nothing(_usage: Usage) -> None:
    """The default of `Loader.spend`: nobody counts."""


@dataclass(frozen=True, slots=True)
class Loader:
    """Fulfills a plan's requests: the conversation converts, the provider stores uploads, `sharing` does the rest.

    All results are stored in the conversation, an upload at once, so that it can be deleted even if the run fails.
    `spend` is called with the tokens of each description.
    """

    conversation: Conversation
    target: Target
    connect: Callable[[], Exchange]
    retry: RetryPolicy
    sharing: Sharing
    spend: Callable[[Usage], None] = spend_nothing

    def files_access(self) -> FilesAccess:
        """How to reach the provider's files."""
        return FilesAccess(self.connect(), self.retry, self.sharing.clock)

    async def load(self, wants: Iterable[DerivationRequest]) -> Derivations:
        """Fulfill every request. Raises errors that prevent any use of the provider, such as `MissingKey`."""
        requests, semaphore = frozenset(wants), asyncio.Semaphore(MAX_CONCURRENT)
        makers = self.makers(uploads=any(request.conversion == UPLOAD for request in requests))
        own = {
            request: makers[name]
            for request in requests
            if (name := parse_conversion(request.conversion).name) in makers
        }
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    request: group.create_task(self.make(request, make, semaphore)) for request, make in own.items()
                }
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # a run ends with one error
        results = {request: task.result() for request, task in tasks.items()}
        if rest := requests.difference(own):
            converted = await self.conversation.load(rest)
            await self.conversation.learn(converted)
            results |= converted
        return results

    async def convert(self, request: DerivationRequest) -> Derivative | Failed:
        """The stored result of a conversion. Converts if there is none, or only a temporary failure."""
        result = self.conversation.known().get(request)
        if result is None or (isinstance(result, Failed) and result.passing):
            result = (await self.load([request]))[request]
        return result

    def makers(self, *, uploads: bool) -> dict[str, Make]:
        """The functions that fulfill requests, by the name of the conversion. The conversation does all others."""
        makers: dict[str, Make] = {LINK: self.from_bytes(self.link), FETCH: self.fetch}
        if uploads:
            makers[UPLOAD] = self.from_bytes(partial(self.store, self.files_access()))
        if self.sharing.transcribe is not None:
            makers[TRANSCRIPT] = self.from_bytes(self.transcribe)
        if self.sharing.describer is not None:
            makers[DESCRIPTION] = partial(self.describe, self.sharing.describer)
        return makers

    def from_bytes(self, make: Callable[[Facts], Awaitable[Derivative | Failed]]) -> Make:
        """Turn a function of facts into one of requests."""

        async def make_from_bytes(request: DerivationRequest) -> Derivative | Failed:
            facts = facts_of(self.conversation, request.sha256)
            return Failed("its bytes are not here", passing=True) if facts is None else await make(facts)

        return make_from_bytes

    async def make(self, request: DerivationRequest, make: Make, semaphore: asyncio.Semaphore) -> Derivative | Failed:
        """Fulfill one request, and store the result at once."""
        async with semaphore:
            result = await make(request)
        await self.conversation.learn({request: result})
        return result

    async def store(self, access: FilesAccess, facts: Facts) -> Derivative | Failed:
        """Upload a file to the provider."""
        return await upload(access, self.target, facts, self.conversation.blobs)

    async def link(self, facts: Facts) -> Derivative | Failed:
        """Sign a URL in a thread, since the program's function may block."""
        return await asyncio.to_thread(sign_url, facts, self.sharing)

    async def fetch(self, request: DerivationRequest) -> Derivative | Failed:
        """Fetch a file from the web, then probe and store it like any other."""
        addresses = (file.address for file in self.conversation.attachments.values())
        address = next(
            (
                file_address
                for file_address in addresses
                if file_address is not None and file_address.sha256 == request.sha256
            ),
            None,
        )
        if address is None or self.sharing.fetch is None:
            return Failed("its address can't be opened here")
        limit = parse_conversion(request.conversion).bytes or 0
        try:
            with TemporaryDirectory(prefix="showandtell-") as folder:
                file = await self.sharing.fetch(address.value, Path(folder), limit)
                (probed,) = await self.conversation.probe(Draft("user", (file,)))
        except BadFile as error:
            return Failed(f"{error.name} {error.problem}: {error.advice}", passing=True)
        return Derivative((probed.facts,)) if probed.facts is not None else Failed(probed.problem or "it is no file")

    async def transcribe(self, facts: Facts) -> Derivative | Failed:
        """Transcribe in a thread, since the program's function may block."""
        return await run_long_job(transcribe_file, facts, self.conversation.blobs, self.sharing)

    async def describe(self, describer: Describer, request: DerivationRequest) -> Derivative | Failed:
        """Describe a picture that the model may see, and count what it costs."""
        files = (file for file in self.conversation.attachments.values() if may_be_described(file))
        file = next((file for file in files if file.facts and file.facts.sha256 == request.sha256), None)
        if file is None:
            return Failed("it is not for a model")
        stored = await self.conversation.recall(request)
        if isinstance(stored, Derivative):
            return stored
        result, usage = await describer.describe(file, self.conversation)
        self.spend(usage)
        return result


def may_be_described(file: Attachment) -> bool:
    """Whether another model may get a file, and the asked one words of it."""
    return (file.audience != "user" or file.lifted is True) and file.in_context and file.convert


def transcribe_file(facts: Facts, blobs: Blobs, sharing: Sharing) -> Derivative | Failed:
    """Call the program's function to transcribe a file."""
    if sharing.transcribe is None:
        return Failed("nobody writes down what is said")
    try:
        with blobs.local(facts) as path:
            text = sharing.transcribe(path)
    except FileChanged as error:
        return Failed(str(error), passing=True)
    except Exception as error:  # noqa: BLE001 - the program's function may raise anything
        return Failed(f"its words could not be written down ({type(error).__name__})", passing=True)
    return Derivative(text=text[:MAX_CHARACTERS], cut=len(text) > MAX_CHARACTERS)


def facts_of(conversation: Conversation, sha256: str) -> Facts | None:
    """The facts about bytes of a conversation; None if no file has them."""
    files = (file.facts for file in conversation.attachments.values())
    return next((facts for facts in files if facts is not None and facts.sha256 == sha256), None)


def sign_url(facts: Facts, sharing: Sharing) -> Derivative | Failed:
    """Call the program's function to sign a URL."""
    if sharing.link is None:
        return Failed("nobody makes links")
    try:
        signed = sharing.link(facts)
    except Exception as error:  # noqa: BLE001 - the program's function may raise anything
        return Failed(f"no link could be made ({type(error).__name__})")
    link = signed if isinstance(signed, Link) else Link(signed)
    if not link.url.startswith("https://"):
        return Failed("its link is no https address")
    return Derivative(url=link.url, expires=link.expires)
