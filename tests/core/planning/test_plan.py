"""Properties of every plan, for any conversation and model."""

import re

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.messages.parts import ToolCall
from showandtell.core.planning import labels
from showandtell.core.planning.call_ids import fit_call_id
from showandtell.core.planning.eviction import first_in_view
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, RenderedFile, Result
from support.builders import Everything, view
from support.planned_conversations import MODELS, conversations, placed_in
from support.properties import examples


def results_in(entries):
    return [part for entry in entries for part in entry.parts if isinstance(part, Result)]


def texts_in(entries):
    for entry in entries:
        for part in entry.parts:
            inner = part.parts if isinstance(part, Result) else (part,)
            yield from (item.text for item in inner if hasattr(item, "text"))


models = st.sampled_from(MODELS)
#: What some API accepts as call ids.
ACCEPTED = sorted({family.order.call_ids for family in families()})


@examples(150)
@given(conversations(), models)
def test_no_file_is_lost_or_sent_twice(seen, model):
    made = plan(seen, resolve(model), Everything(), Policy())
    showings = [shown.number for message in seen.messages for shown in message.showings]
    assert [receipt.number for receipt in made.receipts] == sorted(set(showings))
    placed = [(item.number, item.nth) for item in placed_in(made.entries)]
    assert len(placed) == len(set(placed))
    assert {number for number, _ in placed} >= {
        r.number for r in made.receipts if r.delivery in {"native", "relocated"}
    }


@given(conversations(), models)
def test_results_follow_their_calls_directly_and_in_order(seen, model):
    entries = plan(seen, resolve(model), Everything(), Policy()).entries
    for index, entry in enumerate(entries):
        calls = [part.call_id for part in entry.parts if isinstance(part, ToolCall)]
        if calls:
            assert [part.call_id for part in results_in(entries[index + 1 : index + 2])] == calls
    assert len(results_in(entries)) == sum(message.role == "tool" for message in seen.messages)


@given(conversations(), models)
def test_planning_twice_gives_the_same_plan(seen, model):
    first = plan(seen, resolve(model), Everything(), Policy())
    assert plan(seen, resolve(model), Everything(), Policy()) == first


@given(conversations(), models)
def test_only_our_labels_are_in_our_brackets(seen, model):
    made = plan(seen, resolve(model), Everything(), Policy())
    for text in texts_in(made.entries):
        ours = text.startswith(labels.OPEN) and text.endswith(labels.CLOSE)
        assert text.count(labels.OPEN) == text.count(labels.CLOSE) == ours
        assert not (ours and "forged" in text)


@given(conversations(), models)
def test_a_longer_conversation_starts_with_the_entries_of_the_shorter_one(seen, model):
    target = resolve(model)
    steps = [index for index, message in enumerate(seen.messages) if message.role == "assistant"]
    for index in steps:
        before = view(*seen.messages[:index], files=list(seen.attachments.values()), answering=None)
        whole = view(*seen.messages, files=list(seen.attachments.values()), answering=None)
        if first_in_view(before, target, Policy(), Everything()) == first_in_view(
            whole, target, Policy(), Everything()
        ):
            shorter = plan(before, target, Everything(), Policy()).entries
            assert plan(whole, target, Everything(), Policy()).entries[: len(shorter)] == shorter


@given(conversations(), models)
def test_files_keep_their_order_within_results_and_within_frames(seen, model):
    order = [(shown.number, nth) for shown, nth in numbered(seen)]
    for entry in plan(seen, resolve(model), Everything(), Policy()).entries:
        outside = [(part.number, part.nth) for part in entry.parts if isinstance(part, RenderedFile)]
        for group in (
            outside,
            *([(p.number, p.nth) for p in part.parts if isinstance(p, RenderedFile)] for part in results_in([entry])),
        ):
            assert [order.index(item) for item in group] == sorted(order.index(item) for item in group)


def numbered(seen):
    counts = {}
    for message in seen.messages:
        for shown in message.showings:
            counts[shown.number] = counts.get(shown.number, 0) + 1
            yield shown, counts[shown.number]


@given(st.text(min_size=1, max_size=80), st.sampled_from(ACCEPTED))
def test_a_call_id_is_valid_and_always_the_same(call_id, accepted):
    assert fit_call_id(call_id, accepted) == fit_call_id(call_id, accepted)
    assert re.fullmatch(accepted, fit_call_id(call_id, accepted))


@given(st.lists(st.text(min_size=1, max_size=20), unique=True, max_size=30), st.sampled_from(ACCEPTED))
def test_different_calls_keep_different_ids(call_ids, accepted):
    assert len({fit_call_id(call_id, accepted) for call_id in call_ids}) == len(call_ids)
