"""The same by LangChain: fifty functions as OpenAI's tools, as JSON."""

from __future__ import annotations

import json

from fifty_tools import make_tools
from langchain_core.utils.function_calling import convert_to_openai_tool
from rounds import answer_lines

TOOLS = make_tools()


def work() -> None:
    assert len(json.dumps([convert_to_openai_tool(function) for function in TOOLS])) > 10_000


answer_lines("langchain-core", work)
