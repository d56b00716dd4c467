"""Behavior that all stream parsers share, and how an exchange handles hostile responses."""

import asyncio
import json
import math
from contextlib import aclosing
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.types import StepEnd, TextDelta, Usage
from showandtell.core.wire.anthropic_messages import parse as parse_anthropic
from showandtell.core.wire.http import HttpResponse
from showandtell.core.wire.parsers import PARSERS
from showandtell.core.wire.usage import MAX_COUNT
from showandtell.errors import BadAnswer, ProviderError
from showandtell.providers.exchange import closing_body, read
from showandtell.providers.refusals import MAX_ERROR_BODY, parse_error, retry_after_of
from support.builders import parser_of
from support.scripted import CLAUDE, GEMINI, GPT, RESPONSES, event, in_pieces, say

GOOD = b'data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'

EMPTY_ERROR = parse_error(b"{}")
each_parser = pytest.mark.parametrize("parser", [partial(parser_of, api) for api in PARSERS], ids=PARSERS)


def test_events_before_a_bad_chunk_in_the_same_read_are_returned():
    parser = parser_of("openai-chat")
    events = parser.feed(GOOD + b"data: {no json\n\n")
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["hello"]
    with pytest.raises(BadAnswer, match="JSON is malformed"):
        parser.finish()


@each_parser
def test_a_first_chunk_that_is_not_json_raises_at_once(parser):
    with pytest.raises(BadAnswer):
        parser().feed(b"data: \xff\xfe\n\n")


@pytest.mark.parametrize("api", ["anthropic-messages", "openai-chat", "openai-responses", "gemini"])
def test_the_last_event_needs_no_blank_line_but_a_cut_one_is_no_end(api):
    body = b"data: " + ENDS[api][0].replace("USAGE", "null").encode()
    whole, cut = parser_of(api), parser_of(api)
    assert [*whole.feed(body), *whole.finish()][-1].stop == "end"
    assert [*cut.feed(body.partition(b"\n\n")[0][:-2]), *cut.finish()][-1].stop == "cut"


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
        _ = parser.feed(b"data: " + data + b"\n\n") and parser.finish()


@each_parser
@given(st.binary(max_size=60))
def test_any_bytes_raise_only_bad_answers(parser, data):
    reading = parser()
    try:
        reading.feed(b"data: " + data + b"\n\n")
        reading.finish()
    except BadAnswer:
        assert reading.done


def test_a_complete_body_of_hostile_bytes_is_a_bad_answer():
    call = b'{"content":[{"type":"tool_use","input":{"a":"\xff"}}]}'
    for data in (call, b'{"content":[' + DEEP, b'{"stop_reason":1e999}'):
        with pytest.raises(BadAnswer):
            parse_anthropic.parse_full(data)


#: The last event of each API with its usage, and the API's name of the prompt's token count.
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


@pytest.mark.parametrize("api", PARSERS)
@pytest.mark.parametrize(
    "empty", ["data: ", "data:", "data", "event: ping\r\ndata: \r", ": keep-alive", "data:\ndata:", ""]
)
def test_an_event_without_data_changes_no_answer(api, empty):
    blocks = ENDS[api][0].replace("USAGE", "null").split("\n\n")
    stream = "".join(f"{empty}\n\n{block}\n\n" for block in ("data: " + "\n\n".join(blocks)).split("\n\n"))
    parser = parser_of(api)
    events = [event for at in range(len(stream)) for event in parser.feed(stream[at : at + 1].encode())]
    assert ([*events, *parser.finish()][-1].stop, parser.done) == ("end", True)


def usage_of(api, usage):
    """Return the usage of a stream that ends with this usage."""
    parser, (end, prompt) = parser_of(api), ENDS[api]
    body = end.replace("USAGE", usage.replace("PROMPT", f'"{prompt}"'))
    *_, last = [*parser.feed(b"data: " + body.encode() + b"\n\n"), *parser.finish()]
    assert (last.stop, last.detail) == ("end", "")
    return last.usage


@pytest.mark.parametrize("api", PARSERS)
@pytest.mark.parametrize("usage", ['"many"', "[]", "1e308", "{PROMPT:1e308}", "{PROMPT:1e999}", "{PROMPT:true}"])
def test_an_unreadable_usage_does_not_fail_the_response(api, usage):
    assert usage_of(api, usage) == Usage()


@pytest.mark.parametrize("api", PARSERS)
@pytest.mark.parametrize(("number", "limited"), [(-1, 0), (-(2**60), 0), (2**60, MAX_COUNT), (MAX_COUNT, MAX_COUNT)])
def test_token_counts_are_limited(api, number, limited):
    assert usage_of(api, f"{{PROMPT:{number}}}") == Usage(limited)


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("cost", ["-1", "true", '"2"', "{}", "1e308", "null"])
def test_an_invalid_cost_is_none(api, cost):
    assert usage_of(api, f'{{PROMPT:5,"cost":{cost}}}') == Usage(5)
    assert usage_of(api, '{PROMPT:5,"cost":0}') == Usage(5, cost=0)


async def endless_body(*first, then):
    """An endless body."""
    for piece in first:
        yield piece
    for _ in range(1000):
        yield then
    raise AssertionError("it was read to its end")


