"""What a user's words point at: one line says what they mean, and a file that is out of view by then comes again there."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import Derivative
from showandtell.core.messages.messages import MOST_RECALLED, Message, Reference
from showandtell.core.messages.parts import Json, Text, is_approval
from showandtell.core.planning.eviction import first_in_view, uses_in
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, RenderedFile, View, by_kind
from support.builders import Everything, assistant, attachment, planned, result, shown, user, view
from support.growing_conversations import MODELS as ROWS
from support.growing_conversations import asked, check_prefixes, talks, views
from support.planned_conversations import placed_in
from support.properties import examples
from support.replanned_conversations import CLAUDE, MODELS, runs

IMAGE_1 = Reference("image 1", (1,))
#: What stands beside image 1, wherever it is shown.
BESIDE_1 = "⟦image 1: file1.png, from tool get (call call_1), 2026-11-21⟧"


def asking(*references, named="u2", parts=("and now?",)):
    return replace(user(*parts, named=named), references=references)


def talk(*last, count=6, files=()):
    """A run of one picture a step, then what comes last; the first of the pictures may be other files."""
    pictures = [*files, *(attachment(number) for number in range(len(files) + 1, count + 1))]
    steps = [
        message
        for number in range(1, count + 1)
        for message in (assistant(f"c{number}", named=f"a{number}"), result(f"c{number}", shown(number)))
    ]
    return view(user("go"), *steps, assistant(text="Done.", named="a0"), *last, files=pictures, answering=last[-1].id)


def told(plan):
    """The last turn's texts, and the numbers of its files, in order."""
    return [part.text if isinstance(part, Text) else (part.number, part.nth) for part in plan.entries[-1].parts]


def test_a_file_in_view_gets_only_the_line_that_says_what_is_meant():
    made = planned(talk(asking(IMAGE_1)), CLAUDE)
    assert told(made) == ["and now?", "⟦image 1 = file1.png, from get⟧"]
    assert [(receipt.delivery, receipt.place) for receipt in made.receipts] == [("native", "tool_result")] * 6


def test_a_file_out_of_view_comes_again_behind_its_line_with_its_own_number():
    made = planned(talk(asking(IMAGE_1)), CLAUDE, focus=4)
    assert told(made) == ["and now?", "⟦image 1 = file1.png, from get⟧", BESIDE_1, (1, 2)]
    assert [part.place for part in made.entries[-1].parts if isinstance(part, RenderedFile)] == ["user"]
    assert "⟦image 1: file1.png, not in view any more⟧" in [part.text for part in made.entries[2].parts[0].parts]


def test_the_receipt_of_a_file_that_came_again_is_of_that_showing():
    without, made = (planned(talk(last), CLAUDE, focus=4) for last in (asking(), asking(IMAGE_1)))
    assert (without.receipts[0].delivery, without.receipts[0].place) == ("listed", None)
    assert (made.receipts[0].delivery, made.receipts[0].place) == ("native", "user")
    assert made.receipts[0].cell == resolve(CLAUDE).cell("user", "image/png", "inline")
    assert [receipt.number for receipt in made.receipts] == [1, 2, 3, 4, 5, 6]


def test_a_file_comes_again_once_however_often_words_point_at_it():
    twice = asking(IMAGE_1, Reference("the first picture", (1,)), Reference("all of them", (1, 6)))
    later = asking(IMAGE_1, named="u3")
    made = planned(talk(twice, assistant(text="I see.", named="a9"), later), CLAUDE, focus=5)
    assert [one.nth for one in placed_in(made.entries) if one.number == 1] == [2]
    assert told(made) == ["and now?", "⟦image 1 = file1.png, from get⟧"]


def test_what_may_mean_two_files_lists_both_readings_and_shows_both_where_they_are_out_of_view():
    unclear = Reference("the first one", (), ((1,), (2,)))
    line = "⟦the first one may mean image 1: file1.png, from get or image 2: file2.png, from get: ask which is meant where it matters⟧"
    assert told(planned(talk(asking(unclear)), CLAUDE)) == ["and now?", line]
    words, seen, *again = told(planned(talk(asking(unclear)), CLAUDE, focus=4))
    assert (words, seen, again[1], again[3]) == ("and now?", line, (1, 2), (2, 2))


def test_of_two_readings_only_the_one_out_of_view_comes_again():
    unclear = Reference("that one", (), ((1,), (6,)))
    assert [one for one in told(planned(talk(asking(unclear)), CLAUDE, focus=5)) if isinstance(one, tuple)] == [(1, 2)]


def test_a_deleted_file_is_noted_where_it_would_come_again_and_refuses_nothing():
    gone = replace(attachment(1), state="deleted", problem="it was deleted by the user")
    made = planned(talk(asking(IMAGE_1), files=[gone]), CLAUDE, focus=4)
    assert told(made)[2:] == ["⟦image 1 (file1.png, 1 kB) was not sent: it was deleted by the user⟧"]
    assert made.receipts[0].delivery == "noted"


def test_a_file_that_nothing_takes_is_noted_where_words_point_at_it_though_the_message_is_answered():
    zipped = attachment(1, "application/zip")
    made = planned(talk(asking(Reference("the zip", (1,))), files=[zipped]), CLAUDE, focus=3)
    assert [receipt.delivery for receipt in made.receipts if receipt.number == 1] == ["noted"]
    assert told(made)[1:] == [
        "⟦the zip = file 1: file1.zip, from get⟧",
        f"⟦file 1 (file1.zip, 1 kB) was not sent: {CLAUDE} takes no application/zip⟧",
    ]


