"""Every pattern that the server holds against what strangers send reads 100 kB of tedious text in 50 ms (promises D7)."""

import re
import time

import pytest

from support.server_regexes import FOUND, tedious, use


def timed(pattern, way, text):
    """Seconds of processor time of one use."""
    before = time.thread_time()
    use(pattern, way, text)
    return time.thread_time() - before


@pytest.mark.parametrize(("pattern", "ways"), FOUND)
def test_no_pattern_of_the_server_takes_long(pattern, ways):
    for text in tedious():
        for way in ways:
            assert min(timed(pattern, way, text) for _ in range(2)) < 0.05, (way, text[:20])


def test_a_pattern_that_goes_back_and_forth_would_be_seen():
    assert timed(re.compile(r"(a|aa)+$"), "search", "a" * 28 + "b") > 0.05
