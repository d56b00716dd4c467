"""`lint/words.py` finds words and phrases that may not come back, in names and in prose."""

import pytest
import words

RULES = words.read_rules("name\tshelf\tcache\nprose\tis none\tnot a …\nname\tmost\tmax\ttests/*\n")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "book_shelf = 1\n", ["a.py:1: the name book_shelf: cache"]),
        ("a.py", "\n\nclass BookShelf:\n    pass\n", ["a.py:3: the name BookShelf: cache"]),
        ("a.py", "shelfish = bookshelf = 'shelf'  # a text\n", []),
        ("a.py", '"""What\nis none."""\n', ['a.py:1: "is none": not a …']),
        ("a.py", "x = 1  # what is none\n", ['a.py:1: "is none": not a …']),
        ("a.py", "MOST_FILES = 1\n", ["a.py:1: the name MOST_FILES: max"]),
        ("tests/a.py", "MOST_FILES = 1\n", []),
        ("a.ts", "// is none\nconst shelf = 'shelf';", ['a.ts:1: "is none": not a …', "a.ts:2: the name shelf: cache"]),
        ("a.mjs", "found.match(/the shelf (is|was)/); const shelf = 1;", ["a.mjs:1: the name shelf: cache"]),
        ("a.md", "one\nIs none.\n", ['a.md:2: "Is none": not a …']),
        ("a.md", "```\nis none\n```\n`is none`\n", []),
    ],
)
def test_a_word_is_found_in_names_and_in_prose(path, text, expected):
    assert [*words.check(path, text, RULES)] == expected


def test_a_rule_says_what_to_write_instead():
    assert all(rule.instead for rule in words.read_rules(words.RULES.read_text()))
