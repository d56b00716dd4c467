"""Whether a release agrees: `python lint/release.py 1.2.0` compares the tag, the version and the changelog.

With the repository's address behind it, the notes of the release are printed: the changelog's part, with whole links.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = ROOT / "src" / "showandtell" / "version.py"
CHANGELOG = ROOT / "CHANGELOG.md"
sys.path.append(str(ROOT))

from hatch_build import whole_links  # noqa: E402


def problems(tag: str, version: str, changelog: str) -> list[str]:
    """What is wrong, in sentences; `version` and `changelog` are the texts of the files."""
    found = re.search(r'^VERSION = "(.*)"$', version, re.MULTILINE)
    heading = re.search(r"^## (\S+) \((.*)\)$", changelog, re.MULTILINE)
    written, dated = (heading[1], heading[2]) if heading else ("nothing", "")
    return [
        *([] if found and found[1] == tag else [f"version.py has {found[1] if found else 'no version'}, not {tag}"]),
        *([] if written == tag else [f"CHANGELOG.md begins with {written}, not {tag}"]),
        *([] if re.fullmatch(r"\d{4}-\d\d-\d\d", dated) else [f"CHANGELOG.md has no date for it, but ({dated})"]),
    ]


def notes(tag: str, changelog: str, address: str) -> str:
    """The changelog's first part without its heading. Its links lead to the tag: a release has no files beside it."""
    part = re.split(r"^## .*\n", changelog, maxsplit=2, flags=re.MULTILINE)[1]
    return whole_links(part.strip(), address, f"v{tag}") + "\n"


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit("name the version: make release VERSION=1.2.0")
    wanted, changes = sys.argv[1], CHANGELOG.read_text("utf-8")
    if found := problems(wanted, VERSION.read_text("utf-8"), changes):
        sys.exit("\n".join(found))
    if addresses := sys.argv[2:]:
        print(notes(wanted, changes, addresses[0]), end="")
