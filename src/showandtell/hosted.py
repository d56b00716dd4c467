"""Tools that a provider runs itself, and what is kept of them.

>>> from showandtell.hosted import HostedBlock, Source
>>> HostedBlock("anthropic", '{"type": "web_search_tool_result"}', "srv_1", "web_search").state
'done'
"""

from showandtell.core.messages.parts import HostedBlock, Source
from showandtell.core.wire.hosted_tools import (
    CodeExecution,
    FileSearch,
    HostedTool,
    ImageGeneration,
    UrlContext,
    WebSearch,
)

__all__ = [
    "CodeExecution",
    "FileSearch",
    "HostedBlock",
    "HostedTool",
    "ImageGeneration",
    "Source",
    "UrlContext",
    "WebSearch",
]
