"""The types of the capability table: what one place of one model accepts, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.checking.checked import Checked, checked
from showandtell.core.media_types.kinds import Kind

#: The name of an API: one of `VENDORS`, or one that a package brings (`core/capabilities/apis.py`).
Api: TypeAlias = str
#: "answer": in a block that the provider made itself, which goes back to it.
Place: TypeAlias = Literal["tool_result", "user", "answer"]
Form: TypeAlias = Literal["inline", "url", "file_id"]
Verdict: TypeAlias = Literal["sees", "blind", "rejects", "unproven"]

#: The vendor of each API that is built in.
VENDORS: dict[Api, str] = {
    "anthropic-messages": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "google",
    "bedrock-converse": "bedrock",
}


class FileLimits(Checked, Struct, frozen=True):
    """Limits of one file: raw bytes, pixels on the longer side, pixels in total, pages, frames of an animation.

    None: no limit is known.
    """

    bytes: int | None = None
    side: int | None = None
    pixels: int | None = None
    pages: int | None = None
    frames: int | None = None


@checked
class Capability(Checked, Struct, frozen=True):
    """What one place accepts, in one form. A media type may end in `/*`. `evidence` and `date` are the source.

    `url_schemes` belongs to form "url": the schemes that the provider opens.
    """

    place: Place
    kind: Kind
    media_types: tuple[str, ...]
    form: Form
    verdict: Verdict
    evidence: str
    date: str
    limits: FileLimits = FileLimits()
    url_schemes: tuple[str, ...] = ("https",)

    def takes(self, media_type: str) -> bool:
        """Whether the cell lists this type."""
        return media_type in self.media_types or media_type.partition("/")[0] + "/*" in self.media_types

    @property
    def name(self) -> str:
        """The name of the cell in receipts, of place, kind, form and verdict."""
        return f"{self.place}/{self.kind}/{self.form}/{self.verdict}"


class Order(Checked, Struct, frozen=True):
    """What an API requires of the order of turns. Each rule is described in docs/providers.md.

    Args:
        after_results: where relocated files go. "same_turn": behind the results in one user message; "own_turn": in a
            user message of their own; "filler": in a message of their own, after an assistant message `filler`.
        filler_when: what needs the filler: "user": any user content after results; "media": only documents and video.
        error_media: whether an error result may hold files.
        call_ids: a regular expression for the call ids that the API accepts; it must match nine letters and digits.
        marks: how many cache marks a request may have.
    """

    after_results: Literal["same_turn", "own_turn", "filler"] = "same_turn"
    filler: str = ""
    filler_when: Literal["user", "media"] = "user"
    error_media: bool = True
    call_ids: str = "[!-~]{1,64}"
    marks: int = 0


class Budget(Checked, Struct, frozen=True):
    """Limits of one request and of one message; `bytes` are those of the body. None: no limit is known.

    Beyond `few_images` images in a request, none may have more than `many_side` pixels a side.
    """

    bytes: int | None = None
    images: int | None = None
    documents: int | None = None
    message_images: int | None = None
    message_documents: int | None = None
    few_images: int | None = None
    many_side: int | None = None


class Window(Checked, Struct, frozen=True):
    """How many tokens a model reads and writes in one request. `evidence` and `date` are the source."""

    tokens: int
    evidence: str
    date: str


class TokenCosts(Checked, Struct, frozen=True):
    """What a model counts for files, in tokens. The defaults are on the high side of what hosts count.

    An image costs `image_factor` for each square of `image_side` pixels, at most `image_max`.

    Args:
        page: a page of a document, its text and its picture.
        second_audio: a second of a sound.
        second_video: a second of a film.
    """

    image_side: int = 28
    image_factor: float = 1.0
    image_max: int = 5_000
    page: int = 3_000
    second_audio: int = 32
    second_video: int = 300


class ErrorWords(Checked, Struct, frozen=True):
    """Regular expressions for what a host's errors say, in addition to the words that are known of other hosts.

    Case doesn't matter.

    Args:
        about_files: that the request was refused because of its files.
        not_taken: that the model takes no files of a kind, as pairs of kind and expression.
        too_long: that the request is longer than the model's context window.
    """

    about_files: str = ""
    not_taken: tuple[tuple[Kind, str], ...] = ()
    too_long: str = ""


class Dialect(Checked, Struct, frozen=True):
    """How an API, a host or a model differs from others. These are data of the row, read by planner and renderers.

    What is None is as the API has it (`API_DIALECTS`): a family fills it in.

    Args:
        document: how openai-chat writes a PDF: "file" (OpenAI) or "document_url" (Mistral).
        max_tokens: the name of openai-chat's token limit.
        flags_errors: whether a tool result has a field for errors; if not, a label in the result says that the call
            failed. openai-chat has none, and some models on bedrock-converse reject `status`.
        named_results: whether a tool result must name its tool (gemini).
        separate_results: whether content beside a tool result would count as written by the model (gemini), though the
            API accepts it.
        takes_call_ids: whether a gemini host takes `id` in functionCall and functionResponse.
        citations: whether documents are sent with citations turned on. bedrock-converse reads them with vision only
            then.
        can_cite: whether citations may be turned on.
        resend_tools: whether tools must be declared while the history holds calls, even if none may be called any more.
        thinking: how a gemini model takes its effort: as "level" (3 and newer), or as "budget" in tokens (older ones).
        needs_signature: whether a gemini model rejects a turn whose first call has no thought signature.
        stateless: whether openai-responses needs fields that turn storing off and return reasoning.
        stream_usage: whether openai-chat must be asked for a stream's token usage; SDKs of others don't know the field.
        extra_body: whether the host's SDK takes fields of its own API under `extra_body`.
        system_role: the role of openai-chat's instructions.
        raw_audio: whether openai-chat's `input_audio` is only base64 (Mistral), without its format.
        cache_mark: the field by which an openai api ends a cached prefix on a part; None: the host finds prefixes
            itself.
        takes_reasoning: whether a bedrock-converse model takes signed reasoning back, its own or another model's.
        container: how files get to code that the provider runs: as blocks of a message, or with the tool; None: not at
            all.
        takes_annotations: whether an openai-chat host takes back what it read in a file, as OpenRouter's docs say of
            PDFs.
        message_fields: whether a model's message may have fields of the host's own, which go back with it
            (openai-chat).
        max_temperature: the highest temperature that the API takes.
        errors: what the host's errors say.
    """

    document: Literal["file", "document_url"] = "file"
    max_tokens: str = "max_tokens"
    flags_errors: bool | None = None
    named_results: bool | None = None
    separate_results: bool | None = None
    takes_call_ids: bool = True
    citations: bool = False
    can_cite: bool = False
    resend_tools: bool = False
    thinking: Literal["level", "budget"] = "level"
    needs_signature: bool = False
    stateless: bool | None = None
    stream_usage: bool = True
    extra_body: bool = True
    system_role: str = "system"
    raw_audio: bool = False
    cache_mark: str | None = None
    takes_reasoning: bool = True
    takes_annotations: bool = False
    message_fields: bool | None = None
    container: Literal["blocks", "tool"] | None = None
    max_temperature: float = 2.0
    errors: ErrorWords = ErrorWords()


#: The members of a dialect that an API decides, and those that are true of all its hosts unless a row says
#: otherwise. Of an API that a package brings none is true.
LEFT_TO_API: Final = ("flags_errors", "named_results", "separate_results", "stateless", "message_fields")
API_DIALECTS: Final[Mapping[Api, frozenset[str]]] = {
    "anthropic-messages": frozenset({"flags_errors"}),
    "openai-chat": frozenset({"message_fields"}),
    # xAI's docs, too, advise not to store a history that holds images.
    "openai-responses": frozenset({"flags_errors", "stateless"}),
    "gemini": frozenset({"flags_errors", "named_results", "separate_results"}),
    "bedrock-converse": frozenset({"flags_errors"}),
}


def fill_in(dialect: Dialect, api: Api) -> Dialect:
    """A dialect with what it leaves to the API."""
    true = API_DIALECTS.get(api, frozenset())
    return replace(dialect, **{name: name in true for name in LEFT_TO_API if getattr(dialect, name) is None})


class AnswerFormat(Checked, Struct, frozen=True):
    """How a model can be held to a JSON schema. `evidence` and `date` are the source.

    Args:
        native: when the API's own field for a schema works: "always", "without_tools" (the request must not declare
            any), or "never", so that the model answers by calling a tool.
        recursion: whether the native form takes schemas that refer to themselves.
        max_unions: maximum number of fields with `anyOf` in the native form. None: no limit is known.
        forces_tools: whether `tool_choice` can name the tool to call. Models that ignore it don't count.
    """

    native: Literal["always", "without_tools", "never"] = "never"
    recursion: bool = False
    max_unions: int | None = None
    forces_tools: bool = False
    evidence: str = "default for unknown models"
    date: str = ""


class Written(Protocol):
    """A part of an answer that only the host that wrote it gets back. `base_url` is empty if it isn't known."""

    @property
    def provider(self) -> str:
        """The name of the provider."""
        ...

    @property
    def base_url(self) -> str:
        """The address at which it was asked."""
        ...


