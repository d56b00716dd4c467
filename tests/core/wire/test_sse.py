import itertools
import json
import re

from hypothesis import example, given
from hypothesis import strategies as st

from showandtell.core.wire.sse import Splitter, encode

#: Data without white space around it, which a stream of JSON doesn't need.
LINE = st.binary(max_size=40).map(lambda data: data.replace(b"\r", b"").replace(b"\n", b"").strip())


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    splitter = Splitter()
    return [event for start, end in itertools.pairwise(edges) for event in splitter.feed(data[start:end])]


def test_events_end_at_blank_lines():
    assert split(b"data: one\n\ndata: two\n\n", []) == [b"one", b"two"]


def test_an_event_without_its_blank_line_is_not_returned():
    assert split(b"data: one\n\ndata: two\n", []) == [b"one"]


def test_the_end_of_the_body_ends_the_last_event():
    for last in (b"data: two", b"data: two\n", b"event: x\ndata: two\r\n", b"\ndata: two"):
        splitter = Splitter()
        assert (splitter.feed(b"data: one\n\n" + last), splitter.flush()) == ([b"one"], [b"two"])
        assert (splitter.flush(), splitter.pending) == ([], 0)


def test_comments_names_and_ids_are_ignored():
    assert split(b": hello\n\nevent: ping\nid: 7\nretry: 10\ndata: one\n\n", []) == [b"one"]


def test_several_data_lines_are_one_event():
    assert split(b"data: one\ndata:two\ndata:  three\n\n", []) == [b"one\ntwo\n three"]


def test_a_byte_order_mark_is_skipped_once():
    stream = b"\xef\xbb\xbfdata: one\n\n\xef\xbb\xbfdata: two\n\n"
    assert all(split(stream, [cut]) == [b"one"] for cut in range(len(stream)))


def test_carriage_returns_end_lines_with_or_without_newlines():
    for end in (b"\r\n", b"\r", b"\n"):
        stream = b"data: one\ndata: more\n\ndata: two\n\n".replace(b"\n", end)
        assert all(split(stream, [cut]) == [b"one\nmore", b"two"] for cut in range(len(stream)))


def test_data_can_not_start_another_event():
    forged = b"one\r\n\r\ndata: forged\r\rid: 1"
    assert len(split(encode(forged), [])) == 1


@given(
    st.lists(LINE.filter(bool), max_size=6),
    st.lists(st.integers(0, 500), max_size=12),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_events_do_not_depend_on_read_sizes(lines, cuts, end):
    stream = b"".join(encode(line) for line in lines).replace(b"\n", end)
    assert split(stream, cuts) == lines


@given(st.text(), st.lists(st.integers(0, 500), max_size=5))
def test_any_json_text_is_exactly_one_event(text, cuts):
    data = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    assert split(encode(data), cuts) == [data]


@given(st.binary(max_size=200), st.lists(st.integers(0, 500), max_size=8))
def test_any_bytes_give_the_same_events_for_all_read_sizes(data, cuts):
    assert split(data, cuts) == split(data, [])


def by_the_standard(stream):
    """The events of a stream, line by line as the standard describes it; without those that hold no JSON."""
    events, lines = [], []
    for line in re.split(b"\r\n|\n|\r", stream.removeprefix(b"\xef\xbb\xbf"))[:-1]:
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.removeprefix(b" "))
        elif not line:
            events.append(b"\n".join(lines).strip())
            lines = []
    return [event for event in events if event]


#: Lines as hosts and proxies write them, and neighbours of each.
SPELLINGS = st.sampled_from(
    [
        *(b"", b"", b'data: {"a": 1}', b"data:[DONE]", b"data:  [DONE] ", b"data:", b"data: ", b"data:\t", b"data"),
        *(b"event: ping", b"event:", b"event: data: x", b"id: 7", b"retry: 10", b": keep-alive", b":", b"datax: 1"),
        *(b" data: 1", b"DATA: 1", b"unknown", b"\xef\xbb\xbfdata: 2", b"data: \xef\xbb\xbf"),
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(SPELLINGS, ENDS), max_size=12),
    st.lists(st.integers(0, 200), max_size=8),
)
@example(b"", [(b"", b"\n"), (b"", b"\n"), (b"\xef\xbb\xbfdata: 2", b"\n"), (b"", b"\n")], [2])
def test_any_spelling_in_any_reads_gives_the_events_of_the_standard(mark, lines, cuts):
    stream = mark + b"".join(line + end for line, end in lines)
    assert split(stream, cuts) == by_the_standard(stream) == split(stream, [*range(len(stream))])
