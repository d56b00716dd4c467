"""How much of an answer is read: the limits that all stream parsers share."""

from functools import partial

import pytest
from msgspec.json import encode

from showandtell.core.events.types import ProviderFault, StepEnd, ToolInputStart, Usage
from showandtell.core.wire.openai_chat import parse as parse_openai_chat
from showandtell.core.wire.parsers import PARSERS
from showandtell.core.wire.stream import MAX_DETAIL, MAX_EVENT, MAX_PARTS, MAX_RESPONSE
from showandtell.errors import BadAnswer
from support.builders import parser_of

each_parser = pytest.mark.parametrize("parser", [partial(parser_of, api) for api in PARSERS], ids=PARSERS)


def test_an_endless_event_is_a_bad_answer():
    with pytest.raises(BadAnswer, match="larger than"):
        parser_of("gemini").feed(b"data: " + b"x" * MAX_EVENT)


def test_an_endless_response_is_a_bad_answer():
    reading, comment = parser_of("gemini"), b": " + b"x" * (MAX_EVENT // 2) + b"\n\n"
    with pytest.raises(BadAnswer, match="larger than"):
        [reading.feed(comment) for _ in range(2 + MAX_RESPONSE // len(comment))]


def test_many_calls_without_an_index_need_no_search():
    pieces = b",".join(b'{"id":"c%d","function":{"name":"f","arguments":"{}"}}' % at for at in range(MAX_PARTS))
    parser = parser_of("openai-chat")
    events = parser.feed(b'data: {"choices":[{"delta":{"tool_calls":[' + pieces + b"]}}]}\n\n")
    assert len({event.call_id for event in events if isinstance(event, ToolInputStart)}) == MAX_PARTS


#: A call in each API's format.
CALLS = {
    "anthropic-messages": lambda at: {"type": "tool_use", "id": f"c{at}", "name": "f", "input": {}},
    "openai-chat": lambda at: {"index": at, "id": f"c{at}", "function": {"name": "f"}},
    "openai-responses": lambda at: {"type": "function_call", "call_id": f"c{at}", "name": "f", "arguments": "{}"},
    "gemini": lambda _: {"functionCall": {"name": "f"}},
    "bedrock-converse": lambda at: {"toolUse": {"toolUseId": f"c{at}", "name": "f", "input": {}}},
}


def call_start(api, at):
    """Return the stream event that starts a call."""
    call = CALLS[api](at)
    return {
        "anthropic-messages": {"type": "content_block_start", "index": at, "content_block": call},
        "openai-chat": {"choices": [{"delta": {"tool_calls": [call]}}]},
        "openai-responses": {"type": "response.output_item.added", "output_index": at, "item": call},
        "gemini": {"candidates": [{"content": {"parts": [call]}}]},
        "bedrock-converse": {"contentBlockStart": {"contentBlockIndex": at, "start": call}},
    }[api]


def whole_of(api, count):
    """Return a complete response with this many calls."""
    calls = [*map(CALLS[api], range(count))]
    return {
        "anthropic-messages": {"type": "message", "content": calls},
        "openai-chat": {"choices": [{"message": {"tool_calls": calls}}]},
        "openai-responses": {"output": calls},
        "gemini": {"candidates": [{"content": {"parts": calls}}]},
        "bedrock-converse": {"output": {"message": {"content": calls}}},
    }[api]


def sse(*chunks):
    return b"".join(b"data: " + encode(chunk) + b"\n\n" for chunk in chunks)


@pytest.mark.parametrize("api", PARSERS)
def test_a_stream_of_endless_parts_is_a_bad_answer(api):
    parser, half = parser_of(api), MAX_PARTS // 2
    for first in (0, half):
        events = parser.feed(sse(*(call_start(api, first + at) for at in range(half))))
        assert sum(isinstance(event, ToolInputStart) for event in events) == half
    with pytest.raises(BadAnswer, match="more than 10000 parts"):
        parser.feed(sse(call_start(api, MAX_PARTS)))
    assert parser.done


@pytest.mark.parametrize("api", PARSERS)
def test_a_complete_body_has_the_same_limit_of_parts(api):
    assert len(PARSERS[api].parse_full(encode(whole_of(api, MAX_PARTS)))) > MAX_PARTS
    with pytest.raises(BadAnswer, match="more than 10000 parts"):
        PARSERS[api].parse_full(encode(whole_of(api, MAX_PARTS + 1)))


def test_alternating_texts_and_reasoning_count_as_parts():
    turn = {"choices": [{"delta": {"content": "a", "reasoning": "b"}}]}
    with pytest.raises(BadAnswer, match="more than 10000 parts"):
        parser_of("openai-chat").feed(sse(*[turn] * MAX_PARTS))


@each_parser
def test_the_message_of_a_fault_is_shortened(parser):
    (fault,) = parser().feed(sse({"type": "error", "error": {"message": "a" * 1_000_000}}))
    assert isinstance(fault, ProviderFault)
    assert len(fault.text) == MAX_DETAIL


def test_an_unknown_stop_reason_is_shortened():
    parser, reason = parser_of("openai-chat"), "a" * 1_000_000
    assert parser.feed(sse({"choices": [{"finish_reason": reason}]})) == []
    assert parser.finish() == [StepEnd("cut", Usage(), reason[:MAX_DETAIL])]
    complete = parse_openai_chat.parse_full(encode({"choices": [{"finish_reason": reason}]}))
    assert complete == [StepEnd("cut", Usage(), reason[:MAX_DETAIL])]


def test_the_problem_of_a_missing_file_is_shortened():
    error = {"message": "a" * 1_000_000}
    answer = {"output": {"message": {"content": [{"image": {"format": "png", "error": error}}]}}}
    image, _ = PARSERS["bedrock-converse"].parse_full(encode(answer))
    assert image.problem == f"was not made ({'a' * MAX_DETAIL})"
