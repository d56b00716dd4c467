"""What can be set for a conversation: its model, the tools that are offered, and the range of the temperature."""

from __future__ import annotations

from msgspec import Struct

from showandtell.core.messages.conversation_settings import ConversationSettings, check_temperature
from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import User
from showandtell.server.model_choice import check_model, default_of
from showandtell.server.runs.agents import AvailableTool
from showandtell.server.state import Server
from showandtell.storage.conversations.preferences import Preferences

#: Tools that an error names.
MAX_NAMED = 20


class Choices(Struct, frozen=True):
    """What the settings of a conversation may be with a model: its tools, and the highest temperature."""

    model: str
    tools: tuple[AvailableTool, ...]
    max_temperature: float


async def read_choices(server: Server, user: User, model: str | None, preferences: Preferences) -> Choices:
    """The choices with a model; None: the one of a new conversation. Raises `UnknownModel`."""
    if model is not None:
        server.catalog.check(check_model(model))
    name = await default_of(server, user, model, preferences)
    tools, target = await server.agents.available_tools(name), server.agents.target_of(name)
    return Choices(server.catalog.id_of(name), tools, target.dialect.max_temperature)


async def check_settings(server: Server, user: User, settings: ConversationSettings, preferences: Preferences) -> None:
    """Raise `BadInput` for settings that a conversation can't have here."""
    if settings.model is not None:
        server.catalog.check(check_model(settings.model))
    if settings.temperature is not None:
        target = server.agents.target_of(await default_of(server, user, settings.model, preferences))
        check_temperature(settings.temperature, target.dialect.max_temperature, target.name)
    if settings.tools:
        check_tools(settings.tools, await server.agents.available_tools())


def check_tools(names: tuple[str, ...], available: tuple[AvailableTool, ...]) -> None:
    """Raise `BadInput` for a tool that isn't offered here."""
    offered = [tool.name for tool in available]
    unknown = next((name for name in names if name not in offered), None)
    if unknown is not None:
        more = ", …" if len(offered) > MAX_NAMED else ""
        there = f"{', '.join(offered[:MAX_NAMED])}{more}" or "none"
        raise BadInput(f"this server offers no tool {unknown[:40]!r}; the tools that can be on: {there}")
