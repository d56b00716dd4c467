"""Compressed data that expands to a huge size."""

import struct
import zlib

MEBIBYTE = 1 << 20


def packed_zeros(mebibytes: int) -> bytes:
    """A zlib stream (RFC 1950) of `mebibytes` MiB of zeros, assembled without deflating all of them."""
    packer = zlib.compressobj(9)
    one = packer.compress(bytes(MEBIBYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = (mebibytes * MEBIBYTE % 65521) << 16 | 1
    return one[:2] + one[2:] * mebibytes + b"\3\0" + struct.pack(">I", checksum)
