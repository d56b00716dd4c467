"""Each pattern that reads a person's words, on adversarial text as long as a message may be (promises D7)."""

import re
from time import perf_counter

import pytest

from showandtell.attachments.references import MOST_TEXT, catalogue, resolve, tokens
from test_references import HOUSE

PATTERNS = {
    name: value
    for module in (tokens, catalogue)
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}
PIECES = ["#", "a ", "`", "~~", "[", "[](", "[a](", '["', "[ ", "{", "<a", "<", "www.", "http://", "data:", "'s", "a's"]
PIECES += ["image", "image1", "!", "\u0301", "1", "aB", "v1", " ", "\n", "the ", "the last ", "5 vs ", "image 5 cats "]


def seconds_of(work):
    """The best of three, in seconds."""
    taken = []
    for _ in range(3):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return min(taken)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_takes_50_ms(name, piece):
    text = (piece * 100_000)[:100_000][:MOST_TEXT]
    assert seconds_of(lambda: sum(1 for _ in PATTERNS[name].finditer(text))) < 0.05


@pytest.mark.parametrize("piece", PIECES)
def test_no_message_takes_half_a_second(piece):
    assert seconds_of(lambda: resolve((piece * 100_000)[:100_000], HOUSE)) < 0.5
