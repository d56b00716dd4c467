"""Server-sent events in both directions: `Splitter` reads the data of each event, `encode` writes an event.

All fields but `data` are ignored: providers repeat the event's name in its JSON, and a POST has no use for ids and
retry times.
"""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"


class Splitter:
    """Buffers bytes until an event is complete. Bytes after the last blank line are returned by `flush` only."""

    __slots__ = ("_after_return", "_buffer", "_started")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._started = False
        self._after_return = False

    def feed(self, data: bytes) -> list[bytes]:
        """Feed the bytes of one read, of any length, and return the data of every event that they complete."""
        if self._after_return or b"\r" in data:
            data = self._normalize_line_ends(data)
        buffer = self._buffer
        if buffer or not data.endswith(b"\n\n"):
            # A blank line may span two reads, so search the last byte of the previous one again.
            searched = len(buffer) - 1 if buffer else 0
            buffer += data
            # Most short reads contain no line end, so they can't complete an event.
            end = buffer.rfind(b"\n\n", searched) if b"\n" in data else -1
            if end < 0:
                return []
            data = bytes(buffer[:end])
            del buffer[: end + 2]
        if not self._started:
            self._started, data = True, data.removeprefix(BOM)
        return [text for block in data.split(b"\n\n") if (text := event_data(block))]

    def flush(self) -> list[bytes]:
        """Return the data of the last event if its blank line is missing. It may be cut off."""
        block = bytes(self._buffer)
        self._buffer.clear()
        data = event_data(block if self._started else block.removeprefix(BOM))
        return [data] if data else []

    @property
    def pending(self) -> int:
        """Bytes buffered for an incomplete event."""
        return len(self._buffer)

    def _normalize_line_ends(self, data: bytes) -> bytes:
        """Replace every line end by a newline. JSON has no raw carriage returns, so most streams never need this."""
        if self._after_return and data:
            self._after_return, data = False, data.removeprefix(b"\n")
        self._after_return = data.endswith(b"\r") or (self._after_return and not data)
        # Gemini ends lines with CRLF; split and join take half the time of replace.
        data = b"\n".join(data.split(b"\r\n"))
        return data.replace(b"\r", b"\n") if b"\r" in data else data


def event_data(block: bytes) -> bytes:
    """The data of one event, without white space around it; b"" if it has none, like events that keep a connection.

    Joins the data lines and ignores comments and other fields.
    """
    return b"\n".join([line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]).strip()


def encode(data: bytes) -> bytes:
    """Encode one event. Every newline in `data` starts a new data line, so `data` can't end the event early."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return b"data: " + data.replace(b"\n", b"\ndata: ") + b"\n\n"
