"""What stands for files' bytes in a run: uploads and links, made when a plan wants them, forgotten when they die.

Nothing here raises for a file: one that can't be uploaded goes as bytes, or is noted.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from msgspec.structs import replace

from showandtell.agent.doors import Conversation
from showandtell.capabilities.cells import Target
from showandtell.capabilities.resolve import families
from showandtell.content import Draft, File
from showandtell.delivery.forms import FETCH, TRANSCRIPT
from showandtell.delivery.place import LINK, UPLOAD, address_of
from showandtell.errors import BadFile, BadInput, FileChanged, ProviderError, ShowAndTellError, UnknownModel
from showandtell.files import Blobs, Facts, Failed, Known, Link, Variant, Want
from showandtell.media.recipes import read_recipe
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import Patience
from showandtell.providers.rows import connect, locate
from showandtell.providers.uploads import Reach, delete, upload
from showandtell.wire.body import Request
from showandtell.wire.tree import slots

#: What dies within so many seconds isn't used any more: a request takes its time.
MARGIN = 300.0
#: Characters of a transcript that are given.
MOST_WORDS = 200_000
#: So many files are uploaded at a time.
AT_ONCE = 4
#: Answers that may say that a file is not there.
GONE = frozenset({400, 403, 404, 410, 422})
#: How they say it, in words that are about no model.
MISSING = re.compile(
    r"not.?found|no such|n[o']t exist|no longer|expired|deleted|permission to access|can(?:no|')t be found"
    r"|download|fetch",
    re.IGNORECASE,
)
ABOUT_FILES = re.compile(r"\bfiles?\b|file_|upload|\burl\b|document|image", re.IGNORECASE)
#: Gives an https URL of the program's own store for some proved bytes, or a `Link` where it ends; it may block.
Sign: TypeAlias = Callable[[Facts], str | Link]
#: Fetches a file of at most so many bytes from an address into a folder. Raises `BadFile`.
Fetch: TypeAlias = Callable[[str, Path, int], Awaitable[File]]
#: Writes down what is said in the sound or film at a path; it may block.
Transcribe: TypeAlias = Callable[[Path], str]
#: Makes what stands for a file's bytes, or says why it can't.
Make: TypeAlias = Callable[[Facts], Awaitable[Variant | Failed]]


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
    """What answers a plan's wants: the conversation converts, the target's house stores, the program makes links.

    What an upload gave is learnt at once: whatever happens to the run, it can be deleted later.
    """

    conversation: Conversation
    target: Target
    connect: Callable[[], Exchange]
    patience: Patience
    sharing: Sharing

    async def load(self, wants: Iterable[Want]) -> Known:
        """Answer every want. Raises what keeps the house from being asked at all, such as a missing key."""
        asked, makers = frozenset(wants), dict[str, Make]({LINK: self.link})
        if any(want.recipe == UPLOAD for want in asked):
            makers[UPLOAD] = partial(self.store, Reach(self.connect(), self.patience, self.sharing.clock))
        if self.sharing.transcribe is not None:
            makers[TRANSCRIPT] = self.transcribe
        ours = [want for want in asked if want.recipe in makers]
        pulled = {want: await self.fetch(want) for want in asked if read_recipe(want.recipe).name == FETCH}
        rest, places = asked.difference(ours, pulled), asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.TaskGroup() as group:
                made = {want: group.create_task(self.answer(want, makers[want.recipe], places)) for want in ours}
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # what one of them met is what the run is told
        found = {**pulled, **{want: task.result() for want, task in made.items()}}
        return {**found, **await self.conversation.load(rest)} if rest else found

    async def answer(self, want: Want, make: Make, places: asyncio.Semaphore) -> Variant | Failed:
        """Make what one want asks for when there is a place, and learn it at once."""
        facts = facts_of(self.conversation, want.sha256)
        async with places:
            found = Failed("its bytes are not here") if facts is None else await make(facts)
        await self.conversation.learn({want: found})
        return found

    async def store(self, reach: Reach, facts: Facts) -> Variant | Failed:
        """One upload."""
        return await upload(reach, self.target, facts, self.conversation.blobs)

    async def link(self, facts: Facts) -> Variant | Failed:
        """One link, made in a thread: the program's own function may block."""
        return await asyncio.to_thread(sign, facts, self.sharing)


    async def fetch(self, want: Want) -> Variant | Failed:
        """A file from the web, by the one function that opens addresses; proved and stored like any other."""
        files = (file.address for file in self.conversation.attachments.values())
        address = next((one for one in files if one is not None and one.sha256 == want.sha256), None)
        if address is None or self.sharing.fetch is None:
            return Failed("its address can't be opened here")
        most = read_recipe(want.recipe).bytes or 0
        try:
            with TemporaryDirectory(prefix="showandtell-") as folder:
                file = await self.sharing.fetch(address.value, Path(folder), most)
                (proved,) = await self.conversation.prove(Draft("user", (file,)))
        except BadFile as error:
            return Failed(f"{error.name} {error.problem}: {error.advice}", passing=True)
        return Variant((proved.facts,)) if proved.facts is not None else Failed(proved.problem or "it is no file")

    async def transcribe(self, facts: Facts) -> Variant | Failed:
        """The words of a sound or film, in a thread for the same reason."""
        return await asyncio.to_thread(write_down, facts, self.conversation.blobs, self.sharing)


