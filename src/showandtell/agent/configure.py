"""Turns an agent's public settings into what the loop takes: limits, planning policy, fetch function and target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from showandtell.agent.decide import LoopLimits
from showandtell.agent.descriptions import Describer, FunctionDescriber, ModelDescriber
from showandtell.agent.loader import Fetch, Sharing
from showandtell.agent.output import AnswerForm, OutputType, choose_form
from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, RunLimits
from showandtell.agent.tools import Tool
from showandtell.config.user_settings import find_target
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.google import EXPRESS, in_express_mode
from showandtell.core.messages.file import File
from showandtell.core.planning.conversions import sees_images
from showandtell.core.planning.values import Policy, by_kind
from showandtell.core.wire.hosted_tools import CodeExecution, HostedTool, host_name
from showandtell.core.wire.options import Options, build_options
from showandtell.core.wire.request import head_size
from showandtell.errors import BadInput
from showandtell.network.fetch import FetchPolicy, fetch
from showandtell.network.transport import Transport
from showandtell.providers.client import read_client
from showandtell.providers.connect import locate
from showandtell.providers.google_storage import SCHEME, fetch_object, load_credentials
from showandtell.providers.retry import RetryPolicy

if TYPE_CHECKING:
    from showandtell.network.fetch import Dialer


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run that depend on its tools."""

    tools: Mapping[str, Tool]
    options: Options
    limits: LoopLimits
    policy: Policy
    form: AnswerForm | None = None


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The settings of an agent that those of a run depend on."""

    model: ModelSettings
    instructions: str
    output: OutputType | None
    limits: RunLimits
    files: FilePolicy
    target: Target
    sharing: Sharing
    hosted: tuple[HostedTool, ...] = ()

    def with_tools(self, tools: Mapping[str, Tool], *, has_all: bool = True) -> RunSettings:
        """The settings of a run with these tools. Raises `BadInput`.

        `has_all` is False while toolsets are not listed yet: one of them may have the tool that the model must call.
        """
        model = self.model if has_all else replace(self.model, tool_choice="auto")
        options, form = choose_form(
            request_options(model, tools, self.instructions, self.hosted), self.output, self.target
        )
        policy = plan_policy(tools, self.sharing, self.files, self.target, options)
        limits = loop_limits(tools, self.limits, self.files.max_tool_text, form)
        return RunSettings(tools, options, limits, policy, form)


def loop_limits(
    tools: Mapping[str, Tool], limits: RunLimits, max_tool_text: int | None, form: AnswerForm | None = None
) -> LoopLimits:
    """The limits of the loop."""
    approval = frozenset(tool.name for tool in tools.values() if tool.approval)
    idempotent = frozenset(tool.name for tool in tools.values() if tool.idempotent)
    checks = LoopLimits(
        limits.steps,
        approval,
        limits.tokens,
        limits.seconds,
        idempotent,
        on_full=limits.on_full,
        tool_text=max_tool_text,
    )
    if form is None:
        return checks
    return structs.replace(checks, checks_answer=True, answer_tool=form.tool, output_retries=limits.output_retries)


def request_options(
    settings: ModelSettings, tools: Mapping[str, Tool], instructions: str, hosted: tuple[HostedTool, ...] = ()
) -> Options:
    """The options of each request. Raises `BadInput` for values that no API accepts."""
    return build_options(
        instructions=instructions,
        tools=[tool.spec for tool in tools.values()],
        tool_choice=settings.tool_choice,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        reasoning_effort=settings.reasoning_effort,
        extra_body=settings.extra_body,
        stream=settings.stream,
        hosted=hosted,
    )


def plan_policy(
    tools: Mapping[str, Tool], sharing: Sharing, files: FilePolicy, target: Target, options: Options
) -> Policy:
    """The planning policy: the user's settings, what the agent's tools and functions make possible, and their size.

    Raises `BadInput` if a setting contradicts `extra_body`, or isn't valid.
    """
    return Policy(
        on_unsupported=by_kind(files.on_unsupported),
        max_in_context=files.max_in_context,
        context_share=files.context_share,
        cache=True,
        uploads=files.uploads,
        signed_urls=sharing.link is not None,
        expected_steps=files.expected_steps,
        can_view="view_file" in tools,
        can_read="get_document" in tools,
        takes_files=any(tool.takes_files for tool in tools.values()),
        fetch=sharing.fetch is not None,
        describer=sharing.describer.name if sharing.describer else "",
        hosted=frozenset(host_name(tool, target) for tool in options.hosted),
        container=target.dialect.container is not None
        and any(isinstance(tool, CodeExecution) and tool.files for tool in options.hosted),
        head_bytes=head_size(target, options),
    )


def sharing_of(files: FilePolicy, describer: Describer | None = None) -> Sharing:
    """The program's functions for files, those that fetch, and who describes pictures."""
    linked = files.fetch and files.fetch.for_tools
    return Sharing(
        files.url_signer,
        transcribe=files.transcribe,
        fetch=fetcher(files.fetch),
        fetch_linked=fetcher(linked),
        describer=describer,
    )


def describer_of(
    files: FilePolicy, connection: Connection, target: Target, transport: Transport, retry: RetryPolicy
) -> Describer | None:
    """Who describes pictures. A model of the agent's own provider is reached as the agent's is, others by environment.

    Raises `UnknownModel`, and `BadInput` for a model that is known to see no pictures.
    """
    describe = files.describe
    if describe is None:
        return None
    if callable(describe):
        return FunctionDescriber(describe)
    seeing = find_target(describe)
    own = connection if seeing.provider == target.provider else Connection(transport=transport)
    seeing = with_account(seeing, own)
    if not sees_images(seeing):
        raise BadInput(f"FilePolicy.describe is {seeing.name}, which takes no images: name a model that does")
    return ModelDescriber(seeing, lambda: own.open(seeing, transport), retry)


def fetcher(
    policy: FetchPolicy | None, dialer: Dialer | None = None, load: Callable[[], Any] = load_credentials
) -> Fetch | None:
    """A function that fetches URLs within a policy; None if the policy allows no fetching.

    `dialer` sets how requests are sent; `load` returns Google's credentials.
    """
    if policy is None or not policy.fetch:
        return None

    async def fetch_file(url: str, folder: Path, max_bytes: int) -> File:
        download = partial(fetch_object, load=load) if url.startswith(SCHEME) else fetch
        return (await download(url, folder, max_bytes=max_bytes, policy=policy, dialer=dialer)).file

    return fetch_file


def with_account(target: Target, connection: Connection, *, citations: bool = False) -> Target:
    """The target with its account, which URLs and stored rejections contain, and with citations if they are wanted.

    Raises `BadInput` for citations of a model that can't cite what it gets.
    """
    if citations:
        if not (target.dialect.can_cite or target.dialect.citations):
            raise BadInput(f"ModelSettings.citations: {target.name} doesn't cite the documents that it gets")
        target = structs.replace(target, dialect=structs.replace(target.dialect, citations=True))
    if connection.client is None:
        return locate(target, base_url=connection.base_url, api_key=connection.api_key)
    account = read_client(connection.client).account
    return in_express_mode(target) if account == EXPRESS else structs.replace(target, account=account)
