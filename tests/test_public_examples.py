"""Runs the examples in the docstrings of all public names."""

import inspect
from doctest import DocTestParser, DocTestRunner

import pytest

import showandtell

#: Functions whose docstring is the description that models read.
TOOLS = {"get_document", "list_files", "view_file"}
#: A base class, and errors that take a second process or a failing disk.
ERRORS = {"Busy", "FileChanged", "ShowAndTellError", "StorageFailed"}


def examples_of(name):
    return DocTestParser().get_doctest(getattr(showandtell, name).__doc__ or "", {}, name, name, 0)


@pytest.mark.parametrize("name", showandtell.__all__)
def test_examples_of_a_public_name_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = DocTestRunner().run(examples_of(name))
    assert result.failed == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(set(showandtell.__all__) - TOOLS - ERRORS))
def test_a_public_class_or_function_has_an_example(name):
    value = getattr(showandtell, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert examples_of(name).examples, f"add an example (>>>) to the docstring of {name}"


def test_names_without_an_example_are_public_and_documented():
    assert set(showandtell.__all__) >= TOOLS | ERRORS
    assert all(getattr(showandtell, name).__doc__ for name in TOOLS | ERRORS)
