"""What comes of each fault."""

import asyncio
from typing import NamedTuple

from fake_provider import FakeProvider, read_fault
from fake_provider.agents import connect_agent
from fake_provider.texts import ANSWER_TEXT


class Outcome(NamedTuple):
    """How a run ends: its status, words of its reason, its error, whether words remain, how many calls ran."""

    status: str
    reason: str = ""
    error: str | None = None
    spoke: bool = False
    ran: int = 0


GOES_ON = Outcome("complete", spoke=True)

CUT, OPEN = Outcome("incomplete", "cut", spoke=True), Outcome("incomplete", "cut")

LONG, REFUSED = Outcome("incomplete", "length", spoke=True), Outcome("refused", "refusal", spoke=True)

UNREADABLE = Outcome("error", "the response is not what the API promises", "BadAnswer")

UNREACHABLE = Outcome("error", "broke the connection", "ProviderUnavailable")

EMPTY = Outcome("error", "returned an empty response", "BadAnswer")

OTHER = Outcome("error", "which no API uses", "BadAnswer")

OVERLOADED = Outcome("error", "Overloaded", "ProviderError")


def spoken(outcome):
    return outcome._replace(spoke=True)


#: Of an answer that is streamed, and of one that comes whole.
OUTCOMES = {
    "wrong_type": (OTHER,) * 2,
    "hang_up": (UNREACHABLE,) * 2,
    "page": (OTHER,) * 2,
    "page(502)": (Outcome("error", "Bad gateway of a proxy", "ProviderUnavailable"),) * 2,
    "echo": (Outcome("error", "You sent", "ProviderError"),) * 2,
    "reset": (CUT, UNREACHABLE),
    "end": (CUT, UNREADABLE),
    "empty": (EMPTY,) * 2,
    "reset_in_arguments": (OPEN, UNREACHABLE),
    "end_in_arguments": (OPEN, UNREADABLE),
    "invalid_utf8": (spoken(UNREADABLE), UNREADABLE),
    "invalid_json": (spoken(UNREADABLE), UNREADABLE),
    "error_event": (spoken(OVERLOADED), OVERLOADED._replace(error="ProviderUnavailable")),
    "silent": (Outcome("incomplete", "empty"),) * 2,
    "bad_arguments": (GOES_ON,) * 2,
    "no_arguments": (GOES_ON,) * 2,
    "cut_arguments": (Outcome("incomplete", "length"),) * 2,
    "unknown_tool": (GOES_ON,) * 2,
    "same_ids": (GOES_ON._replace(ran=2),) * 2,
    "filtered": (REFUSED,) * 2,
    "refused": (REFUSED,) * 2,
    "cut": (LONG,) * 2,
    "slow": (GOES_ON,) * 2,
}

GOOGLE = ("google:", "vertex:")

#: Where a stream gives each call in one event, nothing of a call that is cut was ever read.
AT_ONCE = (*GOOGLE, "groq:", "mistral:", "ollama:")


def expect(model, fault, *, stream):
    if stream and fault.endswith("_in_arguments") and model.startswith(AT_ONCE):
        return EMPTY
    if model.startswith(GOOGLE) and fault == "bad_arguments":  # a finish reason in the place of the call
        return OPEN._replace(reason="MALFORMED_FUNCTION_CALL")
    if model.startswith(GOOGLE) and fault == "refused":  # a prompt that is blocked has no answer
        return REFUSED._replace(spoke=False)
    if stream and model.startswith("ollama:") and fault == "same_ids":  # one id at one index is one call, in pieces
        return GOES_ON
    return OUTCOMES[fault][0 if stream else 1]


def check_outcome(model, fault, *, stream):
    """A run under one fault ends as `expect` says, and the next message is answered."""
    ran = []

    def note(word: str) -> str:
        ran.append(word)
        return word

    async def play():
        async with FakeProvider([read_fault(fault)]) as fake_provider:
            agent = connect_agent(fake_provider, model, [note], steps=3, stream=stream)
            run = await agent.run("hi")
            return run, await agent.run("go on", conversation=run.conversation)

    run, again = asyncio.run(play())
    expected, kind = expect(model, fault, stream=stream), type(run.error).__name__ if run.error else None
    assert (run.status, kind, bool(run.text), len(ran)) == (expected.status, *expected[2:]), run.reason
    assert expected.reason in (run.reason or "")
    assert stream or run.status == "complete" or run.text in {"", ANSWER_TEXT}
    assert again.status == "complete"
