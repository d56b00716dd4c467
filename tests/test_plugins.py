"""Registries: entry points of installed packages, asked once and only when nothing else has a name."""

import sys

import pytest

from showandtell.errors import BadInput
from showandtell.plugins import Registry, list_plugins, load_plugin


def read(name, found):
    if not isinstance(found, int):
        raise BadInput(f"it names {type(found).__name__}, not a number")
    return (name, found)


@pytest.fixture
def numbers(tmp_path, monkeypatch):
    """A registry of numbers; a package brings `two`, `text` and one that can't be imported."""
    (tmp_path / "acme_numbers.py").write_text("two = 2\ntext = 'two'\n")
    (tmp_path / "acme-1.0.dist-info").mkdir()
    (tmp_path / "acme-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    lines = [f"{name} = acme_numbers:{name}" for name in ("two", "text", "lost")]
    (tmp_path / "acme-1.0.dist-info/entry_points.txt").write_text("\n".join([f"[{tmp_path.name}]", *lines]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "acme_numbers", None)  # so that it is removed after the test
    monkeypatch.delitem(sys.modules, "acme_numbers")
    return Registry(tmp_path.name, "number", read, lambda value: value[0], {"one"}.__contains__)


def test_packages_are_asked_once_and_each_mistake_is_a_warning(numbers):
    with pytest.warns(RuntimeWarning) as warned:
        assert dict(numbers.all()) == {"two": ("two", 2)}
    assert sorted(str(warning.message).replace(numbers.group, "GROUP") for warning in warned) == [
        "acme: its entry point 'lost' in GROUP can't be loaded: AttributeError: module 'acme_numbers' has no attribute 'lost'",
        "acme: its entry point 'text' in GROUP is left out: it names str, not a number",
    ]
    assert numbers.find("two") == ("two", 2)


def test_a_module_that_ends_the_program_is_a_warning(numbers, tmp_path):
    (tmp_path / "acme_numbers.py").write_text("import sys\nsys.exit('no licence')\n")
    with pytest.warns(RuntimeWarning, match="'two' in .* can't be loaded: SystemExit: no licence"):
        assert load_plugin(numbers.group, "two") is None


def test_an_entry_point_that_is_none_is_a_warning(numbers, tmp_path):
    (tmp_path / "acme_numbers.py").write_text("two = None\n")
    with pytest.warns(RuntimeWarning, match="'two' in .* can't be loaded: it is None"):
        assert load_plugin(numbers.group, "two") is None


def test_a_module_may_ask_for_names_while_it_is_imported(numbers, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "numbers", numbers, raising=False)
    (tmp_path / "acme_numbers.py").write_text("import sys\nfound = sys.numbers.find('seven')\ntwo = text = lost = 2\n")
    assert dict(numbers.all()) == {name: (name, 2) for name in ("two", "text", "lost")}
    assert sys.modules["acme_numbers"].found is None


def test_packages_are_not_asked_for_what_is_known(numbers):
    numbers.register(("three", 3))
    assert numbers.find("three") == ("three", 3)
    assert numbers.find("one") is None
    assert dict(numbers.so_far()) == {"three": ("three", 3)}


def test_a_name_is_taken_once(numbers):
    numbers.register(("three", 3))
    numbers.register(("three", 3))
    for value in (("three", 4), ("one", 1)):
        with pytest.raises(BadInput, match="there is another number"):
            numbers.register(value)


def test_one_entry_point_is_loaded_without_the_others(numbers):
    assert list_plugins(numbers.group) == ("lost", "text", "two")
    assert load_plugin(numbers.group, "two") == 2
    assert load_plugin(numbers.group, "seven") is None


def test_one_name_of_two_packages_is_that_of_the_first_with_a_warning(numbers, tmp_path, monkeypatch):
    other = tmp_path / "other/acme_other-1.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text(f"[{numbers.group}]\ntwo = acme_numbers:text\n")
    monkeypatch.syspath_prepend(other.parent)
    with pytest.warns(RuntimeWarning, match="'two' in .* is left out: another package has that name"):
        assert load_plugin(numbers.group, "two") in {2, "two"}
