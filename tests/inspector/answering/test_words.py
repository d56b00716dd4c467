"""Words that point at files, to the embedded model: it follows the label that says what they mean, and counts right."""

import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell import Agent, File
from showandtell.agent.builtin_tools import view_file
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.message import Reference
from showandtell.core.planning.labels import explain_references
from showandtell.inspector.answering.meanings import read_meanings
from showandtell.inspector.request import RequestTurn, TextPart
from support.fixtures import pdf, png
from support.inspector_requests import assistant, claude, details, image, people, text, user, words
from support.scripted import each_api, two_apis

RED, GREEN = png(8, 8), png(40, 30, (20, 160, 40))


def pages(*colours):
    """A TIFF of a page of 50 by 20 pixels in each colour."""
    first, *rest = [Image.new("RGB", (50, 20), colour) for colour in colours]
    buffer = io.BytesIO()
    first.save(buffer, "TIFF", save_all=True, append_images=rest)
    return buffer.getvalue()


FIRST, SCAN = File.from_bytes(RED, name="first.png"), File.from_bytes(pages("red", "lime", "blue"), name="scan.tiff")
RENT = File.from_bytes(pdf("Rent: 12 EUR"), name="rent.pdf")
DRAWING = File.from_bytes(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', name="d.svg")
UPLOADS = [FIRST, SCAN, DRAWING, RENT]


def talk(model, *output, files=UPLOADS, tools=()):
    """What the inspector says to each message of a conversation that begins with files."""
    agent, answers = Agent(model, tools=tools), []
    run = agent.run_sync("look", files=files)
    for item in output:
        run = agent.run_sync(item, conversation=run.conversation)
        answers.append(run.text)
    return answers


def label(title):
    return text(f"⟦{title}⟧")


@two_apis
def test_words_that_point_are_followed_as_their_label_says(model):
    look, say, svg, document = talk(
        model, "lets look at 2", "what does the last upload say?", "describe image 3", "describe document 2"
    )
    assert details(look).startswith("You name 1 file (3 pictures):\n- image 2: scan.tiff, ")
    assert details(say).startswith("You name 1 file:\n- document 4: rent.pdf") or "Rent: 12 EUR" in say
    assert details(svg).startswith("You name 1 file:\n- text 3: d.svg")
    assert details(document).startswith("You name 1 file (3 pictures):\n- image 2: scan.tiff")


@two_apis
def test_a_file_of_several_pages_is_compared_as_one_file(model):
    (output,) = talk(model, "compare image 2 with the first upload")
    assert people(output).startswith(
        "image 2 (scan.tiff), image 1 (first.png) compared:\n- pieces: image 2 (scan.tiff) 3; "
    )
    assert "- colours: image 2 (scan.tiff) red 100%, then green 100%, then blue 100%; image 1 (first.png) red" in output
    assert "You name 2 files (4 pictures):" in output
    assert "There is no" not in output


@each_api
def test_where_words_may_mean_several_files_all_are_reported(model):
    (output,) = talk(model, "what does image 2 say?", files=[FIRST, RENT, File.from_bytes(GREEN, name="wall.png")])
    assert output.startswith('"image 2" may mean document 2 (rent.pdf) or image 3 (wall.png): say which one you mean.')
    assert "Rent: 12 EUR" in output
    assert "40 x 30 pixels" in output
    assert "first.png" not in output


@two_apis
def test_files_are_counted_as_files_however_many_pictures_they_come_in(model):
    run = Agent(model).run_sync("look", files=UPLOADS)
    drawn = run.receipts[2]
    assert (drawn.name, drawn.variant.files[0].media_type) == ("d.svg", "image/png"), drawn.reason
    assert details(run.text).startswith("I received 4 files (5 pictures, 1 document):\n")
    assert "- image 2: scan.tiff, uploaded by the user" in run.text
    assert "as pictures, page 3\n" in run.text


@pytest.mark.parametrize("asked", ["show the first upload again", "show me 1 again"])
def test_a_tool_that_takes_a_number_is_given_the_one_that_words_mean(asked):
    run = Agent("inspector", tools=[view_file]).run_sync("look", files=UPLOADS)
    again = Agent("inspector", tools=[view_file]).run_sync(asked, conversation=run.conversation)
    calls = [part for message in again.messages for part in message.parts if hasattr(part, "arguments")]
    assert [(call.tool, call.arguments) for call in calls] == [("view_file", '{"number":1}')]


def test_a_number_that_no_file_has_is_missed_beside_those_that_there_are():
    (output,) = talk("inspector", "compare images 1, 2 and 9")
    assert people(output).startswith("image 1 (first.png), image 2 (scan.tiff) compared:")
    assert "There is no image 9; there are: image 1 (first.png), image 2 (scan.tiff), text 3 (d.svg)" in output


def test_pictures_and_sound_of_a_film_are_pieces_of_it():
    film = "video 8: tour.mp4, uploaded by the user, 2026-01-01, 2 pictures out of 3 seconds"
    frames = [label("video 8 at 0:00.3"), image(RED), label("video 8 at 0:02"), image(GREEN)]
    shown = user("look", label("image 3: a.png, uploaded by the user, 2026-01-01"), image(GREEN), label(film), *frames)
    output = words(claude(shown, assistant("ok"), user("compare video 8 with image 3")))
    assert people(output).startswith(
        "video 8 (tour.mp4), image 3 (a.png) compared:\n- pieces: video 8 (tour.mp4) 2; image 3"
    )
    assert "2 pictures out of 3 seconds, at 0:00.3\n" in output


def test_no_number_is_made_up_where_labels_are_in_the_request():
    shown = user("look", label("image 7, page 1"), image(RED), label("image 7: gone.png, not in view any more"))
    output = words(claude(shown, assistant("ok"), user("describe image 1")))
    assert people(output) == "There is no image 1; there are: image 7 (gone.png)."


@two_apis
def test_the_pages_that_a_tool_returned_belong_to_its_file(model):
    def scan() -> File:
        """Scan a sheet."""
        return SCAN

    run = Agent(model, tools=[scan]).run_sync("/scan", files=[FIRST])
    assert details(run.text).startswith("I received 2 files (4 pictures):\n")
    (output,) = talk(model, "describe image 2", files=[FIRST, SCAN])
    again = Agent(model, tools=[scan]).run_sync("describe image 2", conversation=run.conversation)
    assert details(output).startswith("You name 1 file (3 pictures):\n- image 2: scan.tiff, uploaded by")
    assert details(again.text).startswith("You name 1 file (3 pictures):\n- image 2: scan.tiff, from tool scan")


def test_the_first_words_of_a_conversation_point_at_the_files_that_come_with_them(tmp_path):
    (tmp_path / "first.png").write_bytes(RED)
    (tmp_path / "scan.tiff").write_bytes(pages("red", "lime", "blue"))
    words, attached = "compare image 2 with the first upload", ["--attach", "first.png", "--attach", "scan.tiff"]
    command = [sys.executable, "-m", "showandtell", "ask", words, *attached, "--model", "inspector"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert "image 2 (scan.tiff), image 1 (first.png) compared:" in done.stdout, done.stderr
    assert "You name 2 files (4 pictures):" in done.stdout


NAMES = st.text(st.sampled_from("ab,;:=?⟦ \n"), min_size=1, max_size=12) | st.sampled_from(
    ["a = b.png", "x; image 2 = y.png, uploaded by the user", "image 3: z.png", "q or image 1: r.png, from a tool"]
)


@given(st.lists(NAMES, min_size=3, max_size=3), st.data())
def test_a_label_is_read_as_it_was_written_whatever_names_and_words_hold(names, data):
    origins = Origin("user"), Origin("tool", "gdrive_display_image", "c"), Origin("assistant")
    files = {
        number: Attachment(f"a{number}", number, name, origin, "2026-01-01", Facts("0" * 64, "image/png", 1))
        for number, (name, origin) in enumerate(zip(names, origins, strict=True), 1)
    }
    some = st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3, unique=True).map(tuple)
    received = data.draw(st.lists(st.one_of(some, st.tuples(some, some)), min_size=1, max_size=3))
    output = [
        Reference(f"word {at}", *(((), item) if isinstance(item[0], tuple) else (item, ())))
        for at, item in enumerate(received)
    ]
    known = {number: " ".join(name.replace("⟦", "〚").split()) for number, name in enumerate(names, 1)}
    found = read_meanings(RequestTurn("user", (TextPart(explain_references(output, files).text),)), known)
    assert [(item.phrase, item.readings) for item in found] == [
        (item.words, item.readings or (item.numbers,)) for item in output
    ]
