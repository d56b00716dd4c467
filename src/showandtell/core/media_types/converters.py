"""Converters that are not built in: they make files of a type that nothing here reads into one of a type that is read.

Programs and packages register them. They run only in the process that decodes media, behind its walls.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Final

from msgspec import Struct

from showandtell.checking.checked import Checked, checked
from showandtell.core.media_types.claims import EXTENSIONS, is_text_claim, normalize_type, read_claim
from showandtell.core.media_types.kinds import kind_of
from showandtell.errors import BadInput
from showandtell.plugins import Registry, expect, instances_of

#: Documents that nothing here reads, and the format to save them in.
UNREADABLE: Final = {
    "application/msword": ".docx",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": ".xlsx",
    "application/vnd.ms-powerpoint": ".pptx",
    "application/vnd.oasis.opendocument.text": ".docx",
    "application/vnd.oasis.opendocument.presentation": ".pptx",
    "application/epub+zip": "HTML or PDF",
}
#: The types that are read here.
READ_HERE: Final = frozenset(name for name in EXTENSIONS.values() if kind_of(name) != "other") - UNREADABLE.keys()
FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,16}")
#: The least bytes of a signature: each byte alone begins masses of other files.
SHORTEST: Final = 2


class Converter(Checked, Struct, frozen=True, kw_only=True):
    """How files of one type become files of another type.

    Args:
        media_type: the files' type, which isn't one that is read here.
        becomes: the type of what is made, which is read here: "image/png", "application/pdf", "text/markdown".
        function: the function as MODULE:NAME. It takes the paths of the file and of the file to write, and is imported
            only in the process that decodes media. What it raises becomes the reason why a file wasn't converted.
        signature: the bytes by which files of the type are known, two at least. Text has none.
        offset: the position of the signature.
        suffix: of the files' names, with its dot. Text is known by it.

    >>> from showandtell.extending import Converter
    >>> Converter(media_type="model/stl", becomes="image/png", function="acme_stl:draw", suffix=".stl").becomes
    'image/png'
    """

    media_type: str
    becomes: str
    function: str
    signature: bytes = b""
    offset: int = 0
    suffix: str = ""

    def __post_init__(self) -> None:
        if callable(self.function):
            raise BadInput(f"the converter of {self.media_type!r} takes its function as text: write 'MODULE:NAME'")
        Checked.__post_init__(self)
        if normalize_type(self.media_type) != self.media_type:
            raise BadInput(f"{self.media_type!r} is no media type in its usual form, such as 'application/dicom'")
        if self.media_type in READ_HERE:
            raise BadInput(f"files of {self.media_type!r} are read here without a converter: leave it out")
        if self.becomes not in READ_HERE:
            raise BadInput(f"files of {self.becomes!r} are not read here: let the converter make PNG, PDF or text")
        if not FUNCTION.fullmatch(self.function):
            raise BadInput(f"{self.function!r} names no function: write MODULE:NAME")
        if self.suffix and not SUFFIX.fullmatch(self.suffix):
            raise BadInput(f"{self.suffix!r} is no suffix: write it as in '.stl'")
        if (read_as := EXTENSIONS.get(self.suffix)) in READ_HERE and not self.signature:
            raise BadInput(f"files with the suffix {self.suffix} are read here as {read_as}: give a signature")
        if self.offset < 0:
            raise BadInput(f"the offset {self.offset} is before the start of the file: count from 0")
        if 0 < len(self.signature) < SHORTEST:
            raise BadInput(f"the signature {self.signature!r} fits many other files: give {SHORTEST} bytes or more")
        if not (self.signature or self.suffix or self.media_type in UNREADABLE):
            raise BadInput(f"nothing tells files of {self.media_type}: give their signature or their suffix")


class Converters(Registry[Converter]):
    """Converters by the type of their files. No two of them go by the same suffix or the same signature."""

    def register(self, value: Converter) -> None:
        """Add a converter. The same one again changes nothing. Raises `BadInput` for files that another one takes."""
        for other in [*self.so_far().values()]:
            if other != value and (shared := find_shared(value, other)):
                raise BadInput(f"files {shared} have the converter {other.function} already: leave out one of the two")
        super().register(value)


def find_shared(one: Converter, other: Converter) -> str:
    """By what two converters would take the same files, in words; empty if they don't."""
    if one.media_type == other.media_type:
        return f"of {one.media_type!r}"
    if one.suffix and one.suffix == other.suffix:
        return f"with the suffix {one.suffix}"
    is_same = one.signature and (one.signature, one.offset) == (other.signature, other.offset)
    return f"with the signature {one.signature!r}" if is_same else ""


REGISTRY: Final = Converters(
    "showandtell.converters",
    "converter of",
    instances_of(Converter),
    name_of=lambda converter: converter.media_type,
    is_built_in=READ_HERE.__contains__,
)


@checked
def register_converter(converter: Converter) -> None:
    """Make a converter known in this process, for files of tools, uploads and everything else.

    Registering the same value again changes nothing. Raises `BadInput` for a type, a suffix or a signature that another
    converter has.
    """
    REGISTRY.register(expect(converter, Converter))


def find_converter(media_type: str) -> Converter | None:
    """The converter of a type; None for types that are read here, or that nobody registered one for."""
    return REGISTRY.find(media_type)


def shown_as(media_type: str) -> str:
    """The type as which files are shown: what they become, or their own."""
    return media_type if (converter := find_converter(media_type)) is None else converter.becomes


def claim_of(claimed: str | None, name: str) -> str | None:
    """The claimed type, as `read_claim` has it, or that of a converter by the suffix of the name."""
    if (claim := read_claim(claimed, name)) is not None:
        return claim
    suffix = PurePath(name).suffix.lower()
    return next((known.media_type for known in REGISTRY.all().values() if suffix and known.suffix == suffix), None)


def detect_claimed(peek: Callable[[int, int], bytes], claim: str | None) -> str | None:
    """The claimed type, if its converter has a signature and the bytes have it, as text and ZIP archives may."""
    converter = None if claim is None else find_converter(claim)
    return claim if converter is not None and converter.signature and has_signature(peek, converter) else None


def has_signature(peek: Callable[[int, int], bytes], converter: Converter) -> bool:
    """Whether bytes have a converter's signature in its place."""
    return peek(converter.offset, len(converter.signature)) == converter.signature


def detect_converted(peek: Callable[[int, int], bytes]) -> str | None:
    """The type of bytes with the signature of a converter; None if there is none. `peek` reads at an offset."""
    return next(
        (known.media_type for known in REGISTRY.all().values() if known.signature and has_signature(peek, known)),
        None,
    )


def is_text_type(claim: str | None) -> bool:
    """Whether a claim is right for readable text: a type of text, or one whose converter goes by the suffix."""
    if claim is None or is_text_claim(claim):
        return claim is not None
    converter = find_converter(claim)
    return converter is not None and not converter.signature and claim not in UNREADABLE


register_converter(
    Converter(
        media_type="application/x-ipynb+json",
        becomes="text/markdown",
        function="showandtell.media.convert.notebooks:write_notebook",
        suffix=".ipynb",
    )
)
