"""What is two things at once is stored as the one that its bytes prove, whatever anybody says it is.

`stress/test_polyglots.py` tries each file with each claim and each ending.
"""

from support.polyglot_claims import CLAIMS, ENDINGS, find_wrong
from support.polyglots import make_polyglots


def test_a_polyglot_is_stored_as_what_its_bytes_prove_whatever_it_claims_to_be():
    polyglots, endings = make_polyglots(), [*ENDINGS]
    assert len({polyglot.data for polyglot in polyglots}) == len(polyglots) >= 60
    cases = [
        (polyglot, claim, endings[(row + column) % len(endings)])
        for row, polyglot in enumerate(polyglots)
        for column, claim in enumerate(CLAIMS)
    ]
    assert find_wrong(cases) == []
