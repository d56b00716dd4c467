"""The settings of an `Agent` in four groups: the model, the limits of a run, files, and the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from showandtell.agent.loader import Sign, Transcribe
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.media_types.kinds import Kind
from showandtell.core.planning.values import OnUnsupported
from showandtell.core.wire.options import Effort
from showandtell.errors import BadInput
from showandtell.network.fetch import FetchPolicy
from showandtell.network.transport import Transport
from showandtell.providers.client import connect_client
from showandtell.providers.exchange import Exchange
from showandtell.providers.rows import connect
from showandtell.storage.files.file_cache import MAX_FILE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What each request says besides its messages; None leaves a field to the provider.

    Args:
        temperature: randomness, in the provider's own range; 0 to 1 or 0 to 2.
        max_tokens: maximum length of one answer in tokens, at least 1. Default: the most that the model allows.
        tool_choice: "auto", "none", "required", or the name of a tool.
        reasoning_effort: "minimal", "low", "medium" or "high".
        extra_body: fields of the provider's own, merged into each request's body.
        stream: False asks for whole answers, for hosts that can't stream.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    tool_choice: str = "auto"
    reasoning_effort: Effort | None = None
    extra_body: Mapping[str, Any] | None = None
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What bounds a run.

    Args:
        steps: maximum number of model calls, at least 1. On the last one, tools are forbidden.
        tokens: maximum number of tokens in all; the step that passes it is the last. None: no limit.
        seconds: maximum time. None: no limit.
    """

    steps: int = 20
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePolicy:
    """How files reach the model.

    Args:
        on_unsupported: what happens to a file that the model can't be shown as it is; one answer for all files, or a
            mapping from kinds ("image", "document", "audio", "video", "text", "other").
            "convert" converts it if possible, else a note stands for it; for the newest user message's own files
            `UnsupportedFile` is raised. "note" never converts and never raises. "error" raises for tools' files, too.
        max_in_context: maximum number of files that the model sees at once; the newest stay. None: what fits.
        max_file_bytes: maximum size of one file in bytes.
        uploads: upload large files to the provider once, and refer to them by id from then on. They stay there until
            `Agent.delete_uploads`.
        url_signer: function from a file's `Facts` to a URL by which the provider may fetch it.
        transcribe: function from a path to the words that are spoken there, for models that can't hear.
        fetch: which addresses may be fetched here if the provider doesn't open them. Default: none.
        overrides: what you know of the model's capabilities. Default: your verdicts of `showandtell verify`.
        expected_steps: how many requests are likely to carry a file; an upload or a URL pays off for large ones only.
    """

    on_unsupported: OnUnsupported | Mapping[Kind, OnUnsupported] = "convert"
    max_in_context: int | None = None
    max_file_bytes: int = MAX_FILE_BYTES
    uploads: bool = False
    url_signer: Sign | None = None
    transcribe: Transcribe | None = None
    fetch: FetchPolicy | None = None
    overrides: Sequence[Capability] | None = None
    expected_steps: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How the provider is reached: like an SDK's client, or by a base URL and a key, else by the environment.

    Args:
        client: a client of the provider's own SDK, whose settings are taken over.
        base_url: as the provider's own SDK takes it.
        api_key: the key; by default that of the environment.
        headers: additional headers. They replace ours of the same name.
        transport: connections and timeouts to share with other agents.
    """

    client: object = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    transport: Transport | None = None

    def open(self, target: Target, transport: Transport) -> Exchange:
        """The way to a model. Raises `MissingKey`, which names the variable to set, or `BadInput`."""
        if self.client is None:
            return connect(
                target,
                base_url=self.base_url,
                api_key=self.api_key,
                headers=self.headers,
                transport=transport,
            )
        if self.base_url or self.api_key or self.headers:
            raise BadInput("client= says all of base_url, api_key and headers: give one or the other")
        return connect_client(target, self.client, transport=transport)
