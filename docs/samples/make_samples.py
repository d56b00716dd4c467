"""Draw and write the packaged samples, the same bytes each time.

Run it as `python docs/samples/make_samples.py [folder]`.
"""

import io
import math
import random
import struct
import sys
import wave
from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

FOLDER = Path(__file__).parents[2] / "src" / "showandtell" / "samples"
#: Everything is drawn larger by this factor, then scaled down: that gives smooth edges.
FINE = 3

Colour = tuple[int, int, int]

INVOICE = (
    (20, 60, 770, "INVOICE"),
    (11, 60, 742, "Harbour Supplies Ltd, 7 Pier Road, Seahaven"),
    (11, 60, 706, "Invoice number: INV-2041"),
    (11, 60, 690, "Date: 3 March 2025"),
    (11, 60, 674, "Billed to: Kiwi Kitchen, 12 Orchard Lane, Greenfield"),
    (11, 60, 630, "Item"),
    (11, 330, 630, "Quantity"),
    (11, 400, 630, "Price"),
    (11, 470, 630, "Amount"),
    (11, 60, 606, "Kiwi fruit, crate of 30"),
    (11, 330, 606, "4"),
    (11, 400, 606, "18.50"),
    (11, 470, 606, "74.00"),
    (11, 60, 586, "Rope, 20 m"),
    (11, 330, 586, "2"),
    (11, 400, 586, "31.25"),
    (11, 470, 586, "62.50"),
    (11, 60, 566, "Brass bell, small"),
    (11, 330, 566, "1"),
    (11, 400, 566, "48.00"),
    (11, 470, 566, "48.00"),
    (13, 400, 530, "Total:"),
    (13, 470, 530, "184.50 EUR"),
    (11, 60, 486, "Due date: 2 April 2025"),
    (11, 60, 470, "Please pay by bank transfer and quote the invoice number."),
)


#: Pages of words, and of shapes: a colour, and corners from left to right.
GUIDE = (
    (
        (
            (26, 40, 330, "Seahaven harbour"),
            (13, 40, 304, "A guide in three pages"),
            (11, 40, 40, "Page 1: the lighthouse"),
        ),
        (
            ("0.75 0.87 0.95", (0, 0, 595, 0, 595, 270, 0, 270)),
            ("0.16 0.42 0.62", (0, 0, 595, 0, 595, 96, 0, 96)),
            ("0.33 0.31 0.32", (380, 90, 420, 130, 500, 134, 560, 96)),
            ("0.97 0.96 0.93", (432, 130, 444, 320, 476, 320, 488, 130)),
            ("0.77 0.2 0.18", (435, 180, 438, 220, 482, 220, 485, 180)),
            ("0.77 0.2 0.18", (441, 262, 443, 298, 477, 298, 479, 262)),
            ("1 0.93 0.55", (445, 322, 445, 348, 475, 348, 475, 322)),
            ("0.77 0.2 0.18", (438, 348, 460, 372, 482, 348)),
        ),
    ),
    (
        (
            (22, 40, 360, "Boats on the pier"),
            (13, 40, 330, "42 sailing boats, 7 tugs and 1 ferry"),
            (11, 40, 40, "Page 2: the boats"),
        ),
        (
            ("0.99 0.83 0.55", (0, 0, 595, 0, 595, 300, 0, 300)),
            ("0.12 0.36 0.5", (0, 0, 595, 0, 595, 92, 0, 92)),
            ("1 1 0.96", (306, 120, 306, 280, 410, 120)),
            ("0.93 0.9 0.83", (292, 120, 292, 262, 222, 120)),
            ("0.72 0.16 0.15", (190, 110, 434, 110, 400, 66, 226, 66)),
        ),
    ),
    (
        (
            (22, 40, 360, "Tides of the week"),
            (13, 40, 326, "Monday"),
            (13, 180, 326, "high 06:12, low 12:25"),
            (13, 40, 304, "Wednesday"),
            (13, 180, 304, "high 07:48, low 13:59"),
            (13, 40, 282, "Friday"),
            (13, 180, 282, "high 09:30, low 15:41"),
            (11, 40, 40, "Page 3: the tides"),
        ),
        (
            ("0.87 0.95 0.9", (0, 0, 595, 0, 595, 250, 0, 250)),
            ("0.2 0.55 0.4", (0, 0, 595, 0, 595, 110, 496, 170, 397, 100, 298, 170, 199, 100, 100, 170, 0, 110)),
            ("0.1 0.4 0.3", (0, 0, 595, 0, 595, 70, 0, 70)),
        ),
    ),
)
VISITORS = """\
Day,Visitors,Boats
Monday,120,14
Tuesday,95,11
Wednesday,140,17
Thursday,180,21
Friday,230,26
"""


