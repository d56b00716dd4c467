"""Conversations that are planned after each message."""

from hypothesis import strategies as st

from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Approval, Opaque
from support.builders import assistant, attachment, result, shown, user

CLAUDE = "anthropic:claude-sonnet-4-5"

MODELS = (CLAUDE, "openai-chat:gpt-5-mini", "google:gemini-3-flash-preview", "mistral:mistral-large-latest")

TYPES = ("image/png", "application/pdf", "audio/wav")


@st.composite
def runs(draw):
    """A conversation that grows by a question, a step, or a step that waits for approval; some files come again."""
    messages, files = [], []

    def showings(max_count):
        count = draw(st.integers(0, max_count))
        for _ in range(count if not files else draw(st.integers(0, count))):
            files.append(attachment(len(files) + 1, draw(st.sampled_from(TYPES)), draw(st.integers(0, 4_000_000))))
        return [shown(draw(st.integers(1, len(files)))) for _ in range(count)]

    messages.append(user("look", *showings(4)))
    for at in range(draw(st.integers(1, 6))):
        calls = [f"call_{at}{letter}" for letter in draw(st.sampled_from(["a", "ab", "abc"]))]
        approval = Message(f"p{at}", "user", (Approval(calls[-1], True),))
        match draw(st.sampled_from(["step", "step", "step", "approved", "asked", "thought"])):
            case "asked":
                messages.append(user("and?", *showings(3), named=f"u{at + 2}"))
            case "thought":
                messages.append(Message(f"a{at}", "assistant", (Opaque("another", "{}"), *showings(1))))
            case kind:
                messages += [assistant(*calls, named=f"a{at}"), *(result(call, *showings(2)) for call in calls[:-1])]
                messages += [approval] if kind == "approved" else []
                messages.append(result(calls[-1], *showings(2)))
    return messages, files
