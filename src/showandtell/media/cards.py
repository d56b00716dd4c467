"""Draws the cards of the vision check and makes PDFs and videos of them. Runs in the child; charts don't need it."""

from __future__ import annotations

import io
import zlib
from base64 import b64encode
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from showandtell.errors import BadFile
from showandtell.installation import ADVICE
from showandtell.media.draw import INK, PAPER
from showandtell.media.sound import av

#: Size of a card, and colours of the shapes on it. A video lasts long enough for models that sample once a second.
CARD = (480, 270)
SHAPE_COLOURS = ("#c62828", "#2e7d32", "#1565c0", "#6a1b9a", "#ef6c00", "#00838f", "#ad1457")
FRAMES, FRAMES_A_SECOND = 12, 4


def draw_probe(kind: str, codes: Sequence[str], shapes: int) -> str:
    """A file for a vision check in base64: PNG; PDF (`codes`: of its text, of its pixels); or MP4."""
    match kind:
        case "image":
            buffer = io.BytesIO()
            draw_card(codes[0], shapes).save(buffer, "PNG", optimize=True)
            data = buffer.getvalue()
        case "document":
            data = bind_pages(codes[0], draw_card(codes[1], shapes))
        case _:
            data = encode_video(draw_card(codes[0], shapes))
    return b64encode(data).decode()


def draw_card(code: str, shapes: int) -> Image.Image:
    """A code in large type over a row of at most seven discs, each in another colour."""
    image = Image.new("RGB", CARD, PAPER)
    pen = ImageDraw.Draw(image)
    pen.text((CARD[0] / 2, 100), code, fill=INK, font=ImageFont.load_default(72), anchor="mm")
    for index, colour in zip(range(shapes), SHAPE_COLOURS, strict=False):
        middle = CARD[0] * (index + 0.5) / shapes
        pen.ellipse((middle - 20, 190, middle + 20, 230), fill=colour)
    return image


def bind_pages(text: str, image: Image.Image) -> bytes:
    """A PDF of two pages: text that is in the text layer but not drawn (PDF 32000-1, 9.3.6), and only an image."""
    width, height = image.size
    box = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}]"
    header = f"/Type /XObject /Subtype /Image /Width {width} /Height {height}"
    return write_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
            f"<< {box} /Contents 6 0 R /Resources << /Font << /F1 5 0 R >> >> >>".encode(),
            f"<< {box} /Contents 7 0 R /Resources << /XObject << /Im1 8 0 R >> >> >>".encode(),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            pdf_stream("", f"BT 3 Tr /F1 40 Tf 60 130 Td ({text}) Tj ET".encode()),
            pdf_stream("", f"q {width} 0 0 {height} 0 0 cm /Im1 Do Q".encode()),
            pdf_stream(
                f"{header} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode",
                zlib.compress(image.tobytes()),
            ),
        ]
    )


def pdf_stream(header: str, data: bytes) -> bytes:
    """A stream object of a PDF."""
    return f"<< {header} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def write_pdf(objects: Sequence[bytes]) -> bytes:
    """A complete PDF: its objects, numbered from 1, the first being the catalogue, and the cross-reference table."""
    body, offsets = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return body + head + table + end


def encode_video(image: Image.Image) -> bytes:
    """A video of one still image, H.264 in MP4. Raises `BadFile` if PyAV is not installed."""
    if av is None:
        raise BadFile("", "can't be filmed without showandtell[av]", ADVICE)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FRAMES_A_SECOND)
        stream.width, stream.height, stream.pix_fmt = *image.size, "yuv420p"
        # Each thread would use a share of the memory that this process may have.
        stream.codec_context.thread_count = 1
        frame = av.VideoFrame.from_image(image)
        for index in range(FRAMES):
            frame.pts = index
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return buffer.getvalue()
