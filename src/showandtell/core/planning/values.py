"""The values between stored conversation and wire: the planner reads a `View` and returns a `Plan`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, get_args

from msgspec import UNSET, Struct, UnsetType

from showandtell.checking.checked import Checked
from showandtell.core.capabilities.cells import Capability, Place
from showandtell.core.display.displayed import Displayed
from showandtell.core.display.layout import Block, Words
from showandtell.core.display.words import short
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Address, Attachment, Facts, format_label
from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Approval, Opaque, Selection, Text, ToolCall
from showandtell.core.planning.receipt_words import delivery_line
from showandtell.errors import BadInput

Delivery: TypeAlias = Literal["native", "relocated", "noted", "refused", "listed", "withheld", "for_tools"]


class View(Struct, frozen=True):
    """A conversation as the planner sees it. `answering` is the id of the user message that the run answers.

    `started` are the ids of calls that were started and have no result.
    """

    messages: tuple[Message, ...]
    attachments: Mapping[int, Attachment]
    answering: str | None = None
    started: frozenset[str] = frozenset()


#: What to do with a file that the model doesn't accept as it is.
OnUnsupported: TypeAlias = Literal["convert", "note", "error"]


class Policy(Struct, frozen=True):
    """Settings of the program.

    on_unsupported: by kind; default "convert". "note" never converts or refuses; "error" also refuses this run's tool
        files.
    max_in_context: maximum number of file uses in view.
    context_share: the part of the model's window that text and files may take before old files leave.
    cache: mark prefixes for the provider's cache.
    uploads: files may be uploaded to the provider, and stay there.
    signed_urls: the provider may fetch files from our own store.
    expected_steps: how many requests are likely to carry a file. It decides if a file is large enough for an upload or
        a signed URL.
    can_view, can_read: whether the model has the tools view_file and get_document, so that labels may mention them.
    takes_files: whether a tool has a parameter for a file, which the model fills with a number.
    fetch: whether we may fetch addresses that the provider doesn't open.
    describer: who describes pictures to models without eyes; empty: nobody.
    hosted: what the provider calls its own tools that the request declares.
    container: code that the provider runs may read the files of the conversation.
    head_bytes: bytes of a request besides its messages: instructions, tools and options.
    """

    on_unsupported: Mapping[Kind, OnUnsupported] = {}
    max_in_context: int | None = None
    context_share: float | None = None
    cache: bool = False
    uploads: bool = False
    signed_urls: bool = False
    expected_steps: int = 5
    can_view: bool = False
    can_read: bool = False
    takes_files: bool = False
    fetch: bool = False
    describer: str = ""
    hosted: frozenset[str] = frozenset()
    container: bool = False
    head_bytes: int = 0

    def on(self, kind: Kind) -> OnUnsupported:
        """What to do with an unsupported file of this kind."""
        return self.on_unsupported.get(kind, "convert")


def by_kind(on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported]) -> Mapping[Kind, OnUnsupported]:
    """Return the setting as a mapping by kind. Raises `BadInput` for unknown kinds or values."""
    settings: Mapping[Kind, OnUnsupported] = (
        on_unsupported if isinstance(on_unsupported, Mapping) else dict.fromkeys(get_args(Kind), on_unsupported)
    )
    for kind, value in settings.items():
        if kind not in get_args(Kind) or value not in get_args(OnUnsupported):
            kinds, values = ", ".join(get_args(Kind)), ", ".join(get_args(OnUnsupported))
            raise BadInput(f"on_unsupported has {kind}: {value!r}; kinds are {kinds}, and values are {values}")
    return settings


class RenderedFile(Checked, Struct, frozen=True, gc=False):
    """A file at its place on the wire: `nth` counts the uses of file `number` from 1; `name` is for APIs with names."""

    number: int
    nth: int
    name: str
    file: Facts | Address
    place: Place


class Result(Checked, Struct, frozen=True, gc=False):
    """A tool's result on the wire. `call_id` is already in the API's form; `Data` is a JSON value.

    Args:
        opaque: fields of its call that its provider wants back, as JSON.
    """

    call_id: str
    tool: str
    parts: tuple[Text | Data | RenderedFile, ...]
    is_error: bool = False
    opaque: Opaque | None = None


class Data(Checked, Struct, frozen=True, gc=False):
    """A JSON value as text, for APIs with structured results. Its files are already replaced by their labels."""

    text: str


class RenderedBlock(Struct, frozen=True, gc=False):
    """A block with files that goes back to the provider that made it. `files` are by JSON pointer."""

    opaque: Opaque
    files: tuple[tuple[str, RenderedFile], ...]


class ContainerFile(Struct, frozen=True, gc=False):
    """A file for code that the provider runs, by the provider's id. Its number is in the label before it."""

    file_id: str


