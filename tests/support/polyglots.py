"""Files that are two things at once, or look like what they aren't; and the one type that the bytes of each prove."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from typing import NamedTuple

from support import fixtures

SCRIPT = b"<script>alert(document.domain)</script>"
PAGE = b"<!DOCTYPE html><html><body>" + SCRIPT + b"</body></html>"
CODE = b"alert(document.domain);"
DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><rect width="8" height="8"/></svg>'
PHP = b"<?php system($_GET['a']); ?>"
PROGRAM = b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0" + bytes(44) + b"\x40\0\0\0PE\0\0"
ELF = b"\x7fELF\2\1\1" + bytes(9) + b"\2\0\x3e\0" + bytes(44)
JAR = {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\nMain-Class: A\n", "A.class": b"\xca\xfe\xba\xbe"}
WORD = {"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<document/>"}
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB = "application/epub+zip"
OCTETS = "application/octet-stream"
#: Text is among texts what it claims to be.
TEXT, REFUSED = "text", "refused"


class Polyglot(NamedTuple):
    """A file that means mischief, and what its bytes prove: a media type, or one of the words above."""

    name: str
    data: bytes
    proves: str


def zip_behind(data: bytes, files: dict[str, bytes]) -> bytes:
    """A zip that opens although other bytes lie before it, as self-extracting archives do."""
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def stored_zip(files: dict[str, bytes]) -> bytes:
    """A zip whose contents lie in it as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def named_zip(media_type: bytes, files: dict[str, bytes]) -> bytes:
    """A zip that says its type in its first entry, uncompressed, as EPUB and ODF do."""
    return zip_behind(stored_zip({"mimetype": media_type}), files)


def png_with(kind: bytes, body: bytes) -> bytes:
    """A PNG with one more chunk behind its header."""
    data = fixtures.png()
    chunk = struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return data[:33] + chunk + data[33:]


def jpeg_with(comment: bytes) -> bytes:
    """A JPEG with a comment segment behind its first marker."""
    data = fixtures.jpeg()
    return data[:2] + b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment + data[2:]


def gif_with(comment: bytes) -> bytes:
    """A GIF with a comment before its end."""
    return fixtures.gif()[:-1] + b"\x21\xfe" + bytes([len(comment)]) + comment + b"\0;"


def gif_as_code() -> bytes:
    """A GIF that is JavaScript too: its width opens a comment, which is closed behind its end."""
    return b"GIF89a/*" + fixtures.gif()[8:] + b"*/=1;" + CODE


def bmp_as_code() -> bytes:
    """The same of a BMP, whose size no decoder minds."""
    return b"BM/*\0\0" + fixtures.bmp()[6:] + b"*/=1;" + CODE


def riff_with(data: bytes, kind: bytes, body: bytes) -> bytes:
    """A RIFF with one more chunk, counted in its size."""
    grown = data + kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)
    return grown[:4] + struct.pack("<I", len(grown) - 8) + grown[8:]


def box(kind: bytes, body: bytes) -> bytes:
    """One box of ISO base media."""
    return struct.pack(">I", 8 + len(body)) + kind + body


def tagged(title: bytes, sound: bytes) -> bytes:
    """A sound behind an ID3v2.3 tag with this title."""
    frame = b"TIT2" + struct.pack(">I", len(title) + 1) + b"\0\0\0" + title
    return b"ID3\3\0\0" + bytes(len(frame) >> bits & 127 for bits in (21, 14, 7, 0)) + frame + sound


def bare_mp3() -> bytes:
    """The frames of an MP3, without its tag."""
    data = fixtures.mp3()
    return data[10 + data[9] :]


def pdf_with(comment: bytes) -> bytes:
    """A PDF with a comment in its second line."""
    return fixtures.pdf("hello").replace(b"\n", b"\n%" + comment + b"\n", 1)


