"""A long run stays within the model's context window: old pictures leave in blocks, so that prompts begin alike."""

import json
from contextlib import asynccontextmanager

import pytest

from showandtell import BadInput, File
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.wire.http import HttpResponse
from support.agents import make_agent
from support.counting_provider import COUNTED, Counted, CountingScript, changed_prefixes, counting
from support.fixtures import png
from support.scripted import GPT, ONCE, say

SCREEN = png(1920, 1080)
each_api = pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.model.partition(":")[0])


def screenshot(step: int) -> list:
    """Take a screenshot."""
    return [f"step {step}", File.from_bytes(SCREEN, name=f"screen{step}.png")]


def clicks(counted, count):
    """Answers that take a screenshot each, and a last one."""
    calls = [say("", (f"c{step}", "screenshot", f'{{"step": {step}}}'), model=counted.api) for step in range(count)]
    return *calls, say("Done.", model=counted.api)


def click_through(counted, count=100, **settings):
    """A run of `count` screenshots that begins with a user's picture, and its script."""
    settings.setdefault("window", resolve(counted.model).window.tokens)
    agent, script = counting(counted, *clicks(counted, count), tools=[screenshot], steps=count + 1, **settings)
    return agent.run_sync("make it look like image 1", files=[File.from_bytes(png(640, 480), name="goal.png")]), script


@pytest.mark.parametrize(
    "counted", [COUNTED[0], pytest.param(COUNTED[3], marks=pytest.mark.thorough)], ids=["anthropic", "google"]
)
def test_a_hundred_screenshots_stay_within_half_the_window_and_few_prompts_begin_anew(counted):
    run, script = click_through(counted)
    target = resolve(counted.model)
    assert (run.status, len(script.bodies), any(script.refused)) == ("complete", 101, False)
    assert max(script.counts) <= target.window.tokens * 0.51
    assert max(script.sizes) <= (target.budget.bytes or 20_000_000)
    assert changed_prefixes(script) <= 3
    assert (run.receipts[0].name, run.receipts[0].delivery) == ("goal.png", "native")


@each_api
@pytest.mark.parametrize("bytes_per_token", [2.0, pytest.param(6.0, marks=pytest.mark.thorough)])
def test_text_that_the_model_counts_otherwise_is_corrected_by_its_own_count(counted, bytes_per_token):
    share = 20 * counted.picture / resolve(counted.model).window.tokens
    run, script = click_through(counted, 50, context_share=share, bytes_per_token=bytes_per_token)
    assert (run.status, any(script.refused)) == ("complete", False)
    assert max(script.counts) <= 1.05 * 20 * counted.picture
    assert changed_prefixes(script) <= 12


@each_api
def test_a_model_that_holds_less_than_the_table_says_is_asked_again_with_fewer_pictures(counted):
    run, script = click_through(counted, 40, window=25 * counted.picture, bytes_per_token=8.0)
    assert (run.status, script.refused.count(True)) == ("complete", 1)
    assert run.receipts[0].delivery == "native"


def test_pictures_out_of_view_say_that_the_share_of_the_window_is_the_reason():
    run, _ = click_through(COUNTED[0], 70)
    assert run.receipts[1].delivery == "listed"
    assert "context_share is 0.5 of the 200,000 tokens of anthropic:claude-sonnet-4-5" in run.receipts[1].reason


def test_without_a_share_pictures_leave_for_other_limits_only():
    run, script = click_through(COUNTED[0], 70, context_share=None)
    assert (max(script.files), {receipt.delivery for receipt in run.receipts}) == (71, {"native"})


@pytest.mark.parametrize("share", [0, 1.5, -1, float("nan")])
def test_a_share_that_is_no_part_of_the_window_is_an_error(share):
    with pytest.raises(BadInput, match="context_share is"):
        make_agent("inspector", context_share=share)


class ListedScript(CountingScript):
    """A self-hosted server whose list of models tells the window if `lists`, as vLLM's does. `questions` counts requests for it."""

    lists, questions = True, 0

    @asynccontextmanager
    async def send(self, request):
        if not request.url.endswith("/models"):
            async with super().send(request) as response:
                yield response
            return
        self.questions += 1
        card = {"id": "m", "max_model_len": self.window if self.lists else None}
        yield HttpResponse(200, {}, one(json.dumps({"data": [card]}).encode()))


async def one(data):
    yield data


def take_twenty(window, *, lists=True):
    """A run of twenty screenshots with a self-hosted model, and its script."""
    counted = Counted(GPT, "vllm:m", 1_500, "messages", "maximum context length is {window} tokens, not {asked}")
    script = ListedScript(counted, *clicks(counted, 20), window=window)
    script.lists = lists
    agent = make_agent(counted.model, exchange=script.exchange, retry=ONCE, tools=[screenshot], steps=21)
    return agent.run_sync("take twenty", files=[File.from_bytes(png(64, 48), name="goal.png")]), script


@pytest.mark.parametrize("window", [8_192, 16_384])
def test_the_window_that_a_host_lists_is_kept_to_without_an_error(window):
    run, script = take_twenty(window)
    assert (run.status, len(script.bodies), any(script.refused), script.questions) == ("complete", 21, False, 1)
    assert max(script.counts) <= window * 0.6
    assert f"of the {window:,} tokens of vllm:m" in run.receipts[1].reason


def test_a_window_that_no_host_lists_is_known_from_an_error():
    run, script = take_twenty(16_384, lists=False)
    assert (run.status, any(script.refused)) == ("complete", True)
