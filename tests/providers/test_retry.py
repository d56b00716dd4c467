"""What is asked again, how often, and after how long; what has begun is never asked for again."""

import asyncio

import pytest

from showandtell.agent.unread_events import MAX_QUEUED_EVENTS
from showandtell.core.events.types import ErrorEvent, Finish, Retry
from showandtell.core.wire.http import HttpResponse
from showandtell.errors import BadAnswer, ProviderError, ProviderUnavailable
from showandtell.providers.retry import RetryPolicy, pause_before
from support.scripted import (
    CLAUDE,
    FAULT,
    GEMINI,
    GPT,
    MODELS,
    ONCE,
    Repeating,
    begin,
    begins,
    each_api,
    in_pieces,
    say,
    scripted,
    watch,
)

BUSY = b'{"error": {"type": "rate_limit_error", "message": "Slow down."}}'

RETRY_INFO = b'[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]'


def patient(*answers, model, tools=(), **settings):
    """An agent whose waiting takes no time, its script, and what it waited."""
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    retry = RetryPolicy(sleep=sleep, jitter=lambda: 1.0, **settings)
    agent, script = scripted(*answers, model=model, tools=tools, retry=retry)
    return agent, script, waited


def run_all(agent, text="hi", **settings):
    async def play():
        run = agent.run(text, **settings)
        return run, await watch(run)

    return asyncio.run(play())


def echo(word: str) -> str:
    return word


@each_api
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_one_busy_answer_is_asked_again_and_reported(model, status):
    agent, script, waited = patient((status, BUSY), say("Hello.", model=model), model=model)
    run, events = run_all(agent)
    assert (run.text, run.status, len(script.bodies)) == ("Hello.", "complete", 2)
    assert [event for event in events if isinstance(event, Retry)] == [Retry(f"{status} Slow down.", 0.5)]
    assert waited == [0.5]


@each_api
def test_a_provider_that_stays_busy_is_unavailable_and_the_chat_goes_on(model):
    busy = [(429, BUSY)] * 5
    agent, script, waited = patient(*busy, say("Hello.", model=model), model=model)
    run, _ = run_all(agent)
    assert isinstance(run.error, ProviderUnavailable)
    assert (run.reason, run.error.status, len(script.bodies)) == ("Slow down. (tried 5 times)", 429, 5)
    assert waited == [0.5, 1.0, 2.0, 4.0]
    assert run_all(agent, "again", conversation=run.conversation)[0].text == "Hello."


@each_api
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_no_waiting_cures_is_not_asked_again(model, status):
    agent, script, waited = patient((status, b'{"error": {"message": "no"}}'), model=model)
    run, _ = run_all(agent)
    assert (run.status, run.reason, len(script.bodies), waited) == ("error", "no", 1, [])
    assert type(run.error) is ProviderError


def test_no_other_refusal_is_ever_sent_again(subtests):
    for status in sorted({*range(400, 500)} - {408, 409, 429}):
        with subtests.test(status=status):
            agent, script, waited = patient((status, BUSY), model=GPT)
            run, _ = run_all(agent)
            assert (run.status, len(script.bodies), waited) == ("error", 1, [])


def answered(status, **headers):
    return HttpResponse(status, {key.replace("_", "-"): value for key, value in headers.items()}, in_pieces(BUSY))


@each_api
@pytest.mark.parametrize(
    ("status", "word", "sent"), [(400, "true", 2), (503, "false", 1), (400, "no", 1), (503, "", 2)]
)
def test_the_provider_says_whether_to_ask_again(model, status, word, sent):
    agent, script, _ = patient(answered(status, x_should_retry=word), say("Hello.", model=model), model=model)
    run, _ = run_all(agent)
    assert (len(script.bodies), run.text) == (sent, "Hello." if sent == 2 else "")
    if status == 503 and sent == 1:
        assert type(run.error) is ProviderUnavailable


def test_the_providers_word_is_bound_by_the_budget():
    agent, script, _ = patient(*[answered(400, x_should_retry="true") for _ in range(3)], model=GPT, tries=2)
    run, _ = run_all(agent)
    assert (type(run.error), run.error.status, len(script.bodies)) == (ProviderError, 400, 3)


