"""Every house that the inspector can stand in for, found by the path of a request: `/openai/v1/chat/completions`.

The first step of a path names the host, the rest is what its real address has behind the SDK's base URL.
"""

from __future__ import annotations

from collections.abc import Mapping

from showandtell.inspector.anthropic import partners
from showandtell.inspector.anthropic import read as anthropic_messages
from showandtell.inspector.bedrock import read as bedrock_converse
from showandtell.inspector.gemini import read as gemini
from showandtell.inspector.openai_chat import hosts
from showandtell.inspector.openai_chat import read as openai_chat
from showandtell.inspector.openai_responses import read as openai_responses
from showandtell.inspector.request import Host

HOSTS: tuple[Host, ...] = (
    *anthropic_messages.HOUSES,
    *openai_responses.HOUSES,
    *openai_chat.HOUSES,
    *gemini.HOUSES,
    *bedrock_converse.HOUSES,
    *partners.HOUSES,
    *hosts.HOUSES,
)


def find_host(path: str) -> tuple[Host, Mapping[str, str | None] | None]:
    """The house of a path, and what its pattern found in it; None where no door of the house has that path."""
    base, _, rest = path.removeprefix("/").partition("/")
    doors = [house for house in HOSTS if house.base == base]
    for house in doors:
        if match := house.path.fullmatch("/" + rest):
            return house, match.groupdict()
    return (doors or [house for house in HOSTS if "/messages" in path] or [*openai_chat.HOUSES])[0], None
