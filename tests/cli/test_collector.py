"""When a command looks for garbage: seldom while it starts, and of a ready server's objects only among the new ones."""

import gc

import pytest

from showandtell.cli.collector import collect_seldom, collect_what_is_new
from support.commandline import spawn


@pytest.fixture(autouse=True)
def put_back():
    """The settings of this process are put back."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_start_collects_a_hundred_times_as_seldom():
    gc.set_threshold(700)
    collect_seldom()
    assert gc.get_threshold()[0] > 70_000


def test_a_ready_server_collects_more_often_than_at_its_start_and_skips_what_it_has_loaded():
    collect_seldom()
    collect_what_is_new()
    assert gc.get_freeze_count() > 10_000
    assert gc.get_threshold()[0] < 10_000


def test_temporary_folders_are_removed_at_the_exit_though_nothing_is_collected_then(tmp_path):
    done = spawn(tmp_path, "ask", "/chart title=A values=1,2", "-c", "none", environ={"TMPDIR": str(tmp_path)})
    assert "+ image 1" in done.stdout
    assert [*tmp_path.glob("showandtell-*")] == []
