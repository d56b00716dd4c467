"""A release is refused if its tag, the version and the changelog differ, and its notes are those of the changelog."""

import pytest
import release

TEXTS = (
    'VERSION = "1.2.0"\n',
    "# Changes\n\n## 1.2.0 (2026-12-01)\n\n- New ([how](docs/new.md#how))\n\n## 1.1.0 (2026-11-01)\n\n- Old\n",
)


def test_a_release_that_agrees_is_let_through():
    assert release.problems("1.2.0", *TEXTS) == []


@pytest.mark.parametrize(
    ("tag", "old", "new", "problem"),
    [
        ("1.3.0", "", "", "version.py has 1.2.0, not 1.3.0"),
        ("1.2.0", "1.2.0 (2026-12-01)", "1.3.0 (2026-12-01)", "CHANGELOG.md begins with 1.3.0, not 1.2.0"),
        ("1.2.0", "(2026-12-01)", "(unreleased)", "CHANGELOG.md has no date for it, but (unreleased)"),
    ],
)
def test_what_differs_is_named(tag, old, new, problem):
    version, changelog = TEXTS
    assert problem in release.problems(tag, version, changelog.replace(old, new))


def test_the_notes_are_the_part_of_the_changelog_with_whole_links():
    notes = release.notes("1.2.0", TEXTS[1], "https://github.com/acme/shows")
    assert notes == "- New ([how](https://github.com/acme/shows/blob/v1.2.0/docs/new.md#how))\n"
