"""References in a user's text: a label explains them, and a file that is out of view is sent again."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import Derivative
from showandtell.core.messages.message import MAX_RECALLED, Message, Reference
from showandtell.core.messages.parts import Json, Text, is_approval
from showandtell.core.planning.eviction import EvictionState, advance_eviction, first_in_view, uses_in
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, RenderedFile, View, by_kind
from support.builders import Everything, assistant, attachment, planned, result, shown, user, view
from support.growing_conversations import MODELS as ROWS
from support.growing_conversations import asked, check_prefixes, talks, views
from support.planned_conversations import placed_in
from support.properties import examples
from support.replanned_conversations import CLAUDE, MODELS, runs

IMAGE_1 = Reference("image 1", (1,))
#: The label of image 1.
LABEL_1 = "⟦image 1: file1.png, from tool get (call call_1), 2026-11-21⟧"


def asking(*references, named="u2", parts=("and now?",)):
    return replace(user(*parts, named=named), references=references)


def talk(*last, count=6, files=()):
    """A run with one image per step, then the last messages; `files` replace the first images."""
    pictures = [*files, *(attachment(number) for number in range(len(files) + 1, count + 1))]
    steps = [
        message
        for number in range(1, count + 1)
        for message in (assistant(f"c{number}", named=f"a{number}"), result(f"c{number}", shown(number)))
    ]
    return view(user("go"), *steps, assistant(text="Done.", named="a0"), *last, files=pictures, answering=last[-1].id)


def summary(plan):
    """The last turn's texts, and the numbers of its files, in order."""
    return [part.text if isinstance(part, Text) else (part.number, part.nth) for part in plan.entries[-1].parts]


def test_a_reference_to_a_file_in_view_only_adds_a_label():
    made = planned(talk(asking(IMAGE_1)), CLAUDE)
    assert summary(made) == ["and now?", "⟦image 1 = file1.png, from get⟧"]
    assert [(receipt.delivery, receipt.place) for receipt in made.receipts] == [("native", "tool_result")] * 6


def test_a_file_out_of_view_is_sent_again_after_the_label_with_its_number():
    made = planned(talk(asking(IMAGE_1)), CLAUDE, max_in_context=4)
    assert summary(made) == ["and now?", "⟦image 1 = file1.png, from get⟧", LABEL_1, (1, 2)]
    assert [part.place for part in made.entries[-1].parts if isinstance(part, RenderedFile)] == ["user"]
    assert "⟦image 1: file1.png, not in view any more⟧" in [part.text for part in made.entries[2].parts[0].parts]


def test_the_receipt_of_a_file_that_is_sent_again_is_of_the_last_use():
    without, made = (planned(talk(last), CLAUDE, max_in_context=4) for last in (asking(), asking(IMAGE_1)))
    assert (without.receipts[0].delivery, without.receipts[0].place) == ("listed", None)
    assert (made.receipts[0].delivery, made.receipts[0].place) == ("native", "user")
    assert made.receipts[0].cell == resolve(CLAUDE).cell("user", "image/png", "inline")
    assert [receipt.number for receipt in made.receipts] == [1, 2, 3, 4, 5, 6]


def test_a_file_with_several_references_is_sent_again_once():
    twice = asking(IMAGE_1, Reference("the first picture", (1,)), Reference("all of them", (1, 6)))
    later = asking(IMAGE_1, named="u3")
    made = planned(talk(twice, assistant(text="I see.", named="a9"), later), CLAUDE, max_in_context=5)
    assert [item.nth for item in placed_in(made.entries) if item.number == 1] == [2]
    assert summary(made) == ["and now?", "⟦image 1 = file1.png, from get⟧"]


def test_an_ambiguous_reference_lists_all_candidates_and_sends_none_again():
    unclear = Reference("the first one", (), ((1,), (2,)))
    line = "⟦the first one may mean image 1: file1.png, from get or image 2: file2.png, from get: ask which is meant where it matters⟧"
    assert summary(planned(talk(asking(unclear)), CLAUDE)) == ["and now?", line]
    assert summary(planned(talk(asking(unclear)), CLAUDE, max_in_context=4)) == ["and now?", line]


def test_a_number_without_a_file_is_named_after_the_files():
    some = [IMAGE_1, Reference("images 2 and 9", (2,), missing=(9,)), Reference("image 8", (), missing=(8,))]
    found, missing = summary(planned(talk(asking(*some)), CLAUDE))[1].split("\n")
    assert found == "⟦image 1 = file1.png, from get; images 2 and 9 = image 2: file2.png, from get⟧"
    assert missing == "⟦no file has the numbers 8 to 9⟧"
    assert summary(planned(talk(asking(some[2])), CLAUDE))[1:] == ["⟦no file has the number 8⟧"]


def test_a_reference_to_a_deleted_file_is_noted_and_not_refused():
    gone = replace(attachment(1), state="deleted", problem="it was deleted by the user")
    made = planned(talk(asking(IMAGE_1), files=[gone]), CLAUDE, max_in_context=4)
    assert summary(made)[2:] == ["⟦image 1 (file1.png, 1 kB) was not sent: it was deleted by the user⟧"]
    assert made.receipts[0].delivery == "noted"


def test_a_reference_to_a_file_for_tools_only_names_it_again():
    zipped = attachment(1, "application/zip")
    made = planned(talk(asking(Reference("the zip", (1,))), files=[zipped]), CLAUDE, max_in_context=3)
    assert [receipt.delivery for receipt in made.receipts if receipt.number == 1] == ["for_tools"]
    assert summary(made)[1:] == [
        "⟦the zip = file 1: file1.zip, from get⟧",
        "⟦file 1: file1.zip, from tool get (call call_1), 2026-11-21, 1 kB, for tools only: no tool here takes files⟧",
    ]


