"""How files, receipts, runs and conversations show themselves."""

import asyncio
import base64
import io
import re

import pytest
from PIL import Image

from showandtell import Agent, Draft, File, Text, ToolResult
from showandtell.core.messages.file import Reader
from showandtell.samples import folder

KIWI = (folder() / "kiwi.jpg").read_bytes()
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script><rect width="9" height="9"/></svg>'


def photo(name: str) -> ToolResult:
    """Show a photo."""
    return ToolResult("Here.", File.from_bytes(KIWI, "image/jpeg", name))


def run(name="kiwi.jpg", **settings):
    return Agent("inspector", [photo], **settings).run_sync(f"/photo name={name}")


def pictures(html):
    """The images in HTML, decoded."""
    return [
        Image.open(io.BytesIO(base64.b64decode(data)))
        for data in re.findall(r'src="data:image/\w+;base64,([^"]+)"', html)
    ]


def test_a_run_shows_its_answer_its_numbered_pictures_and_receipts():
    html = run()._repr_html_()
    (image,) = pictures(html)
    assert max(image.size) == 320
    assert "<figcaption>image 1: kiwi.jpg, from photo</figcaption>" in html
    assert "I received 1 file" in html
    assert "<li>image 1 (kiwi.jpg) shown in the tool result" in html


def test_a_conversation_shows_each_message_and_each_file_once():
    conversation = run().conversation
    text = conversation._repr_mimebundle_()["text/plain"]
    assert re.findall(r"^(you|model|tool photo)$", text, re.MULTILINE) == ["you", "model", "tool photo", "model"]
    assert text.count("[image 1: kiwi.jpg, from photo]") == 1
    assert len(pictures(conversation._repr_html_())) == 1


def test_a_receipt_says_how_the_model_saw_its_file():
    assert (
        run().receipts[0]._repr_mimebundle_()["text/plain"].startswith("image 1 (kiwi.jpg)\nshown in the tool result")
    )


@pytest.mark.parametrize("file", [File.from_path(folder() / "kiwi.jpg"), File.from_bytes(KIWI, name="kiwi.jpg")])
def test_a_file_shows_a_small_picture(file):
    (image,) = pictures(file._repr_html_())
    assert max(image.size) == 320


def test_an_svg_is_drawn_before_it_is_shown():
    html = File.from_bytes(SVG, "image/svg+xml", "a.svg")._repr_html_()
    assert [image.format for image in pictures(html)] == ["WEBP"]
    assert "script" not in html


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\nbroken", b"text"])
def test_a_file_without_picture_shows_its_name(data):
    html = File.from_bytes(data, "image/png", "<b>a.png</b>")._repr_html_()
    assert "&lt;b&gt;a.png&lt;/b&gt;, image/png" in html
    assert "<img" not in html


def test_addresses_and_readers_that_can_be_read_once_are_not_opened():
    opened = []
    reader = File(Reader(lambda: opened.append(1) or io.BytesIO(KIWI), len(KIWI)), "image/jpeg", "once.jpg")
    assert "file: once.jpg" in reader._repr_html_()
    assert "<img" not in File.from_uri("https://example.com/kiwi.jpg", "image/jpeg")._repr_html_()
    assert opened == []


@pytest.mark.parametrize(("audience", "count"), [("both", 1), ("user", 1), ("assistant", 0)])
def test_files_are_shown_as_on_the_page(audience, count):
    conversation = Agent("inspector").conversation()
    file = File.from_bytes(KIWI, "image/jpeg", "secret.jpg", audience=audience)
    conversation.ingest_now([Draft("user", (Text("Look.", audience), file))])
    html = conversation._repr_html_()
    assert (len(pictures(html)), html.count("<figcaption>"), html.count("Look.")) == (count, count, count)


def test_a_run_that_was_not_awaited_says_so():
    run = Agent("inspector").run("hello")
    assert "this run has not begun: await it" in run._repr_html_()
    asyncio.run(run.cancel())


def test_names_of_files_and_answers_are_escaped():
    html = run(name="<script>x.jpg")._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
