"""A counting provider that is also asked for summaries."""

from showandtell.agent.summarize import INSTRUCTIONS
from support.agents import make_agent
from support.counting_provider import CountingScript
from support.scripted import ONCE, say


class SummingScript(CountingScript):
    """Answers requests for a summary with `summaries` in turn, the last one for ever: texts or (status, bytes).

    `summed_up` are the bodies of these requests.
    """

    def __init__(self, counted, *answers, summaries, **settings):
        super().__init__(counted, *answers, **settings)
        self.summaries, self.summed_up = summaries, []

    def answer_to(self, body):
        if INSTRUCTIONS.encode() not in body:
            return super().answer_to(body)
        self.refused.append(True)  # it is none of the conversation's requests
        self.summed_up.append(body.decode())
        summary = self.summaries[min(len(self.summed_up), len(self.summaries)) - 1]
        return summary if isinstance(summary, tuple) else say(summary, model=self.counted.api)


def summing(counted, *answers, summaries=("The user asked questions.",), window=10_000, **settings):
    """An agent that sums up what its model's window can't hold, and its script."""
    script = SummingScript(counted, *answers, summaries=summaries, window=window)
    settings = {"retry": ONCE, "on_full": "summarize", **settings}
    return make_agent(counted.model, exchange=script.exchange, **settings), script
