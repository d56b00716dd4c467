"""Server-sent events in both directions: `Splitter` finds the data of each event in what is read, `encode` writes one.

Only `data` is kept: providers repeat the event's name in its JSON, and ids and retry times mean nothing to a POST.
"""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"


class Splitter:
    """Gathers bytes until an event is whole. What follows the last blank line is no event yet, and may never be one."""

    __slots__ = ("_after_return", "_begun", "_buffer")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._begun = False
        self._after_return = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take the bytes of one read, of any length, and give the data of every event that they complete."""
        if self._after_return or b"\r" in data:
            data = self._unify(data)
        buffer = self._buffer
        if buffer or not data.endswith(b"\n\n"):
            # A blank line may lie across two reads, so the last byte of the previous one is searched again.
            searched = len(buffer) - 1 if buffer else 0
            buffer += data
            # Most short reads hold no line end at all, and can't complete anything.
            end = buffer.rfind(b"\n\n", searched) if b"\n" in data else -1
            if end < 0:
                return []
            data = bytes(buffer[:end])
            del buffer[: end + 2]
        if not self._begun and data:
            self._begun, data = True, data.removeprefix(BOM)
        return [found for block in data.split(b"\n\n") if (found := data_of(block))]

    @property
    def waiting(self) -> int:
        """How many bytes belong to an event that isn't whole yet."""
        return len(self._buffer)

    def _unify(self, data: bytes) -> bytes:
        """Write every line end as a newline. JSON text has no bare returns, so most streams never come here."""
        if self._after_return and data:
            self._after_return, data = False, data.removeprefix(b"\n")
        self._after_return = data.endswith(b"\r") or (self._after_return and not data)
        # Gemini ends lines with both: to split and join takes half the time of replace.
        return b"\n".join(data.split(b"\r\n")).replace(b"\r", b"\n")


def data_of(block: bytes) -> bytes:
    """Join the data lines of one event; comments and other fields are left out, and b"" says that there is none."""
    # Nearly every event is one data line, alone or after its name: these two are read without a list of lines.
    start = block.find(b"\n") + 1 if block.startswith(b"event:") else 0
    if block.startswith(b"data: ", start) and block.find(b"\n", start) < 0:
        return block[start + 6 :]
    return b"\n".join([line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:")])


def encode(data: bytes) -> bytes:
    """Write one event. Every newline in `data` begins a data line of its own, so nothing in it can end the event."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return b"data: " + data.replace(b"\n", b"\ndata: ") + b"\n\n"
