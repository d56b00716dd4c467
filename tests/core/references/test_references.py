"""Which files a user's text refers to."""

import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.messages.message import Reference
from showandtell.core.references import MAX_REFERENCES, MAX_TEXT, resolve
from showandtell.core.references.vocabulary import LOOKING, NOUNS, ORDINALS, PLURALS
from support.non_reference_cases import NOT_REFERENCES
from support.reference_cases import MEANS_OF_TWO, REFERENCES
from support.sample_attachments import RENOVATION, TWO, converse

SIGNS = [",", ".", "-", "#", "%", "?", ":", "/", "`", "```", "{", "}", "[", "](", '"', "'", "\n"]
SMALL = """the my your this these all both every of from you made I uploaded above one a drive gdrive chart accent wall
1 2 3 5 7 12 99 1st 2nd two and or to vs with below cats invoice.pdf"""
#: Words of all tables, numbers and signs, so that most texts are close to references.
PIECES = sorted({*SIGNS, *SMALL.split(), *NOUNS, *PLURALS, *ORDINALS, *(word for phrase in LOOKING for word in phrase)})
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join)


def format_all(references: tuple[Reference, ...]) -> str:
    """Format references as in the tables."""
    return "; ".join(f"{reference.words} = {format_meaning(reference)}" for reference in references)


def format_meaning(reference):
    all_ = (reference.numbers,) if reference.numbers else reference.readings
    found = " or ".join(", ".join(map(str, numbers)) for numbers in all_)
    missing = " and ".join(f"no {number}" for number in reference.missing)
    return " and ".join(filter(None, (found, missing)))


def test_text_refers_to_the_expected_files(subtests):
    for text in REFERENCES:
        with subtests.test(text=text):
            assert format_all(resolve(text, RENOVATION)) == REFERENCES[text]


def test_other_words_and_numbers_refer_to_no_file(subtests):
    for text in NOT_REFERENCES:
        with subtests.test(text=text):
            assert resolve(text, RENOVATION) == ()


@pytest.mark.parametrize("text", MEANS_OF_TWO)
def test_a_reference_depends_on_the_files_of_the_conversation(text):
    assert format_all(resolve(text, TWO)) == MEANS_OF_TWO[text]


def test_the_tables_hold_at_least_two_hundred_sentences():
    assert len(REFERENCES) >= 120
    assert len(NOT_REFERENCES) >= 80


@pytest.mark.parametrize("text", ["image 5", "look at 1", "the last image", "accent_wall.png", "#1", "all uploads"])
def test_without_files_there_are_no_references(text):
    assert resolve(text, {}) == ()


def test_an_ambiguous_reference_has_readings_and_no_numbers():
    (found,) = resolve("open image 2", RENOVATION)
    assert found == Reference("image 2", (), ((2,), (3,)))


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("open the floor plan", "floor_plan_final.png", "the floor plan"),
        ("open the floor plan", "floor plan v2.png", "the floor plan"),
        ("pay the harbour fee", "harbour_fee 2024-03.pdf", "the harbour fee"),
        ("show me what you have", "what you have.png", None),
        ("the photo from there is nice", "there.png", None),
    ],
)
def test_a_name_needs_its_words_but_not_its_version_and_more_than_common_words(text, name, words):
    files = converse((name, "image/png"), ("sea.png", "image/png"))
    assert [item.words for item in resolve(text, files)] == ([words] if words else [])


WALLS = ["wall.png", "accent_wall.jpg", "wall2.png", "living room wall.png"]


@pytest.mark.parametrize(
    "text", ["the wall photo", "use the wall picture", "that wall image", "is this wall photo ok?"]
)
@pytest.mark.parametrize("names", [WALLS, WALLS[::-1], [*WALLS[:3], "wallpaper.png"], ["a wall.png", *WALLS[1:]]])
@pytest.mark.parametrize("twin", [False, True])
def test_a_photo_that_may_be_one_of_four_is_none_of_them(text, names, twin):
    files = converse(*[(name, "image/png") for name in names], ("sea.png", "image/png"))
    if twin:
        files |= {2: replace(files[2], facts=files[1].facts)}
    (found,) = resolve(text, files)
    assert (found.numbers, found.readings) == ((), ((1,), (2,), (3,), (4,)))


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("the harbour", ["harbour.png", "harbour_night.png"], ((1,), (2,))),
        ("the accent wall", ["accent_wall.png", "accent_wall_evening.png", "wall.png"], ((1,), (2,))),
        ("accent_wall.png", ["accent_wall.png", "accent_wall_evening.png"], ()),
        ('"harbour"', ["harbour.png", "harbour_night.png"], ()),
    ],
)
def test_a_name_that_others_contain_is_ambiguous_unless_it_is_quoted_or_complete(text, names, expected):
    (found,) = resolve(text, converse(*[(name, "image/png") for name in names]))
    assert (found.numbers, found.readings) == (() if expected else (1,), expected)


