"""The page in a real browser: every hostile file, every look by axe, and what takes its time."""

import pytest

from support import hostile
from support.browser import Address, names, play, street
from support.page_town import open_town

#: How many come in one answer.
TOGETHER = 20


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server whose tools bring mischief."""
    with street() as made:
        yield Address(made.build(tmp_path_factory.mktemp("hostile"), tools=(hostile.bring_files,)).url)


def test_there_are_enough_of_them():
    assert len(hostile.FILES) >= 120


@pytest.mark.parametrize("first", range(0, len(hostile.FILES), TOGETHER))
def test_hostile_files_run_nothing(first, site, tmp_path):
    count = min(TOGETHER, len(hostile.FILES) - first)
    scenario = "hostile_files_run_nothing_through_the_page_and_by_their_addresses"
    received = play(scenario, {"hostile": site}, tmp_path, seconds=180, first=first, step=1, count=count)
    assert received["files"] == count


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with open_town(tmp_path_factory.mktemp) as town:
        yield town


@pytest.mark.parametrize("scenario", names("access"))
def test_every_look_is_accessible(scenario, town, tmp_path):
    town.play(scenario, tmp_path, looks=4)


@pytest.mark.parametrize("scenario", names("long"))
def test_what_takes_its_time(scenario, town, tmp_path):
    town.play(scenario, tmp_path)
