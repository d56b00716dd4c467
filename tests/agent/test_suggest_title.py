"""What a model writes as a title is cleaned, or refused."""

import pytest

from showandtell.agent.suggest_title import MAX_TITLE, clean_title

APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
RIGHT_TO_LEFT = "\N{RIGHT-TO-LEFT OVERRIDE}"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Invoices of May", "Invoices of May"),
        ('  "Invoices of May."\n', "Invoices of May"),
        ("„Rechnungen im Mai“", "Rechnungen im Mai"),
        (f"“It{APOSTROPHE}s a cat”", f"It{APOSTROPHE}s a cat"),
        ('"Faust" and "Egmont"', '"Faust" and "Egmont"'),
        ("# **Invoices**  of\tMay", "Invoices of May"),
        ("Title: Invoices of May", "Invoices of May"),
        ("What `__init__` does", "What __init__ does"),
        ("_Invoices of May_", "Invoices of May"),
        ("__init__", "__init__"),
        ("Why 2 < 3", "Why 2 < 3"),
        (f"Invoices{RIGHT_TO_LEFT} of\0 May", "Invoices of May"),
        ("x" * MAX_TITLE, "x" * MAX_TITLE),
    ],
)
def test_a_title_is_one_line_of_plain_text(text, title):
    assert clean_title(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        '""',
        "...",
        "Title:",
        "Invoices\nof May",
        "Invoices\N{LINE SEPARATOR}of May",
        "x" * (MAX_TITLE + 1),
        "<b>Invoices</b>",
        "<script>alert(1)</script>",
        "[Invoices](javascript:alert)",
        "See https://example.com",
        "I'm sorry, but I can't help with that.",
        "I cannot name this.",
        "Es tut mir leid, das geht nicht.",
    ],
)
def test_what_is_no_title_is_refused(text):
    assert clean_title(text) == ""
