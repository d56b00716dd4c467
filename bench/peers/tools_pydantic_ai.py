"""The same by pydantic-ai: its tools for fifty functions, and their schemas as JSON."""

from __future__ import annotations

import json

from fifty_tools import make_tools
from pydantic_ai import Tool
from rounds import answer_lines

TOOLS = make_tools()


def work() -> None:
    tools = [Tool(function).tool_def for function in TOOLS]
    schemas = [
        {"name": tool.name, "description": tool.description, "schema": tool.parameters_json_schema} for tool in tools
    ]
    assert len(json.dumps(schemas)) > 10_000


answer_lines("pydantic-ai-slim", work)
