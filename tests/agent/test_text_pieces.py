"""A long text is read in pieces and searched as if it were one string, whatever its characters."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.agent import text_pieces
from showandtell.agent.text_pieces import TextPieces, build_index, fold

texts = st.text(st.sampled_from("abAB éÉßİſΣσς€漢😀\n"))


@pytest.fixture(autouse=True, scope="module")
def small_chunks():
    """Chunks of a few bytes, so that short texts have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_pieces, "CHUNK_SIZE", 7)
        yield


def pieces_of(text):
    return TextPieces.of(lambda: io.BytesIO(text.encode()))


@given(texts, st.integers(0, 40), st.integers(1, 40))
def test_a_piece_is_a_slice(text, start, length):
    pieces = pieces_of(text)
    assert pieces.index.total == len(text)
    assert pieces.read(start, length) == text[start : start + length]


@given(texts, st.integers(1, 9))
def test_pieces_one_after_the_other_are_the_text(text, length):
    pieces = pieces_of(text)
    assert "".join(pieces.read(at, length) for at in range(0, len(text), length)) == text


@given(st.binary())
def test_bytes_that_are_no_text_are_read_to_their_end(data):
    index = build_index(io.BytesIO(data))
    pieces = TextPieces(lambda: io.BytesIO(data), index)
    assert len(pieces.read(0, len(data))) == index.total
    assert index.bytes[-1] == len(data)


@given(texts, st.text(st.sampled_from("abAB éÉß😀"), min_size=1, max_size=4), st.integers(0, 30))
def test_a_search_finds_what_a_search_in_one_string_would(text, query, start):
    low, wanted, at = fold(text), [], start
    while (at := low.find(fold(query), at)) >= 0:
        wanted.append(at)
        at += len(query)
    matches, count = pieces_of(text).search(query, start, 3)
    assert ([match.at for match in matches], count) == (wanted[:3], len(wanted))


def test_a_match_has_the_text_around_it_on_one_line():
    (match,), _ = pieces_of("first\nthe Needle\nlast").search("NEEDLE", 0, 5)
    assert (match.at, match.excerpt) == (10, "first the Needle last")


def test_sigma_is_found_at_the_end_of_a_word_and_within_one():
    assert pieces_of("ΟΔΟΣ οδός οδοσ").search("οδος", 0, 5)[1] == 2
