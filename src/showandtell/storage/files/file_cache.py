"""The way from a claim to a proof: bytes are stored once, their type is proved once, a name is made safe to show."""

from __future__ import annotations

import contextlib
import re
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from showandtell.core.collect.values import collect
from showandtell.core.media_types.claims import read_claim, spell_type
from showandtell.core.messages.attachments import Address, Facts, Proved
from showandtell.core.messages.file import File, Reader, Uri
from showandtell.core.messages.parts import Text
from showandtell.errors import BadFile, FileChanged, StorageFailed
from showandtell.media import gate
from showandtell.media.gate import Proof
from showandtell.storage.blobs.base import BlobStore, Spooled
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.zstd import pays
from showandtell.storage.files.sources import SpooledSource, StoredSource

MAX_FILE_BYTES = 20_000_000
#: Up to this size a blob stays as it is: compressing it would save no room on a disk.
PLAIN = 4096
#: So many proofs are remembered; of more, the first are made again.
MOST_PROOFS = 10_000
MAX_NAME = 120
MAX_DESCRIPTION = 500
#: Control, direction and private letters, lone surrogates, and what ends a line.
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
WEB_SCHEMES = frozenset({"https", "gs", "s3"})


class FileCache:
    """Stored bytes and what was proved about them. `max_file_bytes` is the most that one file may have.

    `pin(sha256, size)` is called in the proving thread before bytes are kept, so that a database can hold on to them
    first; it may raise `BadFile` (a quota). `again`, with the same arguments, is asked instead for bytes that are kept
    already, and says whether they are: without it, theirs are read as those of any other file. `strip_location` takes
    the place where a photo was made out of it.
    """

    def __init__(
        self,
        blobs: BlobStore | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        pin: Callable[[str, int], None] | None = None,
        *,
        strip_location: bool = False,
    ) -> None:
        self.blobs: BlobStore = blobs or Folder()
        self.max_file_bytes = max_file_bytes
        self.pin = pin
        self.again: Callable[[str, int], bool] | None = None
        self.strip_location = strip_location
        self.facts: dict[str, Facts] = {}
        self._proofs = LruDict[tuple[str, str | None, str], Proof](MOST_PROOFS)

    def prove(self, file: File) -> Proved:
        """Store and prove one claim; one that fails keeps its name, with the problem in words.

        Nothing is raised but `StorageFailed`: then the store is broken and not the file, and nothing may be answered.
        """
        name = clean_name(file.name or "")
        try:
            match file.source:
                case Uri() as uri:
                    return Proved(name, address=address(uri, file.media_type, name))
                case _:
                    return self._stored(file, name)
        except BadFile as error:
            return Proved(name, problem=f"{error.problem}: {error.advice}")
        except OSError as error:
            return Proved(
                name, problem=f"can't be read ({error.strerror or type(error).__name__}): check that it exists"
            )

    def _stored(self, file: File, name: str) -> Proved:
        again = self._again(file, name)
        if again is not None:
            return again
        spooled = self._take(file, name or "the file")
        try:
            proof = self._proof(spooled, file.media_type, name)
            stripped = self._strip(spooled, proof, name) if self.strip_location else None
            if stripped is not None:
                self.blobs.drop(spooled)
                spooled, proof = stripped, self._proof(stripped, file.media_type, name)
            return Proved(name, self._keep(spooled, proof), corrected=proof.corrected)
        finally:
            self.blobs.drop(spooled)

    def _again(self, file: File, name: str) -> Proved | None:
        """A file that is stored here, held once more; None where its bytes must be read as those of any other."""
        stored = file.source.open if isinstance(file.source, Reader) else None
        if not isinstance(stored, StoredSource) or not self.blobs.is_same(stored.blobs):
            return None
        facts, claim = stored.facts, read_claim(file.media_type, name)
        if facts.size > self.max_file_bytes or claim not in (None, facts.media_type, stored.claim):
            return None
        if self.pin is not None and (self.again is None or not self.again(facts.sha256, facts.size)):
            return None
        if not self.blobs.has(facts):
            return None
        self.facts[facts.sha256] = facts
        return Proved(name, facts, corrected=stored.corrected)

    def _keep(self, spooled: Spooled, proof: Proof) -> Facts:
        """Proved bytes, held and kept: what is refused above leaves nothing behind."""
        facts = Facts(
            spooled.sha256,
            proof.media_type,
            spooled.size,
            proof.pixels,
            proof.pages,
            proof.seconds,
            proof.frames,
        )
        if self.pin is not None:
            self.pin(facts.sha256, facts.size)
        self.blobs.keep(spooled)
        if self.blobs.durable and facts.size > PLAIN and pays(facts.media_type):
            with contextlib.suppress(FileChanged, StorageFailed):  # it is kept already, and stays as it is
                self.blobs.compress(facts)
        self.facts[facts.sha256] = facts
        return facts

    def _strip(self, spooled: Spooled, proof: Proof, name: str) -> Spooled | None:
        """The same picture without its place, spooled; None where it says none."""
        with tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
            stripped = gate.strip_location(spooled.path, proof.media_type, Path(folder))
            if stripped is None:
                return None
            return self.blobs.spool(lambda: stripped.open("rb"), name, self.max_file_bytes)

    def _take(self, file: File, name: str) -> Spooled:
        if isinstance(file.source, Reader) and isinstance(file.source.open, SpooledSource):
            return file.source.open.spooled
        if not isinstance(file.source, Reader):
            return self.blobs.spool(file.open, name, self.max_file_bytes)
        try:
            spooled = self.blobs.spool(file.open, name, self.max_file_bytes)
        except (BadFile, OSError, StorageFailed):
            raise
        except Exception as error:  # a Reader is the program's own code and may raise anything
            raise BadFile(name, f"can't be read ({type(error).__name__})", "check what it is read from") from error
        if spooled.size != file.source.size:
            self.blobs.drop(spooled)
            raise BadFile(
                name, f"gave {spooled.size} bytes and was announced with {file.source.size}", "announce its true size"
            )
        return spooled

    def _proof(self, spooled: Spooled, claimed: str | None, name: str) -> Proof:
        key = (spooled.sha256, claimed, Path(name).suffix.lower())
        proof = self._proofs.get(key)
        if proof is None:
            proof = gate.prove(spooled.path, claimed=claimed, name=name or "the file")
            self._proofs.add(key, proof)
        return proof