def pictures() -> list[Polyglot]:
    return [
        Polyglot("PNG with a page behind it", fixtures.png() + PAGE, "image/png"),
        Polyglot("PNG with a page in a tEXt chunk", png_with(b"tEXt", b"Comment\0" + PAGE), "image/png"),
        Polyglot("PNG with PHP in a tEXt chunk", png_with(b"tEXt", b"Comment\0" + PHP), "image/png"),
        Polyglot("PNG with a program behind it", fixtures.png() + PROGRAM, "image/png"),
        Polyglot("PNG with a PDF behind it", fixtures.png() + fixtures.pdf("hello"), "image/png"),
        Polyglot("PNG with a jar behind it", zip_behind(fixtures.png(), JAR), "image/png"),
        Polyglot("JPEG with a zip behind it", zip_behind(fixtures.jpeg(), JAR), "image/jpeg"),
        Polyglot("JPEG with a page in its comment", jpeg_with(PAGE), "image/jpeg"),
        Polyglot("JPEG with PHP in its comment", jpeg_with(PHP), "image/jpeg"),
        Polyglot("JPEG with a PDF in its comment", jpeg_with(fixtures.pdf("hello")), "image/jpeg"),
        Polyglot("JPEG's first bytes, then a page", b"\xff\xd8\xff\xe0" + PAGE, REFUSED),
        Polyglot("GIF that is a jar", zip_behind(fixtures.gif(), JAR), "image/gif"),
        Polyglot("GIF that is JavaScript", gif_as_code(), "image/gif"),
        Polyglot("GIF's name, then JavaScript", b"GIF89a=1;" + CODE, REFUSED),
        Polyglot("GIF with a script in its comment", gif_with(SCRIPT), "image/gif"),
        Polyglot("BMP that is JavaScript", bmp_as_code(), "image/bmp"),
        Polyglot("BMP with a page behind it", fixtures.bmp() + PAGE, "image/bmp"),
        Polyglot("TIFF with a zip behind it", zip_behind(fixtures.tiff(), JAR), "image/tiff"),
        Polyglot("WebP with a script in a chunk", riff_with(fixtures.webp(), b"XMP ", SCRIPT), "image/webp"),
        Polyglot("WebP with a page behind it", fixtures.webp() + PAGE, "image/webp"),
        Polyglot("icon with a page behind it", fixtures.picture("ICO", 16, 16, fixtures.RED) + PAGE, "image/vnd.microsoft.icon"),
        Polyglot("AVIF with a page in a box", fixtures.picture("AVIF", 16, 16, fixtures.RED) + box(b"free", PAGE), "image/avif"),
        Polyglot("drawing that is a page", DRAWING + PAGE, "image/svg+xml"),
        Polyglot("drawing in XML", b'<?xml version="1.0"?><!-- %PDF-1.4 -->' + DRAWING, "image/svg+xml"),
        Polyglot("drawing with a page in it", DRAWING.replace(b"<rect", b"<foreignObject>" + PAGE + b"</foreignObject><rect"), "image/svg+xml"),
    ]  # fmt: skip


def documents() -> list[Polyglot]:
    return [
        Polyglot("PDF with a zip behind it", zip_behind(fixtures.pdf("hello"), JAR), "application/pdf"),
        Polyglot("PDF with a page behind it", fixtures.pdf("hello") + PAGE, "application/pdf"),
        Polyglot("PDF with a script in a comment", pdf_with(SCRIPT), "application/pdf"),
        Polyglot("PDF with a picture behind it", fixtures.pdf("hello") + fixtures.png(), "application/pdf"),
        Polyglot("page with a PDF behind it", PAGE + b"\n" + fixtures.pdf("hello"), "text/html"),
        Polyglot("words with a PDF behind them", b"words\n" + fixtures.pdf("hello"), TEXT),
        Polyglot("PDF's name, then a page", b"%PDF-1.7\n" + PAGE, REFUSED),
        Polyglot("PDF's name and no version, then a page", b"%PDF-x\n" + PAGE, TEXT),
        Polyglot("Word file that is a jar", zip_behind(fixtures.docx(), JAR), DOCX),
        Polyglot("Word file that is a workbook", zip_behind(fixtures.docx(), {"xl/workbook.xml": b"<a/>"}), "application/zip"),
        Polyglot("zip of a Word file and a jar", fixtures.zipped({"a.docx": fixtures.docx(), "a.jar": fixtures.zipped(JAR)}), "application/zip"),
        Polyglot("book that is a Word file", named_zip(EPUB.encode(), WORD), EPUB),
        Polyglot("zip that calls itself a page", named_zip(b"text/html", JAR), "application/zip"),
        Polyglot("zip with a page before its directory", stored_zip({"a.html": PAGE}), "application/zip"),
        Polyglot("program that is a zip", zip_behind(PROGRAM, JAR), OCTETS),
        Polyglot("page that is a zip", zip_behind(PAGE, JAR), OCTETS),
        Polyglot("gzip of a page", gzip.compress(PAGE), "application/gzip"),
    ]  # fmt: skip