def write_words(words: tuple[tuple[int, int, int, str], ...]) -> str:
    """The operators that write each text in Helvetica: its size, left end and base line."""
    return "".join(f"BT /F1 {size} Tf {left} {base} Td ({text}) Tj ET\n" for size, left, base, text in words)


def write_invoice() -> bytes:
    """One A4 page: the words above and two rules."""
    return write_pages((595, 842), [write_words(INVOICE) + "0.6 w 60 622 m 545 622 l S\n60 552 m 545 552 l S\n"])


def write_guide() -> bytes:
    """Three pages of A5 across: shapes with words on them, the last in white."""
    pages: list[str] = []
    for words, shapes in GUIDE:
        drawn = "".join(f"{colour} rg {trace(corners)} h f\n" for colour, corners in shapes)
        pages.append(f"{drawn}0 g\n{write_words(words[:-1])}1 g\n{write_words(words[-1:])}")
    return write_pages((595, 420), pages)


def trace(corners: tuple[int, ...]) -> str:
    """The operators of a path through the corners."""
    places = list(zip(corners[::2], corners[1::2], strict=True))
    return " ".join(f"{left} {base} {'l' if at else 'm'}" for at, (left, base) in enumerate(places))


def write_pages(size: tuple[int, int], pages: list[str]) -> bytes:
    """A document of pages of one size: numbered objects, and the table that finds them."""
    count, first = len(pages), 3
    font, resources = first + count, first + 2 * count + 1
    box, kids = b"[0 0 %d %d]" % size, b" ".join(b"%d 0 R" % (first + at) for at in range(count))
    heads = [(box, font + 1 + at, resources) for at in range(count)]
    contents = [page.encode("ascii") for page in pages]
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        *(b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Contents %d 0 R /Resources %d 0 R >>" % head for head in heads),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content) for content in contents),
        b"<< /Font << /F1 %d 0 R >> >>" % font,
    )
    return number_objects(objects)


def number_objects(objects: tuple[bytes, ...]) -> bytes:
    """The file around the objects."""
    body, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return body + head + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))


