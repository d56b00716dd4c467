"""No regular expression of the server takes long on hostile text."""

import pytest

from support.server_regexes import HARD_UNITS, PATTERNS, hard_texts, use

HARD_UNITS += [
    "data:",
    "\r",
    "\n",
    "\r\n",
    ":",
    "bytes=0-",
    "Bearer A",
    "http://a",
    "/api/attachments/att_",
    "é",
    "\0",
    "AKIA",
    "api_key ",
    "password: x ",
]


def test_patterns_are_found_in_every_package_of_the_server():
    assert {"auth", "files", "middleware", "observability"} <= {one.id.split(".")[1] for one in PATTERNS}
    assert len({id(one.values[0]) for one in PATTERNS}) >= 18


@pytest.mark.parametrize(("pattern", "ways"), PATTERNS)
def test_every_pattern_of_the_server_matches_hostile_text_in_time(pattern, ways):
    """A pattern that backtracks takes hours, and fails by the test's timeout. `stress` checks for 50 ms."""
    for text in hard_texts():
        for way in ways:
            use(pattern, way, text)
