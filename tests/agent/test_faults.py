"""Every fault that we promise to bear, on every api: it has one outcome, and the next request is accepted after it."""

import asyncio
import itertools
import sys
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import File, Tool
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import Retry, TextDelta
from showandtell.network.transport import Timeouts, Transport
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from support.agents import make_agent
from support.builders import parser_of
from support.faulty_runs import (
    EARLY,
    NO,
    TWO,
    check_cut,
    echo,
    failing,
    hanging,
    play,
    play_long,
    survive,
    thoughtful,
)
from support.properties import examples
from support.scripted import (
    CLAUDE,
    CONVERSE,
    FAULT,
    FAULTS,
    FRAMED,
    GEMINI,
    GPT,
    RESPONSES,
    STOPS,
    begin,
    begins,
    check_usable,
    chunk,
    delta,
    each_api,
    event,
    frames,
    no_time,
    raw,
    results,
    say,
    scripted,
    two_apis,
    watch,
)

BUSY = b'{"error": {"message": "Slow down."}}'


class Outcome(NamedTuple):
    """How a run ended, with which class of error, what the model said last, and what its tools did."""

    status: str
    reason: str | None = None
    error: str | None = None
    text: str = "Done."
    ran: tuple[str, ...] = ()


COMPLETE = Outcome("complete")
CALL = ("c1", "note", '{"word": "whole"}')


def refusing(model):
    """A refusal by the model itself, in words where the api has a place for them."""
    match model:
        case _ if model == GPT:
            return chunk({"refusal": "I will not."}) + b"".join(frames(model=model)[-3:])
        case _ if model == RESPONSES:
            place = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
            output = event("response.refusal.delta", **place, delta="I will not.")
            return output + event("response.refusal.done", **place, refusal="I will not.") + frames(model=model)[-1]
        case _ if model == GEMINI:
            return say("I will not.", stop="PROHIBITED_CONTENT", model=model)
        case _:
            stop = "content_filtered" if model == CONVERSE else "refusal"
            return say("I will not.", stop=stop, model=model)


def faults(model):
    """Rows of the promises: the answers of the provider, and the outcome; "Done." is its last answer in every row."""
    stops, half = STOPS[model], begin("Half.", model=model)
    called = say("", CALL, model=model)
    torn = say("Half.", CALL, model=model).partition(b"hole")[0]
    broken = Outcome("error", "", "BadAnswer", "Half.")
    cut = Outcome("incomplete", "cut", None, "Half.")
    return {
        "429 once": ([(429, BUSY)], COMPLETE),
        "500 once": ([(500, b"")], COMPLETE),
        "529 once": ([(529, b"<html>")], COMPLETE),
        "429 for ever": ([(429, BUSY)] * 3, Outcome("error", "Slow down.", "ProviderUnavailable", "")),
        "500 for ever": ([(500, NO)] * 3, Outcome("error", "no", "ProviderUnavailable", "")),
        "413 where there is no file": ([(413, NO)], Outcome("error", "no", "ProviderError", "")),
        "400 where there is no file": ([(400, NO)], Outcome("error", "no", "ProviderError", "")),
        "reset before the answer": ([ConnectionResetError()], COMPLETE),
        "reset before the first word": ([begins(b"", ConnectionResetError())], COMPLETE),
        "reset mid-stream": ([begins(half, ConnectionResetError())], cut),
        "stall mid-stream": ([begins(half, TimeoutError())], cut),
        "clean end without a reason": ([half], cut),
        "empty stream once": ([b""], COMPLETE),
        "empty stream after a 429": ([(429, BUSY), b""], COMPLETE),
        "empty stream for ever": ([b""] * 2, Outcome("error", "returned an empty response", "BadAnswer", "")),
        "empty text": ([say(model=model)], Outcome("incomplete", "empty", None, "")),
        "chunk that is not UTF-8": ([half + raw(delta("?", model).replace(b"?", b"\xff"), model)], broken),
        "chunk that is not JSON": ([half + raw(b"{not json}", model)], broken),
        "chunk of another shape": ([half + raw(b"[1]", model)], broken),
        "error event mid-stream": ([half + FAULT[model]], Outcome("error", FAULTS[model], "ProviderError", "Half.")),
        "error event first": ([FAULT[model]], COMPLETE),
        "arguments of another shape": ([say("", ("c1", "note", "[1]"), model=model)], COMPLETE),
        "unknown tool": ([say("", ("c1", "erase_all", "{}"), model=model)], COMPLETE),
        "duplicate ids": ([say("", CALL, CALL, model=model)], Outcome("complete", ran=("whole", "whole"))),
        "call without arguments": ([say("", ("c1", "note", ""), model=model)], Outcome("complete", ran=("nothing",))),
        "arguments cut by length": (
            [say("Half.", ("c1", "note", '{"word": "al'), stop=stops.length, model=model)],
            Outcome("incomplete", "length", None, "Half."),
        ),
        "end inside arguments": ([torn], cut),
        "reset inside arguments": ([begins(torn, ConnectionResetError())], cut),
        "end behind whole arguments": (
            [begin("", CALL, model=model)],
            Outcome("incomplete", "cut", None, ""),
        ),
        "content filter": (
            [say("Half.", stop=stops.filtered, model=model)],
            Outcome("refused", "refusal", None, "Half."),
        ),
        "refusal": ([refusing(model)], Outcome("refused", "refusal", None, "I will not.")),
        "refusal behind a call": (
            [say("", CALL, stop=stops.filtered, model=model)],
            Outcome("refused", "refusal", text=""),
        ),
        "reason that nobody knows": (
            [say("Half.", stop="unheard_of", model=model)],
            Outcome("incomplete" if model == RESPONSES else "complete", "unheard_of", None, "Half."),
        ),
        "tool raises": ([say("", ("c1", "failing", "{}"), model=model)], COMPLETE),
        "tool loop without end": ([called] * 3, Outcome("incomplete", "steps", None, "", ("whole", "whole"))),
    }


