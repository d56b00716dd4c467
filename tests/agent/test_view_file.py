"""`view_file`: pages and parts of images really reach the model, and missing ones are reported."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell import File
from showandtell.agent.builtin_tools import view_file
from showandtell.agent.file_tools import choose_pages
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.parts import Selection
from showandtell.errors import ToolError
from showandtell.inspector.request import files_of
from support.fixtures import pdf_file, png, svg, wav
from support.scripted import CLAUDE, GEMINI, GPT, check_usable, each_api, results, say, scripted, two_apis

#: So far apart that no two can be taken for each other, also after JPEG.
COLOURS = [(20 * at, 240 - 20 * at, 60 * (at % 4)) for at in range(1, 13)]
CORNERS = {"red": (250, 0, 0), "green": (0, 250, 0), "blue": (0, 0, 250), "white": (250, 250, 250)}


def coloured_pdf(colours):
    """A PDF whose pages are 300 by 200 points: their left half in their colour, their right half black."""
    kids = " ".join(f"{3 + 2 * at} 0 R" for at in range(len(colours)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(colours)} >>".encode(),
    ]
    for at, colour in enumerate(colours):
        fill = " ".join(f"{part / 255:.4f}" for part in colour)
        drawing = f"{fill} rg 0 0 150 200 re f 0 0 0 rg 150 0 150 200 re f".encode()
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents {4 + 2 * at} 0 R >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawing), drawing))
    return pdf_file(objects)


def quartered(form="PNG", **options):
    """A picture of 400 by 200 pixels, each quarter in a colour of its own."""
    image = Image.new("RGB", (400, 200))
    for at, colour in enumerate(CORNERS.values()):
        image.paste(colour, (at % 2 * 200, at // 2 * 100, at % 2 * 200 + 200, at // 2 * 100 + 100))
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


DOCUMENT = File.from_bytes(coloured_pdf(COLOURS), name="book.pdf")
PICTURE = File.from_bytes(quartered(), name="corners.png")


def look(file, model=CLAUDE, **arguments):
    """The result of a look, the run, and the pictures that the model is given beside the original."""
    calls = say("", ("c1", "view_file", json.dumps({"number": 1, **arguments})), model=model), say("Ok.", model=model)
    agent, script = scripted(*calls, model=model, tools=[view_file])
    run = agent.run_sync("look", files=[file])
    check_usable(run.conversation)
    seen = [item.data for turn in script.asked[1].turns for item in files_of(turn)]
    return results(run.messages)[0], run, [open_picture(data) for data in seen[1:]]


def open_picture(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def nearest(colour, colours):
    """Which of some colours is meant, for a JPEG changes each a little."""
    return min(colours, key=lambda item: sum((a - b) ** 2 for a, b in zip(item, colour, strict=True)))


def middle(picture):
    return picture.getpixel((picture.width // 2, picture.height // 2))


def refusal(file, **arguments):
    """What the model receives if a view can't be made."""
    (_, words, failed), run, pictures = look(file, **arguments)
    assert (failed, pictures, run.status) == (True, [], "complete")
    return words


