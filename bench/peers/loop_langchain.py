"""Runs of LangChain's agent, which LangGraph runs, over Anthropic's SDK with a tool that returns words or a picture."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import anthropic
import httpx2
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from rounds import answer_costs, difference

from model_answers import ASKED, answers

KIND, FILE, *COUNTS = sys.argv[1:]
DATA = Path(FILE).read_bytes()
WORDS = DATA.decode() if KIND == "words" else ""


def draw(page: int) -> object:  # noqa: ARG001 - the model gives it
    """Draw a page."""
    return WORDS or [{"type": "image", "base64": base64.b64encode(DATA).decode(), "mime_type": "image/png"}]


def run(steps: int) -> None:
    bodies = iter(answers(steps))

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=next(bodies), headers={"content-type": "application/json"})

    model = ChatAnthropic(model="claude-sonnet-4-5", api_key="none", max_tokens=1024)
    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    model.__dict__["_client"] = anthropic.Client(api_key="none", http_client=transport)
    done = create_agent(model, [draw]).invoke({"messages": [("user", ASKED)]}, {"recursion_limit": 10_000})
    assert done["messages"][-1].content == "Nothing changed."


answer_costs("langchain", lambda: difference(run, (int(COUNTS[0]), int(COUNTS[1]))))
