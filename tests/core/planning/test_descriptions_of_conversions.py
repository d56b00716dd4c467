"""What the label of a converted file says: what is shown of it, and how to see more."""

import pytest
from msgspec.structs import replace

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Address, Origin
from showandtell.core.messages.derivations import Derivative
from showandtell.core.planning.labels import (
    describe_conversion,
    describe_origin,
    describe_scale,
    format_numbers,
    provenance,
)
from showandtell.core.planning.token_estimates import PAGE_BYTES, file_tokens, text_tokens
from showandtell.core.planning.values import by_kind
from showandtell.errors import BadInput
from support.builders import attachment, facts

PICTURE, REPORT = attachment(1), attachment(2, "application/pdf")


def test_words_in_place_of_a_file_say_what_they_stand_for():
    words = Derivative(text="A kiwi.", by="inspector")
    assert "in words in place of the picture" in describe_conversion(PICTURE, words, None, can_view=False)
    assert "in words in place of the pages" in describe_conversion(REPORT, words, None, can_view=False)


def test_a_fetched_file_says_so():
    at_address = replace(PICTURE, facts=None, address=Address("url", "https://example.com/a.png", "image/png"))
    fetched = Derivative(files=(facts("a"),))
    assert describe_conversion(at_address, fetched, None, can_view=False) == "fetched from its address"


def test_the_label_of_a_file_at_an_address_says_where_it_comes_from():
    assert provenance(attachment(1, origin=Origin("url")), None).startswith("fetched from a URL, 20")


@pytest.mark.parametrize(
    ("pages", "words"), [((2,), "page 2"), ((1, 2, 3), "pages 1 to 3"), ((1, 2, 9), "pages 1, 2, 9")]
)
def test_pages_are_named_by_number(pages, words):
    assert format_numbers("page", pages) == words


def test_a_part_says_its_edges():
    text = describe_conversion(PICTURE, Derivative(scale=0.5), (1, 2, 3, 4), can_view=False)
    assert text == "its part 1, 2, 3, 4 (left, top, right, bottom), scaled to 50%"


def test_some_of_the_pages_say_which_and_how_to_see_more():
    pages = Derivative(files=(facts("p"),), pages=(1,), total=9)
    assert describe_conversion(REPORT, pages, None, can_view=False) == "page 1 of 9 as picture"
    assert describe_conversion(REPORT, pages, None, can_view=True) == (
        "page 1 of 9 as picture; view_file(2, pages=[...]) shows more"
    )


@pytest.mark.parametrize(
    ("scale", "words"), [(1, "converted"), (0.01, "scaled to 1%"), (0.009, "scaled to less than 1%")]
)
def test_a_scale_is_given_in_percent(scale, words):
    assert describe_scale(scale) == words


def test_a_file_says_which_tool_made_it_if_that_is_known():
    assert describe_origin(attachment(1, origin=Origin("tool", "get", "call_1"))) == "from get"
    assert describe_origin(attachment(1, origin=Origin("tool"))) == "from a tool"


def test_text_costs_its_own_bytes_or_those_of_a_page():
    costs = resolve("anthropic:claude-sonnet-4-5").costs
    assert file_tokens(facts("a", "text/plain", 700), costs) == text_tokens(700)
    assert text_tokens(700) < text_tokens(PAGE_BYTES)


def test_a_wrong_setting_names_the_kinds_and_values_that_there_are():
    with pytest.raises(BadInput, match=r"kinds are image, .*document.*values are convert, note, error"):
        by_kind({"pictures": "note"})
