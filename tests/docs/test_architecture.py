"""The modules that the architecture page names exist."""

import re

import pytest

from support.paths import ROOT, SRC

PAGE = (ROOT / "docs" / "architecture.md").read_text()
LAYERS = sorted(path.name for path in SRC.iterdir() if path.is_dir())
PATHS = re.findall(rf"`((?:{'|'.join(LAYERS)})/[\w/.]+)`", PAGE)


def test_the_page_follows_a_file_through_many_modules():
    assert len(PATHS) > 12


@pytest.mark.parametrize("path", PATHS)
def test_a_module_that_the_page_names_exists(path):
    assert (SRC / path).exists()
