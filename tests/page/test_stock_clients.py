"""Stock clients, `useChat` and assistant-ui, in a real browser: with a route of a program's own, and a mounted chat."""

import pytest

from support import page_tools
from support.browser import SiteAddress, background_servers, run_scenario, scenarios_in
from support.echo_provider import EchoProvider
from support.own_route import Program, make_mounted_app, make_own_app

CLIENTS = {"stock": "use_chat.jsx", "assistant": "assistant_ui.jsx"}
#: They need a server that has the history.
MOUNTED_ONLY = {"use_chat_sends_only_its_newest_message"}
#: They need a provider that answers with given blocks.
OWN_ONLY = {"use_chat_shows_what_a_provider_ran_and_another_one_goes_on"}
#: Of those that work with both programs, `make test` runs these with a route of its own, and the others with a mounted chat.
OWN_FIRST = {"use_chat_approves_a_call", "use_chat_stops_and_sends_again", "assistant_ui_sends_its_attachments"}
#: Variants: the other decision about a call, and another message than the first.
VARIANTS = {"use_chat_denies_a_call", "use_chat_regenerates_and_edits"}
SCENARIOS = [param.values[0] for file in ("stock_clients", "assistant_ui") for param in scenarios_in(file)]


def each(excluded, thorough):
    """A test for each scenario but the excluded, of which some are thorough."""
    names = [name for name in SCENARIOS if name not in excluded]
    marked = [pytest.param(name, marks=pytest.mark.thorough) if name in thorough else name for name in names]
    return pytest.mark.parametrize("scenario", marked)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The addresses of both programs for each client."""
    with background_servers() as servers:
        servers.add_fake_provider(handlers=[EchoProvider()])

        def address(app):
            return SiteAddress(servers.enter(Program(app)).url)

        yield {
            "own route": {name: address(make_own_app(client)) for name, client in CLIENTS.items()},
            "mounted": {
                name: address(make_mounted_app(client, tmp_path_factory.mktemp(name)))
                for name, client in CLIENTS.items()
            },
        }


@each(excluded=MOUNTED_ONLY, thorough={*SCENARIOS} - OWN_ONLY - OWN_FIRST)
def test_a_stock_client_with_a_route_of_its_own(scenario, programs, tmp_path):
    run_scenario(scenario, programs["own route"], tmp_path, {"release": page_tools.GATE.release}, seconds=60)


@each(excluded=OWN_ONLY, thorough=OWN_FIRST | VARIANTS)
def test_a_stock_client_with_a_mounted_chat(scenario, programs, tmp_path):
    run_scenario(scenario, programs["mounted"], tmp_path, {"release": page_tools.GATE.release}, seconds=60)
