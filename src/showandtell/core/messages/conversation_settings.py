"""What the owner of a conversation sets for it alone: model, instructions, temperature and tools."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from showandtell.core.limits import OnFull
from showandtell.errors import BadInput

#: Maximum length of a model's name, of instructions and of the name of a tool, and maximum number of tools.
MAX_MODEL, MAX_INSTRUCTIONS, MAX_TOOL_NAME, MAX_TOOLS = 500, 20_000, 200, 500
#: The highest temperature of any API. That of a model may be lower: `Dialect.max_temperature`.
MAX_TEMPERATURE: Final = 2.0


class ConversationSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of one conversation. Those that are left out are the user's and the server's own.

    model: the model of its answers, "provider:model".
    instructions: added to those of the operator and the user.
    temperature: randomness, in the range of the model's API.
    tools: the names of the tools that are on; None: all that the server offers.
    on_full: what answers do once the conversation is longer than the model's context; None: as the server does.
    """

    model: Annotated[str, Meta(min_length=1, max_length=MAX_MODEL)] | None = None
    instructions: Annotated[str, Meta(max_length=MAX_INSTRUCTIONS)] = ""
    temperature: float | None = None
    tools: Annotated[tuple[Annotated[str, Meta(max_length=MAX_TOOL_NAME)], ...], Meta(max_length=MAX_TOOLS)] | None = (
        None
    )
    on_full: OnFull | None = None


def check_temperature(temperature: float | None, highest: float = MAX_TEMPERATURE, of: str = "a model") -> None:
    """Raise `BadInput` for a temperature outside of the range of a model's API."""
    if temperature is not None and not 0 <= temperature <= highest:
        raise BadInput(f"the temperature is {temperature:g}, and {of} takes 0 to {highest:g}: choose one in this range")
