"""The way from a claim to a proof: bytes are stored once, their type is proved once, a name is made safe to show."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from urllib.parse import urlsplit

from showandtell.attachments.folder import Folder
from showandtell.collect import collect
from showandtell.content import File, Reader, Text, Uri
from showandtell.errors import BadFile
from showandtell.files import Address, Facts, Proved
from showandtell.media.claims import read_claim, spell_type
from showandtell.media.gate import Proof, prove

MAX_FILE_BYTES = 20_000_000
MAX_NAME = 120
MAX_DESCRIPTION = 500
#: Control, direction and private letters, lone surrogates, and what ends a line.
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
WEB_SCHEMES = frozenset({"https", "gs", "s3"})


class Shelf:
    """Stored bytes and what was proved about them. `max_file_bytes` is the most that one file may have."""

    def __init__(self, folder: Folder | None = None, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self.blobs = folder or Folder()
        self.max_file_bytes = max_file_bytes
        self.facts: dict[str, Facts] = {}
        self._proofs: dict[tuple[str, str | None, str], Proof] = {}

    def prove(self, file: File) -> Proved:
        """Store and prove one claim; one that fails keeps its name, with the problem in words. Nothing is raised."""
        name = tidy(file.name or "")
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
        sha256, size = self._take(file, name or "the file")
        proof = self._proof(sha256, file.media_type, name)
        facts = Facts(sha256, proof.media_type, size, proof.pixels, proof.pages, proof.seconds)
        self.facts[sha256] = facts
        return Proved(name, facts, corrected=proof.corrected)

    def _take(self, file: File, name: str) -> tuple[str, int]:
        if not isinstance(file.source, Reader):
            return self.blobs.store(file.open, name, self.max_file_bytes)
        try:
            sha256, size = self.blobs.store(file.open, name, self.max_file_bytes)
        except (BadFile, OSError):
            raise
        except Exception as error:  # a Reader is the program's own code and may raise anything
            raise BadFile(name, f"can't be read ({type(error).__name__})", "check what it is read from") from error
        if size != file.source.size:
            raise BadFile(
                name, f"gave {size} bytes and was announced with {file.source.size}", "announce its true size"
            )
        return sha256, size

    def _proof(self, sha256: str, claimed: str | None, name: str) -> Proof:
        key = (sha256, claimed, Path(name).suffix.lower())
        if key not in self._proofs:
            self._proofs[key] = prove(self.blobs.blob(sha256), claimed=claimed, name=name or "the file")
        return self._proofs[key]


def address(uri: Uri, media_type: str | None, name: str) -> Address:
    """A claim by URI, with the declared type or that of its ending. Nothing is fetched here."""
    claim = read_claim(media_type, urlsplit(uri.value).path) or spell_type(media_type or "")
    if claim is None:
        raise BadFile(name, "is an address without a media type", "give media_type= to File.from_uri")
    scheme, _, rest = uri.value.partition(":")
    if scheme in WEB_SCHEMES:
        return Address("url", uri.value, claim)
    return Address("file_id", rest, claim, scheme)


def tidy(name: str) -> str:
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
