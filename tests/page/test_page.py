"""Runs the scenarios of web/tests: the page in a real browser, with real servers."""

import pytest

from support.browser import SCENARIOS, scenarios_in
from support.page_servers import open_page_servers


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Servers for all scenarios; each scenario starts its own conversations."""
    with open_page_servers(tmp_path_factory.mktemp) as servers:
        yield servers


FILES = (
    "first_visit",
    "answers",
    "reading",
    "diagrams",
    "scrolling",
    "long_conversations",
    "files",
    "viewers",
    "inline_files",
    "tools",
    "provider_tools",
    "navigation",
    "finding",
    "recovery",
    "sending",
    "attaching",
    "queue",
    "full_context",
    "sharing",
    "errors",
    "accessibility",
    "languages",
    "keys",
    "your_data",
    "all_files",
    "titles",
    "notifications",
    "asking",
    "voice",
)

ALL = [scenario for file in FILES for scenario in scenarios_in(file)]


@pytest.mark.parametrize("scenario", ALL)
def test_page(scenario, servers, tmp_path):
    servers.run(scenario, tmp_path)


def test_every_scenario_runs_once_and_every_line_thorough_marks_one():
    names = [scenario.values[0] for scenario in ALL]
    text = "\n".join((SCENARIOS / f"{file}.mjs").read_text() for file in FILES)
    assert sorted(names) == sorted({*names})
    assert sum(len(scenario.marks) for scenario in ALL) == text.lower().count("// thorough")
