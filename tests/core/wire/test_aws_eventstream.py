import itertools
import struct
from base64 import b64encode
from contextlib import suppress
from zlib import crc32

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.wire.aws_eventstream import MAX_HEADERS, MAX_PAYLOAD, Splitter, encode, read_headers
from showandtell.errors import BadAnswer

CUTS = st.lists(st.integers(0, 2000), max_size=12)
NAME = st.text("abcXYZ-", min_size=1, max_size=30)
VALUE = st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(0, 9), max_size=3)


def checked(size, headers, rest):
    """Return a frame: prelude, checksum, content and final checksum. `size` may be wrong on purpose."""
    lengths = struct.pack(">II", size, headers)
    frame = lengths + struct.pack(">I", crc32(lengths)) + rest
    return frame + struct.pack(">I", crc32(frame))


def header(name, kind, value):
    return bytes((len(name),)) + name.encode() + bytes((kind,)) + value


def string(name, value):
    return header(name, 7, struct.pack(">H", len(value.encode())) + value.encode())


def frame(headers, payload=b"{}"):
    return checked(16 + len(headers) + len(payload), len(headers), headers + payload)


def split(data, cuts=()):
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    splitter = Splitter()
    return [text for start, end in itertools.pairwise(edges) for text in splitter.feed(data[start:end])]


#: One header of each type, by type number.
OTHERS = b"".join(
    header(f"x{kind}", kind, value)
    for kind, value in enumerate(
        [b"", b"", b"\x07", b"ab", b"abcd", b"abcdefgh", b"\x00\x03abc", b"\x00\x02hi", b"abcdefgh", b"a" * 16]
    )
)
STREAM = encode("messageStart", b'{"role":"assistant"}') + encode("contentBlockDelta", '{"delta":"é"}'.encode())
TEXTS = [b'{"messageStart":{"role":"assistant"}}', '{"contentBlockDelta":{"delta":"é"}}'.encode()]


def test_each_frame_becomes_one_json_text():
    assert split(STREAM) == TEXTS


def test_an_incomplete_frame_is_counted_and_returned_once_complete():
    splitter = Splitter()
    for at in range(len(STREAM)):
        complete = splitter.feed(STREAM[at : at + 1])
        assert bool(complete) == (splitter.pending == 0)


@given(st.lists(st.tuples(NAME, VALUE), max_size=5), CUTS)
def test_events_do_not_depend_on_read_sizes(events, cuts):
    stream = b"".join(encode(f"e{name}", msgspec.json.encode(value)) for name, value in events)
    assert [msgspec.json.decode(text) for text in split(stream, cuts)] == [
        {f"e{name}": value} for name, value in events
    ]


@given(NAME, st.binary(max_size=200), st.sampled_from(["event", "exception"]))
def test_botocore_reads_what_we_write(name, payload, kind):
    from botocore.eventstream import EventStreamBuffer

    buffer = EventStreamBuffer()
    buffer.add_data(encode(name, payload, message_type=kind))
    (message,) = buffer
    assert message.payload == payload
    assert message.headers[f":{kind}-type"] == name
    assert message.headers[":message-type"] == kind


@given(st.lists(st.tuples(NAME, st.text(max_size=20)), max_size=6, unique_by=lambda pair: pair[0]))
def test_headers_are_read_as_botocore_reads_them(pairs):
    from botocore.eventstream import EventStreamBuffer

    block = OTHERS + b"".join(string(name, value) for name, value in pairs)
    buffer = EventStreamBuffer()
    buffer.add_data(frame(block))
    theirs = next(buffer).headers
    assert dict(read_headers(block)) == {key: value for key, value in theirs.items() if isinstance(value, str)}


def test_headers_of_other_types_are_skipped():
    assert split(frame(OTHERS + string(":event-type", "ping"))) == [b'{"ping":{}}']


def test_an_event_without_payload_is_an_empty_object():
    assert split(frame(string(":event-type", "ping"), b"")) == [b'{"ping":{}}']


