"""What answers a plan's wants: conversions, uploads to a house, links, files from the web, transcripts.

Nothing here raises for a file: one that can't be had in one form is given in another, or noted.
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

from showandtell.agent.protocols import Conversation
from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.conversion import MOST_CHARACTERS, read_recipe
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed, Link
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft
from showandtell.core.planning.conversions import FETCH, TRANSCRIPT
from showandtell.core.planning.placement import LINK, UPLOAD
from showandtell.errors import BadFile, FileChanged
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.providers.uploads import Reach, upload

#: So many files are uploaded at a time.
AT_ONCE = 4
#: Gives an https URL of the program's own store for some proved bytes, or a `Link` where it ends; it may block.
Sign: TypeAlias = Callable[[Facts], str | Link]
#: Fetches a file of at most so many bytes from an address into a folder. Raises `BadFile`.
Fetch: TypeAlias = Callable[[str, Path, int], Awaitable[File]]
#: Writes down what is said in the sound or film at a path; it may block.
Transcribe: TypeAlias = Callable[[Path], str]
#: Makes what one want asks for, or says why it can't.
Make: TypeAlias = Callable[[DerivationRequest], Awaitable[Derivative | Failed]]


@dataclass(frozen=True, slots=True)
class Sharing:
    """How files leave without their bytes in a request: the program's links, and the clock by which they die.

    `transcribe` is the program's own way from a sound or film to its words, `fetch` the one from an address to a file.
    """

    link: Sign | None = None
    clock: Callable[[], float] = time.time
    transcribe: Transcribe | None = None
    fetch: Fetch | None = None


@dataclass(frozen=True, slots=True)
class Loader:
    """What answers a plan's wants: the conversation converts, the target's house stores, the program does the rest.

    All that it gives is learnt: an upload at once, so that it can be deleted whatever happens to the run.
    """

    conversation: Conversation
    target: Target
    connect: Callable[[], Exchange]
    retry: RetryPolicy
    sharing: Sharing

    async def load(self, wants: Iterable[DerivationRequest]) -> Derivations:
        """Answer every want. Raises what keeps the house from being asked at all, such as a missing key."""
        asked, places = frozenset(wants), asyncio.Semaphore(AT_ONCE)
        makers = self.makers(uploads=any(want.conversion == UPLOAD for want in asked))
        ours = {want: makers[name] for want in asked if (name := read_recipe(want.conversion).name) in makers}
        try:
            async with asyncio.TaskGroup() as group:
                made = {want: group.create_task(self.answer(want, make, places)) for want, make in ours.items()}
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # what one of them met is what the run is told
        found = {want: task.result() for want, task in made.items()}
        if rest := asked.difference(ours):
            converted = await self.conversation.load(rest)
            await self.conversation.learn(converted)
            found |= converted
        return found

    async def convert(self, want: DerivationRequest) -> Derivative | Failed:
        """A conversion as the conversation knows it; else it is made now."""
        found = self.conversation.known().get(want)
        if found is None or (isinstance(found, Failed) and found.passing):
            found = (await self.load([want]))[want]
        return found

    def makers(self, *, uploads: bool) -> dict[str, Make]:
        """Who makes what, by the name of its recipe; what isn't here the conversation converts."""
        makers: dict[str, Make] = {LINK: self.of_bytes(self.link), FETCH: self.fetch}
        if uploads:
            reach = Reach(self.connect(), self.retry, self.sharing.clock)
            makers[UPLOAD] = self.of_bytes(partial(self.store, reach))
        if self.sharing.transcribe is not None:
            makers[TRANSCRIPT] = self.of_bytes(self.transcribe)
        return makers

    def of_bytes(self, make: Callable[[Facts], Awaitable[Derivative | Failed]]) -> Make:
        """What is made of stored bytes."""

        async def answer(want: DerivationRequest) -> Derivative | Failed:
            facts = facts_of(self.conversation, want.sha256)
            return Failed("its bytes are not here", passing=True) if facts is None else await make(facts)

        return answer

    async def answer(self, want: DerivationRequest, make: Make, places: asyncio.Semaphore) -> Derivative | Failed:
        """Make what one want asks for when there is a place, and learn it at once."""
        async with places:
            found = await make(want)
        await self.conversation.learn({want: found})
        return found

    async def store(self, reach: Reach, facts: Facts) -> Derivative | Failed:
        """One upload."""
        return await upload(reach, self.target, facts, self.conversation.blobs)

    async def link(self, facts: Facts) -> Derivative | Failed:
        """One link, made in a thread: the program's own function may block."""
        return await asyncio.to_thread(sign, facts, self.sharing)

    async def fetch(self, want: DerivationRequest) -> Derivative | Failed:
        """A file from the web, by the one function that opens addresses; proved and stored like any other."""
        files = (file.address for file in self.conversation.attachments.values())
        address = next((one for one in files if one is not None and one.sha256 == want.sha256), None)
        if address is None or self.sharing.fetch is None:
            return Failed("its address can't be opened here")
        most = read_recipe(want.conversion).bytes or 0
        try:
            with TemporaryDirectory(prefix="showandtell-") as folder:
                file = await self.sharing.fetch(address.value, Path(folder), most)
                (proved,) = await self.conversation.prove(Draft("user", (file,)))
        except BadFile as error:
            return Failed(f"{error.name} {error.problem}: {error.advice}", passing=True)
        return Derivative((proved.facts,)) if proved.facts is not None else Failed(proved.problem or "it is no file")

    async def transcribe(self, facts: Facts) -> Derivative | Failed:
        """The words of a sound or film, in a thread for the same reason."""
        return await asyncio.to_thread(write_down, facts, self.conversation.blobs, self.sharing)


def write_down(facts: Facts, blobs: Blobs, sharing: Sharing) -> Derivative | Failed:
    """What is said in a file, by the program's own function."""
    if sharing.transcribe is None:
        return Failed("nobody writes down what is said")
    try:
        with blobs.local(facts) as path:
            words = sharing.transcribe(path)
    except FileChanged as error:
        return Failed(str(error), passing=True)
    except Exception as error:  # noqa: BLE001 - the program's own function may raise anything
        return Failed(f"its words could not be written down ({type(error).__name__})", passing=True)
    return Derivative(text=words[:MOST_CHARACTERS], cut=len(words) > MOST_CHARACTERS)


def facts_of(conversation: Conversation, sha256: str) -> Facts | None:
    """What is proved of some bytes of a conversation."""
    files = (file.facts for file in conversation.attachments.values())
    return next((facts for facts in files if facts is not None and facts.sha256 == sha256), None)


def sign(facts: Facts, sharing: Sharing) -> Derivative | Failed:
    """A URL by which a provider may fetch a file."""
    if sharing.link is None:
        return Failed("nobody makes links")
    try:
        found = sharing.link(facts)
    except Exception as error:  # noqa: BLE001 - the program's own function may raise anything
        return Failed(f"no link could be made ({type(error).__name__})")
    link = found if isinstance(found, Link) else Link(found)
    if not link.url.startswith("https://"):
        return Failed("its link is no https address")
    return Derivative(url=link.url, expires=link.expires)
