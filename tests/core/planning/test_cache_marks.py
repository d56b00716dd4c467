"""Cache marks: only where a row of the table says so, and no other byte changes."""

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.planning.values import Policy
from support.growing_conversations import FORMATS, MARKS, talk, unmarked


def count_marks(body):
    return sum(body.count(mark) for mark in MARKS)


def test_cache_marks_change_no_other_byte(subtests):
    for model in FORMATS:
        with subtests.test(model=model):
            marked = [body for _, body in talk(model, Policy(cache=True))]
            plain = [body for _, body in talk(model, Policy())]
            assert [unmarked(body) for body in marked] == plain == [unmarked(body) for body in plain]


def test_a_request_has_cache_marks_if_its_row_says_so(subtests):
    for model in FORMATS:
        with subtests.test(model=model):
            counts = [count_marks(body) for _, body in talk(model, Policy(cache=True))]
            assert counts == ([1, 2, 2, 2, 2, 2, 2] if resolve(model).order.marks else [0] * 7)