SLOW = TimeoutError(110, "the response from host took longer than 3600 s")


@each_api
@pytest.mark.parametrize("first", [b"", b": hello\n\n"])
def test_a_timeout_before_the_answer_is_reported_as_one_and_retried_within_the_budget(model, first):
    first = b"" if model == MODELS[-1] else first  # AWS has no comments
    agent, script, _ = patient(begins(first, SLOW), model=model, tries=2)
    run, _ = run_all(agent)
    assert (type(run.error), len(script.bodies)) == (ProviderUnavailable, 3)
    assert run.reason == f"{agent.target.name} timed out: {SLOW.strerror} (tried 3 times)"


@each_api
def test_a_timeout_after_the_first_word_keeps_the_text_and_is_not_asked_again(model):
    agent, script, _ = patient(begins(begin("Hello.", model=model), SLOW), model=model)
    run, _ = run_all(agent)
    assert (run.status, run.text, len(script.bodies)) == ("incomplete", "Hello.", 1)


def test_an_account_without_money_is_not_asked_again():
    spent = (
        b'{"error": {"type": "insufficient_quota", "message": "You exceeded your current quota (insufficient_quota)."}}'
    )
    agent, script, _ = patient((429, spent), model=GPT)
    run, _ = run_all(agent)
    assert (run.status, len(script.bodies)) == ("error", 1)


@pytest.mark.parametrize(("details", "tries"), [(RETRY_INFO, 2), (b"[]", 1)])
def test_a_quota_that_says_when_it_is_there_again_is_waited_for(details, tries):
    text = b"You exceeded your current quota, please check your plan and billing details."
    spent = b'{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "%b", "details": %b}}' % (
        text,
        details,
    )
    agent, script, waited = patient((429, spent), say("Hello.", model=GEMINI), model=GEMINI)
    run, _ = run_all(agent)
    assert (run.status, len(script.bodies)) == ("complete" if tries == 2 else "error", tries)
    assert waited == [12.5] * (tries - 1)


def test_the_provider_says_how_long_to_wait():
    retry = RetryPolicy(jitter=lambda: 0.0)
    assert pause_before(ProviderError("busy", 429, retry_after=7.0), 0, retry) == 7.0
    assert pause_before(ProviderError("busy", 429, retry_after=0.0), 0, retry) == 0.25
    assert pause_before(ProviderError("no", 400, retry_after=7.0), 0, retry) is None


@each_api
def test_an_answer_that_says_how_long_to_wait_is_believed(model):
    async def busy():
        yield BUSY

    received = HttpResponse(429, {"retry-after": "7"}, busy())
    agent, script, waited = patient(received, say("Hello.", model=model), model=model)
    run, events = run_all(agent)
    assert (run.text, len(script.bodies), waited) == ("Hello.", 2, [7.0])
    assert [event.seconds for event in events if isinstance(event, Retry)] == [7.0]


@each_api
def test_one_budget_holds_for_a_step_and_no_tool_runs_twice_for_it(model):
    ran = []

    def note(word: str) -> str:
        ran.append(word)
        return word

    call = say("", ("c1", "note", '{"word": "a"}'), model=model)
    answers = call, (429, BUSY), (500, BUSY), FAULT[model], b"", say("Done.", model=model)
    agent, script, waited = patient(*answers, model=model, tools=[note])
    run, _ = run_all(agent)
    assert (run.text, ran, len(script.bodies), len(waited)) == ("Done.", ["a"], 6, 4)


def test_a_wait_longer_than_the_budget_ends_the_run_at_once():
    agent, script, waited = patient((429, BUSY), model=CLAUDE, seconds=0.4)
    run, _ = run_all(agent)
    assert (type(run.error), len(script.bodies), waited) == (ProviderUnavailable, 1, [])


@each_api
def test_an_empty_stream_is_asked_for_once_more(model):
    agent, script, _ = patient(b"", say("Hello.", model=model), model=model)
    run, _ = run_all(agent)
    assert (run.text, run.status, len(script.bodies)) == ("Hello.", "complete", 2)


@each_api
def test_a_stream_that_stays_empty_is_an_error_of_its_own(model):
    agent, script, _ = patient(b"", model=model)
    run, _ = run_all(agent)
    assert (type(run.error), len(script.bodies)) == (BadAnswer, 2)
    assert run.reason == f"{agent.target.name} returned an empty response"


