"""Stores files: bytes are stored once, types probed once, and names cleaned for display."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import TypeAlias, cast
from urllib.parse import urlsplit

from msgspec import UNSET

from showandtell.checking.checked import checked
from showandtell.core.collect.entry import collect
from showandtell.core.limits import MAX_FILE_BYTES
from showandtell.core.media_types.claims import normalize_type, read_claim
from showandtell.core.media_types.converters import claim_of
from showandtell.core.messages.attachments import Address, Facts, ProbedFile
from showandtell.core.messages.file import EncodedText, File, Reader, Uri
from showandtell.core.messages.parts import Text
from showandtell.errors import BadFile, DecoderBusy, FileChanged, QuotaExceeded, StorageFailed
from showandtell.media import gate
from showandtell.media.gate import ProbeResult
from showandtell.storage.blobs.base import BlobStore, Spooled
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.open import open_store
from showandtell.storage.blobs.zstd import is_compressible
from showandtell.storage.files.held_bytes import HeldBytes
from showandtell.storage.files.sources import SpooledSource, StoredSource

ProofKey: TypeAlias = tuple[str, str | None, str]

#: Blobs up to this size stay uncompressed: they would use the same disk blocks.
MIN_COMPRESSED_BYTES = 4096
#: How many probe results are cached.
MAX_PROOFS = 10_000
MAX_NAME = 120
MAX_DESCRIPTION = 500
#: Control, format and private characters, lone surrogates and line breaks.
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
WEB_SCHEMES = frozenset({"https", "http", "gs", "s3"})


@checked
class FileCache:
    """Stored bytes and what is known about them. `max_file_bytes` limits a single file.

    `blobs` is a folder or the URL of a bucket, such as "s3://bucket/prefix". Default: a temporary folder.

    `reference(sha256, size)` is called in the probing thread before bytes are committed, so that a database can protect
    them from deletion; it may raise `BadFile` (a quota). `reference_again`, with the same arguments, is called for
    bytes that are stored already, and returns whether they still are; without it such files are read like any other.
    `strip_location` removes the location from photos.

    >>> from showandtell import Draft, File, FileCache, Text, render
    >>> cache = FileCache()
    >>> draft = Draft("user", (Text("Read this."), File.from_bytes(b"a,b", "text/csv", "table.csv")))
    >>> for model in ("anthropic:claude-sonnet-5", "openai:gpt-5.2"):  # the file is read and probed once
    ...     request = render([draft], model=model, cache=cache)
    """

    def __init__(
        self,
        blobs: BlobStore | str | Path | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        reference: Callable[[str, int], None] | None = None,
        *,
        strip_location: bool = False,
    ) -> None:
        self.blobs: BlobStore = open_store(blobs) if isinstance(blobs, str | Path) else blobs or Folder()
        self.max_file_bytes = max_file_bytes
        self.reference = reference
        self.reference_again: Callable[[str, int], bool] | None = None
        self.strip_location = strip_location
        self.facts: dict[str, Facts] = {}
        self.held = HeldBytes()
        self._proofs = LruDict[ProofKey, ProbeResult](MAX_PROOFS)
        #: The sizes of proved files. Others are not hashed before they are stored, which hashes them.
        self._sizes = LruDict[int, bool](MAX_PROOFS)

    def probe(self, file: File) -> ProbedFile:
        """Store and probe a file. If that fails, the result has a `problem` and the cleaned name.

        Raises only `StorageFailed`: the store is broken then, not the file.
        """
        name = clean_name(file.name or "")
        try:
            match file.source:
                case Uri() as uri:
                    return ProbedFile(name, address=parse_address(uri, file.media_type, name))
                case _:
                    return self._store(file, name)
        except BadFile as error:
            problem = f"{error.problem}: {error.advice}"
            retry_after = error.retry_after if isinstance(error, DecoderBusy) else 0
            return ProbedFile(
                name, problem=problem, over_quota=isinstance(error, QuotaExceeded), retry_after=retry_after
            )
        except OSError as error:
            return ProbedFile(
                name, problem=f"can't be read ({error.strerror or type(error).__name__}): check that it exists"
            )

    def _store(self, file: File, name: str) -> ProbedFile:
        reused = self._reuse(file, name) or self._recognize(file, name)
        if reused is not None:
            return reused
        spooled = self._spool(file, name or "the file")
        try:
            if is_own_text(file):
                return ProbedFile(name, self._commit(spooled, ProbeResult(file.media_type or "text/plain")))
            proof = self._probe(spooled, file.media_type, name)
            stripped = self._strip(spooled, proof, name) if self.strip_location else None
            if stripped is not None:
                self.blobs.discard(spooled)
                spooled, proof = stripped, self._probe(stripped, file.media_type, name)
            return ProbedFile(name, self._commit(spooled, proof), corrected=proof.corrected)
        finally:
            self.blobs.discard(spooled)

    def _reuse(self, file: File, name: str) -> ProbedFile | None:
        """The result for a file that is stored in this store already. None if its bytes must be read."""
        stored = file.source.open if isinstance(file.source, Reader) else None
        if not isinstance(stored, StoredSource) or not self.blobs.is_same(stored.blobs):
            return None
        facts, claim = stored.facts, claim_of(file.media_type, name)
        if facts.size > self.max_file_bytes or claim not in (None, facts.media_type, stored.claim):
            return None
        if not self._is_kept(facts):
            return None
        self.facts[facts.sha256] = facts
        return ProbedFile(name, facts, corrected=stored.corrected)

    def recall(self, file: File) -> ProbedFile | None:
        """The result for bytes in memory that were stored and proved here before. None for all others.

        Unlike `probe` it calls no code of others, so it needs no thread if the store is local.
        """
        if not isinstance(file.source, bytes) or self.strip_location:
            return None
        with contextlib.suppress(BadFile):  # `probe` says what is wrong
            return self._recognize(file, clean_name(file.name or ""))
        return None

    def hold(self, file: File, known: ProbedFile) -> None:
        """Keep recalled bytes in memory, so that they needn't be hashed or read again."""
        if isinstance(file.source, bytes) and known.facts is not None:
            self.held.add(file.source, known.facts.sha256)

    @property
    def is_temporary(self) -> bool:
        """Whether the bytes are in a folder of this process alone, and nobody else is asked about them."""
        return self.reference is None and isinstance(self.blobs, Folder) and not self.blobs.durable

    def _recognize(self, file: File, name: str) -> ProbedFile | None:
        """The result for bytes that were stored and proved here before, found by their hash. None if they weren't."""
        sha256 = self.held.sha256_of(file.source) if isinstance(file.source, bytes) else None
        try:
            size = size_of(file)
            if size is None or not self._sizes.get(size):
                return None
            sha256 = sha256 or hash_of(file)
        except (OSError, ValueError):
            return None  # storing it says what is wrong
        facts, proof = self.facts.get(sha256), self._proofs.get(proof_key(sha256, file.media_type, name))
        if facts is None or proof is None or not self._is_kept(facts):
            return None
        return ProbedFile(name, facts, corrected=proof.corrected)

    def _is_kept(self, facts: Facts) -> bool:
        """Whether stored bytes are there and will stay."""
        if self.reference is not None and (
            self.reference_again is None or not self.reference_again(facts.sha256, facts.size)
        ):
            return False
        return self.blobs.has(facts)

    def _commit(self, spooled: Spooled, proof: ProbeResult) -> Facts:
        """Reference and commit probed bytes. A file that was refused earlier leaves nothing behind."""
        facts = Facts(
            spooled.sha256,
            proof.media_type,
            spooled.size,
            proof.pixels,
            proof.pages,
            proof.seconds,
            proof.frames,
            proof.encoding or UNSET,
        )
        if self.reference is not None:
            self.reference(facts.sha256, facts.size)
        self.blobs.commit(spooled)
        if self.blobs.durable and facts.size > MIN_COMPRESSED_BYTES and is_compressible(facts.media_type):
            with contextlib.suppress(FileChanged, StorageFailed):  # it is stored already, and stays uncompressed
                self.blobs.compress(facts)
        self.facts[facts.sha256] = facts
        self._sizes.add(facts.size, True)
        return facts

    def _strip(self, spooled: Spooled, proof: ProbeResult, name: str) -> Spooled | None:
        """The same image without its location, spooled; None if it has none."""
        with tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
            stripped = gate.strip_location(spooled.path, proof.media_type, Path(folder))
            if stripped is None:
                return None
            return self.blobs.spool(lambda: stripped.open("rb"), name, self.max_file_bytes)

    def _spool(self, file: File, name: str) -> Spooled:
        if isinstance(file.source, Reader) and isinstance(file.source.open, SpooledSource):
            return file.source.open.spooled
        if not isinstance(file.source, Reader):
            return self.blobs.spool(file.open, name, self.max_file_bytes)
        if isinstance(file.source.open, EncodedText):  # it is in memory already, and would be lost otherwise
            return self.blobs.spool(file.open, name, max(len(file.source.open.data), self.max_file_bytes))
        try:
            spooled = self.blobs.spool(file.open, name, self.max_file_bytes)
        except (BadFile, OSError, StorageFailed):
            raise
        except Exception as error:  # a Reader is the caller's code and may raise anything
            raise BadFile(name, f"can't be read ({type(error).__name__})", "check what it is read from") from error
        if file.source.size not in {None, spooled.size}:
            self.blobs.discard(spooled)
            raise BadFile(
                name, f"gave {spooled.size} bytes and was announced with {file.source.size}", "announce its true size"
            )
        return spooled

    def _probe(self, spooled: Spooled, claimed: str | None, name: str) -> ProbeResult:
        key = proof_key(spooled.sha256, claimed, name)
        proof = self._proofs.get(key)
        if proof is None:
            proof = gate.probe(spooled.path, claimed=claimed, name=name or "the file")
            self._proofs.add(key, proof)
        return proof