@checked
class Target(Checked, Struct, frozen=True, cache_hash=True):
    """A provider, its API and a model, with everything that the planner and the renderers need to know about them.

    `learned` has the kinds of files that the model doesn't take, as an answer of its host has shown, with the evidence.

    Args:
        window: None if it isn't known.
        hosted: the tools that the provider runs itself, by our name and its own.
        base_url: the address of the host that is asked. Empty if the program sends the request itself (`render`), and
            for the inspector, which has one for each API.
        refused_fields: names of the host's own message fields that it doesn't take back.
        required_fields: names of message fields without which it refuses a model's message.
    """

    provider: str
    api: Api
    model: str
    cells: tuple[Capability, ...]
    order: Order = Order()
    budget: Budget = Budget()
    dialect: Dialect = Dialect()
    account: str = ""
    learned: tuple[tuple[Kind, str], ...] = ()
    window: Window | None = None
    costs: TokenCosts = TokenCosts()
    answer_format: AnswerFormat = AnswerFormat()
    hosted: tuple[tuple[str, str], ...] = ()
    base_url: str = ""
    refused_fields: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The full name: provider, colon, model."""
        return f"{self.provider}:{self.model}"

    @property
    def rejection_scope(self) -> str:
        """Key of rejections: a model and an account."""
        return f"{self.name} {self.account}"

    @property
    def upload_scope(self) -> str:
        """Key of uploads: a vendor and an account, whose models and APIs share them.

        The inspector has its own scopes. The account follows the first space, and may be empty.
        """
        vendor = f"inspector/{self.vendor}" if self.provider == "inspector" else self.vendor
        return f"{vendor} {self.account}"

    @property
    def vendor(self) -> str:
        """The vendor whose file ids the target knows. openai and openai-chat share one; the inspector has its API's."""
        return VENDORS.get(self.api, self.api) if self.provider == "inspector" else self.provider.removesuffix("-chat")

    @property
    def signer(self) -> str:
        """The provider whose opaque parts the model gets back. The inspector's APIs don't read each other's."""
        return f"{self.provider}:{self.api}" if self.provider == "inspector" else self.provider

    def wrote(self, part: Written) -> bool:
        """Whether the model's host wrote this part, so that it gets it back. An unknown address fits every other."""
        return part.provider == self.signer and (
            part.base_url == self.base_url or not (part.base_url and self.base_url)
        )

    def cell(self, place: Place, media_type: str, form: Form) -> Capability | None:
        """The first cell of this place and form that lists the type."""
        for cell in self.cells:
            if cell.place == place and cell.form == form and cell.takes(media_type):
                return cell
        return None
