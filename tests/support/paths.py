"""Where the files of this repository are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SRC = ROOT / "src" / "showandtell"
#: Facts and recordings that are kept beside a checkout; tests that need them are skipped without.
SHARED = ROOT.parent / "shared"
