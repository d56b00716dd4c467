"""What every stream parser does alike, whichever api it reads, and what an exchange does with hostile answers."""

import asyncio
import json
import math
from contextlib import aclosing
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.types import ProviderFault, StepEnd, TextDelta, ToolInputStart, Usage
from showandtell.core.wire.anthropic_messages import parse as parse_anthropic
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.openai_chat import parse as parse_openai_chat
from showandtell.core.wire.parsers import ANSWERS
from showandtell.core.wire.stream import LARGEST_ANSWER, LARGEST_EVENT, MOST_PARTS, MOST_WORDS
from showandtell.core.wire.usage import MOST_TOKENS
from showandtell.errors import BadAnswer, ProviderError
from showandtell.providers.exchange import read
from showandtell.providers.refusals import MAX_ERROR, told_by, wait_of
from support.builders import parser_of
from support.scripted import CLAUDE, GPT, event, say

GOOD = b'data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'

NOTHING_TOLD = told_by(b"{}")
each_parser = pytest.mark.parametrize("parser", [partial(parser_of, api) for api in ANSWERS], ids=ANSWERS)


def test_what_came_before_a_bad_chunk_in_the_same_read_is_kept():
    parser = parser_of("openai-chat")
    events = parser.feed(GOOD + b"data: {no json\n\n")
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["hello"]
    with pytest.raises(BadAnswer, match="JSON is malformed"):
        parser.finish()


@each_parser
def test_a_chunk_that_is_no_json_is_an_error_at_once_where_nothing_came_before(parser):
    with pytest.raises(BadAnswer):
        parser().feed(b"data: \xff\xfe\n\n")


@each_parser
def test_an_event_without_end_is_given_up(parser):
    with pytest.raises(BadAnswer, match="larger than"):
        parser().feed(b"data: " + b"x" * LARGEST_EVENT)


