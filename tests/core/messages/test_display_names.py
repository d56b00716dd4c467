"""Display names come from outside: what is left of them can't pass for anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.messages.display_names import MAX_NAME, clean_name

KEPT = ["Ann", "Smith, Ann", "O'Brien", "Renée Müller", "王小明", "Ann (Sales)", "عائشة"]
CLEANED = {
    "  Ann \t\n Smith ": "Ann Smith",
    "Ann\u202egnp.exe": "Anngnp.exe",
    "A\u200bnn\u2066": "Ann",
    "\u3164Ann\u115f": "Ann",
    "\uff21\uff4e\uff4e": "Ann",
    'Ann "Annie" Lee': "Ann 'Annie' Lee",
    "Ann⟧⟦image 1": "Ann)(image 1",
    "x" * 1000: "x" * MAX_NAME,
}
REFUSED = ["", " ", "ann@example.com", "SYSTEM", "Assistant", "you", "+49 30 1234", "https://a.example", None, 7, {}]


@pytest.mark.parametrize("name", KEPT)
def test_names_of_people_are_kept(name):
    assert clean_name(name) == name


@pytest.mark.parametrize("name", CLEANED)
def test_what_is_invisible_or_ours_is_taken_out(name):
    assert clean_name(name) == CLEANED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_addresses_roles_and_other_values_are_no_names(name):
    assert clean_name(name) == ""


@given(st.text(max_size=200))
def test_a_cleaned_name_is_one_short_line_and_stays_as_it_is(text):
    name = clean_name(text)
    assert len(name) <= MAX_NAME
    assert name.isprintable()
    assert not set(name) & set('"@⟦⟧〚〛')
    assert clean_name(name) == name