@each_api
def test_a_page_of_a_document_is_shown_and_no_other(model):
    _, run, pictures = look(DOCUMENT, model, pages=[7])
    assert [nearest(picture.getpixel((picture.width // 4, picture.height // 2)), COLOURS) for picture in pictures] == [
        COLOURS[6]
    ]
    assert [max(picture.size) for picture in pictures] == [1568]
    assert run.messages[2].showings[0].view == Selection(pages=(7,))
    record = run.receipts[0].record()
    assert (record["converted"], record["pages"], record["total"]) == (True, (7,), 12)


@two_apis
def test_pages_come_in_the_order_that_was_asked_for_each_once(model):
    _, run, pictures = look(DOCUMENT, model, pages=[12, 3, 12])
    assert [nearest(picture.getpixel((9, 9)), COLOURS) for picture in pictures] == [COLOURS[11], COLOURS[2]]
    assert run.receipts[0].variant.pages == (12, 3)


@two_apis
def test_a_piece_of_a_page_is_measured_as_the_page_is_shown(model):
    _, _, (left,) = look(DOCUMENT, model, pages=[5], crop=[0, 0, 700, 400])
    _, _, (right,) = look(DOCUMENT, model, pages=[5], crop=[800, 0, 1568, 400])
    assert nearest(middle(left), [*COLOURS, (0, 0, 0)]) == COLOURS[4]
    assert nearest(middle(right), [*COLOURS, (0, 0, 0)]) == (0, 0, 0)


@each_api
@pytest.mark.parametrize(
    ("corner", "crop"),
    [
        ("red", [0, 0, 200, 100]),
        ("green", [200, 0, 400, 100]),
        ("blue", [0, 100, 200, 200]),
        ("white", [250, 150, 400, 200]),
    ],
)
def test_a_piece_of_a_picture_is_shown_larger(model, corner, crop):
    _, run, (piece,) = look(PICTURE, model, crop=crop)
    assert {
        nearest(piece.getpixel((x, y)), CORNERS.values()) for x in (5, piece.width - 5) for y in (5, piece.height - 5)
    } == {CORNERS[corner]}
    assert piece.size == ((crop[2] - crop[0]) * 2, (crop[3] - crop[1]) * 2)
    assert run.receipts[0].record()["scale"] == 2.0


@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI])
def test_a_piece_stands_where_the_api_takes_pictures_of_tools(model):
    _, run, _ = look(PICTURE, model, crop=[0, 0, 200, 100])
    places = {CLAUDE: ("native", "tool_result"), GPT: ("relocated", "user"), GEMINI: ("native", "tool_result")}
    assert (run.receipts[0].delivery, run.receipts[0].place) == places[model]


def test_a_photo_that_lies_on_its_side_is_cropped_as_people_see_it():
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = File.from_bytes(quartered("JPEG", exif=exif, quality=95), name="photo.jpg")
    _, _, (piece,) = look(turned, crop=[0, 0, 100, 200])
    assert nearest(middle(piece), CORNERS.values()) == CORNERS["blue"]
    assert "is 200 x 400 pixels" in refusal(turned, crop=[0, 0, 400, 200])


def test_a_page_of_a_tiff_is_shown():
    pages = [Image.new("RGB", (40, 40), colour) for colour in COLOURS[:3]]
    buffer = io.BytesIO()
    pages[0].save(buffer, "TIFF", save_all=True, append_images=pages[1:])
    calls = say("", ("c1", "view_file", '{"number": 1, "pages": [2]}')), say("Ok.")
    agent, script = scripted(*calls, tools=[view_file])
    run = agent.run_sync("look", files=[File.from_bytes(buffer.getvalue(), name="scan.tiff")])
    last = [file.data for turn in script.asked[1].turns for file in files_of(turn)][-1]
    assert nearest(middle(open_picture(last)), COLOURS) == COLOURS[1]
    assert run.receipts[0].variant.pages == (2,)


def test_nothing_chosen_is_the_whole_file():
    _, run, _ = look(PICTURE, pages=[], crop=[])
    assert run.messages[2].showings[0].view is None


@pytest.mark.parametrize(("pages", "wrong"), [([13], "13"), ([0, 1], "0"), ([-1, 12, 99], "-1, 99")])
def test_a_page_that_is_not_there_tells_how_many_there_are(pages, wrong):
    assert (
        refusal(DOCUMENT, pages=pages) == f"document 1 (book.pdf) has no page {wrong}: it has 12 pages, counted from 1"
    )


def test_more_than_ten_pages_are_too_many_at_a_time():
    assert refusal(DOCUMENT, pages=[*range(1, 12)]) == "11 pages are too many at a time: ask for 10, then for the next"


@pytest.mark.parametrize("crop", [[0, 0, 401, 10], [0, 0, 10, 201], [-1, 0, 10, 10], [10, 10, 10, 20], [20, 0, 10, 10]])
def test_a_piece_outside_the_picture_or_without_area_tells_the_size(crop):
    inside = "crop takes [left, top, right, bottom] inside it"
    assert refusal(PICTURE, crop=crop) == f"image 1 (corners.png) is 400 x 200 pixels: {inside}, not {crop}"


def test_a_piece_outside_a_page_tells_how_large_pages_are():
    words = refusal(DOCUMENT, pages=[2], crop=[0, 1000, 100, 1100])
    assert words.startswith("document 1 (book.pdf) is 1568 x 1046 pixels a page: ")


@pytest.mark.parametrize("crop", [[1, 2, 3], [1, 2, 3, 4, 5]])
def test_a_piece_takes_four_numbers(crop):
    assert refusal(PICTURE, crop=crop) == "crop takes four numbers: [left, top, right, bottom]"


TEXT = File.from_bytes(b"plain words", name="note.txt")


@pytest.mark.parametrize(
    ("file", "arguments", "received"),
    [
        (PICTURE, {"pages": [1]}, "image 1 (corners.png) is image/png and has no pages that can be shown: ask without pages"),
        (TEXT, {"pages": [1]}, "text 1 (note.txt) is text/plain and has no pages that can be shown: get_document gives its text"),
        (TEXT, {"crop": [0, 0, 1, 1]}, "text 1 (note.txt) is text/plain: only pictures and pages of PDFs can be cropped"),
    ],
)  # fmt: skip
def test_what_has_no_such_part_is_reported(file, arguments, received):
    assert refusal(file, **arguments) == received


def test_a_sound_is_not_cropped():
    (_, words, failed), _, _ = look(File.from_bytes(wav(), name="a.wav"), GEMINI, crop=[0, 0, 1, 1])
    received = "audio 1 (a.wav) is audio/wav: only pictures and pages of PDFs can be cropped"
    assert (words, failed) == (received, True)


def test_a_drawing_is_cropped_in_its_own_pixels():
    drawing = File.from_bytes(svg(80, 40), name="drawing.svg")
    assert "it is 80 x 40 pixels" in refusal(drawing, crop=[90, 0, 100, 10])
    assert not look(drawing, crop=[0, 0, 40, 20])[0][2]


@pytest.mark.parametrize("crop", [[-5, -5, 50, 30], [0, 0, 81, 40], [0, 0, 10**30, 10**30], [20, 20, 10, 30]])
def test_a_piece_that_is_not_inside_a_drawing_tells_the_size_and_not_kept(crop):
    words = refusal(File.from_bytes(svg(80, 40), name="drawing.svg"), crop=crop)
    assert words.startswith("text 1 (drawing.svg) can't be shown closer: has not all of ")
    assert "it is 80 x 40 pixels" in words


def test_a_file_that_failed_is_reported_with_its_problem():
    def get() -> File:
        return File.from_bytes(png()[:30], name="torn.png")

    calls = say("", ("c1", "get", "{}")), say("", ("c2", "view_file", '{"number": 1}')), say("Ok.")
    run = scripted(*calls, tools=[get, view_file])[0].run_sync("go")
    _, words, failed = results(run.messages)[1]
    assert failed
    assert words.startswith("file 1 (torn.png) can't be used: is torn")


@given(st.integers(1, 40), st.lists(st.integers(-5, 45), min_size=1, max_size=15))
def test_pages_are_either_all_there_each_once_or_reported(count, pages):
    facts = Facts("0" * 64, "application/pdf", 10, pages=count)
    file = Attachment("att_1", 1, "a.pdf", Origin("user"), "2026-11-21", facts)
    fits = all(1 <= page <= count for page in pages) and len({*pages}) <= 10
    try:
        chosen = choose_pages(file, facts, pages)
    except ToolError:
        assert not fits
    else:
        assert fits
        assert chosen == tuple(dict.fromkeys(pages))
