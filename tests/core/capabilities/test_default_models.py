"""The current model of each provider: in the table of models, seeing, with a source and a date, in a stated order."""

import re
from datetime import date

import pytest

from showandtell.core.capabilities.default_models import CURRENT_MODELS, current_model_of
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.provider import Provider
from showandtell.core.capabilities.resolve import find_family, resolve
from showandtell.core.capabilities.table import PROVIDERS

each = pytest.mark.parametrize("row", CURRENT_MODELS, ids=lambda row: row.provider)


@each
def test_a_current_model_has_a_row_of_its_own_and_sees_pictures(row):
    family = find_family(row.provider, row.model)
    assert family is not None
    assert family.patterns != ANY_MODEL
    seen = {cell.place for cell in resolve(row.name).cells if cell.kind == "image" and cell.verdict != "rejects"}
    assert seen, "it takes pictures in no place"


@each
def test_a_current_model_says_where_and_when_it_was_read(row):
    assert re.search(r"\d", row.source), "the version of its source"
    assert date.fromisoformat(row.date) <= date(2030, 1, 1)


def test_providers_are_preferred_in_the_order_of_the_table():
    order = [PROVIDERS.index(row.provider) for row in CURRENT_MODELS]
    assert order == sorted(set(order))


def test_of_a_package_the_first_model_that_is_no_placeholder_counts():
    rows = [
        Family("acme", "openai-chat", patterns, name, ()) for patterns, name in ((("a-*",), "a-1"), (ANY_MODEL, "b"))
    ]
    only = [Family("acme", "openai-chat", ANY_MODEL, "some-model", ())]
    found = [
        current_model_of(
            "acme", Provider(name="acme", base_url="https://acme.example", api="openai-chat", families=tuple(families))
        )
        for families in (rows, only)
    ]
    assert found == ["acme:a-1", None]
