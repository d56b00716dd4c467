"""Stock clients, `useChat` and assistant-ui, in a real browser, with a route of a program's own."""

import pytest

from support import page_tools
from support.browser import SiteAddress, background_servers, run_scenario, scenarios_in
from support.own_route import OwnRoute


@pytest.fixture(scope="module")
def sites():
    with background_servers() as servers:
        clients = {"stock": "use_chat.jsx", "assistant": "assistant_ui.jsx"}
        yield {name: SiteAddress(servers.enter(OwnRoute(client)).url) for name, client in clients.items()}


@pytest.mark.parametrize("scenario", [*scenarios_in("stock_clients"), *scenarios_in("assistant_ui")])
def test_stock_client(scenario, sites, tmp_path):
    run_scenario(scenario, sites, tmp_path, {"release": page_tools.GATE.release}, seconds=60)
