"""Hostile files and answers in a real browser: 0 scripts run, 0 requests go to other hosts. More is in stress."""

import pytest

from support import hostile
from support.browser import Address, Failed, play, street
from support.saying import MODEL, Speaker


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A server whose tools bring mischief, and one whose model says it."""
    with street() as made:
        speaker = Speaker()
        made.add_fake_provider(handlers=[speaker])
        bad = made.build(tmp_path_factory.mktemp("hostile"), tools=(hostile.bring_files, hostile.say_words))
        spoken = made.build(tmp_path_factory.mktemp("spoken"), default_model=MODEL)
        sites = {"hostile": Address(bad.url), "spoken": Address(spoken.url)}
        yield sites, {"go": lambda: made.run(speaker.go())}


def test_hostile_files_run_nothing(town, tmp_path):
    name = "hostile_files_run_nothing_through_the_page_and_by_their_addresses"
    received = play(name, *give(town, tmp_path), first=0, step=5, count=25)
    assert received["files"] == 25
    assert received["opened"] > 25


def test_hostile_answers_run_nothing_and_ask_nobody(town, tmp_path):
    received = play(
        "hostile_words_of_an_answer_run_nothing_and_ask_nobody", *give(town, tmp_path), words=hostile.WORDS, together=9
    )
    assert received["shapes"] >= 40


@pytest.mark.parametrize(
    "scenario", ["hostile_words_of_a_tool_run_nothing_and_ask_nobody", "a_bad_link_does_nothing_when_it_is_clicked"]
)
def test_hostile_words(scenario, town, tmp_path):
    play(scenario, *give(town, tmp_path))


def test_what_watches_sees_scripts_requests_and_connections(town, tmp_path):
    html = f"<link rel=preconnect href='http://early.example'><body>{hostile.SCRIPT}{hostile.REQUESTS}"
    with pytest.raises(Failed) as caught:
        play("an_unguarded_page_is_caught", *give(town, tmp_path), html=html)
    for seen in ("a script ran", f"asked another host: {hostile.EVIL}/ran", "another host was reached", "dialog"):
        assert seen in str(caught.value)


def give(town, folder):
    sites, doors = town
    return sites, folder, doors