def test_a_file_that_comes_again_comes_in_the_form_that_is_known_of_it():
    scan, page = attachment(1, "image/tiff"), attachment(90).facts
    seen = talk(asking(IMAGE_1), files=[scan])
    (want,) = plan(seen, resolve(CLAUDE), {}, Policy(focus=4)).wants
    made = plan(seen, resolve(CLAUDE), {want: Derivative((page,), scale=0.5)}, Policy(focus=4))
    assert [part.file for part in made.entries[-1].parts if isinstance(part, RenderedFile)] == [page]
    assert "scaled to 50%" in told(made)[2]
    assert (made.receipts[0].converted, made.receipts[0].place) == (True, "user")


def test_a_file_of_the_same_message_is_not_shown_twice():
    own = asking(Reference("image 7", (7,)), parts=("look", shown(7)))
    seen = talk(own)
    made = planned(View(seen.messages, {**seen.attachments, 7: attachment(7)}, "u2"), CLAUDE, focus=1)
    assert [(one.number, one.nth) for one in placed_in(made.entries)] == [(7, 1)]
    assert told(made)[-1] == "⟦image 7 = file7.png, from get⟧"


def test_a_file_inside_the_json_of_the_same_message_is_its_own_too():
    inside = Message("u2", "user", (Json('{"a":null}', (("/a", shown(1)),)),), references=(IMAGE_1,))
    assert inside.recalled == ()


def test_one_message_calls_back_twenty_files_at_most_each_once_in_order():
    many = Reference("all of them", tuple(range(1, 41)))
    message = asking(Reference("image 9", (9,)), many)
    assert len(message.recalled) == MOST_RECALLED == 20
    assert message.recalled == (9, *range(1, 9), *range(10, 21))
    assert asking(Reference("5", (), ((5,), (9, 5)))).recalled == (5, 9)


def test_a_message_that_points_at_nothing_says_nothing_of_it():
    assert told(planned(talk(asking()), CLAUDE, focus=4)) == ["and now?"]


def pointing(draw, messages):
    """The same messages; people's words point at some of the files so far, clearly or not."""
    shown_yet = set()
    for message in messages:
        if message.role == "user" and not is_approval(message.parts):
            there = sorted(shown_yet | {one.number for one in message.showings})
            meant = st.lists(st.sampled_from(there), max_size=3).map(tuple) if there else st.just(())
            some = draw(st.lists(meant.filter(len), max_size=2)) if there else []
            clear = draw(st.booleans())
            yield replace(
                message,
                references=tuple(
                    Reference(f"these {at}", one) if clear else Reference(f"these {at}", (), ((one[0],), one))
                    for at, one in enumerate(some)
                ),
            )
        else:
            yield message
        shown_yet |= {one.number for one in message.showings}


@st.composite
def pointed_runs(draw):
    messages, files = draw(runs())
    return [*pointing(draw, [*messages, user("which?", named="u99")])], files


@st.composite
def pointed_views(draw):
    """Every view of a conversation of real files."""
    seen = [*views(draw(talks()))]
    messages = [*pointing(draw, seen[-1].messages)]
    return [View(tuple(messages[: len(one.messages)]), one.attachments, one.answering) for one in seen]


SMALL = st.sampled_from(
    [Policy(focus=1), Policy(focus=2), Policy(focus=4), Policy(on_unsupported=by_kind("error"), focus=2)]
)


@examples(200)
@given(pointed_runs(), st.sampled_from(MODELS), SMALL, st.booleans())
def test_with_references_every_plan_of_a_growing_conversation_equals_one_made_anew(run, model, policy, newest):
    (messages, files), target, known, kept = run, resolve(model), Everything(), {}
    for end in range(1, len(messages) + 1):
        people = [one.id for one in messages[:end] if one.role == "user"]
        now = view(*messages[:end], files=files, answering=people[-1 if newest else 0])
        assert plan(now, target, known, policy, kept=kept) == plan(now, target, known, policy)


@examples(200)
@given(pointed_runs(), st.sampled_from(MODELS), SMALL)
def test_what_words_point_at_is_in_view_or_noted_and_nothing_is_shown_twice(run, model, policy):
    messages, files = run
    now = view(*messages, files=files, answering=messages[-1].id)
    made = plan(now, resolve(model), Everything(), policy)
    placed = [(one.number, one.nth) for one in placed_in(made.entries)]
    assert len(placed) == len(set(placed))
    before = sum(len(uses_in(message)) for message in messages[:-1])
    if first_in_view(now, resolve(model), policy) <= before:
        noted = {receipt.number for receipt in made.receipts if receipt.delivery in {"noted", "refused"}}
        assert set(messages[-1].recalled) <= {number for number, _ in placed} | noted


@given(
    pointed_views(),
    st.sampled_from(ROWS),
    st.sampled_from([Policy(cache=True), Policy(cache=True, focus=2), Policy(focus=4)]),
)
def test_with_references_a_prompt_begins_with_the_one_before_while_the_view_stands(seen, model, policy):
    check_prefixes([*asked(seen, model, policy)])


@examples(200)
@given(pointed_runs(), st.sampled_from(MODELS), SMALL)
def test_with_references_the_view_only_moves_forward(run, model, policy):
    (messages, files), target = run, resolve(model)
    fronts = [first_in_view(view(*messages[:end], files=files), target, policy) for end in range(1, len(messages) + 1)]
    assert all(one <= two for one, two in pairwise(fronts))