def proof_key(sha256: str, claimed: str | None, name: str) -> ProofKey:
    """What the proof of a file depends on: its bytes, its claimed media type and its extension."""
    return sha256, claimed, Path(name).suffix.lower()


def hash_of(file: File) -> str:
    """The sha256 of a file in memory or at a path. Raises `OSError`, or `ValueError` for an invalid path."""
    if isinstance(file.source, bytes):
        return hashlib.sha256(file.source).hexdigest()
    with file.open() as stream:
        return hashlib.file_digest(cast("BufferedReader", stream), "sha256").hexdigest()


def size_of(file: File) -> int | None:
    """The bytes of a file in memory or at a path; None for others. Raises `OSError` if there is none."""
    match file.source:
        case bytes() as data:
            return len(data)
        case Path() as path:
            return path.stat().st_size
        case _:
            return None


def is_own_text(file: File) -> bool:
    """Whether a file is text that this program has encoded itself, so that its type is known without probing."""
    return isinstance(file.source, Reader) and isinstance(file.source.open, EncodedText)


def parse_address(uri: Uri, media_type: str | None, name: str) -> Address:
    """A file given by URI, with the declared media type or that of its extension. Nothing is fetched."""
    claim = read_claim(media_type, urlsplit(uri.value).path) or normalize_type(media_type or "")
    if claim is None:
        raise BadFile(name, "is an address without a media type", "give media_type= to File.from_uri")
    scheme, _, rest = uri.value.partition(":")
    if scheme in WEB_SCHEMES:
        return Address("url", uri.value, claim)
    return Address("file_id", rest, claim, scheme)


def clean_name(name: str) -> str:
    """A name on one line, without path or invisible characters, at most 120 characters, extension kept."""
    name = strip_invisible(re.split(r"[/\\]", name)[-1])
    if len(name) <= MAX_NAME:
        return name
    suffix = Path(name).suffix[:16]
    return name[: MAX_NAME - len(suffix) - 1] + "…" + suffix


def strip_invisible(text: str) -> str:
    """Remove control and direction characters and line breaks."""
    return "".join(
        character for character in text if unicodedata.category(character) not in INVISIBLE_CATEGORIES
    ).strip()


def clean_description(text: str | None) -> str | None:
    """A description on one line, at most 500 characters, without inline base64."""
    if not text:
        return None
    description = " ".join(part.text for part in collect(text) if isinstance(part, Text))
    description = strip_invisible(" ".join(description.split()))
    return (description if len(description) <= MAX_DESCRIPTION else description[: MAX_DESCRIPTION - 1] + "…") or None
