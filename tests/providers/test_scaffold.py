"""What follows the rows of a provider is there, or named in words; and what `make scaffold` writes is complete."""

import shutil
import subprocess
import sys

import pytest
import scaffold

from showandtell.core.capabilities.table import PROVIDERS
from support.paths import ROOT

ROWS = {
    "src/showandtell/core/capabilities/table.py": (
        "    *INSPECTOR,\n",
        "    *(replace(family, provider='acme') for family in openai_compatible.FAMILIES if family.provider == 'cohere'),\n",
    ),
    "src/showandtell/providers/hosts.py": (
        '    "mistral": HostRow(',
        '    "acme": HostRow("https://api.acme.example/v1", keys=(("ACME_API_KEY", "bearer"),)),\n',
    ),
}
#: Prints what is missing.
CHECK = """
import json, sys; sys.path[:0] = ["tests", "lint"]
import scaffold; print(json.dumps([scaffold.describe(missing) for missing in scaffold.find_missing("acme")]))
"""


@pytest.mark.parametrize("provider", sorted(set(PROVIDERS) - {"inspector"}))
def test_everything_that_follows_a_provider_is_there(provider):
    missing = [scaffold.describe(found) for found in scaffold.find_missing(provider)]
    assert missing == [], f"{provider} lacks these: `make scaffold PROVIDER={provider}` writes what can be written"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the sources with the rows of a new provider."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("src/showandtell", "tests", "docs", "lint", "examples"):
        skipped = shutil.ignore_patterns("__pycache__", "page", "pictures", "*.pyc")
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    for name, (anchor, row) in ROWS.items():
        scaffold.insert(copy / name, anchor, row)
    return copy


def run(tree, *command):
    environ = {"PYTHONPATH": str(tree / "src"), "HOME": str(tree), "PATH": "", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, *command], cwd=tree, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_a_new_provider_lacks_what_is_listed_and_the_scaffold_writes_it(tree):
    assert run(tree, "-c", CHECK).count("docs/providers") == 2
    assert run(tree, "lint/scaffold.py", "acme").count("wrote ") == len(scaffold.PLACES)
    assert run(tree, "-c", CHECK).strip() == "[]"
    page = (tree / "docs/providers/acme.md").read_text()
    assert "`ACME_API_KEY` (`authorization: Bearer`)" in page
    assert "| image | in a follow-up message |" in page


def test_a_provider_without_rows_lacks_them():
    assert [scaffold.describe(found).partition(":")[0] for found in scaffold.find_missing("acme-none")] == [
        "its families",
        "its host",
    ]