def whole_answer(text, api):
    """Return a complete response with this text."""
    part = {"text": text}
    return {
        "anthropic-messages": {"type": "message", "content": [{"type": "text"} | part], "stop_reason": "end_turn"},
        "openai-chat": {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]},
        "openai-responses": {"status": "completed", "output": [{"type": "message", "content": [part]}]},
        "gemini": {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]},
        "bedrock-converse": {"output": {"message": {"content": [part]}}, "stopReason": "end_turn"},
    }[api]


LOOSE = ["application/json", "text/plain; charset=utf-8", "text/event-stream", ""]


@pytest.mark.parametrize("media_type", LOOSE)
@pytest.mark.parametrize("api", PARSERS)
def test_a_complete_answer_is_read_whatever_usual_type_it_has(api, media_type):
    body = b"\n " + json.dumps(whole_answer("Hello.", api)).encode()
    events = gather(HttpResponse(200, {"content-type": media_type}, in_pieces(body, 3)), api)
    assert ([event.text for event in events if isinstance(event, TextDelta)], events[-1].stop) == (["Hello."], "end")


@pytest.mark.parametrize("media_type", LOOSE)
@pytest.mark.parametrize("start", [b"", b": hello\n\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("model", "api"),
    [(CLAUDE, "anthropic-messages"), (GPT, "openai-chat"), (RESPONSES, "openai-responses"), (GEMINI, "gemini")],
)
def test_a_stream_is_read_whatever_usual_type_it_has(model, api, start, media_type):
    body = in_pieces(start + say("Hello.", model=model).rstrip(), 3)
    events = gather(HttpResponse(200, {"content-type": media_type}, body), api)
    assert ([event.text for event in events if isinstance(event, TextDelta)], events[-1].stop) == (["Hello."], "end")


def test_a_plain_text_is_no_answer():
    with pytest.raises(BadAnswer, match="answered 200 with text/plain, which no API uses: Closed today"):
        gather(HttpResponse(200, {"content-type": "text/plain"}, in_pieces(b"Closed today")), "gemini")


def gather(answer, api):
    """Return all events of one response."""

    async def collect():
        try:
            async with closing_body(answer), aclosing(await read(answer, resolve(f"inspector:{api}"))) as batches:
                return [event async for batch in batches for event in batch]
        finally:
            assert answer.body.ag_frame is None  # closed at once, to free its connection

    return asyncio.run(collect())


@pytest.mark.parametrize(("model", "api"), [(CLAUDE, "anthropic-messages"), (GPT, "openai-chat")])
def test_a_body_is_not_read_past_the_end(model, api):
    body = endless_body(say("Hello.", model=model), then=b": ping\n\n")
    assert isinstance(gather(HttpResponse(200, {}, body), api)[-1], StepEnd)


@pytest.mark.parametrize(("model", "api"), [(CLAUDE, "anthropic-messages"), (GPT, "openai-chat")])
def test_a_body_is_not_read_past_a_bad_chunk(model, api):
    first = say("Hi.", model=model)[:-150]
    body = endless_body(first + b"\n\ndata: {no\n\n", then=b"")
    with pytest.raises(BadAnswer):
        gather(HttpResponse(200, {}, body), api)


def refusal(body, headers=None):
    """Return the error that an error response raises."""
    with pytest.raises(ProviderError) as caught:
        gather(HttpResponse(400, headers or {}, body), "anthropic-messages")
    return caught.value


def test_an_endless_error_body_is_read_up_to_a_limit():
    assert refusal(endless_body(then=b"x" * 1024)).text == "x" * 500


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
def test_an_error_body_gives_its_message_and_path(body, text, path):
    error = refusal(once(body))
    assert (error.path, error.status, error.retry_after) == (path, 400, None)
    assert text in {error.text, None}


def test_an_endlessly_nested_error_body_is_shown_unchanged():
    deep = b'{"error":' + b"[" * (MAX_ERROR_BODY - 9)
    assert refusal(once(deep)).text == deep[:500].decode()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *[("2.5", 2.5), ("0", 0), ("-3", None), ("nan", None), ("1e999", None), ("soon", None)],
        *[("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)],
    ],
)
def test_retry_after_is_in_seconds_or_a_date(header, seconds):
    assert retry_after_of({"retry-after": header}, EMPTY_ERROR, now=60) == seconds
    assert refusal(once(b"no"), {"retry-after": "7"}).retry_after == 7


def test_retry_after_may_be_in_milliseconds_or_in_googles_error_details():
    detail = b'{"error":{"message":"Busy","details":[{"@type":"RetryInfo","retryDelay":"34.5s"}]}}'
    assert retry_after_of({"retry-after-ms": "250", "retry-after": "9"}, EMPTY_ERROR, now=0) == 0.25
    assert refusal(once(detail)).retry_after == 34.5


@given(st.text(max_size=40))
def test_any_retry_header_is_a_finite_wait_or_none(header):
    seconds = retry_after_of({"retry-after": header}, EMPTY_ERROR, now=0)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


def test_a_fault_of_the_stream_ends_it():
    parser = parser_of("anthropic-messages")
    parser.feed(event("error", error={"type": "overloaded_error", "message": "Overloaded"}))
    assert parser.done