def write_down(facts: Facts, blobs: Blobs, sharing: Sharing) -> Variant | Failed:
    """What is said in a file, by the program's own function."""
    if sharing.transcribe is None:
        return Failed("nobody writes down what is said")
    try:
        with blobs.local(facts) as path:
            words = sharing.transcribe(path)
    except FileChanged as error:
        return Failed(str(error))
    except Exception as error:  # noqa: BLE001 - the program's own function may raise anything
        return Failed(f"its words could not be written down ({type(error).__name__})", passing=True)
    return Variant(text=words[:MOST_WORDS], cut=len(words) > MOST_WORDS)


def facts_of(conversation: Conversation, sha256: str) -> Facts | None:
    """What is proved of some bytes of a conversation."""
    files = (file.facts for file in conversation.attachments.values())
    return next((facts for facts in files if facts is not None and facts.sha256 == sha256), None)


def sign(facts: Facts, sharing: Sharing) -> Variant | Failed:
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
    return Variant(url=link.url, expires=link.expires)


def shared(known: Known) -> Iterator[tuple[Want, Variant]]:
    """Every upload and link that is known."""
    for want, variant in known.items():
        if want.recipe in {UPLOAD, LINK} and isinstance(variant, Variant):
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
        and (found.passing or (want.recipe in {UPLOAD, LINK} and want.sha256 not in stand))
    ]
    if failed:
        await conversation.forget(failed)


def gone(error: ProviderError, request: Request, known: Known) -> list[Want]:
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


def by_bytes(news: Mapping[Want, Failed], known: Known, target: Target) -> dict[Want, Failed]:
    """Rejections of uploads and links as those of the bytes that they stand for: another id of them fares no better."""
    of = {address_of(one, "", target).sha256: want.sha256 for want, one in shared(known)}
    return {Want(of.get(want.sha256, want.sha256), want.recipe, want.at): failed for want, failed in news.items()}


async def replace_gone(
    error: ProviderError, request: Request, conversation: Conversation, tried: set[Want]
) -> tuple[Want, ...]:
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
    patience: Patience,
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
        if want.recipe != UPLOAD or variant.file_id is None or (chosen is not None and want.sha256 not in chosen):
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


def find_way(shelf: str, target: Target, connect_own: Callable[[], Exchange]) -> tuple[Target, Exchange]:
    """A target on a shelf, and the way to it: the own one, else the environment's. Raises where neither leads there."""
    if shelf == target.shelf:
        return target, connect_own()
    there = read_shelf(shelf)
    found = locate(replace(there, account=""))
    if found.shelf != shelf:
        raise BadInput(f"it is of {there.house}'s account {there.account!r}, the environment's is {found.account!r}")
    return found, connect(found)


def read_shelf(shelf: str) -> Target:
    """The inverse of `Target.shelf`: a target of that house and account. Raises `UnknownModel` where nobody has it."""
    for family in families():
        bare = Target(family.provider, family.api, family.example, ())
        if shelf.startswith(bare.shelf):
            return replace(bare, account=shelf.removeprefix(bare.shelf))
    raise UnknownModel(f"{shelf!r} is where no known provider keeps files")
