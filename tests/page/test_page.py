"""The page in a real browser, against real servers: what a person does, and sees. The scenarios are in web/tests."""

from functools import partial

import pytest

from support.browser import names
from support.page_town import open_town


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Servers for all scenarios: each begins a conversation of its own."""
    with open_town(tmp_path_factory.mktemp) as town:
        yield town


@pytest.fixture
def acting(town, tmp_path):
    """Plays a scenario."""
    return partial(town.play, folder=tmp_path)


PARTS = (
    "first_visit",
    "answers",
    "reading",
    "files",
    "looking",
    "placing",
    "tools",
    "places",
    "keeping",
    "sending",
    "sharing",
    "trouble",
    "access",
)


@pytest.mark.parametrize("scenario", [scenario for part in PARTS for scenario in names(part)])
def test_on_the_page(scenario, acting):
    acting(scenario)
