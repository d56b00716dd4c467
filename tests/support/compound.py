"""Compound files, as Office 97 wrote them."""

import struct


def compound(name, stream):
    """A compound file of one stream of at most 4096 bytes ([MS-CFB] 2): the table of sectors, the directory, the stream."""
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 62, 3, 0xFFFE, 9, 6)
    head += struct.pack("<9I", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    table = [0xFFFFFFFD, end, *range(3, 10), end]
    sectors = struct.pack("<128I", *table, *[free] * (128 - len(table)))
    entries = entry("Root Entry", 5, 1, end, 0) + entry(name, 2, free, 2, 4096) + bytes(256)
    return head + sectors + entries + stream.ljust(4096, b"\0")


def entry(name, kind, child, start, size):
    words = name.encode("utf-16-le")
    free = 0xFFFFFFFF
    return words.ljust(64, b"\0") + struct.pack("<HBBIII36xIQ", len(words) + 2, kind, 1, free, free, child, start, size)
