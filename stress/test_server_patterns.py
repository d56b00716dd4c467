"""Every pattern that the server applies to requests reads 100 kB of hard text in at most 50 ms."""

import re
import time

import pytest

from support.server_regexes import PATTERNS, hard_texts, use


def timed(pattern, way, text):
    """Seconds of processor time of one use."""
    before = time.thread_time()
    use(pattern, way, text)
    return time.thread_time() - before


@pytest.mark.parametrize(("pattern", "ways"), PATTERNS)
def test_no_pattern_of_the_server_takes_long(pattern, ways):
    for text in hard_texts():
        for way in ways:
            assert min(timed(pattern, way, text) for _ in range(2)) < 0.05, (way, text[:20])


def test_a_pattern_that_goes_back_and_forth_would_be_seen():
    assert timed(re.compile(r"(a|aa)+$"), "search", "a" * 28 + "b") > 0.05
