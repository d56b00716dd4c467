"""The pages of the documentation as HTML: names are links, there is a front page, and no other host is needed."""

import re

from support.paths import ROOT
from support.site import build

#: An element that a browser loads from another host.
LOADED = re.compile(
    r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//|@import|url\(['\"]?(?:https?:)?//"
)


def test_the_pages_link_to_each_other_and_load_nothing_from_elsewhere(tmp_path):
    run = build(ROOT, tmp_path, "html")
    assert (run.returncode, run.stderr) == (0, "")
    site = tmp_path / "site"
    # Names of other modules are links, too.
    assert 'href="errors.html#showandtell.errors.StorageFailed"' in (site / "docs/api/showandtell.html").read_text()
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert [path for path in pages if LOADED.search(path.read_text())] == []
    assert (site / "index.html").read_text() == (site / "README.html").read_text()
