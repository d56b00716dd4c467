"""What an answer of the embedded model says to people: the introduction, sentences, and facts behind a fold."""

import hashlib
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import Agent
from showandtell.agent.builtin_tools import chart
from showandtell.inspector.answering.answer import answer
from showandtell.inspector.answering.report import FileReport, examine, ocr_cache
from showandtell.inspector.answering.summary import INTRODUCTION, MAX_SENTENCES, fold, summarize_file
from showandtell.inspector.request import ModelRequest, ReceivedFile, RequestTurn, TextPart
from support.fixtures import pdf, png, wav
from support.inspector_requests import (
    FOLD,
    assistant,
    chat,
    claude,
    details,
    document,
    image,
    people,
    result,
    sound,
    step,
    text,
    use,
    user,
    words,
)

RED = png(640, 480)
CITY = {
    "type": "object",
    "properties": {"size": {"type": "integer"}},
    "required": ["size"],
    "additionalProperties": False,
}
TYPED = {"output_config": {"format": {"type": "json_schema", "schema": CITY}}}


def named(title: str, data: bytes = RED) -> tuple[dict, dict]:
    return text(f"⟦{title}, uploaded by the user, 2026-01-01⟧"), image(data)


def report(**facts: object) -> FileReport:
    return FileReport("", "", "image/png", 1, "0", facts)


# The introduction


def test_the_first_answer_begins_with_what_the_inspector_is_and_later_ones_do_not():
    first = words(claude(user("hello")))
    later = words(claude(user("hello"), assistant(first), user("hello again")))
    assert first.startswith(f"{INTRODUCTION}\n\n")
    assert INTRODUCTION not in later
    assert later


def test_a_run_with_tools_is_introduced_once_and_before_its_calls():
    run = Agent("inspector", tools=[chart]).run_sync('draw a chart titled "Apples" with 1, 2 and 3')
    texts = [part.text for message in run.messages for part in message.parts if hasattr(part, "text")]
    assert [at for at, text in enumerate(texts) if INTRODUCTION in text] == [1]
    assert texts[1].endswith("I run chart.")
    assert run.text.startswith("The tool chart returned")


@pytest.mark.parametrize("earlier", ['{"size": 1}', "I am Claude.", INTRODUCTION[3:]])
def test_an_answer_without_the_introduction_introduces_nobody(earlier: str):
    assert words(claude(user("hello"), assistant(earlier), user("and?"))).startswith(INTRODUCTION)


@pytest.mark.parametrize("limit", [1, 5, 30])
def test_an_introduction_that_max_tokens_cut_is_not_repeated(limit: int):
    first = words(claude(user("look", image(RED)), max_tokens=limit))
    assert INTRODUCTION.startswith(first)
    assert INTRODUCTION[:9] not in words(claude(user("look", image(RED)), assistant(first), user("hello")))


def test_an_answer_that_fits_alone_is_whole_and_the_next_one_is_introduced():
    _, first = claude(user("plot 1, 2"), max_tokens=30)
    assert first["stop_reason"] == "tool_use"
    assert first["content"][0]["text"] == "By the words of your message I run plot."
    after = user("plot 1, 2"), {"role": "assistant", "content": first["content"]}
    shown = user(result("done", call_id=first["content"][1]["id"]))
    assert words(claude(*after, shown)).startswith(INTRODUCTION)


def test_a_typed_answer_has_no_introduction_and_the_next_one_has_it():
    first = words(claude(user("hello"), **TYPED))
    assert first == '{"size":1}'
    assert words(claude(user("hello"), assistant(first), user("hello"))).startswith(INTRODUCTION)


# The sentences


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"pixels": [640, 480], "colours": [["red", 0.6], ["white", 0.3]]}, "640 × 480 pixels, mostly red and white."),  # noqa: RUF001
        ({"pixels": [1, 1], "colours": [["red", 1.0]]}, "1 × 1 pixels, all red."),  # noqa: RUF001
        ({"pages": 1}, "1 page."),
        ({"seconds": 1.5}, "1.5 seconds."),
        ({}, "image/png, 1 bytes."),
    ],
)
def test_a_sentence_has_size_and_main_colours(facts: dict, sentence: str):
    assert summarize_file("Image 1", [report(**facts)]) == f"Image 1: {sentence}"


def test_a_file_is_one_sentence_with_its_text_and_one_full_stop():
    sentence = people(words(claude(user("look", text("⟦document 1: a.pdf, x⟧"), document(pdf("Total 42."))))))
    assert sentence == "Document 1, a.pdf, x: 1 page, with the text “Total 42.”"


