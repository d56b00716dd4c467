"""The page in a real browser: all hostile files, accessibility on all displays, and long scenarios."""

import pytest

from support import hostile
from support.browser import SiteAddress, background_servers, run_scenario, scenarios_in
from support.page_servers import open_page_servers

#: Files in one answer.
BATCH = 20


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server with a hostile tool."""
    with background_servers() as servers:
        yield SiteAddress(servers.add_server(tmp_path_factory.mktemp("hostile"), tools=(hostile.send_files,)).url)


def test_there_are_at_least_120_hostile_files():
    assert len(hostile.FILES) >= 120


@pytest.mark.parametrize("first", range(0, len(hostile.FILES), BATCH))
def test_hostile_files_run_nothing(first, site, tmp_path):
    count = min(BATCH, len(hostile.FILES) - first)
    scenario = "hostile_files_run_nothing_in_the_page_and_at_their_urls"
    result = run_scenario(scenario, {"hostile": site}, tmp_path, seconds=180, first=first, step=1, count=count)
    assert result["files"] == count


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with open_page_servers(tmp_path_factory.mktemp) as servers:
        yield servers


@pytest.mark.parametrize("scenario", scenarios_in("accessibility"))
def test_the_page_is_accessible_on_every_display(scenario, servers, tmp_path):
    servers.run(scenario, tmp_path, displays=4)


@pytest.mark.parametrize("scenario", scenarios_in("stress"))
def test_long_scenarios(scenario, servers, tmp_path):
    servers.run(scenario, tmp_path)
