"""Every setting: its type and default, its option and variable, and whether a file of the current folder may set it.

The sections and names are those of `Agent`: `[limits] steps = 5` is `RunLimits(steps=5)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import msgspec
from msgspec import Meta, Struct

from showandtell.core.capabilities.provider import HeaderName, HeaderValue
from showandtell.core.capabilities.registry import is_known, registered_so_far
from showandtell.core.capabilities.table import PROVIDERS
from showandtell.core.limits import AtLeast0, AtLeast1, Port, Positive, Share
from showandtell.core.media_types.kinds import Kind
from showandtell.core.planning.values import OnUnsupported
from showandtell.core.wire.options import Effort

#: Whether a file that was found from the current folder may set a key: always, only to less than otherwise, or never.
Found: TypeAlias = Literal["yes", "less", "no"]
Builtin: TypeAlias = Literal["read_file", "chart", "view_file", "get_document", "list_files"]
BUILTIN: tuple[Builtin, ...] = ("read_file", "chart", "view_file", "get_document", "list_files")

NotEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a setting beside its type and default.

    help: for people. options: on the command line; without one, it is set by files and programs only. found: as in
    `Found`. variable: without SHOWANDTELL_; by default that of the option. hidden: "yes" for a value that is
    never printed, "url" for one whose password and query aren't. path: "yes" for a
    path, which is relative to the folder of its file, "code" for MODULE:NAME in that folder, "text" for words that may
    be `@path`.
    """

    help: str
    options: tuple[str, ...] = ()
    found: Found = "no"
    variable: str = ""
    hidden: Literal["", "yes", "url"] = ""
    path: Literal["", "yes", "code", "text"] = ""
    metavar: str | None = None


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a configuration file."""


class ModelSection(Section, frozen=True, kw_only=True):
    """`ModelSettings`: the settings of each request."""

    temperature: Annotated[
        float | None, About("randomness, 0 to 1 or 2; default: the provider's", ("--temperature",), "yes")
    ] = None
    max_tokens: Annotated[
        AtLeast1 | None, About("maximum tokens of one answer; default: the model's", ("--max-tokens",), "less")
    ] = None
    tool_choice: Annotated[str, About("auto, none, required, or the name of a tool", ("--tool-choice",), "yes")] = (
        "auto"
    )
    reasoning_effort: Annotated[
        Effort | None,
        About(
            "how long the model thinks: none, minimal, low, medium or high; default: the provider's",
            ("--reasoning-effort",),
            "yes",
            metavar="LEVEL",
        ),
    ] = None
    extra_body: Annotated[dict[str, Any] | None, About("the provider's own fields for each request", hidden="yes")] = (
        None
    )
    stream: Annotated[bool, About("ask for streamed responses", ("--stream/--no-stream",), "yes")] = True


class LimitsSection(Section, frozen=True, kw_only=True):
    """`RunLimits`: the limits of a run."""

    steps: Annotated[AtLeast1, About("maximum model calls per run", ("--max-steps",), "less")] = 20
    tokens: Annotated[
        AtLeast1 | None, About("maximum input and output tokens per run", ("--max-run-tokens",), "less")
    ] = None
    seconds: Annotated[
        Positive | None, About("maximum seconds per run; default: none, 900 for serve", ("--max-seconds",), "less")
    ] = None
    on_full: Annotated[
        Literal["error", "drop_oldest", "summarize"],
        About(
            "what to do if the model's context window is full: error, drop_oldest or summarize",
            ("--on-full",),
            "yes",
            metavar="HOW",
        ),
    ] = "error"
    output_retries: Annotated[AtLeast0, About("how often an invalid typed answer is asked again", found="less")] = 2


class RetrySection(Section, frozen=True, kw_only=True):
    """`RetryPolicy`: what happens while the provider is busy."""

    tries: Annotated[AtLeast0, About("maximum retries of one call", found="less")] = 4
    seconds: Annotated[Positive, About("maximum total of the pauses in seconds", found="less")] = 120.0


class FetchSection(Section, frozen=True, kw_only=True):
    """`FetchPolicy`: what may be fetched from the web."""

    fetch: Annotated[bool, About("fetch files by URL if the provider can't", ("--fetch/--no-fetch",))] = False
    http: Annotated[bool, About("also without encryption", ("--fetch-http",))] = False
    ports: Annotated[tuple[Port, ...], About("allowed ports", ("--fetch-port",), variable="FETCH_PORTS")] = (443,)
    hosts: Annotated[
        tuple[str, ...],
        About(
            "allowed hosts, .example.com for subdomains; default: all public ones",
            ("--fetch-host",),
            variable="FETCH_HOSTS",
        ),
    ] = ()
    private_hosts: Annotated[
        tuple[str, ...],
        About(
            "hosts that may be inside a network, written like those",
            ("--fetch-private-host",),
            variable="FETCH_PRIVATE_HOSTS",
        ),
    ] = ()
    from_tools: Annotated[bool, About("also fetch addresses that tools return", ("--fetch-from-tools",))] = False


class FilesSection(Section, frozen=True, kw_only=True):
    """`FilePolicy`: how files reach the model."""

    on_unsupported: Annotated[
        OnUnsupported | dict[Kind, OnUnsupported],
        About(
            "what happens to files that the model doesn't support: convert, note, error, or by kind: document=error",
            ("--on-unsupported",),
            "yes",
            metavar="HOW",
        ),
    ] = "convert"
    max_in_context: Annotated[
        AtLeast0 | None, About("maximum files that the model sees at once", ("--max-in-context",), "less")
    ] = None
    context_share: Annotated[
        Share | None, About("part of the context window for text and files", ("--context-share",), "less")
    ] = 0.5
    max_file_bytes: Annotated[AtLeast1, About("maximum size of a file in bytes", ("--max-file-bytes",), "less")] = (
        20_000_000
    )
    uploads: Annotated[
        bool, About("upload large files to the provider once; they stay there", ("--uploads/--no-uploads",), "less")
    ] = False
    transcribe: Annotated[
        str | None,
        About("MODULE:NAME, a function that returns the speech in a file as text", ("--transcribe",), path="code"),
    ] = None
    describe: Annotated[
        str | None,
        About(
            "provider:model that describes pictures to models without eyes, and is sent these pictures",
            ("--describe",),
            "yes",
        ),
    ] = None
    fetch: FetchSection = FetchSection()
    expected_steps: Annotated[AtLeast1, About("expected requests that carry a file", found="yes")] = 5
    max_tool_text: Annotated[
        Annotated[int, Meta(ge=1000)] | None,
        About("maximum characters of one tool result", ("--max-tool-text",), "less"),
    ] = 40_000


class StorageSection(Section, frozen=True, kw_only=True):
    """Where conversations are stored."""

    data: Annotated[
        NotEmpty | None, About("the data folder, for conversations and files", ("--data",), path="yes", metavar="PATH")
    ] = None
    database: Annotated[
        NotEmpty | None,
        About("sqlite:///path or postgresql://…, instead of the data folder", ("--database",), hidden="url"),
    ] = None
    blobs: Annotated[
        NotEmpty | None,
        About(
            "a folder, s3://…, gs://… or az://… for the bytes of files, instead of the data folder",
            ("--blobs",),
            hidden="url",
            path="yes",
        ),
    ] = None
    schema: Annotated[str | None, About("the schema of PostgreSQL that has the tables", ("--schema",))] = None
    quota: Annotated[AtLeast1 | None, About("maximum size of all stored files in bytes", ("--quota",))] = None
    strip_location: Annotated[bool, About("remove locations from photos", ("--strip-location/--keep-location",))] = (
        False
    )


class ServerSection(Section, frozen=True, kw_only=True):
    """The settings of `serve`."""

    host: Annotated[
        str, About("the address to listen on; any address but 127.0.0.1 is reachable from the network", ("--host",))
    ] = "127.0.0.1"
    port: Annotated[Port | None, About("default: 8000 or the next free port; 0 for any", ("--port",))] = None
    hosts: Annotated[
        tuple[str, ...],
        About("a host name of the server, such as chat.example.com", ("--name",), variable="HOSTS"),
    ] = ()
    origins: Annotated[
        tuple[str, ...],
        About("an origin that may send requests, such as https://app.example.com", ("--origin",), variable="ORIGINS"),
    ] = ()
    proxies: Annotated[
        str, About("trusted proxies, comma-separated addresses or networks", ("--proxy",), variable="PROXIES")
    ] = "127.0.0.1,::1"
    public_url: Annotated[
        str | None,
        About(
            "the address for clients behind a proxy with a prefix, such as https://example.com/chat", ("--public-url",)
        ),
    ] = None
    workers: Annotated[
        Annotated[int, Meta(ge=1, le=64)],
        About("number of processes; use PostgreSQL for more than one", ("--workers",)),
    ] = 1
    max_message_files: Annotated[AtLeast0, About("maximum files per message", ("--max-message-files",))] = 50
    lift_audience: Annotated[
        bool,
        About(
            "let owners show the model a file that is for them alone, for one message",
            ("--lift-audience/--keep-audience",),
        ),
    ] = False
    rate: Annotated[str, About('rate limits per user, such as "chat=60/minute, uploads=300/minute"', ("--rate",))] = ""
    admins: Annotated[
        tuple[str, ...],
        About(
            "account id of an administrator, who may enter providers' keys for everyone on the page",
            ("--admin",),
            variable="ADMINS",
        ),
    ] = ()
    user_keys: Annotated[
        bool,
        About("let each user with an account enter keys of their own on the page", ("--user-keys/--no-user-keys",)),
    ] = False
    provider_hosts: Annotated[
        tuple[str, ...],
        About(
            "a host inside the network that a base URL of the page may name, such as gpu.lan:8000",
            ("--provider-host",),
            variable="PROVIDER_HOSTS",
        ),
    ] = ()
    attach_addresses: Annotated[
        Literal["alone", "everyone", "nobody"],
        About(
            "who may attach files by address, which the server fetches: alone (the single user), everyone, or nobody",
            ("--attach-addresses",),
            metavar="WHO",
        ),
    ] = "alone"
    deps: Annotated[
        str | None,
        About(
            "MODULE:NAME, a function that makes the tools' RunContext.deps from a user's id", ("--deps",), path="code"
        ),
    ] = None
    log_format: Annotated[
        Literal["text", "json"], About("plain lines, or one JSON object per line", ("--log-format",))
    ] = "text"
    log_clients: Annotated[
        bool, About("log clients' addresses and users' names", ("--log-clients/--no-log-clients",))
    ] = False


class ProviderSection(Section, frozen=True, kw_only=True):
    """How to reach one provider: fields of `Connection`."""

    base_url: Annotated[str | None, About("the base URL, as the provider's own SDK expects it", hidden="url")] = None
    api_key: Annotated[str | None, About("the key", hidden="yes")] = None
    headers: Annotated[
        dict[HeaderName, HeaderValue] | None, About("additional headers of each request", hidden="yes")
    ] = None

    def __repr__(self) -> str:
        return "ProviderSection(...)"  # keys are never printed


class Settings(Section, frozen=True, kw_only=True):
    """All settings. `providers` has a table for each provider, by its name."""

    model: Annotated[
        NotEmpty | None,
        About("provider:model, or inspector; default: the last used, else one with a key", ("--model", "-m"), "yes"),
    ] = None
    instructions: Annotated[
        str, About("the system prompt, or @FILE with it", ("--instructions",), "yes", path="text")
    ] = ""
    builtin: Annotated[
        tuple[Builtin, ...],
        About("built-in tools: none, or a list such as chart,view_file", ("--builtin",), "less", metavar="NAMES"),
    ] = BUILTIN
    tools: Annotated[
        str | None,
        About(
            "MODULE:NAME, a list of tools in a module, or a package's name for its tools",
            ("--tools",),
            path="code",
        ),
    ] = None
    folder: Annotated[
        NotEmpty | None,
        About(
            "the folder that read_file serves; default: samples, for serve no read_file",
            ("--folder",),
            path="yes",
            metavar="PATH",
        ),
    ] = None
    model_settings: ModelSection = ModelSection()
    limits: LimitsSection = LimitsSection()
    retry: RetrySection = RetrySection()
    file_policy: FilesSection = FilesSection()
    storage: StorageSection = StorageSection()
    server: ServerSection = ServerSection()
    providers: dict[str, ProviderSection] = {}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: its dotted name in a file, the type and the default of its value, and what is known of it."""

    name: str
    type: Any
    default: Any
    about: About

    @property
    def option(self) -> str:
        """The option, such as `--max-steps`; empty if the setting has none."""
        return self.about.options[0].partition("/")[0] if self.about.options else ""

    @property
    def parameter(self) -> str:
        """The name of the command's parameter; empty if the setting has no option."""
        return self.option.removeprefix("--").replace("-", "_")

    @property
    def variable(self) -> str:
        """The variable; empty if the setting has none."""
        name = self.about.variable or self.parameter
        return f"SHOWANDTELL_{name.upper()}" if name else ""

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.default, tuple)


@cache
def keys() -> Mapping[str, Key]:
    """All settings by their names, without those of providers of packages that nothing has needed yet."""
    own = _keys_of(Settings, "")
    hosts = (
        key
        for provider in (*PROVIDERS, *registered_so_far())
        for key in _keys_of(ProviderSection, f"providers.{provider}.")
    )
    return {key.name: key for key in (*own, *hosts)}


def add_keys_of(provider: str) -> bool:
    """Whether there is such a provider. Its settings are among `keys` from then on."""
    known = is_known(provider)
    if known and provider not in PROVIDERS:
        keys.cache_clear()
    return known


def _keys_of(section: type[Section], prefix: str) -> Iterator[Key]:
    hints = get_type_hints(section, include_extras=True)
    for field in msgspec.structs.fields(section):
        hint, name = hints[field.name], f"{prefix}{field.name}"
        about = next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, About)), None)
        if about is not None:
            yield Key(name, hint, field.default, about)
        elif isinstance(hint, type) and issubclass(hint, Section):
            yield from _keys_of(hint, f"{name}.")