def blend(low: Colour, high: Colour, share: float) -> Colour:
    """A colour between two."""
    mixed = [round(one + (other - one) * share) for one, other in zip(low, high, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def paint_bands(draw: ImageDraw.ImageDraw, width: int, top: int, bottom: int, ends: tuple[Colour, Colour]) -> None:
    """Fill from `top` to `bottom` with bands 4 pixels high, from the first colour to the second."""
    for row in range(top, bottom, 4):
        colour = blend(*ends, (row - top) / (bottom - top))
        draw.rectangle((0, row * FINE, width * FINE, (row + 4) * FINE - 1), fill=colour)


def fine(*places: float) -> list[float]:
    """Places in the picture as places in the larger drawing."""
    return [place * FINE for place in places]


def draw_harbour(draw: ImageDraw.ImageDraw) -> None:
    """Evening sky, sun and its glitter, hills, a lighthouse, two sailing boats, a tug, and a pier with its sign."""
    paint_bands(draw, 640, 0, 232, ((250, 196, 120), (252, 226, 178)))
    draw.ellipse(fine(428, 92, 532, 196), fill=(250, 232, 150))
    draw.ellipse(fine(438, 102, 522, 186), fill=(255, 250, 205))
    hills = (0, 214, 60, 186, 130, 200, 210, 160, 300, 204, 380, 186, 450, 212, 540, 190, 640, 208, 640, 240, 0, 240)
    draw.polygon(fine(*hills), fill=(116, 132, 150))
    paint_bands(draw, 640, 228, 400, ((92, 158, 186), (24, 76, 122)))
    draw_glitter(draw)
    draw_lighthouse(draw)
    draw_boat(draw, 178, 268, 1.0, (190, 44, 40))
    draw_boat(draw, 336, 250, 0.62, (38, 92, 70))
    draw_tug(draw)
    draw_gulls(draw)
    draw_pier(draw)


def draw_glitter(draw: ImageDraw.ImageDraw) -> None:
    """The sun on the water, and small waves everywhere."""
    chance = random.Random(7)  # noqa: S311 - the same waves each time
    for row in range(236, 330, 6):
        half = 12 + (row - 236) * 0.35
        left = 480 - half + chance.uniform(-8, 8)
        draw.rounded_rectangle(fine(left, row, left + 2 * half, row + 2), FINE, fill=(252, 228, 170))
    for _ in range(70):
        left, row = chance.uniform(0, 610), chance.uniform(244, 396)
        draw.rounded_rectangle(fine(left, row, left + chance.uniform(8, 26), row + 1.4), FINE, fill=(132, 186, 206))


def draw_lighthouse(draw: ImageDraw.ImageDraw) -> None:
    """White with red bands, on a rock."""
    draw.polygon(fine(556, 240, 572, 216, 606, 212, 632, 224, 640, 240), fill=(84, 80, 82))
    draw.polygon(fine(588, 218, 593, 120, 613, 120, 618, 218), fill=(246, 244, 238))
    for top, inset in ((136, 1), (172, 3)):
        left, right = 592.2 - inset, 613.8 + inset
        draw.polygon(fine(left, top, right, top, right + 1, top + 18, left - 1, top + 18), fill=(196, 52, 46))
    draw.rectangle(fine(594, 106, 612, 120), fill=(255, 236, 140), outline=(70, 64, 66), width=2 * FINE)
    draw.polygon(fine(590, 107, 603, 94, 616, 107), fill=(196, 52, 46))


def draw_boat(draw: ImageDraw.ImageDraw, left: float, water: float, scale: float, hull: Colour) -> None:
    """A sailing boat whose mast stands at `left` and whose hull floats at `water`."""

    def place(*offsets: float) -> list[float]:
        moved = [(left if at % 2 == 0 else water) + offset * scale for at, offset in enumerate(offsets)]
        return fine(*moved)

    draw.line(place(0, 0, 0, -118), fill=(92, 66, 46), width=round(4 * scale * FINE))
    draw.polygon(place(6, -112, 6, -12, 66, -12), fill=(252, 250, 244))
    draw.polygon(place(-6, -100, -6, -12, -46, -12), fill=(240, 232, 216))
    draw.polygon(place(-62, -6, 74, -6, 54, 20, -44, 20), fill=hull)
    draw.polygon(place(-62, -6, 74, -6, 71, -1, -58, -1), fill=(250, 246, 238))
    draw.ellipse(place(-48, 18, 60, 26), fill=(40, 92, 132))


def draw_tug(draw: ImageDraw.ImageDraw) -> None:
    """A small work boat under steam."""
    for at, size in ((0, 7), (12, 9), (28, 12)):
        draw.ellipse(fine(468 - at - size, 216 - at - size, 468 - at + size, 216 - at + size), fill=(224, 214, 204))
    draw.rectangle(fine(464, 226, 474, 252), fill=(48, 50, 56))
    draw.rectangle(fine(464, 230, 474, 235), fill=(214, 158, 46))
    draw.rectangle(fine(438, 238, 462, 260), fill=(246, 240, 226))
    draw.rectangle(fine(442, 243, 458, 250), fill=(86, 126, 150))
    draw.polygon(fine(414, 258, 506, 254, 494, 276, 426, 276), fill=(34, 62, 104))
    draw.polygon(fine(424, 272, 496, 271, 494, 276, 426, 276), fill=(172, 48, 42))


def draw_gulls(draw: ImageDraw.ImageDraw) -> None:
    """Three of them, two strokes each."""
    for left, top, half in ((96, 70, 14), (142, 92, 10), (300, 58, 12)):
        draw.arc(fine(left - 2 * half, top, left, top + half), 200, 350, fill=(70, 66, 72), width=2 * FINE)
        draw.arc(fine(left, top, left + 2 * half, top + half), 190, 340, fill=(70, 66, 72), width=2 * FINE)


def draw_pier(draw: ImageDraw.ImageDraw) -> None:
    """Planks on posts from the left, bollards, and a board that says PIER 7."""
    for left in range(16, 300, 52):
        draw.rectangle(fine(left, 356, left + 12, 400), fill=(84, 58, 40))
    draw.rectangle(fine(0, 338, 312, 360), fill=(150, 108, 72))
    for left in range(0, 312, 24):
        draw.line(fine(left, 338, left, 360), fill=(110, 76, 50), width=FINE)
    for left in (226, 286):
        draw.rounded_rectangle(fine(left, 322, left + 14, 340), 4 * FINE, fill=(58, 56, 60))
    for left in (46, 172):
        draw.rectangle(fine(left, 322, left + 8, 340), fill=(84, 58, 40))
    board = fine(26, 282, 200, 328)
    draw.rounded_rectangle(board, 6 * FINE, fill=(250, 246, 232), outline=(58, 44, 34), width=3 * FINE)
    font = ImageFont.load_default(34 * FINE)
    draw.text(fine(113, 305), "PIER 7", font=font, fill=(24, 44, 84), anchor="mm")


def draw_kiwi(draw: ImageDraw.ImageDraw) -> None:
    """A slice on a linen cloth: skin, flesh in rings, pale rays, seeds, and the white heart."""
    paint_bands(draw, 480, 0, 360, ((244, 234, 216), (228, 212, 188)))
    draw.ellipse(fine(92, 66, 404, 330), fill=(196, 178, 152))
    middle = (240, 178)
    draw.ellipse(ring(middle, 152, 132), fill=(112, 78, 44))
    draw.ellipse(ring(middle, 146, 126), fill=(150, 112, 62))
    for step in range(41):
        colour = blend((96, 148, 32), (166, 206, 72), step / 40)
        draw.ellipse(ring(middle, 141 - 2.2 * step, 121 - 1.95 * step), fill=colour)
    draw_rays(draw, middle)
    draw.ellipse(ring(middle, 41, 32), fill=(228, 232, 168))
    draw.ellipse(ring(middle, 34, 26), fill=(246, 244, 214))
    draw_seeds(draw, middle)


def ring(middle: tuple[float, float], across: float, high: float) -> list[float]:
    """The box of an ellipse around `middle`."""
    return fine(middle[0] - across, middle[1] - high, middle[0] + across, middle[1] + high)


def draw_rays(draw: ImageDraw.ImageDraw, middle: tuple[float, float]) -> None:
    """Pale wedges from the heart outwards."""
    for step in range(44):
        angle = 2 * math.pi * step / 44
        far = 122 if step % 2 else 106
        tip = (middle[0] + far * math.cos(angle), middle[1] + far * 0.86 * math.sin(angle))
        sides = [
            (middle[0] + 34 * math.cos(angle + turn), middle[1] + 26 * math.sin(angle + turn)) for turn in (-0.05, 0.05)
        ]
        draw.polygon([(x * FINE, y * FINE) for x, y in (*sides, tip)], fill=(188, 220, 104))


def draw_seeds(draw: ImageDraw.ImageDraw, middle: tuple[float, float]) -> None:
    """Two uneven circles of black seeds, each pointing at the heart."""
    chance = random.Random(3)  # noqa: S311 - the same seeds each time
    for step in range(36):
        angle = 2 * math.pi * (step + chance.uniform(-0.2, 0.2)) / 36
        near = (64 if step % 2 else 52) + chance.uniform(-3, 3)
        draw_seed(draw, middle, angle, near)


def draw_seed(draw: ImageDraw.ImageDraw, middle: tuple[float, float], angle: float, near: float) -> None:
    """One drop, its tip towards the heart."""
    outline = []
    for along, aside in ((-6, 0), (0, 2.4), (4, 3), (6.5, 0), (4, -3), (0, -2.4)):
        x = (near + along) * math.cos(angle) - aside * math.sin(angle)
        y = ((near + along) * math.sin(angle) + aside * math.cos(angle)) * 0.86
        outline.append(((middle[0] + x) * FINE, (middle[1] + y) * FINE))
    draw.polygon(outline, fill=(34, 26, 20))


def paint(width: int, height: int, draw: Callable[[ImageDraw.ImageDraw], None]) -> Image.Image:
    """Draw large, then scale down."""
    image = Image.new("RGB", (width * FINE, height * FINE))
    draw(ImageDraw.Draw(image))
    return image.resize((width, height), Image.Resampling.LANCZOS)


def save(image: Image.Image, form: str, **options: object) -> bytes:
    """The picture's bytes."""
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def ring_chime(seconds: float = 1.5, rate: int = 16000) -> bytes:
    """Two tones, E5 and then C5, each struck and dying away; mono, 16 bit."""
    samples = [
        round(9000 * (strike(at / rate, 659.26) + strike(at / rate - 0.45, 523.25)))
        for at in range(round(seconds * rate))
    ]
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return buffer.getvalue()


def strike(since: float, pitch: float) -> float:
    """A bell's swing, `since` seconds after its stroke: a tone, its octave, and a fifth above that."""
    if since < 0:
        return 0.0
    rise = min(1.0, since / 0.004)
    partials = ((1, 1.0, 3.2), (2, 0.45, 5.0), (3, 0.2, 7.5))
    return rise * sum(
        loud * math.exp(-fade * since) * math.sin(2 * math.pi * pitch * times * since) for times, loud, fade in partials
    )


def make_samples() -> dict[str, bytes]:
    """Every sample by name."""
    kiwi = paint(480, 360, draw_kiwi).filter(ImageFilter.GaussianBlur(0.4))
    return {
        "invoice.pdf": write_invoice(),
        "guide.pdf": write_guide(),
        "visitors.csv": VISITORS.encode(),
        "harbour.png": save(paint(640, 400, draw_harbour), "PNG", optimize=True),
        "kiwi.jpg": save(kiwi, "JPEG", quality=88),
        "chime.wav": ring_chime(),
    }


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, content in make_samples().items():
        (target / name).write_bytes(content)