ROWS = [*faults(CLAUDE)]


@each_api
@pytest.mark.parametrize("row", ROWS)
def test_each_fault_has_one_outcome_and_the_next_message_is_answered(model, row):
    ran = []

    def note(word: str = "nothing") -> str:
        ran.append(word)
        return word

    answers, expected = faults(model)[row]
    retry = RetryPolicy(tries=2, sleep=no_time, jitter=lambda: 0.0)
    answers = [*answers, say("Done.", model=model)]
    agent, _ = scripted(*answers, model=model, tools=[note, failing], steps=3, retry=retry)
    run, _ = play(agent, agent.conversation(), "hi")
    kind = type(run.error).__name__ if run.error else None
    assert (run.status, kind, run.text, tuple(ran)) == (expected.status, expected.error, expected.text, expected.ran)
    assert run.reason == expected.reason or (run.error and expected.reason in run.reason)
    check_usable(run.conversation, model)
    assert play(agent, run.conversation, "go on")[0].text == "Done."


@each_api
def test_what_a_tool_raised_is_redacted_for_the_model(model):
    agent, script = scripted(
        say("", ("c1", "failing", "{}"), model=model), say("Sorry.", model=model), model=model, tools=[failing]
    )
    run, _ = play(agent, None, "hi")
    ((_, words, is_error),) = results(run.messages)
    assert words.startswith("failing failed with KeyError (log id")
    assert is_error
    assert "secret" not in str(script.bodies)


def leaving() -> str:
    sys.exit(3)


def counting() -> object:
    return itertools.count()


def flooding() -> File:
    return File.from_bytes(bytes(2000), "application/octet-stream", "flood.bin")


@each_api
def test_tools_that_raise_hang_leave_flood_or_give_garbage_fail_alone_and_in_order(model):
    bad = [failing, leaving, counting, flooding, Tool("hanging", "", run=hanging, timeout=0.01)]
    names = ["echo", "failing", "leaving", "counting", "flooding", "hanging"]
    calls = [(f"c{at}", name, "{}") for at, name in enumerate(names)]
    answers = say("", *calls, model=model), say("Done.", model=model)
    agent, _ = scripted(*answers, model=model, tools=[echo, *bad], max_file_bytes=1000)
    run, _ = play(agent, None, "hi")
    received = results(run.messages)
    assert [(call_id, is_error) for call_id, _, is_error in received] == [
        (f"c{at}", at not in (0, 4)) for at in range(6)
    ]
    assert (run.text, run.conversation.attachments[1].facts) == ("Done.", None)
    check_usable(run.conversation, model)


@pytest.mark.parametrize("model", [CLAUDE, GEMINI, CONVERSE])
def test_a_message_that_says_it_is_whole_in_the_midst_of_a_call_is_cut(model):
    spoken = frames("Half.", CALL, model=model)
    del spoken[-3]  # where the call ends; Gemini's calls say themselves that they go on
    torn = say("Half.", ("c1", "note", '{"word": "wh'), model=model)
    run, _ = play(scripted(torn if model == GEMINI else b"".join(spoken), model=model)[0], None, "hi")
    assert (run.status, run.reason, run.text, results(run.messages)) == ("incomplete", "cut", "Half.", [])
    check_usable(run.conversation, model)


def test_a_garbled_call_of_gemini_is_cut_and_does_not_run():
    bad = say("", stop="MALFORMED_FUNCTION_CALL", model=GEMINI)
    run, _ = play(scripted(bad, model=GEMINI, tools=[echo])[0], None, "hi")
    assert (run.status, run.reason) == ("incomplete", "MALFORMED_FUNCTION_CALL")


