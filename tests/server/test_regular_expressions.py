"""No pattern that the server holds against what strangers send takes long, however tedious that is."""

import pytest

from support.server_patterns import FOUND, TEDIOUS, tedious, use

TEDIOUS += [
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


def test_patterns_are_found_in_every_room_of_the_server():
    assert {"auth", "files", "middleware", "observability"} <= {one.id.split(".")[1] for one in FOUND}
    assert len({id(one.values[0]) for one in FOUND}) >= 18


@pytest.mark.parametrize(("pattern", "ways"), FOUND)
def test_every_pattern_of_the_server_reads_tedious_text_to_its_end(pattern, ways):
    """One that goes back and forth takes hours, and fails by the time limit of a test; 50 ms are held in stress."""
    for text in tedious():
        for way in ways:
            use(pattern, way, text)
