"""Which files a person's words point at."""

import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.messages.messages import Reference
from showandtell.core.references import MOST_REFERENCES, MOST_TEXT, resolve
from showandtell.core.references.vocabulary import LOOKING, NOUNS, ORDINALS, PLURALS
from support.house import HOUSE, TWO, converse
from support.references_said import MEANS, MEANS_OF_TWO
from support.references_unsaid import MEANS_NOTHING

SIGNS = [",", ".", "-", "#", "%", "?", ":", "/", "`", "```", "{", "}", "[", "](", '"', "'", "\n"]
SMALL = """the my your this these all both every of from you made I uploaded above one a drive gdrive chart accent wall
1 2 3 5 7 12 99 1st 2nd two and or to vs with below cats invoice.pdf"""
#: Words of all tables, numbers and signs, so that most texts are nearly references.
PIECES = sorted({*SIGNS, *SMALL.split(), *NOUNS, *PLURALS, *ORDINALS, *(word for phrase in LOOKING for word in phrase)})
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join)


def spell(references: tuple[Reference, ...]) -> str:
    """References as the tables write them."""
    said = [(one.words, (one.numbers,) if one.numbers else one.readings) for one in references]
    return "; ".join(f"{words} = {' or '.join(', '.join(map(str, one)) for one in all_)}" for words, all_ in said)


@pytest.mark.parametrize("text", MEANS)
def test_words_point_at_the_files_they_mean(text):
    assert spell(resolve(text, HOUSE)) == MEANS[text]


@pytest.mark.parametrize("text", MEANS_NOTHING)
def test_words_and_numbers_that_mean_something_else_point_at_nothing(text):
    assert resolve(text, HOUSE) == ()


@pytest.mark.parametrize("text", MEANS_OF_TWO)
def test_what_words_mean_depends_on_what_there_is(text):
    assert spell(resolve(text, TWO)) == MEANS_OF_TWO[text]


def test_the_tables_hold_at_least_two_hundred_sentences():
    assert len(MEANS) >= 120
    assert len(MEANS_NOTHING) >= 80


@pytest.mark.parametrize("text", ["image 5", "look at 1", "the last image", "accent_wall.png", "#1", "all uploads"])
def test_nothing_is_meant_where_there_are_no_files(text):
    assert resolve(text, {}) == ()


def test_a_reading_has_no_numbers_and_two_readings_at_least():
    (found,) = resolve("open image 2", HOUSE)
    assert found == Reference("image 2", (), ((2,), (3,)))


def test_files_of_one_name_are_told_apart_by_their_bytes():
    twins = {**TWO, 2: replace(TWO[2], facts=TWO[1].facts)}
    assert spell(resolve("is plan.png good?", TWO)) == "plan.png = 1 or 2"
    assert spell(resolve("is plan.png good?", twins)) == "plan.png = 2"


def test_deleted_and_failed_files_can_be_pointed_at():
    gone = {**HOUSE, 5: replace(HOUSE[5], facts=None, problem="was deleted", state="deleted")}
    assert spell(resolve("image 5 and broken.heic", gone | {5: replace(gone[5], claimed="image/png")})) == (
        "image 5 = 5; broken.heic = 12"
    )


def test_names_match_however_their_accents_are_written():
    files = converse(("cafe\u0301 menu.png", "image/png"), ("other.png", "image/png"))
    assert spell(resolve("caf\u00e9 menu.png", files)) == "caf\u00e9 menu.png = 1"


def test_a_list_of_numbers_is_in_the_order_it_was_said_in():
    assert [one.numbers for one in resolve("images 8, 3 and 5, then #4 and the first upload", HOUSE)] == [
        (8, 3, 5),
        (4,),
        (1,),
    ]


def test_years_are_no_files_even_where_there_are_so_many():
    many = converse(*[(f"{number}.bin", "image/png") for number in range(1, 2051)])
    assert resolve("compare 2024 and 2025", many) == ()
    assert [one.numbers for one in resolve("image 2024", many)] == [(2024,)]


def test_at_most_twenty_references_are_kept_and_the_rest_of_a_long_text_is_not_read():
    many = converse(*[(f"{number}.bin", "image/png") for number in range(1, 41)])
    assert len(resolve(". ".join(f"image {number}" for number in many), many)) == MOST_REFERENCES
    assert resolve("x" * MOST_TEXT + " image 5", HOUSE) == ()


@given(TEXTS)
@example("image 5²")
@example("'ve 's #")
def test_any_text_gives_existing_files_in_order_of_appearance(text):
    found = resolve(text, HOUSE)
    assert all(bool(one.numbers) != (len(one.readings) >= 2) for one in found)
    assert {number for one in found for numbers in (one.numbers, *one.readings) for number in numbers} <= set(HOUSE)
    assert all(one.words in text for one in found)
    assert len({one.words.casefold() for one in found}) == len(found)
    places = [0, *(text.casefold().find(one.words.casefold()) for one in found)]
    assert all(first <= second for first, second in pairwise(places))


@given(
    st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["image/png", "application/pdf", "x"])), max_size=6), TEXTS
)
def test_any_name_of_a_file_is_harmless(files, text):
    conversation = converse(*files)
    for name, _ in files:
        found = resolve(f"{text} {name} the {name} image", conversation)
        assert all(set(one.numbers) <= set(conversation) for one in found)


def steps(text, files):
    """How many calls it takes to read a text: time without a clock."""
    count = 0

    def tally(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(tally)
    try:
        resolve(text, files)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    "piece",
    ["#", "`", "``` ", "[", "[](", "{", "}{", "<a ", "'", '"', "1,", "1-", "a_", "image ", "image 99 ", "the last ", "the ",
     "first , ", "look at 5 of ", "5 vs ", "the accent image ", "image from the my ", "image i just ", "all of the ", "Q3 "],
)  # fmt: skip
def test_twice_the_text_takes_twice_the_steps(piece):
    length = 4000
    once, twice = (steps((piece * length)[:size], HOUSE) for size in (length, 2 * length))
    assert twice <= 2.3 * once + 200
