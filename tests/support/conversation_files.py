"""A conversation as a file has it."""


def example():
    """The conversation that the documentation shows."""
    return {
        "version": 1,
        "instructions": "Be brief.",
        "messages": [
            {"role": "user", "parts": [{"type": "text", "text": "look"}, {"type": "file", "path": "plan.png"}]},
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "call_id": "call_1", "tool": "get", "arguments": {}}],
            },
            {
                "role": "tool",
                "call_id": "call_1",
                "tool": "get",
                "is_error": False,
                "parts": [
                    {"type": "text", "text": "Here:"},
                    {"type": "file", "path": "kiwi.jpg"},
                    {"type": "json", "value": {"rows": 3}},
                ],
            },
        ],
    }
