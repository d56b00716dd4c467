"""A release is refused if its tag, the version and the changelog differ."""

import pytest
import release

TEXTS = ('VERSION = "1.2.0"\n', "# Changes\n\n## 1.2.0 (2026-12-01)\n\n- New\n\n## 1.1.0 (2026-11-01)\n")


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
