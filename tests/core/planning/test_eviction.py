"""The first pass: old files leave the view in large steps, and don't come back by themselves."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Origin
from showandtell.core.messages.message import Message, Reference
from showandtell.core.messages.parts import Text
from showandtell.core.planning.eviction import RESERVE, EvictionState, advance_eviction, first_in_view, request_budget
from showandtell.core.planning.plan import plan
from showandtell.core.planning.token_estimates import text_tokens
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


def asked_with(uploads, count, references=()):
    """A question with uploads and references, and then steps with a file each."""
    files = [attachment(number, origin=Origin("user")) for number in range(1, uploads + 1)]
    files += [attachment(number) for number in range(uploads + 1, uploads + count + 1)]
    question = Message(
        "u1", "user", (Text("go"), *(shown(file.number) for file in files[:uploads])), references=references
    )
    messages = [
        message
        for file in files[uploads:]
        for message in (
            assistant(f"c{file.number}", named=f"a{file.number}"),
            result(f"c{file.number}", shown(file.number)),
        )
    ]
    return question, messages, files


def in_view(plan):
    return [receipt.number for receipt in plan.receipts if receipt.place is not None]


def test_tools_files_leave_before_those_of_the_question():
    question, messages, files = asked_with(2, 20)
    shown_now = in_view(planned(view(question, *messages, files=files), CLAUDE, max_in_context=8))
    assert shown_now[:2] == [1, 2]
    assert shown_now[2:] == [*range(23 - len(shown_now) + 2, 23)]
    assert 4 <= len(shown_now) <= 8


def test_a_file_that_the_question_names_stays_though_it_is_old():
    _, before, files = asked_with(0, 12)
    named = Message("u2", "user", (Text("as image 2"),), references=(Reference("image 2", (2,)),))
    more = [attachment(number) for number in range(13, 33)]
    steps = [
        part
        for file in more
        for part in (
            assistant(f"d{file.number}", named=f"b{file.number}"),
            result(f"d{file.number}", shown(file.number)),
        )
    ]
    made = planned(
        view(user("go"), *before, named, *steps, files=[*files, *more], answering="u2"), CLAUDE, max_in_context=8
    )
    assert in_view(made)[0] == 2
    assert 32 in in_view(made)


def test_uploads_of_older_questions_leave_when_they_fill_the_view():
    questions = [
        message
        for number in range(1, 21)
        for message in (user(shown(number), named=f"u{number}"), assistant(text="Ok.", named=f"a{number}"))
    ]
    files = [attachment(number, origin=Origin("user")) for number in range(1, 21)]
    made = planned(view(*questions, user("and?", named="u99"), files=files, answering="u99"), CLAUDE, max_in_context=8)
    assert in_view(made) == [*range(21 - len(in_view(made)), 21)]


def test_pictures_leave_when_text_and_pictures_exceed_the_share_of_the_window():
    screens = [attachment(number, pixels=(1920, 1080)) for number in range(1, 81)]
    seen = view(user("go"), *[
        part for file in screens for part in (assistant(f"c{file.number}", named=f"a{file.number}"), result(f"c{file.number}", shown(file.number)))
    ], files=screens)  # fmt: skip
    made = planned(seen, CLAUDE, context_share=0.5)
    assert made.tokens <= 100_000
    assert 20 <= len(in_view(made)) < 62
    assert "context_share is 0.5 of the 200,000 tokens" in made.receipts[0].reason


def test_pictures_of_the_newest_step_may_take_more_than_the_share():
    screens = [attachment(number, pixels=(1920, 1080)) for number in range(1, 101)]
    made = planned(
        view(user("go"), assistant("c"), result("c", *[shown(file.number) for file in screens[:90]]), files=screens),
        CLAUDE,
        context_share=0.5,
    )
    assert len(in_view(made)) == 90


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3000)), min_size=1, max_size=40), st.floats(0.05, 1))
def test_tokens_in_view_fit_the_share_but_for_the_newest_group_and_the_question(shape, share):
    files = [attachment(number, pixels=(side, side)) for number, (_, side) in enumerate(shape, 1)]
    messages = [user("go", named="u0"), assistant(text="Yes?", named="a0")]
    for file, (is_users, _) in zip(files, shape, strict=True):
        if is_users:
            messages += [
                user(shown(file.number), named=f"u{file.number}"),
                assistant(text="Ok.", named=f"b{file.number}"),
            ]
        else:
            messages += [
                assistant(f"c{file.number}", named=f"a{file.number}"),
                result(f"c{file.number}", shown(file.number)),
            ]
    made = planned(view(*messages, files=files, answering="u0"), CLAUDE, context_share=share)
    assert len(files) in in_view(made)
    assert made.tokens <= 200_000 * share + 2 * 1_600 + 50 or len(in_view(made)) <= 2


def test_files_get_what_a_request_leaves_besides_its_head_and_a_reserve():
    target = resolve(CLAUDE)
    plain, headed = (request_budget(target, Policy(head_bytes=head), 1.0).bytes for head in (0, 1000))
    assert plain + RESERVE == target.budget.bytes
    assert headed == plain - 1000


def test_a_plan_counts_the_tokens_of_its_head_and_its_text():
    short, long = (planned(view(user("word " * count), files=[]), CLAUDE) for count in (10, 1_000))
    headed = planned(view(user("word " * 10), files=[]), CLAUDE, head_bytes=9_000)
    assert text_tokens(4_950) * 0.9 < long.tokens - short.tokens < text_tokens(4_950) * 1.1
    assert headed.tokens - short.tokens == text_tokens(9_000)


def test_files_out_of_view_change_with_the_limit_that_they_are_out_of_view_for():
    uses = advance_eviction(EvictionState(), steps([10, 10]), resolve(CLAUDE), {}, Policy()).uses
    seen = EvictionState(uses, start=1, limit="more than 10 images")
    assert seen.changes(seen) is None
    assert seen.changes(replace(seen, limit="more than 20 images")) == range(1)
    assert seen.changes(replace(seen, start=0)) == range(1)


def test_a_picture_counts_as_one_before_it_is_uploaded():
    policy = Policy(uploads=True, expected_steps=100_000, cache=True)
    seen = steps([1_000_000, 1_000_000])
    assert plan(seen, resolve(CLAUDE), {}, policy).wants
    size, images, *_ = advance_eviction(EvictionState(), seen, resolve(CLAUDE), {}, policy).load
    assert images == 2
    assert size < 1_000_000
