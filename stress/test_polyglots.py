"""Files that are two things at once, each with every claimed media type and every ending."""

from itertools import product

import pytest

from support.polyglot_claims import CLAIMS, ENDINGS, find_wrong
from support.polyglots import make_polyglots

pytestmark = pytest.mark.timeout(1200)


def test_a_polyglot_is_what_its_bytes_prove_whatever_it_claims_to_be():
    assert find_wrong(product(make_polyglots(), CLAIMS, ENDINGS)) == []
