"""The settings of an `Agent` in four groups: the model, the limits of a run, files, and the connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from showandtell.checking.checked import TakesDict, checked
from showandtell.core.limits import (
    MAX_FILE_BYTES,
    MAX_TOOL_TEXT,
    AtLeast0,
    AtLeast1,
    OnFull,
    Positive,
    Share,
    ToolText,
)
from showandtell.core.wire.options import Effort
from showandtell.errors import BadInput
from showandtell.lazy import LazyModule

# A server stores `ModelSettings` and `RunLimits`: msgspec reads their annotations, which therefore aren't below.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from showandtell.agent.descriptions import Describe
    from showandtell.agent.loader import Sign, Transcribe
    from showandtell.agent.tools import Tool
    from showandtell.agent.toolsets import Toolset
    from showandtell.core.capabilities.cells import Capability, Target
    from showandtell.core.media_types.kinds import Kind
    from showandtell.core.messages.file import File
    from showandtell.core.planning.values import OnUnsupported
    from showandtell.network.fetch import FetchPolicy
    from showandtell.network.transport import Transport
    from showandtell.providers import client as sdk_clients
    from showandtell.providers import connect
    from showandtell.providers.exchange import Exchange
    from showandtell.storage.conversations.protocol import Conversation
else:
    sdk_clients, connect = LazyModule("showandtell.providers.client"), LazyModule("showandtell.providers.connect")


#: The module that has the names of annotations that are imported for type checkers alone.
ANNOTATIONS = "showandtell.agent.annotations"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings(TakesDict):
    """Settings of each request. None leaves a field to the provider.

    >>> from showandtell import Agent, ModelSettings
    >>> settings = ModelSettings(temperature=0, max_tokens=1000)
    >>> agent = Agent("inspector", model_settings=settings)

    Args:
        temperature (float | None): randomness, in the provider's own range: 0 to 1, or 0 to 2.
        max_tokens (int | None): maximum length of one answer in tokens, at least 1. Default: the model's maximum.
        tool_choice (str): "auto", "none", "required", or the name of a tool. A forced choice applies to the first
            step of a run.
        reasoning_effort (str | None): "none", "minimal", "low", "medium" or "high".
        extra_body (Mapping | None): the provider's own fields, merged into the body of each request: lists are
            appended, objects merged. A field that another setting writes raises `BadInput`.
        citations (bool): the model cites the documents that it gets, by page (Claude). Default: False.
        stream (bool): False asks for unstreamed responses, for hosts that can't stream. Default: True.

    Raises:
        BadInput: when an `Agent` is created, for values that the model's API doesn't support.
    """

    temperature: float | None = None
    max_tokens: AtLeast1 | None = None
    tool_choice: str = "auto"
    reasoning_effort: Effort | None = None
    extra_body: Mapping[str, Any] | None = None
    citations: bool = False
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits(TakesDict):
    """Limits of a run. A run that reaches one ends with status "incomplete".

    >>> from showandtell import Agent, RunLimits
    >>> agent = Agent("inspector", limits=RunLimits(steps=5, seconds=60))
    >>> agent.run_sync("hello").status
    'complete'

    Args:
        steps (int): maximum number of model calls, at least 1. Tools are forbidden in the last one. Default: 20.
        tokens (int | None): maximum number of input and output tokens; the step that passes it is the last.
            None: no limit.
        seconds (float | None): maximum duration in seconds. None: no limit.
        on_full (str): what happens if the conversation is longer than the model's context window. "error" (default)
            ends the run with `ContextFull`. "drop_oldest" leaves the oldest turns out of its requests; they stay
            stored. "summarize" does so and puts a summary in their place, which the model makes, and which is stored.
        output_retries (int): how often the model is asked again if its answer is not a valid `output_type`.
            Default: 2.

    Raises:
        BadInput: when an `Agent` is created, for limits that allow nothing.
    """

    steps: AtLeast1 = 20
    tokens: AtLeast1 | None = None
    seconds: Positive | None = None
    on_full: OnFull = "error"
    output_retries: AtLeast0 = 2


class Overrides(TypedDict, total=False):
    """What one run may have in place of its agent's."""

    model: str
    tools: Iterable[Callable[..., Any] | Tool | Toolset]
    instructions: str
    model_settings: ModelSettings | Mapping[str, Any]
    limits: RunLimits | Mapping[str, Any]
    output_type: Any


