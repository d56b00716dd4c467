"""Every fault of the fake provider does what its name says, for all five APIs, seen by a plain HTTP client."""

import asyncio
import json

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_provider import FAULTS, FakeProvider, PlannedFault, read_fault
from fake_provider.agents import APIS, MODELS, ask
from fake_provider.faults import end, hang_up, large, page, read_planned, reset, slow, stall, status, wrong_type
from fake_provider.frames import find_form, read_events, write_events
from fake_provider.plain_client import PLAIN, post
from showandtell import File
from showandtell.core.events.types import (
    ProviderFault,
    StepEnd,
    TextDelta,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from showandtell.errors import BadAnswer
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import Call, ModelRequest, Reply
from showandtell.providers.refusals import provider_error
from support.builders import parser_of, without_body
from support.fault_outcomes import OUTCOMES, check_outcome
from support.fixtures import png

each_api = pytest.mark.parametrize("api", APIS)


def draw() -> File:
    return File.from_bytes(png(9, 9), name="drawn.png")


def try_once(api, *faults, **settings):
    """One plain request to a new fake provider."""

    async def play():
        async with FakeProvider(faults, **settings) as fake_provider:
            return await post(fake_provider, api)

    return asyncio.run(play())


# Faults.


@each_api
@pytest.mark.parametrize("code", [429, 500, 502, 503, 529])
def test_a_status_comes_in_its_providers_form_with_the_time_to_wait(api, code):
    got = try_once(api, status(code, retry_after=7))
    error = provider_error(
        without_body(got.status, {name.lower(): item for name, item in got.headers.items()}), got.data
    )
    assert (got.status, error.retry_after) == (code, 7)
    assert error.text
    assert error.text[:1] != "{"


def test_a_refusal_of_a_gateway_has_the_text_of_the_provider_behind_it():
    metadata = {"provider_name": "Google", "raw": "gemini-2.0-flash is rate-limited upstream"}
    body = {"error": {"code": 429, "message": "Provider returned error", "metadata": metadata}}
    error = provider_error(without_body(429), json.dumps(body).encode())
    assert error.text == "Provider returned error: gemini-2.0-flash is rate-limited upstream"


@each_api
@pytest.mark.parametrize("code", [200, 502])
def test_a_page_is_html(api, code):
    got = try_once(api, page(code))
    assert (got.status, got.headers["content-type"]) == (code, "text/html")
    assert got.data.startswith(b"<!DOCTYPE html>")


@each_api
def test_a_wrong_type_changes_nothing_but_that(api):
    got = try_once(api, wrong_type("text/plain"))
    assert (got.status, got.headers["content-type"]) == (200, "text/plain")
    assert got.data == try_once(api).data


@each_api
def test_to_hang_up_gives_no_answer(api):
    with pytest.raises(aiohttp.ClientConnectionError):
        try_once(api, hang_up())


@each_api
@pytest.mark.parametrize("at", [0, 1, 100])
def test_a_reset_comes_after_so_many_bytes(api, at):
    got = try_once(api, reset(at))
    assert isinstance(got.error, aiohttp.ClientError)
    assert (got.status, len(got.data)) == (200, at)


@pytest.mark.parametrize("fault", [reset(100), hang_up()])
def test_a_reset_is_one_for_the_socket_too(fault):
    path, body, key = PLAIN["openai-chat"]
    sent = json.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {key['authorization']}\r\nContent-Length: {len(sent)}\r\n\r\n"

    async def play():
        async with FakeProvider([fault]) as fake_provider:
            reader, writer = await asyncio.open_connection("127.0.0.1", fake_provider.port)
            writer.write((head + sent).encode())
            with pytest.raises(ConnectionResetError):
                await reader.read()
            writer.close()

    asyncio.run(play())


@each_api
@pytest.mark.parametrize("at", [0, 1, 100, "half"])
def test_a_clean_end_comes_after_so_many_bytes(api, at):
    whole, got = try_once(api).data, try_once(api, end(at))
    size = len(whole) // 2 if at == "half" else at
    assert (got.error, got.data) == (None, whole[:size])
    assert len(whole) > 200


@each_api
def test_a_stall_gives_so_many_bytes_and_then_nothing_until_the_client_goes(api):
    path, body, key = PLAIN[api]

    async def play():
        async with FakeProvider([stall(50)]) as fake_provider, aiohttp.ClientSession(headers=key) as client:
            async with client.post(fake_provider.url + path, json=body) as answer:
                begun = await answer.content.readexactly(50)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(answer.content.readany(), 0.05)
            return begun, await post(fake_provider, api)

    begun, after = asyncio.run(play())
    assert (len(begun), after.status, after.data[:50]) == (50, 200, begun)


@each_api
def test_an_empty_answer_has_no_byte(api):
    got = try_once(api, FAULTS["empty"]())
    assert (got.status, got.data) == (200, b"")


@each_api
def test_a_slow_answer_is_the_same_answer(api):
    assert try_once(api, slow()).data == try_once(api).data


@each_api
def test_a_large_answer_is_as_large_as_it_says(api):
    got = try_once(api, large(1_000_000))
    assert 1_000_000 <= len(got.data) < 5_000_000
    assert isinstance(got.events(api)[-1], StepEnd)


@each_api
@pytest.mark.parametrize("name", ["invalid_utf8", "invalid_json"])
def test_bytes_that_are_not_the_apis_come_after_words_that_are(api, name):
    got = try_once(api, FAULTS[name]())
    parser = parser_of(api, got.headers["content-type"].partition(";")[0])
    output = [item for item in parser.feed(got.data) if isinstance(item, TextDelta)]
    assert "These words".startswith(output[0].text[:11])
    with pytest.raises(BadAnswer):
        parser.finish()


def stop_of(events):
    return next(event.stop for event in reversed(events) if isinstance(event, StepEnd))


def arguments_of(events):
    return "".join(event.text for event in events if isinstance(event, ToolInputDelta))


def tools_of(events):
    return [event.tool for event in events if isinstance(event, ToolInputStart)]


@each_api
def test_an_error_comes_in_the_middle_of_a_stream(api):
    events = try_once(api, FAULTS["error_event"]("All engines are busy")).events(api)
    assert any(isinstance(event, TextDelta) for event in events)
    assert isinstance(events[-1], ProviderFault)
    assert "All engines are busy" in events[-1].text


@each_api
@pytest.mark.parametrize("name", ["end_in_arguments", "reset_in_arguments"])
def test_an_end_in_arguments_leaves_the_call_open(api, name):
    got = try_once(api, FAULTS[name]())
    events = got.events(api)
    assert (stop_of(events), got.error is None) == ("cut", name == "end_in_arguments")
    assert not [event for event in events if isinstance(event, ToolInputEnd)]
    assert tools_of(events) == ([] if api == "gemini" else ["look"])


@each_api
def test_bad_arguments_are_no_json_or_where_they_cant_be_reported_by_the_reason(api):
    events = try_once(api, FAULTS["bad_arguments"]('{"a": ')).events(api)
    if api == "gemini":
        assert [(event.stop, event.detail) for event in events] == [("cut", "MALFORMED_FUNCTION_CALL")]
    else:
        assert (tools_of(events), arguments_of(events), stop_of(events)) == (["look"], '{"a": ', "tool_calls")


@each_api
def test_arguments_that_were_cut_come_with_that_reason(api):
    events = try_once(api, FAULTS["cut_arguments"]()).events(api)
    assert stop_of(events) == "length"
    assert arguments_of(events) == ("" if api == "gemini" else '{"cut": "he')


@each_api
def test_a_call_may_have_an_empty_text_for_its_arguments(api):
    got = try_once(api, FAULTS["no_arguments"]())
    events = got.events(api)
    assert (tools_of(events), stop_of(events)) == (["look"], "tool_calls")
    assert arguments_of(events) in {"", "{}"}
    assert b"unasked" not in got.data


@each_api
def test_a_tool_may_be_unknown_and_ids_the_same(api):
    assert tools_of(try_once(api, FAULTS["unknown_tool"]()).events(api)) == ["no_such_tool"]
    got = try_once(api, FAULTS["same_ids"]())
    assert got.data.count(b"standin0001") >= 2
    assert set(tools_of(got.events(api))) == {"look"}


@each_api
@pytest.mark.parametrize(("name", "stop"), [("filtered", "refusal"), ("refused", "refusal"), ("cut", "length")])
def test_an_answer_ends_for_the_reason_that_was_asked_for(api, name, stop):
    got = try_once(api, FAULTS[name]())
    assert (got.status, stop_of(got.events(api))) == (200, stop)


@each_api
def test_a_silent_answer_ends_well_and_says_nothing(api):
    events = try_once(api, FAULTS["silent"]()).events(api)
    assert (stop_of(events), [event for event in events if isinstance(event, TextDelta)]) == ("end", [])


def test_faults_strike_one_request_after_the_other_and_then_all_is_well():
    planned = PlannedFault(status(503), host="google", nth=2)

    async def play():
        async with FakeProvider([status(429), planned, status(500)]) as fake_provider:
            apis = ("openai-chat", "openai-chat", "gemini", "gemini", "gemini")
            return [(await post(fake_provider, api)).status for api in apis]

    assert asyncio.run(play()) == [429, 500, 200, 503, 200]


def test_a_request_asks_for_its_own_fault_by_a_header():
    async def play():
        async with FakeProvider() as fake_provider:
            key = PLAIN["openai-chat"][2]
            asked = ("status(529)", "no_such_fault", "stall(")
            return [
                await post(fake_provider, "openai-chat", headers={**key, "x-standin-fault": item}) for item in asked
            ]

    struck, unknown, torn = asyncio.run(play())
    assert (struck.status, unknown.status, torn.status) == (529, 400, 400)
    assert b"status, page" in unknown.data


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_made_from_its_name(name):
    assert read_fault(f"{name}(429)" if name == "status" else name) is not None


def test_a_fault_is_planned_by_words():
    assert [
        (item.host, item.nth, item.fault.name) for item in map(read_planned, ("openai#2:empty", "#3:reset(at=5)"))
    ] == [
        ("openai", 2, "empty"),
        ("", 3, "reset"),
    ]
    assert read_planned("status(429, message='a: b')").fault.name == "status(429)"
    with pytest.raises(ValueError, match="is not a fault"):
        read_planned("openai:nothing")


@pytest.mark.parametrize("model", MODELS)
def test_faults_of_arguments_are_right_for_every_dialect(model):
    async def play():
        async with FakeProvider([FAULTS["bad_arguments"](), FAULTS["same_ids"]()]) as fake_provider:
            return await ask(fake_provider, model, "hello", [draw])

    run = asyncio.run(play())
    assert run.error is None
    assert [message.is_error for message in run.messages if message.role == "tool"][:1] in ([True], [])


@pytest.mark.parametrize("model", APIS.values())
@pytest.mark.parametrize("fault", OUTCOMES)
def test_each_fault_has_one_outcome_in_a_whole_answer_too(model, fault):
    check_outcome(model, fault, stream=False)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fault", ["end_in_arguments", "error_event", "cut_arguments"])
def test_faults_of_streams_have_their_outcome_with_every_model(model, fault):
    check_outcome(model, fault, stream=True)


TEXTS = st.text(min_size=0, max_size=200)


@each_api
@given(text=TEXTS, arguments=st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_a_stream_is_read_and_written_back_byte_for_byte(api, text, arguments):
    path = PLAIN[api][0].partition("?")[0]
    site, _ = find_host(path)
    asked = ModelRequest("gemini-3", (), stream=True, stream_usage=True)
    call = Call("0123456789abcdef", "look", json.dumps(arguments))
    body = b"".join(site.serialize(Reply(text, (call, call)), asked, "name"))
    form = find_form(site.base, site.stream_type)
    assert write_events(read_events(body, form), form) == body
