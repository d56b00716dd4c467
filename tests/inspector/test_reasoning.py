"""The inspector reasons when it is asked to, and gets its reasoning back unchanged and in place."""

import pytest

from showandtell import Agent, File, ModelSettings
from showandtell.events import ReasoningDelta
from support.fixtures import png

THINKING = {"type": "enabled", "budget_tokens": 1024}
pytestmark = pytest.mark.anyio
WAYS = {
    "inspector:openai-responses": ModelSettings(reasoning_effort="low"),
    "inspector:anthropic-messages": ModelSettings(max_tokens=4000, extra_body={"thinking": THINKING}),
}


def plot(values: list[int]) -> File:
    """Draw a chart of values."""
    return File.from_bytes(png(len(values)), "chart.png")


@pytest.mark.parametrize("model", WAYS)
async def test_reasoning_comes_before_each_answer_and_goes_back_with_the_results(model):
    async with Agent(model, [plot], model_settings=WAYS[model]) as agent:
        run = agent.run("/plot values=1,2")
        thoughts = [event.text async for event in run if isinstance(event, ReasoningDelta)]
        assert (run.status, len(run.files)) == ("complete", 1)
        again = await agent.run("And now?", conversation=run.conversation)
    assert "The user says: /plot values=1,2" in "".join(thoughts)
    assert "1 results came back, and the user asked: /plot values=1,2" in "".join(thoughts)
    assert again.status == "complete"
