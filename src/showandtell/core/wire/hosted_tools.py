"""Tools that a provider runs itself, as a program declares them beside its own. Each API writes them in its own way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct

from showandtell.checking.checked import Checked
from showandtell.core.capabilities.cells import Target
from showandtell.errors import BadInput


class HostedTool(Checked, Struct, frozen=True, tag_field="tool"):
    """A tool that the provider runs itself. An `Agent` takes one among its `tools`.

    Raises `BadInput` when the agent is created, if the model's provider doesn't run it.
    """


class WebSearch(HostedTool, frozen=True, tag="web_search"):
    """Search of the web. Its sources come as `SourceEvent`, and in `run.sources`.

    >>> from showandtell import Agent
    >>> from showandtell.hosted import WebSearch
    >>> agent = Agent("anthropic:claude-sonnet-5", tools=[WebSearch(max_uses=3)])

    Args:
        max_uses: maximum number of searches of one answer, where the provider has a limit (Anthropic).
        allowed_domains: domains of the results. OpenAI and xAI take only these.
        blocked_domains: domains that no result comes from. Anthropic takes either these or allowed ones.
    """

    max_uses: int | None = None
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()


class CodeExecution(HostedTool, frozen=True, tag="code_execution"):
    """Code that runs at the provider. Files that it makes get numbers like those of any tool.

    >>> from showandtell import Agent
    >>> from showandtell.hosted import CodeExecution
    >>> agent = Agent("openai:gpt-5.5", tools=[CodeExecution(files=True)])

    Args:
        files: whether it may read the files of the conversation, which are uploaded for it (Anthropic, OpenAI). `ids`
            are those of the uploads, and not for programs.
    """

    files: bool = False
    ids: tuple[str, ...] = ()


class ImageGeneration(HostedTool, frozen=True, tag="image_generation"):
    """Pictures that a model of the provider draws for this one. `size` and `quality` are the provider's own words.

    >>> from showandtell import Agent
    >>> from showandtell.hosted import ImageGeneration
    >>> agent = Agent("openai:gpt-5.5", tools=[ImageGeneration(size="1024x1024")])
    """

    size: str | None = None
    quality: str | None = None


class FileSearch(HostedTool, frozen=True, tag="file_search"):
    """Search in documents that the provider keeps. `stores` are the names of its vector stores.

    >>> from showandtell import Agent
    >>> from showandtell.hosted import FileSearch
    >>> agent = Agent("openai:gpt-5.5", tools=[FileSearch(("vs_1",), max_results=5)])
    """

    stores: tuple[str, ...]
    max_results: int | None = None


class UrlContext(HostedTool, frozen=True, tag="url_context"):
    """Pages and documents of the web that the provider fetches when the conversation names their addresses.

    >>> from showandtell import Agent
    >>> from showandtell.hosted import UrlContext
    >>> agent = Agent("google:gemini-3-pro", tools=[UrlContext()])

    Args:
        max_uses: maximum number of fetches of one answer, where the provider has a limit (Anthropic).
    """

    max_uses: int | None = None


#: The name of each tool, by which the tables of providers know it.
NAMES: dict[type[HostedTool], str] = {
    WebSearch: "web_search",
    CodeExecution: "code_execution",
    ImageGeneration: "image_generation",
    FileSearch: "file_search",
    UrlContext: "url_context",
}
ValueT = TypeVar("ValueT")


def name_of(tool: HostedTool) -> str:
    """The name of a tool. Raises `BadInput` for a class that isn't one of ours."""
    if type(tool) not in NAMES:
        raise BadInput(f"{type(tool).__name__} is no tool that a provider runs: use one of showandtell.hosted")
    return NAMES[type(tool)]


def host_name(tool: HostedTool, target: Target) -> str:
    """What the host calls a tool. Raises `BadInput`, with what it has instead, if it doesn't run one."""
    names = dict(target.hosted)
    if (name := name_of(tool)) not in names:
        classes = {name: kind.__name__ for kind, name in NAMES.items()}
        others = ", ".join(classes[own] for own in names) or "none"
        raise BadInput(f"{target.name} runs no {type(tool).__name__} of its own; what it runs: {others}")
    return names[name]


def runs(tool: HostedTool, target: Target) -> bool:
    """Whether a target's host runs a tool."""
    return name_of(tool) in dict(target.hosted)


def split_hosted(tools: Iterable[ValueT | HostedTool]) -> tuple[list[ValueT], tuple[HostedTool, ...]]:
    """The tools of the program, and those that the provider runs. Raises `BadInput` for two of one kind."""
    values = list(tools)
    hosted = tuple(value for value in values if isinstance(value, HostedTool))
    names = [name_of(tool) for tool in hosted]
    if twice := next((type(tool).__name__ for tool in hosted if names.count(name_of(tool)) > 1), None):
        raise BadInput(f"tools has {twice} twice: keep one")
    return [value for value in values if not isinstance(value, HostedTool)], hosted
