"""Whether a release agrees: `python lint/release.py 0.2.0` compares the tag, the version and the changelog."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = ROOT / "src" / "showandtell" / "version.py"
CHANGELOG = ROOT / "CHANGELOG.md"


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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name the version: make release VERSION=0.2.0")
    wanted = sys.argv[1]
    sys.exit("\n".join(problems(wanted, VERSION.read_text("utf-8"), CHANGELOG.read_text("utf-8"))) or None)