def sounds() -> list[Polyglot]:
    return [
        Polyglot("WAV with a zip behind it", zip_behind(fixtures.wav(0.01), JAR), "audio/wav"),
        Polyglot("WAV with a page in a chunk", riff_with(fixtures.wav(0.01), b"note", PAGE), "audio/wav"),
        Polyglot("MP3 with a page for its title", tagged(PAGE[:100], bare_mp3()), "audio/mpeg"),
        Polyglot("MP3's tag, then a page", tagged(b"title", PAGE), OCTETS),
        Polyglot("MP3 with a page behind it", fixtures.mp3() + PAGE, "audio/mpeg"),
        Polyglot("FLAC with a jar behind it", zip_behind(fixtures.flac(), JAR), "audio/flac"),
        Polyglot("Ogg with a page behind it", fixtures.recoded("ogg", "libopus") + PAGE, "audio/ogg"),
        Polyglot("film with a page in a box", fixtures.mp4() + box(b"free", b"<!-- -->" + PAGE), "video/mp4"),
        Polyglot("film's first box, then a page", box(b"ftyp", b"isom\0\0\2\0isom") + PAGE, REFUSED),
        Polyglot("RIFF of nothing known, then a page", b"RIFF\x40\0\0\0HTML" + PAGE, OCTETS),
    ]


def texts() -> list[Polyglot]:
    return [
        Polyglot("page", PAGE, "text/html"),
        Polyglot("page behind a mark and spaces", b"\xef\xbb\xbf \r\n\t" + PAGE, "text/html"),
        Polyglot("page behind a comment that is a picture's name", b"<!-- GIF89a -->" + PAGE, "text/html"),
        Polyglot("page in UTF-16", b"\xff\xfe" + PAGE.decode().encode("utf-16-le"), "text/html"),
        Polyglot("page in Latin-1", b"<p>caf\xe9" + SCRIPT, TEXT),
        Polyglot("page in UTF-7", b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-", TEXT),
        Polyglot("words that begin like a BMP", b"BM is where a bitmap begins, they say.\n", TEXT),
        Polyglot("words that begin like a program", b"MZ, said the linker.\n", TEXT),
        Polyglot("words that begin like a sound", b"ID3 tags, fLaC and OggS.\n", TEXT),
        Polyglot("words that begin like an archive", b"PK was his name.\n", TEXT),
        Polyglot("PostScript", b"%!PS-Adobe-3.0\n(id) run\n", TEXT),
        Polyglot("script with a page in it", b"#!/bin/sh\necho '" + PAGE + b"'\n", TEXT),
        Polyglot("PHP", PHP, TEXT),
        Polyglot("playlist that names a file", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", TEXT),
        Polyglot("list that names a file", b"ffconcat version 1.0\nfile /etc/passwd\n", TEXT),
        Polyglot("program", PROGRAM, OCTETS),
        Polyglot("program for Linux with a page behind it", ELF + PAGE, OCTETS),
    ]


def make_polyglots() -> list[Polyglot]:
    """All of them."""
    return [*pictures(), *documents(), *sounds(), *texts()]
