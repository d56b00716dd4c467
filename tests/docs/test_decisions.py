"""The form of decisions in docs/adr, and their index."""

import re
from datetime import date

from support.docs_generator import GENERATOR
from support.paths import ROOT

FOLDER = ROOT / "docs" / "adr"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))


def test_a_decision_has_number_title_date_status_and_alternatives(subtests):
    for path in DECISIONS:
        with subtests.test(path=path.stem):
            text = path.read_text()
            head = GENERATOR.DECISION.match(text)
            assert head is not None, (
                "begin it with `# 12. Title`, a blank line, and `Date: 2026-11-28. Status: accepted.`"
            )
            assert int(head[1]) == int(path.name[:4])
            assert date.fromisoformat(head[3])
            assert re.match(r"accepted|replaced by ADR \d+", head[4])
            assert re.search(r"\bAlternatives?:", text)


def test_the_index_has_every_decision_in_one_area():
    parts = re.findall(r"<!-- decisions ([\d ]+) -->", (FOLDER / "README.md").read_text())
    listed = [number for part in parts for number in part.split()]
    numbers = {f"{int(path.name[:4])}" for path in DECISIONS}
    assert numbers - {*listed} == set(), "add the number to an area in docs/adr/README.md, and run `make docs`"
    assert len(listed) == len(numbers)
