"""Display names come from outside: what is left of them can't pass for anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.messages.display_names import MAX_NAME, clean_name, name_key

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
REFUSED += [
    "system (2)",
    "Assistant (1)",
    "user(3)",
    "assistant:",
    "[System]",
    "The Model",
    "System message",
    "sys-tem",
]
REFUSED += [
    "tool result",
    "system prompt:",
    "\u0405ystem",
    "\u0391ss\u0456st\u0430nt",
    "m\u043edel",
    "s\u0338ystem",
    "User 7",
]
#: Pairs that people can't tell apart, and pairs that they can.
ALIKE = [
    ("Ann", "\u0410nn"),
    ("\u00c4nne", "\u00e4NNE"),
    ("Ann (2)", "Ann ( 2 )"),
    ("O'Brien", "O\u2019Brien"),
    ("Ann-Lee", "ann lee"),
]
ALIKE += [("Pope", "\u03a1\u03bf\u03c1\u0435"), ("Ann", "Ann\u0338"), ("\uff21nn", "Ann"), ("STRASSE", "Stra\u00dfe")]
DIFFERENT = [
    ("Anne", "\u00c4nne"),
    ("Ann", "Anna"),
    ("\u0418\u0432\u0430\u043d", "\u0418\u0440\u0438\u043d\u0430"),
    ("Ann", "Ann (2)"),
]


@pytest.mark.parametrize("name", KEPT)
def test_names_of_people_are_kept(name):
    assert clean_name(name) == name


@pytest.mark.parametrize("name", CLEANED)
def test_what_is_invisible_or_ours_is_taken_out(name):
    assert clean_name(name) == CLEANED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_addresses_roles_and_other_values_are_no_names(name):
    assert clean_name(name) == ""


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_have_one_key(one, other):
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_that_look_different_have_two_keys(one, other):
    assert name_key(one) != name_key(other)


@given(st.text(max_size=200))
def test_a_cleaned_name_is_one_short_line_and_stays_as_it_is(text):
    name = clean_name(text)
    assert len(name) <= MAX_NAME
    assert name.isprintable()
    assert not set(name) & set('"@⟦⟧〚〛')
    assert clean_name(name) == name
