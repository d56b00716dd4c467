"""The page in a real browser, against real servers: what a person does, and sees. The scenarios are in web/tests."""

from functools import partial

import pytest

from browser import names
from page_town import open_town


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Servers for all scenarios: each begins a conversation of its own."""
    with open_town(tmp_path_factory.mktemp) as town:
        yield town


@pytest.fixture
def acting(town, tmp_path):
    """Plays a scenario."""
    return partial(town.play, folder=tmp_path)


@pytest.mark.parametrize("scenario", names("first_visit"))
def test_first_visit(scenario, acting):
    acting(scenario)


@pytest.mark.parametrize("scenario", names("answers"))
def test_answers(scenario, acting):
    acting(scenario)


@pytest.mark.parametrize("scenario", names("files"))
def test_files(scenario, acting):
    acting(scenario)


@pytest.mark.parametrize("scenario", names("tools"))
def test_tools(scenario, acting):
    acting(scenario)


@pytest.mark.parametrize("scenario", names("places"))
def test_places(scenario, acting):
    acting(scenario)


@pytest.mark.parametrize("scenario", names("trouble"))
def test_trouble(scenario, acting):
    acting(scenario)


@pytest.mark.parametrize("scenario", names("access"))
def test_access(scenario, acting):
    acting(scenario)
