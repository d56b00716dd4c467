"""The first pass: old files leave the view in large steps, and don't come back by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.planning.eviction import first_in_view
from showandtell.core.planning.values import Policy, by_kind
from support.builders import assistant, attachment, planned, result, shown, user, view

CLAUDE = "anthropic:claude-sonnet-4-5"


def steps(sizes, media_type="image/png"):
    """A run with one file per step."""
    files = [attachment(number, media_type, size) for number, size in enumerate(sizes, 1)]
    messages = [user("go")]
    for file in files:
        messages += [
            assistant(f"c{file.number}", named=f"a{file.number}"),
            result(f"c{file.number}", shown(file.number)),
        ]
    return view(*messages, files=files)


def test_everything_is_in_view_if_it_fits():
    assert first_in_view(steps([1000] * 20), resolve(CLAUDE), Policy()) == 0


def test_the_view_moves_by_half_a_budget_at_once():
    starts = [
        first_in_view(steps([1000] * count), resolve(CLAUDE), Policy(max_in_context=10)) for count in range(1, 26)
    ]
    assert sorted(set(starts)) == [0, 6, 12, 18]


def test_a_file_out_of_view_is_listed_in_one_line():
    plan = planned(steps([1000] * 12), CLAUDE, max_in_context=10)
    assert [receipt.delivery for receipt in plan.receipts] == ["listed"] * 6 + ["native"] * 6
    assert plan.entries[2].parts[0].parts[0].text == "⟦image 1: file1.png, not in view any more⟧"


def test_user_files_that_exceed_the_request_are_refused():
    files = [attachment(number) for number in range(1, 121)]
    plan = planned(view(user(*[shown(file.number) for file in files]), files=files), CLAUDE)
    assert [receipt.number for receipt in plan.receipts if receipt.delivery == "refused"]


def test_unsupported_files_evict_no_others():
    assert first_in_view(steps([1_000_000] * 200, "audio/wav"), resolve(CLAUDE), Policy()) == 0


@given(st.lists(st.integers(0, 6_000_000), min_size=1, max_size=60), st.integers(1, 12))
def test_the_first_file_in_view_only_moves_forward_and_the_view_fits(sizes, limit):
    target = resolve(CLAUDE)
    starts = [
        first_in_view(steps(sizes[:count]), target, Policy(max_in_context=limit)) for count in range(1, len(sizes) + 1)
    ]
    assert starts == sorted(starts)
    assert all(count - start <= limit for count, start in enumerate(starts, 1))


def test_files_that_come_together_leave_only_as_far_as_necessary():
    files = [attachment(number) for number in range(1, 106)]
    seen = view(user("go"), assistant("c"), result("c", *[shown(file.number) for file in files]), files=files)
    deliveries = [receipt.delivery for receipt in planned(seen, CLAUDE).receipts]
    assert deliveries == ["listed"] * 5 + ["native"] * 100
    assert {receipt.delivery for receipt in planned(seen, CLAUDE, on_unsupported=by_kind("error")).receipts[:5]} == {
        "refused"
    }


def test_only_a_few_large_images_stay_in_view():
    files = [attachment(number, pixels=(3000, 3000)) for number in range(1, 26)]
    seen = view(user("go"), assistant("c"), result("c", *[shown(file.number) for file in files]), files=files)
    assert sum(receipt.delivery == "native" for receipt in planned(seen, CLAUDE).receipts) == 20


def test_a_file_larger_than_a_request_is_noted_with_both_sizes_and_evicts_no_others():
    files = [attachment(1), attachment(2, size=5_000_000), attachment(3)]
    seen = view(user("go"), assistant("c"), result("c", shown(1), shown(2), shown(3)), files=files)
    receipts = planned(seen, "groq:qwen/qwen3.6-27b").receipts
    assert [receipt.delivery for receipt in receipts] == ["relocated", "noted", "relocated"]
    assert "5.0 MB" in receipts[1].reason
    assert "holds 4.0 MB" in receipts[1].reason