@each_api
def test_an_overload_before_the_first_word_is_asked_again(model):
    agent, script, _ = patient(FAULT[model], say("Hello.", model=model), model=model)
    run, _ = run_all(agent)
    assert (run.text, run.status, len(script.bodies)) == ("Hello.", "complete", 2)


@each_api
def test_what_has_begun_is_never_asked_for_again(model):
    agent, script, _ = patient(begin("Hello.", model=model), model=model)
    _, events = run_all(agent)
    assert len(script.bodies) == 1
    assert not [event for event in events if isinstance(event, Retry)]
    assert isinstance(events[-1], Finish)


@each_api
def test_a_connection_that_breaks_before_the_answer_is_tried_again(model):
    agent, script, _ = patient(ConnectionResetError(), say("Hello.", model=model), model=model)
    run, _ = run_all(agent)
    assert (run.text, len(script.bodies)) == ("Hello.", 2)


@each_api
def test_a_host_without_a_name_or_a_certificate_is_not_tried_again(model):
    agent, script, waited = patient(OSError(113, "no route"), model=model)
    run, events = run_all(agent)
    assert (len(script.bodies), waited, type(run.error)) == (1, [], ProviderUnavailable)
    assert ErrorEvent("ProviderUnavailable", run.reason) in events


@each_api
def test_a_page_instead_of_an_answer_is_reported_by_its_title(model):
    async def page():
        yield b"<!DOCTYPE html><html><head><title>Gateway login</title></head><body>" + b"x" * 10_000

    agent, _ = scripted(
        HttpResponse(200, {"content-type": "text/html; charset=utf-8"}, page()), retry=ONCE, model=model
    )
    run, _ = run_all(agent)
    assert (type(run.error), run.status) == (BadAnswer, "error")
    assert run.reason == f"{agent.target.name} answered 200 with text/html, which no API uses: Gateway login"


@each_api
def test_tokens_bound_a_run(model):
    call = say("", ("c1", "echo", '{"word": "a"}'), model=model)
    agent, script = scripted(call, say("Done.", model=model), model=model, tools=[echo], tokens=15)
    run, _ = run_all(agent)
    assert (run.status, run.reason, len(script.bodies)) == ("incomplete", "budget", 1)
    assert run.messages[-1].is_error


@each_api
def test_seconds_bound_a_run_and_close_its_calls(model):
    async def hang() -> None:
        await asyncio.Event().wait()

    answers = say("", ("c1", "hang", "{}"), model=model), say("Hello.", model=model)
    agent, _ = scripted(*answers, model=model, tools=[hang], seconds=0.05)
    run, events = run_all(agent)
    assert (run.status, run.reason) == ("incomplete", "budget")
    assert (run.messages[-1].call_id, run.messages[-1].is_error) == ("c1", True)
    assert isinstance(events[-1], Finish)
    assert run_all(agent, "again", conversation=run.conversation)[0].text == "Hello."


@each_api
def test_a_slow_reader_holds_the_network_back(model):
    answer = Repeating("x" * 10, 20_000, model)

    async def play(agent):
        async for _ in agent.run("hi"):
            if answer.read:
                await asyncio.sleep(0)
                break
        return answer.read

    agent, _ = scripted(answer, model=model)
    assert 0 < asyncio.run(play(agent)) <= 3 * MAX_QUEUED_EVENTS


WHOLE = b'{"choices": [{"index": 0, "message": {"content": "Hello."}, "finish_reason": "stop"}]}'


async def torn(data):
    yield data
    raise ConnectionResetError(104)


@pytest.mark.parametrize("body", [b"", WHOLE[:30]])
def test_a_whole_answer_that_is_empty_or_breaks_off_is_asked_for_again(body):
    broken = HttpResponse(200, {"content-type": "application/json"}, torn(body) if body else in_pieces(body))
    whole = HttpResponse(200, {"content-type": "application/json"}, in_pieces(WHOLE))
    agent, script, _ = patient(broken, whole, model=GPT)
    run, _ = run_all(agent)
    assert (run.text, run.status, len(script.bodies)) == ("Hello.", "complete", 2)
