"""A provider that counts the tokens of each request, reports them, and refuses what its model can't hold."""

import json
import re
from itertools import pairwise
from typing import NamedTuple

from showandtell.inspector.request import files_of
from support.agents import make_agent
from support.growing_conversations import MARKS
from support.scripted import CLAUDE, CONVERSE, GEMINI, GPT, ONCE, RESPONSES, Script, framed


class Counted(NamedTuple):
    """A model of one api, what its host counts for a picture of 1920 x 1080, and how it says that a request is too long.

    `listed` is the field of the request's messages.
    """

    api: str
    model: str
    picture: int
    listed: str
    words: str


COUNTED = (
    Counted(CLAUDE, "anthropic:claude-sonnet-4-5", 1_560, "messages", "prompt is too long: {asked} tokens > {window} maximum"),
    Counted(GPT, "openai-chat:gpt-5-mini", 2_448, "messages", "This model's maximum context length is {window} tokens. However, your messages resulted in {asked} tokens. Please reduce the length of the messages."),
    Counted(RESPONSES, "openai:gpt-5-mini", 2_448, "input", "Your input exceeds the context window of this model. Please adjust your input and try again."),
    Counted(GEMINI, "google:gemini-3-pro-preview", 1_101, "contents", "The input token count ({asked}) exceeds the maximum number of tokens allowed ({window})."),
    Counted(CONVERSE, "bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0", 1_560, "messages", "Input is too long for requested model."),
)  # fmt: skip
USAGE = re.compile(rb'("(?:input_tokens|prompt_tokens|promptTokenCount)": )10\b')
BASE64 = re.compile(rb"[A-Za-z0-9+/=_-]{200,}")


class CountingScript(Script):
    """A script whose answers report the tokens of their request: `window` is what the model holds.

    A token is `bytes_per_token` bytes of text. `counts` are the tokens of each request, `sizes` the bytes of its body,
    and `refused` says of each whether it was too long.
    """

    def __init__(self, counted, *answers, window, bytes_per_token=4.0):
        super().__init__(*answers, model=counted.model)
        self.counted, self.window, self.bytes_per_token = counted, window, bytes_per_token
        self.counts, self.sizes, self.refused = [], [], []

    @property
    def raw(self):
        """The messages of each request that was answered, without cache marks."""
        accepted = [body for body, refused in zip(self.bodies, self.refused, strict=True) if not refused]
        return [unmarked(body[self.counted.listed]) for body in accepted]

    def answer_to(self, body):
        pictures = sum(len([*files_of(turn)]) for turn in self.asked[-1].turns)
        text = len(BASE64.sub(b"", body))
        count = int(text / self.bytes_per_token) + pictures * self.counted.picture
        self.counts.append(count)
        self.sizes.append(len(body))
        self.refused.append(count > self.window)
        if count > self.window:
            message = self.counted.words.format(asked=count, window=self.window)
            return 400, json.dumps({"error": {"message": message}}).encode()
        answer = self.answers[min(self.refused.count(False), len(self.answers)) - 1]
        return USAGE.sub(rb"\g<1>%d" % count, answer).replace(metadata(10), metadata(count))


def metadata(count):
    """The frame with the usage in a stream of Converse, which has a checksum."""
    usage = {"inputTokens": count, "outputTokens": 5, "totalTokens": 15}
    return framed("metadata", usage=usage, metrics={"latencyMs": 1})


def unmarked(messages):
    """Messages without cache marks."""
    text = json.dumps(messages, separators=(",", ":"))
    for mark in MARKS:
        text = text.replace(mark.decode(), "")
    return json.loads(text)


def changed_prefixes(script):
    """How many requests don't begin with the messages of the one before."""
    return sum(two[: len(one)] != one for one, two in pairwise(script.raw))


def counting(counted, *answers, window, bytes_per_token=4.0, **settings):
    """An agent that talks to a counting script, and the script."""
    script = CountingScript(counted, *answers, window=window, bytes_per_token=bytes_per_token)
    return make_agent(counted.model, exchange=script.exchange, **{"retry": ONCE, **settings}), script