def address(uri: Uri, media_type: str | None, name: str) -> Address:
    """A claim by URI, with the declared type or that of its ending. Nothing is fetched here."""
    claim = read_claim(media_type, urlsplit(uri.value).path) or spell_type(media_type or "")
    if claim is None:
        raise BadFile(name, "is an address without a media type", "give media_type= to File.from_uri")
    scheme, _, rest = uri.value.partition(":")
    if scheme in WEB_SCHEMES:
        return Address("url", uri.value, claim)
    return Address("file_id", rest, claim, scheme)


def clean_name(name: str) -> str:
    """A name on one line, without path, control or direction characters, at most 120 characters, its ending kept."""
    name = drop_unseen(re.split(r"[/\\]", name)[-1])
    if len(name) <= MAX_NAME:
        return name
    suffix = Path(name).suffix[:16]
    return name[: MAX_NAME - len(suffix) - 1] + "…" + suffix


def drop_unseen(words: str) -> str:
    """Words without what can't be seen: control and direction characters, line ends."""
    return "".join(letter for letter in words if unicodedata.category(letter) not in UNSEEN).strip()


def describe(words: str | None) -> str | None:
    """A description on one line, at most 500 characters; base64 that is written out in it is left out."""
    if not words:
        return None
    kept = " ".join(part.text for part in collect(words) if isinstance(part, Text))
    kept = drop_unseen(" ".join(kept.split()))
    return (kept if len(kept) <= MAX_DESCRIPTION else kept[: MAX_DESCRIPTION - 1] + "…") or None
