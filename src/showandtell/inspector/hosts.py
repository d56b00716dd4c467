"""All hosts that the inspector imitates, found by the path of a request: `/openai/v1/chat/completions`.

The first segment names the host. The rest is the path after the SDK's base URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module

from msgspec.structs import replace

from showandtell.core.capabilities.apis import REGISTRY, RULES, reported_mistakes
from showandtell.core.capabilities.cells import VENDORS
from showandtell.core.capabilities.registry import table_rows
from showandtell.inspector.request import ApiError, Host, IncomingRequest, ModelRequest, Reply

#: Servers that people run themselves.
SERVERS = ("ollama", "vllm", "llamacpp", "lmstudio", "litellm")
#: The modules of the hosts, in the order in which they are asked, and the bases of each one's hosts. A program that
#: uses one host imports its modules alone.
MODULES: Mapping[str, tuple[str, ...]] = {
    "anthropic.read": ("anthropic",),
    "openai_responses.read": ("openai", "azure", "xai"),
    "openai_chat.read": ("openai",),
    "gemini.read": ("google", "vertex"),
    "bedrock.read": ("bedrock",),
    "anthropic.partners": ("anthropic-bedrock", "anthropic-vertex"),
    "openai_chat.dialects": ("azure", "groq", "openrouter", "mistral", "cohere", "deepseek", *SERVERS),
}


def hosts_in(module: str) -> Sequence[Host]:
    """The hosts of a module."""
    return import_module(f"showandtell.inspector.{module}").HOSTS


def hosts_of_package(api: str) -> Sequence[Host]:
    """The hosts that a package has for its API, whose name is their base; none if nobody registered one."""
    if (known := REGISTRY.so_far().get(api)) is None:
        return ()
    with reported_mistakes(api, RULES):
        hosts: Sequence[Host] = import_module(f"{known.package}.{RULES}").HOSTS
        return [reporting(api, host) for host in hosts]


def reporting(api: str, host: Host) -> Host:
    """A host of a package, whose mistakes become `CannotRender`."""

    def read(incoming: IncomingRequest) -> ModelRequest:
        with reported_mistakes(api, RULES, ApiError):
            return host.read(incoming)

    def serialize(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:
        with reported_mistakes(api, RULES):
            yield from host.serialize(reply, request, name)

    return replace(host, read=read, serialize=serialize)


@cache
def stand_ins(provider: str) -> tuple[Host, ...]:
    """The host of the vendor whose API a provider of the table speaks, if it has none of its own, below any path."""
    vendors = {VENDORS[family.api] for family in table_rows(provider)}
    return tuple(
        replace(host, base=provider, path=re.compile(r"(?:/[\w.-]+)*?" + host.path.pattern.removeprefix("/v1")))
        for module, bases in MODULES.items()
        for host in (hosts_in(module) if vendors & {*bases} else ())
        if host.base in vendors
    )


def find_host(path: str) -> tuple[Host, Mapping[str, str | None] | None]:
    """The host of a path, and the groups of its pattern. The groups are None if the host doesn't have that path."""
    base, _, rest = path.removeprefix("/").partition("/")
    modules = [module for module, bases in MODULES.items() if base in bases]
    found = [host for module in modules for host in hosts_in(module)] or (*hosts_of_package(base), *stand_ins(base))
    candidates = [host for host in found if host.base == base]
    for host in candidates:
        if match := host.path.fullmatch("/" + rest):
            return host, match.groupdict()
    return (candidates or hosts_in("anthropic.read" if "/messages" in path else "openai_chat.read"))[0], None