def test_a_prompt_that_gemini_blocks_is_a_refusal():
    blocked = b'data: {"promptFeedback": {"blockReason": "SAFETY"}}\r\n\r\n'
    run, _ = play(scripted(blocked, model=GEMINI)[0], None, "hi")
    assert (run.status, run.reason, run.text) == ("refused", "refusal", "")


@pytest.mark.parametrize(
    ("at", "received"),
    [(0, "has a wrong prelude"), (8, "has a wrong prelude"), (40, "has a wrong"), (-1, "has a wrong")],
)
def test_a_frame_of_converse_with_a_wrong_checksum_is_a_typed_error(at, received):
    frame = bytearray(raw(delta("more", CONVERSE), CONVERSE))
    frame[at] ^= 1
    run, _ = play(scripted(begin("Half.", model=CONVERSE) + bytes(frame), model=CONVERSE)[0], None, "hi")
    assert (run.status, run.text, type(run.error).__name__) == ("error", "Half.", "BadAnswer")
    assert run.reason == f"a frame of the event stream {received} checksum"


@two_apis
def test_an_answer_of_20_mb_is_given_piece_by_piece_and_kept_whole(model):
    run, events = play_long(model, 2000)
    pieces = [len(item.text) for item in events if isinstance(item, TextDelta)]
    assert (run.status, len(run.text)) == ("complete", 20_000_001)
    assert (sum(pieces), len(pieces)) == (20_000_001, 2001)


def silent(model, data):
    """A server that begins an answer with these bytes (none: not even its head), and then says nothing more."""

    async def answer(reader, writer):
        kind = FRAMED if model == CONVERSE else "text/event-stream"
        await reader.readuntil(b"\r\n\r\n")
        if data:
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n\r\n".encode() + data)
        await reader.read()
        writer.close()

    return asyncio.start_server(answer, "127.0.0.1", 0)


async def wait_for_silence(model, data, **settings):
    async with await silent(model, data) as server, Transport(Timeouts(idle=0.1)) as transport:
        port = server.sockets[0].getsockname()[1]
        exchange = Exchange(transport.send, f"http://127.0.0.1:{port}", {})
        run = make_agent(model, exchange=exchange, **settings).run("hi")
        return run, await watch(run)


@each_api
def test_a_stall_mid_stream_keeps_the_text_and_is_incomplete(model):
    run, _ = asyncio.run(wait_for_silence(model, begin("Half.", model=model)))
    assert (run.text, run.status, run.reason) == ("Half.", "incomplete", "cut")
    check_usable(run.conversation, model)


@each_api
def test_a_stall_before_the_answer_is_asked_again_and_then_unavailable(model):
    retry = RetryPolicy(tries=1, sleep=no_time)
    run, events = asyncio.run(wait_for_silence(model, b"", retry=retry))
    assert (run.status, type(run.error).__name__) == ("error", "ProviderUnavailable")
    assert len([item for item in events if isinstance(item, Retry)]) == 1


def fold_of(model, data):
    """What the loop would store of an answer, its provider's bytes in one read."""
    target = resolve(model)
    parser = parser_of(target.api, FRAMED if model == CONVERSE else "")
    fold = Accumulator(target.provider)
    fold.add(parser.feed(data))
    fold.add(parser.finish())
    return fold.draft()


def calls_of(draft):
    return [(part.call_id, part.tool, part.arguments) for part in draft.parts if hasattr(part, "arguments")]


def squeezed(calls):
    return [(at, name, given.replace(" ", "")) for at, name, given in calls]


@two_apis
def test_a_stream_cut_at_any_byte_is_complete_or_cut_and_holds_whole_calls_alone(model):
    whole = b"".join(thoughtful(model))
    complete = fold_of(model, whole)
    assert (complete.stop, squeezed(calls_of(complete))) == ("tool_calls", squeezed(TWO))
    for at in range(len(whole)):
        draft = fold_of(model, whole[:at])
        calls = squeezed(calls_of(draft))
        assert calls == squeezed(TWO)[: len(calls)]
        assert draft.stop == "cut" or (draft.stop, calls) == ("tool_calls", squeezed(TWO))


@each_api
def test_a_run_that_is_cut_at_the_end_of_any_frame_runs_whole_messages_alone(model):
    spoken = thoughtful(model)
    for at in range(len(spoken) + 1):
        check_cut(model, b"".join(spoken[:at]))


EARLY[CLAUDE] += ["pause_turn"]
EARLY[GPT] += ["error"]
EARLY[RESPONSES] += ["failed"]
EARLY[GEMINI] += ["MALFORMED_FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED"]
EARLY[CONVERSE] += ["malformed_tool_use"]


@each_api
@examples(15)
@given(data=st.data(), max_faults=st.integers(1, 4))
def test_after_any_faults_the_history_is_valid_and_the_run_has_one_end(model, data, max_faults):
    survive(data, model, max_faults)