@each_parser
def test_an_answer_without_end_is_given_up(parser):
    reading, comment = parser(), b": " + b"x" * (LARGEST_EVENT // 2) + b"\n\n"
    with pytest.raises(BadAnswer, match="larger than"):
        [reading.feed(comment) for _ in range(2 + LARGEST_ANSWER // len(comment))]


DEEP = b"[" * 100_000
HOSTILE = [
    b'{"type":5, garbage',
    b'{"type":"message_delta","delta":{"stop_reason":1e999}}',
    b'{"type":"message_delta","usage":{"input_tokens":1e999},"x":' + DEEP,
    b'{"type":"content_block_start","content_block":{"type":"tool_use","input":{"a":"\xff"}}}',
    b'{"type":"message_delta","usage":' + DEEP,
    b'{"type":5,"x":' + DEEP,
]


@pytest.mark.parametrize("data", HOSTILE)
def test_hostile_bytes_are_a_bad_answer_and_nothing_else(data):
    parser = parser_of("anthropic-messages")
    with pytest.raises(BadAnswer):
        parser.feed(b"data: " + data + b"\n\n") and parser.finish()


@each_parser
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_a_bad_answer(parser, data):
    reading = parser()
    try:
        reading.feed(b"data: " + data + b"\n\n")
        reading.finish()
    except BadAnswer:
        assert reading.done


def test_a_whole_body_with_hostile_bytes_is_a_bad_answer():
    call = b'{"content":[{"type":"tool_use","input":{"a":"\xff"}}]}'
    for data in (call, b'{"content":[' + DEEP, b'{"stop_reason":1e999}'):
        with pytest.raises(BadAnswer):
            parse_anthropic.whole(data)


def test_many_calls_without_an_index_cost_no_search_each():
    pieces = b",".join(b'{"id":"c%d","function":{"name":"f","arguments":"{}"}}' % at for at in range(MOST_PARTS))
    parser = parser_of("openai-chat")
    events = parser.feed(b'data: {"choices":[{"delta":{"tool_calls":[' + pieces + b"]}}]}\n\n")
    assert len({one.call_id for one in events if isinstance(one, ToolInputStart)}) == MOST_PARTS


def numbered(at):
    """A call in each api's words."""
    return {
        "anthropic-messages": {"type": "tool_use", "id": f"c{at}", "name": "f", "input": {}},
        "openai-chat": {"index": at, "id": f"c{at}", "function": {"name": "f"}},
        "openai-responses": {"type": "function_call", "call_id": f"c{at}", "name": "f", "arguments": "{}"},
        "gemini": {"functionCall": {"name": "f"}},
        "bedrock-converse": {"toolUse": {"toolUseId": f"c{at}", "name": "f", "input": {}}},
    }


def announced(api, at):
    """The event of a stream that begins a call."""
    call = numbered(at)[api]
    return {
        "anthropic-messages": {"type": "content_block_start", "index": at, "content_block": call},
        "openai-chat": {"choices": [{"delta": {"tool_calls": [call]}}]},
        "openai-responses": {"type": "response.output_item.added", "output_index": at, "item": call},
        "gemini": {"candidates": [{"content": {"parts": [call]}}]},
        "bedrock-converse": {"contentBlockStart": {"contentBlockIndex": at, "start": call}},
    }[api]


def whole_of(api, count):
    """A whole answer of so many calls."""
    calls = [numbered(at)[api] for at in range(count)]
    return {
        "anthropic-messages": {"type": "message", "content": calls},
        "openai-chat": {"choices": [{"message": {"tool_calls": calls}}]},
        "openai-responses": {"output": calls},
        "gemini": {"candidates": [{"content": {"parts": calls}}]},
        "bedrock-converse": {"output": {"message": {"content": calls}}},
    }[api]


def sse(*chunks):
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


@pytest.mark.parametrize("api", ANSWERS)
def test_a_stream_of_parts_without_end_is_given_up(api):
    parser, half = parser_of(api), MOST_PARTS // 2
    for first in (0, half):
        events = parser.feed(sse(*(announced(api, first + at) for at in range(half))))
        assert sum(isinstance(one, ToolInputStart) for one in events) == half
    with pytest.raises(BadAnswer, match="more than 10000 parts"):
        parser.feed(sse(announced(api, MOST_PARTS)))
    assert parser.done


@pytest.mark.parametrize("api", ANSWERS)
def test_a_whole_answer_has_no_more_parts_than_a_stream(api):
    assert len(ANSWERS[api].whole(json.dumps(whole_of(api, MOST_PARTS)).encode())) > MOST_PARTS
    with pytest.raises(BadAnswer, match="more than 10000 parts"):
        ANSWERS[api].whole(json.dumps(whole_of(api, MOST_PARTS + 1)).encode())


def test_texts_and_thoughts_in_turn_are_parts():
    turn = {"choices": [{"delta": {"content": "a", "reasoning": "b"}}]}
    with pytest.raises(BadAnswer, match="more than 10000 parts"):
        parser_of("openai-chat").feed(sse(*[turn] * MOST_PARTS))


@each_parser
def test_the_words_of_a_fault_are_cut(parser):
    (fault,) = parser().feed(sse({"type": "error", "error": {"message": "a" * 1_000_000}}))
    assert isinstance(fault, ProviderFault)
    assert len(fault.text) == MOST_WORDS


def test_the_words_of_an_unknown_end_are_cut():
    parser, reason = parser_of("openai-chat"), "a" * 1_000_000
    assert parser.feed(sse({"choices": [{"finish_reason": reason}]})) == []
    assert parser.finish() == [StepEnd("cut", Usage(), reason[:MOST_WORDS])]
    whole = parse_openai_chat.whole(json.dumps({"choices": [{"finish_reason": reason}]}).encode())
    assert whole == [StepEnd("cut", Usage(), reason[:MOST_WORDS])]


def test_the_words_of_a_file_that_was_not_made_are_cut():
    error = {"message": "a" * 1_000_000}
    item = {"type": "image_generation_call", "error": error}
    answers = {
        "openai-responses": {"output": [item]},
        "bedrock-converse": {"output": {"message": {"content": [{"image": {"format": "png", "error": error}}]}}},
    }
    for api, answer in answers.items():
        made, _ = ANSWERS[api].whole(json.dumps(answer).encode())
        assert made.problem == f"was not made ({'a' * MOST_WORDS})"


#: The end of an answer in each api's words, where its tokens are told, and how those of the prompt are called.
ENDS = {
    "anthropic-messages": (
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":USAGE}\n\ndata: {"type":"message_stop"}',
        "input_tokens",
    ),
    "openai-chat": ('{"choices":[{"finish_reason":"stop"}],"usage":USAGE}', "prompt_tokens"),
    "openai-responses": ('{"type":"response.completed","response":{"usage":USAGE}}', "input_tokens"),
    "gemini": ('{"candidates":[{"finishReason":"STOP"}],"usageMetadata":USAGE}', "promptTokenCount"),
    "bedrock-converse": (
        '{"messageStop":{"stopReason":"end_turn"}}\n\ndata: {"metadata":{"usage":USAGE}}',
        "inputTokens",
    ),
}


def told(api, usage):
    """The tokens of a stream that ends with these."""
    parser, (end, prompt) = parser_of(api), ENDS[api]
    said = end.replace("USAGE", usage.replace("PROMPT", f'"{prompt}"'))
    *_, last = [*parser.feed(b"data: " + said.encode() + b"\n\n"), *parser.finish()]
    assert (last.stop, last.detail) == ("end", "")
    return last.usage


@pytest.mark.parametrize("api", ANSWERS)
@pytest.mark.parametrize("usage", ['"many"', "[]", "1e308", "{PROMPT:1e308}", "{PROMPT:1e999}", "{PROMPT:true}"])
def test_tokens_that_cannot_be_read_cost_no_answer(api, usage):
    assert told(api, usage) == Usage()


@pytest.mark.parametrize("api", ANSWERS)
@pytest.mark.parametrize(("number", "kept"), [(-1, 0), (-(2**60), 0), (2**60, MOST_TOKENS), (MOST_TOKENS, MOST_TOKENS)])
def test_no_count_of_tokens_is_negative_or_absurd(api, number, kept):
    assert told(api, f"{{PROMPT:{number}}}") == Usage(kept)


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("cost", ["-1", "true", '"2"', "{}", "1e308", "null"])
def test_a_cost_that_is_no_sum_of_money_is_none(api, cost):
    assert told(api, f'{{PROMPT:5,"cost":{cost}}}') == Usage(5)
    assert told(api, '{PROMPT:5,"cost":0}') == Usage(5, cost=0)


async def forever(*first, then):
    """A body that goes on for longer than anybody should listen."""
    for piece in first:
        yield piece
    for _ in range(1000):
        yield then
    raise AssertionError("it was read to its end")


def gather(answer, api):
    """All events of one answer."""

    async def collect():
        try:
            async with aclosing(read(answer, resolve(f"inspector:{api}"))) as batches:
                return [one async for batch in batches for one in batch]
        finally:
            assert answer.body.ag_frame is None  # closed at once, so that its connection is free

    return asyncio.run(collect())


@pytest.mark.parametrize(("model", "api"), [(CLAUDE, "anthropic-messages"), (GPT, "openai-chat")])
def test_who_goes_on_after_the_end_is_not_listened_to(model, api):
    body = forever(say("Hello.", model=model), then=b": ping\n\n")
    assert isinstance(gather(HttpResponse(200, {}, body), api)[-1], StepEnd)


@pytest.mark.parametrize(("model", "api"), [(CLAUDE, "anthropic-messages"), (GPT, "openai-chat")])
def test_who_goes_on_after_a_bad_chunk_is_not_listened_to(model, api):
    first = say("Hi.", model=model)[:-150]
    body = forever(first + b"\n\ndata: {no\n\n", then=b"")
    with pytest.raises(BadAnswer):
        gather(HttpResponse(200, {}, body), api)


def refusal(body, headers=None):
    """What an error answer raises."""
    with pytest.raises(ProviderError) as caught:
        gather(HttpResponse(400, headers or {}, body), "anthropic-messages")
    return caught.value


def test_an_error_body_without_end_is_read_so_far_and_no_further():
    assert refusal(forever(then=b"x" * 1024)).text == "x" * 500


async def once(data):
    yield data
    raise ConnectionResetError(104)


ERRORS = [
    (
        b'{"type":"error","error":{"message":"messages.2.content.0.image.source: too large"}}',
        "messages.2.content.0.image.source: too large",
        "messages.2.content.0.image.source",
    ),
    (b'{"error":{"message":"No.","param":"input[3].output[0]","code":400}}', "No.", "input[3].output[0]"),
    (b'{"error":{"message":"Slow down: you are at 9","param":null}}', "Slow down: you are at 9", None),
    (b'{"error":"model not found"}', "model not found", None),
    (b'{"message":"The model is not there"}', "The model is not there", None),
    (
        b"""{"error":{"message":"Invalid file data: 'input[3].output[0].file_data'. Expected a data URL"}}""",
        "Invalid file data: 'input[3].output[0].file_data'. Expected a data URL",
        "input[3].output[0].file_data",
    ),
    (b'{"message":"#/messages/2/content/0: extraneous key"}', None, "messages/2/content/0"),
    (b'[{"error":{"code":400,"message":"Bad name at \'contents[0].parts[1]\': no"}}]', None, "contents[0].parts[1]"),
    (b'{"error":{"message":"No money.","code":"insufficient_quota"}}', "No money. (insufficient_quota)", None),
    (b'{"object":"error","message":{"detail":[]},"code":3051}', None, None),
    (b"<html>", "<html>", None),
    (b"<html><head><title>502\n Bad Gateway</title>", "502 Bad Gateway", None),
    (b"[1]", "[1]", None),
]


@pytest.mark.parametrize(("body", "text", "path"), ERRORS)
def test_an_error_body_gives_its_words_and_the_place_they_mean(body, text, path):
    error = refusal(once(body))
    assert (error.path, error.status, error.retry_after) == (path, 400, None)
    assert text in {error.text, None}


def test_an_error_body_that_is_nested_without_end_is_told_as_it_came():
    deep = b'{"error":' + b"[" * (MAX_ERROR - 9)
    assert refusal(once(deep)).text == deep[:500].decode()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *[("2.5", 2.5), ("0", 0), ("-3", None), ("nan", None), ("1e999", None), ("soon", None)],
        *[("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)],
    ],
)
def test_how_long_to_wait_is_said_in_seconds_or_as_a_date(header, seconds):
    assert wait_of({"retry-after": header}, NOTHING_TOLD, now=60) == seconds
    assert refusal(once(b"no"), {"retry-after": "7"}).retry_after == 7


def test_how_long_to_wait_is_said_in_milliseconds_or_as_a_detail_of_googles():
    detail = b'{"error":{"message":"Busy","details":[{"@type":"RetryInfo","retryDelay":"34.5s"}]}}'
    assert wait_of({"retry-after-ms": "250", "retry-after": "9"}, NOTHING_TOLD, now=0) == 0.25
    assert refusal(once(detail)).retry_after == 34.5


@given(st.text(max_size=40))
def test_any_retry_header_is_a_finite_wait_or_none(header):
    seconds = wait_of({"retry-after": header}, NOTHING_TOLD, now=0)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


def test_a_fault_of_the_stream_ends_it():
    parser = parser_of("anthropic-messages")
    parser.feed(event("error", error={"type": "overloaded_error", "message": "Overloaded"}))
    assert parser.done
