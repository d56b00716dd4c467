"""What a conversion is asked for: the types that a model takes, and how large and how many its files may be."""

from urllib.parse import parse_qs

import pytest
from msgspec.structs import replace

from showandtell.core.capabilities.cells import FileLimits
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Selection
from showandtell.core.planning.conversions import MAX_PAGE_BYTES, MAX_PAGES, conversion_options, max_file_bytes
from support.builders import facts

CLAUDE, GROQ_TEXT = resolve("anthropic:claude-sonnet-4-5"), resolve("groq:llama-3.3-70b-versatile")
PLACES = ("tool_result", "user")


def options(file, target=CLAUDE, **more):
    """The conversions by name, each with what it is asked for and what it may add to a request."""
    found = conversion_options(file, target, PLACES, **more)
    return {
        option.conversion.partition("?")[0]: (parse_qs(option.conversion.partition("?")[2]), option.load)
        for option in found
    }


def test_a_fetched_file_keeps_its_type_and_the_limit_of_its_place():
    asked, load = options(Address("url", "http://example.com/a.png", "image/png"))["fetch"]
    assert asked["as"] == ["image/png"]
    assert asked["bytes"] == [str(load.bytes)]
    assert (load.images, load.documents) == (1, 0)
    _, load = options(Address("url", "http://example.com/a.pdf", "application/pdf"))["fetch"]
    assert (load.images, load.documents) == (0, 1)


def test_an_image_that_a_model_does_not_take_becomes_one_of_a_type_that_it_takes():
    asked, load = options(facts("a", "image/tiff"))["image"]
    assert asked["as"] == ["image/png,image/jpeg,image/webp"]
    assert load.images == 1


def test_pages_share_what_a_request_may_hold():
    limited = replace(CLAUDE, budget=replace(CLAUDE.budget, bytes=9_000_000))
    few, many = (options(facts("a", "application/pdf", pages=count), limited)["pages"][1] for count in (2, 10))
    assert few.images == 2
    assert many.images == MAX_PAGES
    assert few.bytes <= max_file_bytes(FileLimits(), limited, 2 * MAX_PAGE_BYTES)
    assert many.bytes <= max_file_bytes(FileLimits(), limited, 10**9)


def test_a_files_limit_counts_if_it_is_smaller_than_its_share():
    limited = replace(CLAUDE, budget=replace(CLAUDE.budget, bytes=8_000_000))
    share = max_file_bytes(FileLimits(), limited, 10**9)
    assert 0 < share < 8_000_000
    assert max_file_bytes(FileLimits(), limited, 10**9, 4) == share // 4
    assert max_file_bytes(FileLimits(bytes=1000), limited, 10**9, 4) == 1000
    assert max_file_bytes(FileLimits(), limited, 400, 4) == 100


@pytest.mark.parametrize(
    ("media_type", "described"), [("image/png", True), ("application/pdf", True), ("audio/wav", False)]
)
def test_only_pictures_and_pages_are_described_and_only_for_models_without_eyes(media_type, described):
    file = facts("a", media_type)
    assert ("description" in options(file, GROQ_TEXT, describer="inspector")) == described
    assert "description" not in options(file, CLAUDE, describer="inspector")


def test_chosen_pages_are_as_many_pictures():
    asked, load = options(facts("a", "application/pdf", pages=9), view=Selection(pages=(2, 7)))["pages"]
    assert (asked["only"], asked["most"]) == (["2,7"], ["2"])
    assert load.images == 2


def test_frames_of_a_video_have_a_limit_of_bytes():
    asked, load = options(facts("a", "video/mp4"))["frames"]
    assert int(asked["bytes"][0]) * load.images == load.bytes


def test_a_part_of_a_file_without_pictures_has_no_conversion():
    assert options(facts("a", "text/plain"), view=Selection()) == {}