@pytest.mark.parametrize("text", ["both drive images", "the drive images", "the two drive images"])
def test_a_file_that_was_returned_again_counts_once(text):
    drive = [("wall.png", "image/png", "google_drive_read"), ("sea.png", "image/png", "google_drive_read")]
    files = converse(*drive, *drive[:1])
    files |= {3: replace(files[3], facts=files[1].facts)}
    assert [item.numbers for item in resolve(text, files)] == [(2, 3)]


def test_files_with_the_same_name_are_distinguished_by_their_bytes():
    twins = {**TWO, 2: replace(TWO[2], facts=TWO[1].facts)}
    assert format_all(resolve("is plan.png good?", TWO)) == "plan.png = 1 or 2"
    assert format_all(resolve("is plan.png good?", twins)) == "plan.png = 2"


def test_deleted_and_failed_files_can_be_referenced():
    gone = {**RENOVATION, 5: replace(RENOVATION[5], facts=None, problem="was deleted", state="deleted")}
    assert format_all(resolve("image 5 and broken.heic", gone | {5: replace(gone[5], claimed="image/png")})) == (
        "image 5 = 5; broken.heic = 12"
    )


def test_names_match_in_any_encoding_of_accents():
    files = converse(("cafe\u0301 menu.png", "image/png"), ("other.png", "image/png"))
    assert format_all(resolve("caf\u00e9 menu.png", files)) == "caf\u00e9 menu.png = 1"


def test_a_list_of_numbers_keeps_its_order():
    assert [item.numbers for item in resolve("images 8, 3 and 5, then #4 and the first upload", RENOVATION)] == [
        (8, 3, 5),
        (4,),
        (1,),
    ]


def test_years_are_not_files_even_if_there_are_so_many():
    many = converse(*[(f"{number}.bin", "image/png") for number in range(1, 2051)])
    assert resolve("compare 2024 and 2025", many) == ()
    assert [item.numbers for item in resolve("image 2024", many)] == [(2024,)]


def test_references_and_text_length_are_limited():
    many = converse(*[(f"{number}.bin", "image/png") for number in range(1, 41)])
    assert len(resolve(". ".join(f"image {number}" for number in many), many)) == MAX_REFERENCES
    assert resolve("x" * MAX_TEXT + " image 5", RENOVATION) == ()


@given(TEXTS)
@example("image 5²")
@example("'ve 's #")
def test_any_text_gives_existing_files_in_order_of_appearance(text):
    found = resolve(text, RENOVATION)
    assert all(item.numbers or item.missing or len(item.readings) >= 2 for item in found)
    assert not any(item.numbers and item.readings for item in found)
    assert not {number for item in found for number in item.missing} & set(RENOVATION)
    assert {number for item in found for numbers in (item.numbers, *item.readings) for number in numbers} <= set(
        RENOVATION
    )
    assert all(item.words in text for item in found)
    assert len({item.words.casefold() for item in found}) == len(found)
    places = [0, *(text.casefold().find(item.words.casefold()) for item in found)]
    assert all(first <= second for first, second in pairwise(places))


@given(
    st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["image/png", "application/pdf", "x"])), max_size=6), TEXTS
)
def test_any_name_of_a_file_is_harmless(files, text):
    conversation = converse(*files)
    for name, _ in files:
        found = resolve(f"{text} {name} the {name} image", conversation)
        assert all(set(item.numbers) <= set(conversation) for item in found)


def steps(text, files):
    """The number of calls it takes to read a text, instead of time."""
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
def test_steps_grow_linearly_with_the_text(piece):
    length = 1000
    once, twice = (steps((piece * length)[:size], RENOVATION) for size in (length, 2 * length))
    assert twice <= 2.3 * once + 200


def test_names_that_are_not_in_the_text_cost_a_look_each():
    """Measured once the names are known: a conversation may have thousands, and each message is read for all."""
    file, text = RENOVATION[1], "Draw the page of day 7, and tell me what changed."
    files = {number: replace(file, number=number, name=f"page {1000 + number}.png") for number in range(1, 401)}
    steps(text, files)
    few, many = (steps(text, dict(list(files.items())[:count])) for count in (200, 400))
    assert many - few <= 200 * 10