class Entry(Checked, Struct, frozen=True, gc=False, cache_hash=True):
    """One turn on the wire, merged and labelled; equal by value."""

    role: Literal["user", "assistant"]
    parts: tuple[EntryPart, ...]


#: The parts of an entry.
EntryPart: TypeAlias = (
    Text | Data | RenderedFile | Result | ToolCall | Opaque | RenderedBlock | Approval | ContainerFile
)


class Receipt(Checked, Displayed, Struct, frozen=True):
    """How one file was delivered in one step. `bytes` is what it adds to the request body, before base64.

    >>> from showandtell import Agent, builtin_tools
    >>> from showandtell.samples import folder
    >>> run = Agent("inspector", builtin_tools(folder())).run_sync("/read_file path=kiwi.jpg")
    >>> receipt = run.receipts[0]
    >>> receipt.number, receipt.name, receipt.delivery, receipt.place
    (1, 'kiwi.jpg', 'native', 'tool_result')

    Args:
        external_id: the program's own id, `File.id`. Records omit it otherwise.
        lifted: the file is for the user alone, and its owner showed it to the model for one message. Records omit it
            otherwise.
    """

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
    external_id: str | UnsetType = UNSET
    lifted: bool | UnsetType = UNSET

    @property
    def label(self) -> str:
        """Kind and number, such as "image 5"."""
        return format_label(self.kind, self.number)

    def __repr__(self) -> str:
        """One line: which file, how and where it was given to the model, and why."""
        return f"<Receipt of {self.label} ({short(self.name)}): {short(delivery_line(self.record()))}>"

    def _blocks(self) -> Iterable[Block]:
        yield Words(f"{self.label} ({self.name})", delivery_line(self.record()))

    def shows(self) -> dict[str, object]:
        """What a converted file shows of its original, and the files that it became; defaults are left out."""
        if self.variant is None:
            return {}
        details = {name: getattr(self.variant, name) for name in ("scale", "pages", "times", "total", "cut")}
        details["described_by"] = self.variant.by
        details["variants"] = [{"sha256": file.sha256, "media_type": file.media_type} for file in self.variant.files]
        if self.view is not None and self.view.crop is not None and not self.variant.by:
            details["crop"] = self.view.crop
        default: dict[str, object] = {
            "scale": 1.0,
            "pages": (),
            "times": (),
            "total": None,
            "cut": False,
            "described_by": "",
            "variants": [],
        }
        return {name: value for name, value in details.items() if value != default.get(name)}

    def record(self) -> dict[str, object]:
        """The receipt as JSON: the cell by name, and its evidence with the date."""
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
            **({"lifted": True} if self.lifted is True else {}),
        }


def records_of(receipts: Mapping[int, Receipt]) -> Callable[[int], dict[str, object] | None]:
    """Look up the record of a file's receipt by its number, as the receipts are now."""
    now = dict(receipts)
    return lambda number: now[number].record() if number in now else None


class Plan(Struct, frozen=True):
    """What to send: entries in order and one receipt per file.

    `wants` are derivations that the plan needs first. `marks` are the indexes of entries that end a prefix worth
    caching. `tokens` is an estimate for the request.
    """

    entries: tuple[Entry, ...]
    receipts: tuple[Receipt, ...]
    wants: frozenset[DerivationRequest] = frozenset()
    marks: tuple[int, ...] = ()
    tokens: int = 0
