"""Old messages are left out of requests whole: a call never without its result, and the first message stays."""

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.message import Draft, Message
from showandtell.core.messages.parts import Approval, Summary, is_summary
from showandtell.core.messages.tool_pairs import check_tool_pairs
from showandtell.core.planning.left_out import as_ranges, cut_at, find_cut, left_out_before, stored_cut
from showandtell.core.planning.plan import plan
from showandtell.core.planning.sizes import message_size
from showandtell.core.planning.values import Policy, View
from support.builders import Everything, assistant, planned, result, user, view, words
from support.planned_conversations import conversations

CLAUDE = "anthropic:claude-sonnet-4-5"
TARGET = resolve(CLAUDE)
LONG = "word " * 1000


def turns(count):
    """Turns of a question, a call, its result and an answer."""
    for turn in range(count):
        yield user(f"question {turn} {LONG}", named=f"u{turn}")
        yield assistant(f"c{turn}", named=f"a{turn}")
        yield result(f"c{turn}", LONG)
        yield assistant(text="Ok.", named=f"b{turn}")


def cut(seen, room, after=0):
    index = find_cut(seen, TARGET, room, after)
    return None if index is None else cut_at(seen, index)


def test_whole_turns_are_left_out_and_the_first_message_stays():
    seen = view(*turns(6), files=[], answering="u5")
    left = cut(seen, 30_000).apply(seen)
    assert [message.id for message in left.messages] == ["u0", "left_out_16", *(m.id for m in [*turns(6)][16:])]
    assert words(planned(left, CLAUDE).entries[0].parts)[1].startswith("⟦15 earlier messages are left out here")


def test_in_a_long_turn_steps_are_left_out_and_the_question_stays():
    steps = [item for step in range(9) for item in (assistant(f"c{step}", named=f"a{step}"), result(f"c{step}", LONG))]
    seen = view(
        user("hello"), assistant(text="Hi.", named="a"), user("go", named="u2"), *steps, files=[], answering="u2"
    )
    left = cut(seen, 20_000).apply(seen)
    assert [message.id for message in left.messages][:4] == ["u1", "u2", "left_out_15", "a6"]


def test_an_approval_stays_with_its_call():
    approved = user(Approval("c1", approved=True), named="yes")
    seen = view(
        user("go"),
        assistant("c0", named="a0"),
        result("c0", LONG),
        assistant("c1"),
        approved,
        result("c1", LONG),
        files=[],
    )
    assert find_cut(seen, TARGET, 1) == 3


def test_nothing_is_left_out_of_one_question():
    seen = view(user(LONG), assistant("c1"), result("c1", LONG), files=[])
    assert find_cut(seen, TARGET, 1) is None


def test_a_second_cut_leaves_out_more():
    seen = view(*turns(6), files=[], answering="u5")
    first = find_cut(seen, TARGET, 40_000)
    assert first < find_cut(seen, TARGET, 40_000, first)


def test_a_cut_belongs_to_one_branch():
    seen, other = view(*turns(6), files=[]), view(*turns(2), files=[])
    assert (cut(seen, 30_000).fits(seen), cut(seen, 30_000).fits(other)) == (True, False)


@given(conversations(), st.integers(0, 5_000))
def test_what_is_left_has_its_pairs_fits_if_anything_does_and_ends_as_before(seen, room):
    after = find_cut(seen, TARGET, room)
    if after is None:
        return
    made = cut_at(seen, after)
    left = made.apply(seen)
    check_tool_pairs([Draft(m.role, m.parts, m.call_id, m.tool) for m in left.messages])
    assert left.messages[-1] == seen.messages[-1]
    assert left.messages[0] == seen.messages[0]
    assert seen.answering not in {m.id for m in seen.messages} or seen.answering in {m.id for m in left.messages}
    assert made.start[-1].parts[0].count == len(seen.messages) - (len(left.messages) - 1) > 0
    size = sum(
        message_size(message, seen.attachments, TARGET) for message in left.messages if message != made.start[-1]
    )
    steps = [index for index in range(after + 1, len(seen.messages)) if seen.messages[index].role == "assistant"]
    assert size <= room or not steps
    plan(left, TARGET, Everything(), Policy())


def with_summary(seen, ranges):
    """A view whose last message is a stored summary."""
    summary = Message("summary", "user", (Summary("They talked.", ranges),))
    return View((*seen.messages, summary), seen.attachments, seen.answering, seen.started)


@given(conversations(), st.integers(0, 5_000))
def test_a_stored_summary_leaves_out_what_its_cut_left_out(seen, room):
    index = find_cut(seen, TARGET, room)
    if index is None:
        return
    summed = with_summary(seen, as_ranges(left_out_before(seen, index)))
    left, cut_off = stored_cut(summed).apply(summed), cut_at(seen, index).apply(seen)
    named = [message.id for message in left.messages]
    assert named == [message.id if not is_summary(message.parts) else "summary" for message in cut_off.messages]


NUMBERS = st.integers(-2, 20) | st.sampled_from([10**9, 2**62])


@given(conversations(), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4))
def test_whatever_a_stored_summary_names_no_call_loses_its_result(seen, ranges):
    summed = with_summary(seen, tuple(ranges))
    left = stored_cut(summed).apply(summed)
    check_tool_pairs([Draft(m.role, m.parts, m.call_id, m.tool) for m in left.messages])
    assert [message.id for message in left.messages if not is_summary(message.parts)][-1] == seen.messages[-1].id
    plan(left, TARGET, Everything(), Policy())
