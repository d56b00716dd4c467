"""A model that calls a tool in each step but the last, as JSON of Anthropic's API: the same for ours and others."""

from __future__ import annotations

import json

#: The question of a run, and the tool that the model calls.
ASKED, TOOL = "Draw every page, and tell me what changed.", "draw"


def answers(steps: int) -> list[bytes]:
    """The bodies of the answers of a run."""
    return [answer(step, calls=step < steps) for step in range(1, steps + 1)]


def answer(step: int, *, calls: bool) -> bytes:
    """The body of the answer of one step."""
    call = {"type": "tool_use", "id": f"toolu_{step:05}", "name": TOOL, "input": {"page": step}}
    content = [call if calls else {"type": "text", "text": "Nothing changed."}]
    message = {
        "id": f"msg_{step:05}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }
    return json.dumps(message).encode()
