"""How responses are written: in few packets, and streams past the middleware."""

import asyncio

import h11
import pytest

from showandtell.server.middleware.h11_writes import MAX_GATHERED, GatheredWrites, PlainHeads

pytestmark = pytest.mark.anyio


class Wire(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self):
        super().__init__()
        self.sent, self.ends = [], []

    def write(self, data):
        self.sent.append(bytes(data))

    def close(self):
        self.ends.append("close")

    def abort(self):
        self.ends.append("abort")


async def test_what_is_written_in_one_turn_of_the_event_loop_is_one_packet():
    wire = Wire()
    writes = GatheredWrites(wire)
    for piece in (b"head", b"", b"body", b"end"):
        writes.write(piece)
    assert wire.sent == []
    await asyncio.sleep(0)
    assert wire.sent == [b"headbodyend"]


async def test_much_is_written_at_once_and_a_close_writes_the_rest():
    wire = Wire()
    writes = GatheredWrites(wire)
    writes.write(bytes(MAX_GATHERED))
    assert [len(piece) for piece in wire.sent] == [MAX_GATHERED]
    writes.write(b"rest")
    writes.close()
    assert (wire.sent[1:], wire.ends) == ([b"rest"], ["close"])


async def test_a_connection_that_is_cut_writes_nothing_more():
    wire = Wire()
    writes = GatheredWrites(wire)
    writes.write(b"half of an answer")
    writes.abort()
    await asyncio.sleep(0)
    assert (wire.sent, wire.ends) == ([], ["abort"])


@pytest.mark.parametrize(
    ("asked", "headers"),
    [
        (b"", [("content-length", "2"), ("x-id", "1")]),
        (b"", [("x-id", "1"), ("cache-control", "no-store")]),
        (b"Connection: close\r\n", [("x-id", "1")]),
    ],
)
def test_a_head_says_the_same_as_that_of_h11(asked, headers):
    heads = []
    for kind in (h11.Connection, PlainHeads):
        connection = kind(h11.SERVER)
        connection.receive_data(b"GET / HTTP/1.1\r\nHost: here\r\n%b\r\n" % asked)
        connection.next_event()
        head = connection.send(h11.Response(status_code=200, headers=headers, reason="OK"))
        heads.append(
            (
                sorted(bytes(head or b"").lower().split(b"\r\n")),
                connection.our_state,
                connection.send(h11.Data(data=b"ok")),
            )
        )
    assert heads[0] == heads[1]


def test_a_header_with_a_line_break_is_refused():
    with pytest.raises(h11.LocalProtocolError):
        PlainHeads(h11.SERVER).send(h11.Response(status_code=200, headers=[("x-id", "1\r\nx-other: 2")]))
