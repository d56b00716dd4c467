"""The way from a claim to a proof: bytes are stored once, their type is proved once, a name is made safe to show."""

from __future__ import annotations

import io
import mimetypes
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from showandtell.attachments.folder import Folder
from showandtell.content import File, Reader, Uri
from showandtell.errors import BadFile
from showandtell.files import Address, Facts, Proved
from showandtell.media.gate import Proof, prove

MAX_FILE_BYTES = 20_000_000
MAX_NAME = 120
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
                case source:
                    return self._stored(source, file, name)
        except BadFile as error:
            return Proved(name, problem=f"{error.problem}: {error.advice}")
        except OSError as error:
            return Proved(
                name, problem=f"can't be read ({error.strerror or type(error).__name__}): check that it exists"
            )

    def _stored(self, source: bytes | Path | Reader, file: File, name: str) -> Proved:
        shown = name or "the file"
        sha256, size = self.blobs.store(opener(source), shown, self.max_file_bytes)
        if isinstance(source, Reader) and size != source.size:
            raise BadFile(shown, f"gave {size} bytes and was announced with {source.size}", "announce its true size")
        proof = self._proof(sha256, file.media_type, name)
        facts = Facts(sha256, proof.media_type, size, proof.pixels, proof.pages, proof.seconds)
        self.facts[sha256] = facts
        return Proved(name, facts, corrected=proof.corrected)

    def _proof(self, sha256: str, claimed: str | None, name: str) -> Proof:
        key = (sha256, claimed, Path(name).suffix.lower())
        if key not in self._proofs:
            self._proofs[key] = prove(self.blobs.blob(sha256), claimed=claimed, name=name or "the file")
        return self._proofs[key]


def opener(source: bytes | Path | Reader) -> Callable[[], BinaryIO]:
    """How to open each kind of source."""
    match source:
        case bytes():
            return lambda: io.BytesIO(source)
        case Path():
            return lambda: source.open("rb")
        case Reader():
            return source.open


def address(uri: Uri, media_type: str | None, name: str) -> Address:
    """A claim by URI, with the declared type or that of its ending. Nothing is fetched here."""
    media_type = media_type or mimetypes.guess_type(urlsplit(uri.value).path)[0]
    if media_type is None:
        raise BadFile(name, "is an address without a media type", "give media_type= to File.from_uri")
    scheme, _, rest = uri.value.partition(":")
    if scheme in WEB_SCHEMES:
        return Address("url", uri.value, media_type)
    return Address("file_id", rest, media_type)


def tidy(name: str) -> str:
    """A name on one line, without path, control or direction characters, at most 120 characters, its ending kept."""
    name = re.split(r"[/\\]", name)[-1]
    name = "".join(letter for letter in name if unicodedata.category(letter)[0] != "C").strip()
    if len(name) <= MAX_NAME:
        return name
    suffix = Path(name).suffix[:16]
    return name[: MAX_NAME - len(suffix) - 1] + "…" + suffix
