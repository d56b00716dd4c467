"""Hostile files and answers in a real browser run no script and reach no other host. `stress/` tests more files."""

import pytest

from support import hostile
from support.browser import ScenarioFailed, SiteAddress, background_servers, run_scenario
from support.echo_provider import MODEL, EchoProvider


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """One server with hostile tools and one with a hostile model, as `sites, functions`."""
    with background_servers() as servers:
        provider = EchoProvider()
        servers.add_fake_provider(handlers=[provider])
        bad_tools = servers.add_server(
            tmp_path_factory.mktemp("hostile"), tools=(hostile.send_files, hostile.send_texts)
        )
        echo = servers.add_server(tmp_path_factory.mktemp("echo"), default_model=MODEL)
        sites = {"hostile": SiteAddress(bad_tools.url), "echo": SiteAddress(echo.url)}
        yield sites, {"resume": lambda: servers.run(provider.resume())}


def test_hostile_files_run_nothing(servers, tmp_path):
    name = "hostile_files_run_nothing_in_the_page_and_at_their_urls"
    result = run_scenario(name, *arguments(servers, tmp_path), first=0, step=12, count=10)
    assert result["files"] == 10
    assert result["opened"] > 10


def test_hostile_answers_run_nothing_and_request_nothing(servers, tmp_path):
    result = run_scenario(
        "hostile_answers_run_nothing_and_request_nothing", *arguments(servers, tmp_path), texts=hostile.TEXTS, batch=9
    )
    assert result["texts"] >= 40


@pytest.mark.parametrize(
    "scenario", ["hostile_tool_results_run_nothing_and_request_nothing", "a_bad_link_does_nothing_when_clicked"]
)
def test_hostile_tool_results_and_links(scenario, servers, tmp_path):
    run_scenario(scenario, *arguments(servers, tmp_path))


def test_strings_never_become_markup(servers, tmp_path):
    shot = tmp_path / "page.png"
    run_scenario("strings_never_become_markup", *arguments(servers, tmp_path), shot=str(shot))
    assert shot.stat().st_size > 1000


def test_scripts_requests_and_connections_are_detected(servers, tmp_path):
    html = f"<link rel=preconnect href='http://early.example'><body>{hostile.SCRIPT}{hostile.REQUESTS}"
    with pytest.raises(ScenarioFailed) as caught:
        run_scenario("an_unprotected_page_is_caught", *arguments(servers, tmp_path), html=html)
    for violation in (
        "a script ran",
        f"requested another host: {hostile.EVIL}/ran",
        "another host was reached",
        "dialog",
    ):
        assert violation in str(caught.value)


def arguments(servers, folder):
    sites, functions = servers
    return sites, folder, functions
