"""All hosts that the inspector imitates, found by the path of a request: `/openai/v1/chat/completions`.

The first segment names the host. The rest is the path after the SDK's base URL.
"""

from __future__ import annotations

from collections.abc import Mapping

from showandtell.inspector.anthropic import partners
from showandtell.inspector.anthropic import read as anthropic_messages
from showandtell.inspector.bedrock import read as bedrock_converse
from showandtell.inspector.gemini import read as gemini
from showandtell.inspector.openai_chat import dialects
from showandtell.inspector.openai_chat import read as openai_chat
from showandtell.inspector.openai_responses import read as openai_responses
from showandtell.inspector.request import Host

HOSTS: tuple[Host, ...] = (
    *anthropic_messages.HOSTS,
    *openai_responses.HOSTS,
    *openai_chat.HOSTS,
    *gemini.HOSTS,
    *bedrock_converse.HOSTS,
    *partners.HOSTS,
    *dialects.HOSTS,
)


def find_host(path: str) -> tuple[Host, Mapping[str, str | None] | None]:
    """The host of a path, and the groups of its pattern. The groups are None if the host doesn't have that path."""
    base, _, rest = path.removeprefix("/").partition("/")
    candidates = [host for host in HOSTS if host.base == base]
    for host in candidates:
        if match := host.path.fullmatch("/" + rest):
            return host, match.groupdict()
    return (candidates or [host for host in HOSTS if "/messages" in path] or [*openai_chat.HOSTS])[0], None
