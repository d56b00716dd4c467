"""A request with fifty functions as tools, to its last byte."""

from __future__ import annotations

from fifty_tools import make_tools
from rounds import answer_lines

from showandtell import Draft, Text, render

QUESTION = [Draft("user", (Text("How is the weather?"),))]
TOOLS = make_tools()


def work() -> None:
    request = render(QUESTION, model="openai-chat:gpt-5.2", tools=TOOLS)
    size = sum(len(piece) for piece in request.chunks())
    assert size > 10_000


answer_lines("showandtell", work)