def test_every_file_has_a_sentence_and_pages_are_those_of_their_file():
    heading = text("⟦image 2: scan.tiff, uploaded by the user, 2026-01-01, as pictures⟧")
    pages = (part for number in (1, 2) for part in (text(f"⟦image 2, page {number}⟧"), image(png(8, 8))))
    output = people(words(claude(user("look", *named("image 1: photo.png"), heading, *pages))))
    assert output == (
        "Image 1, photo.png: 640 × 480 pixels, all red.\n\n"  # noqa: RUF001
        "Image 2, scan.tiff: 2 pictures, 8 × 8 pixels each, all red."  # noqa: RUF001
    )


def test_a_sound_and_a_torn_file_are_sentences():
    heard = chat(user("listen", sound(wav(0.5))), model="gpt-audio")[1]["choices"][0]["message"]["content"]
    assert people(heard) == "File 1: 0.5 seconds."
    torn = people(words(claude(user("look", *named("image 1: a.png", RED[:60])))))
    assert torn.startswith("Image 1, a.png: it is torn")


def test_a_file_that_came_as_text_says_so():
    framed = "⟦text 3: notes.md, uploaded by the user, as text⟧", "A kiwi\nis a bird.", "⟦end of text 3⟧"
    output = words(claude(user("look", *framed)))
    assert people(output) == "Text 3, notes.md, as text: 17 characters, “A kiwi is a bird.”"
    assert "- text 3: notes.md, uploaded by the user, as text\n" in details(output)


def test_results_are_sentences_and_empty_ones_leave_no_empty_lines():
    results = result("42", call_id="a"), result("(no output)", call_id="b")
    output = words(claude(user("go"), assistant(use("a"), use("b")), user(*results)))
    assert people(output) == "The tool plot returned “42”."
    assert details(output) == '- plot (a) said: "42"'
    assert people(words(claude(*step("(no output)")))) == "The tool plot returned nothing."


def test_of_many_files_some_are_sentences_and_all_are_in_the_details():
    files = [part for number in range(1, 41) for part in named(f"image {number}: {number}.png", png(2, 2))]
    output = words(claude(user("look", *files)))
    assert len(people(output).split("\n\n")) == MAX_SENTENCES + 1
    assert people(output).endswith("28 more: see the details.")
    assert details(output).count("sha256") == 40


# The fold


@given(st.text(st.sampled_from("`~a\n ")))
def test_no_run_of_backticks_ends_the_fold(facts: str):
    folded = fold(facts)
    assert (folded == "") == (not facts.strip())
    assert not folded or FOLD.fullmatch(folded)[2] == facts
    assert not folded or max(map(len, re.findall("`+", facts)), default=0) < len(FOLD.fullmatch(folded)[1])


def test_the_tools_are_folded_after_an_unknown_command():
    output = words(claude(user("/paint colour=red")))
    assert people(output) == "There is no tool /paint. The details list those that there are."
    assert "`/show_invoice`" in details(output)


# Text in pictures


def reads(message: str, *, new: bytes | None = None) -> list[str]:
    """The media types of the files whose text OCR is asked for, by a message after a picture and a scan."""
    read = []

    def read_image(_path: Path, media_type: str, _sha256: str) -> tuple[str, str]:
        read.append(media_type)
        return "", "no text found in it"

    scan = ReceivedFile("user", "application/pdf", "1", pdf(""))
    first = RequestTurn("user", (TextPart("look"), ReceivedFile("user", "image/png", "0", png(9, 9)), scan))
    files = (ReceivedFile("user", "image/png", "2", new),) if new else ()
    last = RequestTurn("user", (TextPart(message), *files))
    answer(
        ModelRequest("m", (first, RequestTurn("assistant", (TextPart("ok"),)), last)),
        partial(examine, read_image=read_image),
    )
    return read


@pytest.mark.parametrize("asked", ["What is the total?", "Which words rhyme?", "hello", "Quote the text of a.png"])
def test_a_question_without_a_picture_reads_no_text_in_earlier_ones(asked: str):
    assert reads(asked) == []


@pytest.mark.parametrize(
    ("asked", "types"),
    [
        ("What does the photo say?", ["image/png"]),
        ("What does image 1 say?", ["image/png"]),
        ("What does the document say?", ["application/pdf"]),
        ("Read the scans", ["image/png", "application/pdf"]),
    ],
)
def test_a_question_about_a_picture_reads_the_text_in_it(asked: str, types: list[str]):
    assert reads(asked) == types


def test_a_question_with_a_new_picture_reads_the_text_in_that_one():
    assert reads("What does it say?", new=png(7, 7)) == ["image/png"]


def test_text_that_was_read_before_answers_a_question_without_a_picture(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(ocr_cache, hashlib.sha256(RED).hexdigest(), "Total: 42 EUR")
    shown = user("look", *named("image 1: a.png")), assistant("ok")
    assert people(words(claude(*shown, user("What is the total?")))).startswith("> Total: 42 EUR\n")
