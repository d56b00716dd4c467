"""What every stream parser does alike, whichever api it reads."""

import pytest

from showandtell.errors import BadAnswer
from showandtell.events.types import TextDelta
from showandtell.wire import parse_anthropic, parse_openai_chat
from showandtell.wire.stream import LARGEST_EVENT

GOOD = b'data: {"choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'
each_parser = pytest.mark.parametrize("parser", [parse_anthropic.Parser, parse_openai_chat.Parser])


def test_what_came_before_a_bad_chunk_in_the_same_read_is_kept():
    parser = parse_openai_chat.Parser()
    events = parser.feed(GOOD + b"data: {no json\n\n")
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["hello"]
    with pytest.raises(BadAnswer, match="JSON is malformed"):
        parser.finish()


@each_parser
def test_a_chunk_that_is_no_json_is_an_error_at_once_where_nothing_came_before(parser):
    with pytest.raises(BadAnswer):
        parser().feed(b"data: \xff\xfe\n\n")


@each_parser
def test_an_event_without_end_is_given_up(parser):
    with pytest.raises(BadAnswer, match="larger than"):
        parser().feed(b"data: " + b"x" * LARGEST_EVENT)
