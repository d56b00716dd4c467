"""What people really have arrives in a form that a model of pictures and words takes: a photo, a book, a letter, a film."""

import io

import docx
import pillow_heif
import pytest
from PIL import Image

from showandtell import File, render
from support.builders import user_history
from support.fixtures import pdf
from support.videos import grey

MODEL = "vllm:Qwen/Qwen3-VL-8B-Instruct"


def photo():
    held = io.BytesIO()
    pillow_heif.from_pillow(Image.linear_gradient("L").resize((2016, 1512)).convert("RGB")).save(held)
    return File.from_bytes(held.getvalue(), name="IMG_0001.HEIC")


def letter():
    held, written = io.BytesIO(), docx.Document()
    written.add_paragraph("The rope is in shed nine.")
    written.save(held)
    return File.from_bytes(held.getvalue(), name="letter.docx")


def book():
    return File.from_bytes(pdf(*(f"Page {number}" for number in range(1, 41))), name="book.pdf")


@pytest.mark.parametrize(("make", "label"), [(photo, "image 1"), (letter, "document 1"), (book, "document 1")])
def test_a_photo_a_letter_and_a_book_reach_a_model_that_takes_png_jpeg_and_words(make, label):
    request = render(user_history(make()), model=MODEL)
    (receipt,) = request.receipts
    body = b"".join(request.chunks()).decode()
    assert (receipt.delivery, receipt.converted, receipt.label) == ("native", True, label)
    assert ("shed nine" in body) == (make is letter)
    assert ("pages 1 to 5 of 40 as pictures" in body) == (make is book)


def test_a_film_arrives_as_frames_with_their_times():
    data = grey(size=(1280, 720), seconds=2, rate=10)
    request = render(user_history(File.from_bytes(data, name="clip.mp4")), model=MODEL)
    (receipt,) = request.receipts
    assert {file.media_type for file in receipt.variant.files} <= {"image/jpeg", "image/png"}
    assert len(receipt.variant.times) == len(receipt.variant.files) == 8
    assert "\u27e6video 1 at 0:0" in b"".join(request.chunks()).decode()
