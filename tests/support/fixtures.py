"""Tiny files for everybody's tests, made on the spot: each builder gives the bytes of one valid (or named bad) file."""

import functools
import hashlib
import io
import math
import struct
import wave
import zipfile

import av
from PIL import Image

Colour = tuple[int, int, int]
RED: Colour = (200, 30, 30)


@functools.cache
def picture(form: str, width: int, height: int, colour: Colour, **options: object) -> bytes:
    """One flat picture, saved by Pillow in `form`."""
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(buffer, form, **options)
    return buffer.getvalue()


def png(width: int = 8, height: int = 8, colour: Colour = RED) -> bytes:
    return picture("PNG", width, height, colour)


def huge_png(side: int = 12000) -> bytes:
    """A few kilobytes that decode to 144 megapixels of black."""
    buffer = io.BytesIO()
    Image.new("1", (side, side)).save(buffer, "PNG")
    return buffer.getvalue()


def jpeg(width: int = 8, height: int = 8, colour: Colour = RED) -> bytes:
    return picture("JPEG", width, height, colour)


def gif(width: int = 8, height: int = 8, colour: Colour = RED) -> bytes:
    return picture("GIF", width, height, colour)


def webp(width: int = 8, height: int = 8, colour: Colour = RED) -> bytes:
    return picture("WEBP", width, height, colour, lossless=True)


def bmp(width: int = 8, height: int = 8, colour: Colour = RED) -> bytes:
    return picture("BMP", width, height, colour)


def tiff(width: int = 8, height: int = 8, colour: Colour = RED) -> bytes:
    return picture("TIFF", width, height, colour)


def heic() -> bytes:
    """Only the opening box of a HEIC: a signature, no picture."""
    return struct.pack(">I", 24) + b"ftypheic\0\0\0\0mif1heic"


def svg(width: int = 8, height: int = 8) -> bytes:
    size = f'width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect {size} fill="#c81e1e"/></svg>'.encode()


def truncated(data: bytes) -> bytes:
    """The first half, as a broken download leaves it."""
    return data[: len(data) // 2]


def wav(seconds: float = 0.2, rate: int = 16000, pitch: float = 440.0) -> bytes:
    """A sine, mono, 16 bit."""
    count = round(seconds * rate)
    samples = (round(12000 * math.sin(2 * math.pi * pitch * at / rate)) for at in range(count))
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(struct.pack(f"<{count}h", *samples))
    return buffer.getvalue()


@functools.cache
def mp4(seconds: float = 1.0, rate: int = 10, colour: Colour = RED, codec: str = "mpeg4") -> bytes:
    """A still film of 64 x 48 pixels; browsers play it where the codec is libx264."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as film:
        stream = film.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        frame = av.VideoFrame.from_image(Image.new("RGB", (64, 48), colour))
        for at in range(round(seconds * rate)):
            frame.pts = at
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return buffer.getvalue()


@functools.cache
def recoded(form: str, codec: str, seconds: float = 0.5) -> bytes:
    """The sine of `wav`, packed by PyAV into another container."""
    buffer = io.BytesIO()
    with av.open(io.BytesIO(wav(seconds))) as sound, av.open(buffer, "w", format=form) as packed:
        stream = packed.add_stream(codec, rate=16000, layout="mono")
        resampler = av.AudioResampler(stream.format, "mono", 16000, frame_size=stream.frame_size or 576)
        for frame in [*sound.decode(audio=0), None]:
            for part in resampler.resample(frame):
                packed.mux(stream.encode(part))
        packed.mux(stream.encode())
    return buffer.getvalue()


def mp3(seconds: float = 0.5) -> bytes:
    return recoded("mp3", "libmp3lame", seconds)


def flac(seconds: float = 0.5) -> bytes:
    return recoded("flac", "flac", seconds)


def pdf_objects(texts: tuple[str, ...]) -> list[bytes]:
    """Catalogue, page tree and font, then a page and its words for each text."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(texts)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, text in enumerate(texts):
        page = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents {5 + 2 * at} 0 R"
        objects.append(f"<< {page} /Resources << /Font << /F1 3 0 R >> >> >>".encode())
        objects.append(pdf_words(text))
    return objects


def pdf_words(text: str) -> bytes:
    """A content stream that sets each line of `text` in Helvetica."""
    escaped = text.encode("cp1252", "replace").replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")
    lines = b"".join(b"(" + line + b") Tj T*\n" for line in escaped.split(b"\n"))
    words = b"BT /F1 12 Tf 14 TL 20 170 Td\n" + lines + b"ET"
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(words), words)


def pdf_file(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """Number the objects, and write the table that finds them."""
    body, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer\n<< /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, len(body))
    return bytes(body) + head + table + end


def pdf(*page_texts: str) -> bytes:
    """A PDF with one page and a real text layer for each text; without texts it has no page."""
    return pdf_file(pdf_objects(page_texts))


def blank_pdf(pages: int, first: bytes = b"") -> bytes:
    """A PDF of pages without words; `first` is the content stream of the first one."""
    kids = " ".join(f"{number} 0 R" for number in range(4, pages + 4))
    tree = f"<< /Type /Pages /Count {pages} /MediaBox [0 0 300 200] /Kids [{kids}] >>"
    content = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(first), first)
    blank = [b"<< /Type /Page /Parent 2 0 R >>"] * (pages - 1)
    page = b"<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>"
    return pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", tree.encode(), content, page, *blank])


PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def rc4(key: bytes, data: bytes) -> bytes:
    box, at, out = list(range(256)), 0, bytearray()
    for place in range(256):
        at = (at + box[place] + key[place % len(key)]) % 256
        box[place], box[at] = box[at], box[place]
    one = two = 0
    for byte in data:
        one = (one + 1) % 256
        two = (two + box[one]) % 256
        box[one], box[two] = box[two], box[one]
        out.append(byte ^ box[(box[one] + box[two]) % 256])
    return bytes(out)


def locked_pdf(password: str = "secret") -> bytes:  # noqa: S107 - the lock of an example
    """A one-page PDF that opens only with `password` (RC4, 40 bit, PDF 32000-1 7.6.3); its words stay unencrypted."""
    padded = (password.encode() + PADDING)[:32]
    owner = rc4(hashlib.md5(padded).digest()[:5], padded)  # noqa: S324 - the format says so
    key = hashlib.md5(padded + owner + struct.pack("<i", -4) + b"0" * 16).digest()[:5]  # noqa: S324 - the same
    lock = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>"
    objects = [*pdf_objects(("locked",)), lock % (owner.hex().encode(), rc4(key, PADDING).hex().encode())]
    names = b"<%s>" % (b"0" * 16).hex().encode()
    return pdf_file(objects, b"/Encrypt %d 0 R /ID [%s %s] " % (len(objects), names, names))


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def parts() -> bytes:
    """A zip: no model takes it, and nothing can make it into another form."""
    return zipped({"part.bin": bytes(range(256))})


def docx() -> bytes:
    """The structure of a Word file, without words."""
    return zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<document/>"})


def bomb(megabytes: int = 64) -> bytes:
    """A small zip that would inflate to `megabytes` MB."""
    return zipped({"zeros": bytes(megabytes << 20)})