class RunArguments(TypedDict, total=False):
    """The arguments of a run besides its text and its output type."""

    files: Iterable[File]
    conversation: Conversation | None
    approvals: Mapping[str, bool] | None
    deps: object
    model: str
    tools: Iterable[Callable[..., Any] | Tool | Toolset]
    instructions: str
    model_settings: ModelSettings | Mapping[str, Any]
    limits: RunLimits | Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePolicy(TakesDict):
    """How files reach the model.

    >>> from showandtell import Agent, FilePolicy
    >>> policy = FilePolicy(on_unsupported={"document": "error"}, max_in_context=20)
    >>> agent = Agent("inspector", file_policy=policy)

    Args:
        on_unsupported (str | Mapping[str, str]): what happens to a file that the model doesn't support as it is: one
            value for all files, or a mapping from kinds ("image", "document", "audio", "video", "text", "other").
            "convert" (default) converts the file if possible and otherwise sends a note instead; for files of the
            newest user message it raises `UnsupportedFile`. "note" never converts and never raises. "error" raises
            for tools' files, too.
        max_in_context (int | None): maximum number of files that the model sees at once, newest first. None: what
            fits.
        context_share (float | None): the part of the model's context window that text and files may take, by an
            estimate of their tokens. Beyond it old files leave the model's view, tools' files first. None: what the
            model accepts. Default: 0.5.
        max_file_bytes (int): maximum size of one file in bytes. Default: 20,000,000.
        uploads (bool): upload large files to the provider once and refer to them by id. They remain there until
            `Agent.delete_uploads`. Default: False.
        url_signer (Callable[[Facts], str] | None): returns a URL from which the provider may fetch a file.
        transcribe (Callable[[Path], str] | None): returns the speech in a file as text, for models without audio.
        describe (str | Callable[[File], str] | None): who describes pictures in words for models without eyes: a model
            that sees, as "provider:model", which then gets each such picture, or your function, sync or async.
        fetch (FetchPolicy | None): which URLs may be fetched here if the provider can't fetch them. Default: none.
        overrides (Sequence[Capability] | None): known capabilities of the model. Default: your verdicts of
            `showandtell verify`.
        expected_steps (int): expected number of requests that carry a file. More make uploads and URLs pay off for
            smaller files. Default: 5.
        max_tool_text (int | None): maximum number of characters of one tool result, text and JSON together, at least
            1,000. Of a longer one the model gets the start and the end, and a file with all of it, which `get_document`
            reads. None: no limit. Default: 40,000.

    Raises:
        BadInput: when an `Agent` is created, for invalid values.
        UnknownModel: when an `Agent` is created, if `describe` names no model.
        UnsupportedFile: when an `Agent` runs, as described for `on_unsupported`.
    """

    on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported] = "convert"
    max_in_context: AtLeast0 | None = None
    context_share: Share | None = 0.5
    max_file_bytes: AtLeast1 = MAX_FILE_BYTES
    uploads: bool = False
    url_signer: Sign | None = None
    transcribe: Transcribe | None = None
    describe: str | Describe | None = None
    fetch: FetchPolicy | None = None
    overrides: Sequence[Capability] | None = None
    expected_steps: AtLeast1 = 5
    max_tool_text: ToolText | None = MAX_TOOL_TEXT


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(TakesDict):
    """How to reach the provider: with the settings of an SDK client, or a base URL and key. Default: the environment.

    >>> from showandtell import Agent, Connection
    >>> connection = Connection(base_url="http://localhost:8000/v1", api_key="secret")
    >>> connection  # keys and headers are never printed
    Connection(client=None, base_url='http://localhost:8000/v1', transport=None)
    >>> agent = Agent("vllm:qwen", connection=connection)

    Args:
        client (object): a client of the provider's own SDK. Its base URL, key and headers are used.
        base_url (str | None): the base URL as the provider's own SDK expects it. Default: by environment variables,
            else the provider's.
        api_key (str | None): the key. Default: by environment variables.
        headers (Mapping[str, str] | None): additional headers. They replace default headers with the same name.
        transport (Transport | None): connections and timeouts to share with other agents. Default: a new one.

    Raises:
        MissingKey: when a run starts, if no key is set. The text names the variable to set.
        BadInput: when a run starts, for an invalid base URL, key or header, or if `client` is combined with others.
    """

    client: object = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    transport: Transport | None = None

    def open(self, target: Target, transport: Transport) -> Exchange:
        """The exchange with a target's host. Raises `MissingKey`, which names the variable to set, or `BadInput`."""
        if self.client is None:
            return connect.connect(
                target,
                base_url=self.base_url,
                api_key=self.api_key,
                headers=self.headers,
                transport=transport,
            )
        if self.base_url or self.api_key or self.headers:
            raise BadInput("client= includes base_url, api_key and headers: pass either client= or those")
        return sdk_clients.connect_client(target, self.client, transport=transport)