def test_an_event_that_is_not_json_is_skipped():
    headers = string(":event-type", "picture") + string(":content-type", "image/png")
    assert split(frame(headers, b"\x89PNG") + STREAM) == TEXTS
    assert split(frame(string(":message-type", "weather")) + STREAM) == TEXTS


def test_an_event_name_is_escaped():
    (text,) = split(encode('a":1,"b', b"2"))
    assert msgspec.json.decode(text) == {'a":1,"b': 2}


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b'{"message":"Slow down"}', "Slow down"),
        (b'{"Message":"Slow down"}', "Slow down"),
        (b"Slow down", "Slow down"),
        (b"{}", ""),
        (b"\xff", "\ufffd"),
    ],
)
def test_an_exception_has_its_type_and_message(payload, message):
    (text,) = split(encode("throttlingException", payload, message_type="exception"))
    assert msgspec.json.decode(text) == {"type": "error", "error": {"type": "throttlingException", "message": message}}


def test_an_error_has_its_code_and_message():
    headers = [(":message-type", "error"), (":error-code", "InternalError"), (":error-message", "Sorry")]
    (text,) = split(frame(b"".join(string(*pair) for pair in headers), b""))
    assert msgspec.json.decode(text) == {"type": "error", "error": {"type": "InternalError", "message": "Sorry"}}


def test_a_chunk_is_decoded_to_its_bytes():
    inner = b'{"type":"ping"}'
    assert split(encode("chunk", b'{"bytes":"%b","p":"abcdef"}' % b64encode(inner))) == [inner]
    assert split(encode("chunk", b'{"p":"abcdef"}')) == []


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"bytes":7}', b'{"bytes":"***"}', b'{"x":' + b"[" * 100_000])
def test_an_unreadable_chunk_is_a_bad_answer(payload):
    with pytest.raises(BadAnswer, match="chunk"):
        split(encode("chunk", payload))


def test_every_flipped_bit_is_a_bad_answer():
    for bit in range(len(STREAM) * 8):
        torn = bytearray(STREAM)
        torn[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BadAnswer):
            split(bytes(torn) + STREAM, [0, len(torn)])


def test_frames_before_a_broken_one_are_returned_first():
    splitter = Splitter()
    assert splitter.feed(STREAM + b"x" * 20) == TEXTS
    for data in (b"", STREAM):
        with pytest.raises(BadAnswer, match="checksum"):
            splitter.feed(data)


@pytest.mark.parametrize(
    ("size", "headers"),
    [
        (15, 0),
        (16, 1),
        (0, 0),
        (2**32 - 1, 0),
        (MAX_PAYLOAD + 17, 0),
        (MAX_HEADERS + 17, MAX_HEADERS + 1),
    ],
)
def test_impossible_lengths_are_rejected_before_the_frame_is_read(size, headers):
    with pytest.raises(BadAnswer, match="can't have"):
        Splitter().feed(checked(size, headers, b""))


def test_a_frame_of_maximum_size_can_be_read_in_small_pieces():
    value = b'"' + b"x" * (MAX_PAYLOAD - 2) + b'"'
    data, splitter = encode("big", value), Splitter()
    texts = [text for at in range(0, len(data), 16384) for text in splitter.feed(data[at : at + 16384])]
    assert texts == [b'{"big":%b}' % value]


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        (string(":event-type", "ping")[:-1], "run past"),
        (header("x", 9, b"short"), "run past"),
        (header("x", 10, b""), "unreadable headers"),
        (b"\x05ab", "unreadable headers"),
        (header("x", 7, b"\x00"), "unreadable headers"),
        (header(":event-type", 7, b"\x00\x01\xff"), "unreadable headers"),
    ],
)
def test_truncated_headers_are_a_bad_answer(headers, message):
    with pytest.raises(BadAnswer, match=message):
        split(frame(headers))


@given(st.binary(max_size=80), CUTS)
def test_any_bytes_raise_only_bad_answers(data, cuts):
    for data_or_frame in (data, frame(data), encode("chunk", data)):
        with suppress(BadAnswer):
            split(data_or_frame, cuts)
