"""Docstrings: what a model reads of a function and its parameters."""

import json
from functools import partial
from typing import Annotated

import pytest
from pydantic import Field

from showandtell import RunContext, tool

GOOGLE = """Search the archive.

Old letters, too.

Args:
    query: The words to look for,
        in any order.
    limit (int): The most hits.

Returns:
    The hits.
"""
NUMPY = """Search the archive.

Old letters, too.

Parameters
----------
query : str
    The words to look for,
    in any order.
limit : int, optional
    The most hits.

Returns
-------
list
    The hits.
"""
SPHINX = """Search the archive.

Old letters, too.

:param query: The words to look for,
    in any order.
:param int limit: The most hits.
:returns: The hits.
"""


def described(function):
    """The descriptions of a tool's parameters, as a model reads them."""
    properties = json.loads(tool(function).spec.parameters)["properties"]
    return {name: entry.get("description") for name, entry in properties.items()}


def documented(text):
    def search(query: str, limit: int = 5):
        return query, limit

    search.__doc__ = text
    return search


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_parameters_are_described_by_the_docstring_in_each_style(text, caplog):
    search = documented(text)
    assert described(search) == {"query": "The words to look for, in any order.", "limit": "The most hits."}
    assert tool(search).description == "Search the archive.\n\nOld letters, too.\n\nReturns: The hits."
    assert not caplog.records


@pytest.mark.parametrize("text", ["Search.", "Search\nfor query: words.", "Search.\n\nNote:\n    The query is kept."])
def test_a_docstring_that_describes_no_parameter_stays_as_it_is(text):
    search = documented(text)
    assert tool(search).description == text
    assert described(search) == {"query": None, "limit": None}


def test_the_notes_and_examples_of_a_docstring_stay_in_the_description():
    text = "Search.\n\nArgs:\n    query: Words.\n\nNote:\n    It is slow.\n\nExamples:\n    >>> search('tea')\n    3\n"
    words = tool(documented(text)).description
    assert words == "Search.\n\nNote: It is slow.\n\nExamples:\n>>> search('tea')\n3"


def test_a_field_of_the_parameter_itself_has_precedence():
    def search(query: Annotated[str, Field(description="own words")], limit: int = Field(5, description="own, too")):
        return query, limit

    search.__doc__ = GOOGLE
    assert described(search) == {"query": "own words", "limit": "own, too"}


def test_what_the_program_fills_is_not_described_to_the_model():
    def search(query: str, context: RunContext, user: str):
        """Search.

        Args:
            query: The words.
            context: The run.
            user: The name of the user.
        """

    bound = partial(search, user="ann")
    assert described(bound) == {"query": "The words."}
    assert "run" not in tool(bound).description


def test_methods_and_callable_objects_are_described_as_well():
    class Archive:
        """The archive."""

        def __call__(self, query: str):
            """Search.

            :param query: The words.
            """

        def search(self, query: str):
            """Search.

            :param query: The words.
            """

    assert described(Archive()) == described(Archive().search) == {"query": "The words."}
    assert (tool(Archive()).description, tool(Archive().search).description) == ("The archive.", "Search.")
