"""The glossary: the modules that it names exist, and its words are used."""

import re

from support.paths import ROOT, SRC

GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall(GLOSSARY.read_text())
MODULE = re.compile(r"`([a-z_/]+(?:\.py)?)`")
PAGES = [path.read_text().lower() for path in (ROOT / "docs").glob("*.md") if path != GLOSSARY]


def test_every_row_of_the_table_is_read_and_in_order():
    words = [word.lower() for word, _, _ in ROWS]
    assert len(words) == GLOSSARY.read_text().count("\n| **")
    assert words == sorted(words)


def test_a_word_names_where_it_lives_in_the_code(subtests):
    for word, _, where in ROWS:
        with subtests.test(word=word):
            modules = MODULE.findall(where)
            assert modules, word
            assert [module for module in modules if not (SRC / module).exists()] == []


def test_a_word_is_used_on_another_page(subtests):
    for word, _, _ in ROWS:
        with subtests.test(word=word):
            assert any(re.search(rf"\b{re.escape(word.lower())}s?\b", page) for page in PAGES)
