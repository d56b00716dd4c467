"""The page in a real browser, against real servers: what a person does, and sees. The scenarios are in web/tests."""

from types import SimpleNamespace

import pytest

import page_tools
from browser import Address, Program, names, play, street
from saying import MODEL, Speaker


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Servers for all scenarios: with the inspector, with a model that says what it is told, and to change at will."""
    with street() as made:
        speaker = Speaker()
        standin = made.stand_in(doors=[speaker])
        plain = made.build(tmp_path_factory.mktemp("plain"), tools=page_tools.TOOLS)
        small = {"max_file_bytes": 3_000_000}
        spoken = made.build(tmp_path_factory.mktemp("spoken"), default_model=MODEL, place=small)
        own = made.build(tmp_path_factory.mktemp("own"))
        program = Program(tmp_path_factory.mktemp("program"))
        houses = {"plain": plain, "spoken": spoken, "own": own, "program": program}
        doors = {"go": lambda times=1: made.run(speaker.go(times)), "release": page_tools.GATE.release}
        doors["restart"] = program.restart
        addresses = {name: Address(house.url) for name, house in houses.items()}
        yield SimpleNamespace(houses=addresses, doors=doors, speaker=speaker, standin=standin, run=made.run)
        program.close()


@pytest.fixture
def acting(town, tmp_path):
    """Plays one scenario."""
    town.run(town.speaker.anew())
    return lambda scenario, **given: play(scenario, town.houses, tmp_path, town.doors, **given)


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
