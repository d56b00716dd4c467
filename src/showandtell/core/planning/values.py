"""The values between stored conversation and wire: what the planner reads (`View`), and what it says (`Plan`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from showandtell.core.capabilities.cells import Capability, Place
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Address, Attachment, Facts, spoken
from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Opaque, Selection, Text, ToolCall
from showandtell.errors import BadInput

Delivery: TypeAlias = Literal["native", "relocated", "noted", "refused", "listed"]


class View(Struct, frozen=True):
    """A conversation as the planner sees it. `answering` is the id of the user message that the run answers.

    `begun` are the calls that were about to run, and have no result.
    """

    messages: tuple[Message, ...]
    attachments: Mapping[int, Attachment]
    answering: str | None = None
    begun: frozenset[str] = frozenset()


#: What becomes of a file that the model can't be shown as it is.
OnUnsupported: TypeAlias = Literal["convert", "note", "error"]


class Policy(Struct, frozen=True):
    """What the program decides.

    on_unsupported: by kind, "convert" for those that it doesn't name; "note" never converts or refuses, "error" refuses
    this run's tool files, too. focus: keep at most so many showings in view. cache: mark prefixes.
    uploads: files may be stored at the provider, and stay there. links: a provider may fetch them from our own store.
    expected_steps: how many requests are likely to carry a file; by it a file is large enough for either, or not.
    can_view: whether the model has the tool view_file, so that it may be told of it. fetch: whether addresses that a
    provider doesn't open may be fetched here.
    """

    on_unsupported: Mapping[Kind, OnUnsupported] = {}
    focus: int | None = None
    cache: bool = False
    uploads: bool = False
    links: bool = False
    expected_steps: int = 5
    can_view: bool = False
    fetch: bool = False

    def on(self, kind: Kind) -> OnUnsupported:
        """What becomes of an unsupported file of this kind."""
        return self.on_unsupported.get(kind, "convert")


def by_kind(on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported]) -> Mapping[Kind, OnUnsupported]:
    """One answer for all kinds, or one for each, as a mapping. Raises `BadInput` for words that are neither."""
    found: Mapping[Kind, OnUnsupported] = (
        on_unsupported if isinstance(on_unsupported, Mapping) else dict.fromkeys(get_args(Kind), on_unsupported)
    )
    for kind, does in found.items():
        if kind not in get_args(Kind) or does not in get_args(OnUnsupported):
            kinds, words = ", ".join(get_args(Kind)), ", ".join(get_args(OnUnsupported))
            raise BadInput(f"on_unsupported has {kind}: {does!r}; kinds are {kinds}, and each is one of {words}")
    return found


class RenderedFile(Struct, frozen=True):
    """A file at its place on the wire: `number` and `nth` say which showing; `name` is for apis that take one."""

    number: int
    nth: int
    name: str
    file: Facts | Address
    place: Place


class Result(Struct, frozen=True):
    """A tool's result on the wire: `call_id` is already spelled for it. Text is words, `Data` a JSON value."""

    call_id: str
    tool: str
    parts: tuple[Text | Data | RenderedFile, ...]
    is_error: bool = False


class Data(Struct, frozen=True):
    """A JSON value as text, for wires that take structured results; its files are already named in it."""

    text: str


class Entry(Struct, frozen=True, cache_hash=True):
    """One merged, framed turn of the wire, equal by value."""

    role: Literal["user", "assistant"]
    parts: tuple[Text | Data | RenderedFile | Result | ToolCall | Opaque, ...]


class Receipt(Struct, frozen=True):
    """What is told about one file in one step; `bytes` is what its delivery adds to the body, before base64."""

    number: int
    name: str
    kind: str
    media_type: str
    origin: str
    place: Place | None
    delivery: Delivery
    converted: bool
    reason: str
    cell: Capability | None
    bytes: int
    variant: Derivative | None = None
    view: Selection | None = None

    @property
    def label(self) -> str:
        """Kind and number as everybody says them."""
        return spoken(self.kind, self.number)

    def shows(self) -> dict[str, object]:
        """What a converted file shows of its original, as far as it applies, and what was made of it."""
        if self.variant is None:
            return {}
        found = {name: getattr(self.variant, name) for name in ("scale", "pages", "times", "total", "cut")}
        found["variants"] = [{"sha256": one.sha256, "media_type": one.media_type} for one in self.variant.files]
        if self.view is not None and self.view.crop is not None:
            found["crop"] = self.view.crop
        usual: dict[str, object] = {"scale": 1.0, "pages": (), "times": (), "total": None, "cut": False, "variants": []}
        return {name: value for name, value in found.items() if value != usual.get(name)}

    def record(self) -> dict[str, object]:
        """The receipt as JSON has it: the cell by name, and its evidence with the date."""
        return {
            "number": self.number,
            "name": self.name,
            "kind": self.kind,
            "media_type": self.media_type,
            "origin": self.origin,
            "place": self.place,
            "delivery": self.delivery,
            "converted": self.converted,
            **self.shows(),
            "reason": self.reason,
            "cell": self.cell.name if self.cell else None,
            "evidence": f"{self.cell.evidence} ({self.cell.date})" if self.cell else None,
            "bytes": self.bytes,
        }


class Plan(Struct, frozen=True):
    """What to send: entries in order, one receipt for each file, and what is still wanted before it can be sent.

    `marks` are the indexes of the entries that end a prefix worth caching.
    """

    entries: tuple[Entry, ...]
    receipts: tuple[Receipt, ...]
    wants: frozenset[DerivationRequest] = frozenset()
    marks: tuple[int, ...] = ()
