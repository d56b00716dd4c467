"""The words of the capability table: what one place of one model takes, and how we know. No provider is named here."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from showandtell.core.media_types.kinds import Kind

Api: TypeAlias = Literal["anthropic-messages", "openai-chat", "openai-responses", "gemini", "bedrock-converse"]
Place: TypeAlias = Literal["tool_result", "user"]
Form: TypeAlias = Literal["inline", "url", "file_id"]
Verdict: TypeAlias = Literal["sees", "blind", "rejects", "unproven"]

#: Who speaks each api at home.
VENDORS: dict[Api, str] = {
    "anthropic-messages": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "google",
    "bedrock-converse": "bedrock",
}


class FileLimits(Struct, frozen=True):
    """What one file may be in a cell: raw bytes, pixels on the longer side and in all, pages, pictures of an animation.

    None: no limit is known.
    """

    bytes: int | None = None
    side: int | None = None
    pixels: int | None = None
    pages: int | None = None
    frames: int | None = None


class Capability(Struct, frozen=True):
    """What one place takes, in one form. A media type may end in `/*`. `evidence` and `date` say where it was learnt.

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
        """Whether this type stands in the cell's list."""
        return media_type in self.media_types or media_type.partition("/")[0] + "/*" in self.media_types

    @property
    def name(self) -> str:
        """How receipts name the cell: place, kind, form, verdict."""
        return f"{self.place}/{self.kind}/{self.form}/{self.verdict}"


class Order(Struct, frozen=True):
    """What a wire demands of order and neighbours; each rule is described in docs/providers.md.

    after_results: where files follow that left a tool result. "same_turn": behind the results in one user message;
        "own_turn": in a user message of their own; "filler": in one of their own, after an assistant message `filler`.
    filler_when: what needs the filler: "user": any user content after results; "media": only documents and video.
    error_media: whether an error result may hold files.
    call_ids: which spelling of call ids the wire takes.
    marks: how many cache marks a request may have.
    """

    after_results: Literal["same_turn", "own_turn", "filler"] = "same_turn"
    filler: str = ""
    filler_when: Literal["user", "media"] = "user"
    error_media: bool = True
    call_ids: Literal["any", "anthropic", "bedrock", "litellm", "mistral"] = "any"
    marks: int = 0


class Budget(Struct, frozen=True):
    """What one request (and one message of it) may hold; bytes are those of the body. None: no limit is known.

    Beyond `few_images` images in a request, none may have more than `many_side` pixels a side.
    """

    bytes: int | None = None
    images: int | None = None
    documents: int | None = None
    message_images: int | None = None
    message_documents: int | None = None
    few_images: int | None = None
    many_side: int | None = None


class Dialect(Struct, frozen=True):
    """How a host spells its api differently from the api's own house. Flags are data of the row, read by the renderers.

    document: how openai-chat writes a PDF: "file" (OpenAI) or "document_url" (Mistral).
    max_tokens: the name of openai-chat's token limit.
    status: whether bedrock-converse may say `status` in a tool result.
    call_names: whether a gemini host takes `id` in functionCall and functionResponse.
    citations: whether bedrock-converse documents need citations to be read with vision.
    resend_tools: whether tools must be declared while the history holds calls, though none may be called any more.
    thinking: how a gemini model is told its effort: "level" (3 and newer), or "budget" in tokens (older ones).
    signed: whether a gemini model refuses a turn whose first call has no thought signature.
    stateless: whether openai-responses must be told not to keep conversations, and to hand reasoning back.
    stream_usage: whether openai-chat must be asked for a stream's tokens; SDKs of others don't know the field.
    extra_body: whether the host's SDK takes fields of its own API under `extra_body`.
    system_role: the role of openai-chat's instructions.
    bare_audio: whether openai-chat's `input_audio` is base64 alone (Mistral), without its format beside it.
    mark: the field by which an openai api ends a cached prefix on a part; None: the host finds prefixes by itself.
    thoughts: whether a bedrock-converse model takes signed reasoning back, its own or that of another on this host.
    """

    document: Literal["file", "document_url"] = "file"
    max_tokens: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    status: bool = True
    call_names: bool = True
    citations: bool = False
    resend_tools: bool = False
    thinking: Literal["level", "budget"] = "level"
    signed: bool = False
    stateless: bool = False
    stream_usage: bool = True
    extra_body: bool = True
    system_role: Literal["system", "developer"] = "system"
    bare_audio: bool = False
    mark: Literal["prompt_cache_breakpoint", "cache_control"] | None = None
    thoughts: bool = True


class Target(Struct, frozen=True, cache_hash=True):
    """A host, its api and a model, with everything the planner and a renderer need to know of them."""

    provider: str
    api: Api
    model: str
    cells: tuple[Capability, ...]
    order: Order = Order()
    budget: Budget = Budget()
    dialect: Dialect = Dialect()
    account: str = ""

    @property
    def name(self) -> str:
        """The model as people write it: `provider:model`."""
        return f"{self.provider}:{self.model}"

    @property
    def at(self) -> str:
        """Where rejections belong: a model and an account. Uploads belong to an `upload_scope`, which models share."""
        return f"{self.name} {self.account}"

    @property
    def upload_scope(self) -> str:
        """Where uploads belong: one house and one account, whose models and apis share them.

        The inspector keeps its own. The account stands behind the first space, and may be empty.
        """
        house = f"inspector/{self.vendor}" if self.provider == "inspector" else self.vendor
        return f"{house} {self.account}"

    @property
    def vendor(self) -> str:
        """Whose file ids the target knows: `openai` for openai and openai-chat; the inspector speaks for its api's."""
        return VENDORS[self.api] if self.provider == "inspector" else self.provider.removesuffix("-chat")

    @property
    def signer(self) -> str:
        """Whose opaque parts the model gets back: its provider's. The inspector's apis don't read each other's."""
        return f"{self.provider}:{self.api}" if self.provider == "inspector" else self.provider

    @property
    def flags_errors(self) -> bool:
        """Whether the wire has a field that says that a result is an error; where it hasn't, a label says so."""
        return self.api != "openai-chat" and self.dialect.status

    def cell(self, place: Place, media_type: str, form: Form) -> Capability | None:
        """The first cell of this place and form that lists the type."""
        for cell in self.cells:
            if cell.place == place and cell.form == form and cell.takes(media_type):
                return cell
        return None