def test_a_file_that_is_sent_again_is_converted():
    scan, page = attachment(1, "image/tiff"), attachment(90).facts
    seen = talk(asking(IMAGE_1), files=[scan])
    (want,) = plan(seen, resolve(CLAUDE), {}, Policy(max_in_context=4)).wants
    made = plan(seen, resolve(CLAUDE), {want: Derivative((page,), scale=0.5)}, Policy(max_in_context=4))
    assert [part.file for part in made.entries[-1].parts if isinstance(part, RenderedFile)] == [page]
    assert "scaled to 50%" in summary(made)[2]
    assert (made.receipts[0].converted, made.receipts[0].place) == (True, "user")


def test_a_file_of_the_same_message_is_not_sent_twice():
    own = asking(Reference("image 7", (7,)), parts=("look", shown(7)))
    seen = talk(own)
    made = planned(View(seen.messages, {**seen.attachments, 7: attachment(7)}, "u2"), CLAUDE, max_in_context=1)
    assert [(item.number, item.nth) for item in placed_in(made.entries)] == [(7, 1)]
    assert summary(made)[-1] == "⟦image 7 = file7.png, from get⟧"


def test_a_file_in_the_json_of_the_same_message_is_not_recalled():
    inside = Message("u2", "user", (Json('{"a":null}', (("/a", shown(1)),)),), references=(IMAGE_1,))
    assert inside.recalled == ()


def test_a_message_recalls_at_most_twenty_files_each_once_in_order():
    many = Reference("all of them", tuple(range(1, 41)))
    message = asking(Reference("image 9", (9,)), many)
    assert len(message.recalled) == MAX_RECALLED == 20
    assert message.recalled == (9, *range(1, 9), *range(10, 21))
    assert asking(Reference("5", (), ((5,), (9, 5)))).recalled == ()


def test_a_message_without_references_has_no_label():
    assert summary(planned(talk(asking()), CLAUDE, max_in_context=4)) == ["and now?"]


def pointing(draw, messages):
    """The messages with references to some of the earlier files, clear or ambiguous."""
    shown_yet = set()
    for message in messages:
        if message.role == "user" and not is_approval(message.parts):
            there = sorted(shown_yet | {showing.number for showing in message.showings})
            meant = st.lists(st.sampled_from(there), max_size=3).map(tuple) if there else st.just(())
            some = draw(st.lists(meant.filter(len), max_size=2)) if there else []
            clear = draw(st.booleans())
            yield replace(
                message,
                references=tuple(
                    Reference(f"these {at}", item) if clear else Reference(f"these {at}", (), ((item[0],), item))
                    for at, item in enumerate(some)
                ),
            )
        else:
            yield message
        shown_yet |= {showing.number for showing in message.showings}


@st.composite
def pointed_runs(draw):
    messages, files = draw(runs())
    return [*pointing(draw, [*messages, user("which?", named="u99")])], files


@st.composite
def pointed_views(draw):
    """Every view of a conversation of real files."""
    seen = [*views(draw(talks()))]
    messages = [*pointing(draw, seen[-1].messages)]
    return [View(tuple(messages[: len(item.messages)]), item.attachments, item.answering) for item in seen]


SMALL = st.sampled_from(
    [
        Policy(max_in_context=1),
        Policy(max_in_context=2),
        Policy(max_in_context=4),
        Policy(on_unsupported=by_kind("error"), max_in_context=2),
    ]
)


@examples(200)
@given(pointed_runs(), st.sampled_from(MODELS), SMALL, st.booleans())
def test_with_references_each_cached_plan_equals_a_fresh_one(run, model, policy, newest):
    (messages, files), target, known, cache = run, resolve(model), Everything(), PlanCache()
    for end in range(1, len(messages) + 1):
        people = [message.id for message in messages[:end] if message.role == "user"]
        now = view(*messages[:end], files=files, answering=people[-1 if newest else 0])
        assert plan(now, target, known, policy, cache=cache) == plan(now, target, known, policy)


@examples(200)
@given(pointed_runs(), st.sampled_from(MODELS), SMALL)
def test_referenced_files_are_in_view_or_noted_and_no_file_is_sent_twice(run, model, policy):
    messages, files = run
    now = view(*messages, files=files, answering=messages[-1].id)
    made = plan(now, resolve(model), Everything(), policy)
    placed = [(item.number, item.nth) for item in placed_in(made.entries)]
    assert len(placed) == len(set(placed))
    before = sum(len(uses_in(message)) for message in messages[:-1])
    eviction = advance_eviction(EvictionState(), now, resolve(model), Everything(), policy)
    if max(eviction.start - 1, *eviction.left_out, -1) < before:
        noted = {receipt.number for receipt in made.receipts if receipt.delivery in {"noted", "refused"}}
        assert set(messages[-1].recalled) <= {number for number, _ in placed} | noted


@given(
    pointed_views(),
    st.sampled_from(ROWS),
    st.sampled_from([Policy(cache=True), Policy(cache=True, max_in_context=2), Policy(max_in_context=4)]),
)
def test_with_references_a_prompt_starts_with_the_previous_one_while_the_view_is_the_same(seen, model, policy):
    check_prefixes([*asked(seen, model, policy)])


@examples(200)
@given(pointed_runs(), st.sampled_from(MODELS), SMALL)
def test_with_references_the_view_only_moves_forward(run, model, policy):
    (messages, files), target = run, resolve(model)
    fronts = [first_in_view(view(*messages[:end], files=files), target, policy) for end in range(1, len(messages) + 1)]
    assert all(item <= two for item, two in pairwise(fronts))
