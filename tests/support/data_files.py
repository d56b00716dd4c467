"""Data files that no model reads, made on the spot: the smallest whole ones of their kinds."""

import gzip
import io
import lzma
import sqlite3
import struct
import tarfile
from contextlib import closing

from support.fixtures import parts

#: Thrift's compact form of a Parquet footer: version 1, a schema of a root without columns, no rows, no row groups.
FOOTER = bytes.fromhex("1502191c48067363 68656d6115000016 00190c00")
#: A flatbuffer's place, which nothing here reads.
ARROW_FOOTER = bytes(16)


def parquet() -> bytes:
    """A table without columns and rows."""
    return b"PAR1" + FOOTER + struct.pack("<I", len(FOOTER)) + b"PAR1"


def arrow() -> bytes:
    """The frame of an Arrow file."""
    return b"ARROW1\0\0" + ARROW_FOOTER + struct.pack("<I", len(ARROW_FOOTER)) + b"ARROW1"


def sqlite() -> bytes:
    """A database with one table of one row, as SQLite writes it."""
    with closing(sqlite3.connect(":memory:")) as database, database:
        database.execute("create table sales (year, amount)")
        database.execute("insert into sales values (2026, 42)")
        database.commit()
        return database.serialize()


def tar() -> bytes:
    """An archive of one text."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("words.txt")
        entry.size = 5
        archive.addfile(entry, io.BytesIO(b"words"))
    return buffer.getvalue()


def npy() -> bytes:
    """An array of no numbers, as NumPy writes it."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }".ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head


#: Bytes and media type by the name of a file.
DATA_FILES = {
    "parts.zip": (parts(), "application/zip"),
    "sales.parquet": (parquet(), "application/vnd.apache.parquet"),
    "sales.sqlite": (sqlite(), "application/vnd.sqlite3"),
    "sales.arrow": (arrow(), "application/vnd.apache.arrow.file"),
    "words.tar": (tar(), "application/x-tar"),
    "words.gz": (gzip.compress(b"words", mtime=0), "application/gzip"),
    "words.xz": (lzma.compress(b"words"), "application/x-xz"),
    "words.zst": (b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0words", "application/zstd"),
    "words.7z": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24), "application/x-7z-compressed"),
    "numbers.npy": (npy(), "application/x-npy"),
    "numbers.h5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "application/x-hdf5"),
    "unknown.bin": (bytes(range(256)), "application/octet-stream"),
}
