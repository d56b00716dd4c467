"""`Family`, a row of the table, and constants and helpers to write rows with. No facts here."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import product

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from showandtell.checking.checked import Checked, checked
from showandtell.core.capabilities.cells import (
    AnswerFormat,
    Api,
    Budget,
    Capability,
    Dialect,
    FileLimits,
    Form,
    Order,
    Place,
    TokenCosts,
    Verdict,
    Window,
    fill_in,
)
from showandtell.core.media_types.kinds import Kind, kind_of
from showandtell.errors import BadInput

#: The date on which the facts were read, unless a row has its own date.
READ = "2026-11-21"
#: The date on which lists of models without images were read.
LISTED = "2026-11-24"
ANY_MODEL = ("*",)
#: What APIs accept as call ids (docs/providers.md, "Call ids").
CLAUDE_IDS, CONVERSE_IDS, MISTRAL_IDS = "[a-zA-Z0-9_-]{1,64}", "[a-zA-Z0-9_.:-]{1,64}", "[a-zA-Z0-9]{9}"
CHAT_IDS = "[!-~]{1,40}"
#: A LiteLLM proxy appends Gemini's thought signature, of any length, to the id.
LITELLM_IDS = "[!-~]+"
UNKNOWN_MODEL = "default for unknown models"
AUDIO_MODEL = "litellm 1.109 table: text and audio, no vision, no PDF"
NO_LIMITS = FileLimits()

BOTH: tuple[Place, ...] = ("tool_result", "user")
TOOL: tuple[Place, ...] = ("tool_result",)
USER: tuple[Place, ...] = ("user",)

INLINE: tuple[Form, ...] = ("inline",)
INLINE_URL: tuple[Form, ...] = ("inline", "url")
EVERY_FORM: tuple[Form, ...] = ("inline", "url", "file_id")

PNG_JPEG = ("image/png", "image/jpeg")
PNG_JPEG_WEBP = (*PNG_JPEG, "image/webp")
WEB_IMAGES = (*PNG_JPEG_WEBP, "image/gif")
PDF = ("application/pdf",)
OFFICE_XML = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
)
AUDIO = ("audio/*",)
VIDEO = ("video/*",)
WAV_MP3 = ("audio/wav", "audio/mpeg")
PLAIN = ("text/plain",)
TEXT = ("text/*",)


@checked
class Family(Checked, Struct, frozen=True):
    """Models of one provider that behave alike. `patterns` are globs on the lower-case model name.

    Among a provider's rows, those with `subfamily` go before the others, and else the first match wins. The family with
    `ANY_MODEL` is its provider's default, and its provider's last row. `example` is a model name, which users are
    offered if it is not of a subfamily.

    Args:
        window: the context window. None, here and below: what is known of models of that name.
        costs: what files cost, in tokens.
        answer_format: how the models are held to a JSON schema.
        hosted: the tools that the host runs itself, by our name and its own.
    """

    provider: str
    api: Api
    patterns: tuple[str, ...]
    example: str
    cells: tuple[Capability, ...]
    order: Order = Order()
    budget: Budget = Budget()
    dialect: Dialect = Dialect()
    subfamily: bool = False
    window: Window | None = None
    costs: TokenCosts | None = None
    answer_format: AnswerFormat | None = None
    hosted: tuple[tuple[str, str], ...] | None = None

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        force_setattr(self, "dialect", fill_in(self.dialect, self.api))

    @property
    def has_example(self) -> bool:
        """Whether the example is a model that exists, and no placeholder for all others."""
        return self.patterns != ANY_MODEL or not self.example.startswith("some-")

    def has(self, model: str) -> bool:
        """Whether a model's name matches one of the patterns."""
        return any(fnmatchcase(model.lower(), pattern) for pattern in self.patterns)


@checked
def make_cells(
    verdict: Verdict,
    places: Iterable[Place] | Place,
    media_types: tuple[str, ...],
    evidence: str,
    date: str = READ,
    *,
    forms: Iterable[Form] = INLINE,
    limits: FileLimits = NO_LIMITS,
    schemes: tuple[str, ...] = ("https",),
) -> tuple[Capability, ...]:
    """One cell for each place and form; limits only hold for inline files. Raises `BadInput` for types of two kinds."""
    kinds: set[Kind] = {kind_of(media_type) for media_type in media_types}
    if len(kinds) != 1:
        raise BadInput(f"cells are made for media types of one kind, not for {', '.join(media_types) or 'none'}")
    (kind,) = kinds
    return tuple(
        Capability(
            place=place,
            kind=kind,
            media_types=media_types,
            form=form,
            verdict=verdict,
            evidence=evidence,
            date=date,
            limits=limits if form == "inline" else NO_LIMITS,
            url_schemes=schemes,
        )
        for place, form in product((places,) if isinstance(places, str) else places, forms)
    )


def no_images(evidence: str, date: str = LISTED) -> tuple[Capability, ...]:
    """The cells of models that take no images anywhere."""
    return make_cells("rejects", BOTH, WEB_IMAGES, evidence, date)


def no_pdf(evidence: str, date: str = LISTED) -> tuple[Capability, ...]:
    """The cells of models that take no PDFs anywhere."""
    return make_cells("rejects", BOTH, PDF, evidence, date)


def subfamily_of(family: Family, *, patterns: tuple[str, ...], example: str, cells: tuple[Capability, ...]) -> Family:
    """The models of a family that take fewer kinds of files than the others."""
    return replace(family, patterns=patterns, example=example, cells=cells, subfamily=True)


def as_default(family: Family, example: str, *, order: Order | None = None) -> Family:
    """A provider's safe default for unknown models: nothing in tool results, the cells of user messages unproven."""
    user_cells = tuple(
        replace(cell, verdict="unproven", evidence=UNKNOWN_MODEL)
        for cell in family.cells
        if cell.place == "user" and cell.verdict in {"sees", "unproven"}
    )
    return replace(family, patterns=ANY_MODEL, example=example, cells=user_cells, order=order or family.order)
