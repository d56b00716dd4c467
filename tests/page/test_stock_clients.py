"""Stock clients in a real browser, with a route of a program's own."""

import pytest

from support import page_tools
from support.browser import SiteAddress, background_servers, run_scenario, scenarios_in
from support.own_route import OwnRoute


@pytest.fixture(scope="module")
def sites():
    with background_servers() as servers:
        yield {"stock": SiteAddress(servers.enter(OwnRoute("use_chat.jsx")).url)}


@pytest.mark.parametrize("scenario", scenarios_in("stock_clients"))
def test_stock_client(scenario, sites, tmp_path):
    run_scenario(scenario, sites, tmp_path, {"release": page_tools.GATE.release}, seconds=60)
