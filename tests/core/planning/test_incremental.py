"""A plan with a cache equals the plan without one, and each step plans what is new or leaves the view."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import DerivationRequest, Failed
from showandtell.core.messages.parts import Approval, Shown, Text, ToolCall
from showandtell.core.planning import assemble
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, by_kind
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Fragments, compose
from support.builders import Everything, assistant, attachment, result, shown, user, view
from support.properties import examples
from support.replanned_conversations import CLAUDE, MODELS, runs


def steps(count, size=1000):
    files = [attachment(number, size=size) for number in range(1, count + 1)]
    turns = [(assistant(f"c{file.number}", named=f"a{file.number}"), file) for file in files]
    return [
        user("look"),
        *(part for output, item in turns for part in (output, result(f"c{item.number}", shown(item.number)))),
    ], files


@examples(300)
@given(
    runs(),
    st.sampled_from(MODELS),
    st.sampled_from([Policy(), Policy(max_in_context=2), Policy(on_unsupported=by_kind("error"), cache=True)]),
)
def test_each_cached_plan_of_a_growing_conversation_equals_a_fresh_one(run, model, policy):
    (messages, files), target, known, cache = run, resolve(model), Everything(), PlanCache()
    for end in range(1, len(messages) + 1):
        asked = next(message for message in reversed(messages[:end]) if message.role == "user")
        now = view(*messages[:end], files=files, answering=asked.id)
        assert plan(now, target, known, policy, cache=cache) == plan(now, target, known, policy)


def test_cached_entries_are_the_same_objects_in_the_next_plan():
    messages, files = steps(4)
    target, cache = resolve(CLAUDE), PlanCache()
    first = plan(view(*messages[:-2], files=files), target, {}, Policy(), cache=cache)
    second = plan(view(*messages, files=files), target, {}, Policy(), cache=cache)
    assert [id(entry) for entry in second.entries[: len(first.entries)]] == [id(entry) for entry in first.entries]


def test_a_new_rejection_invalidates_the_cached_plan():
    messages, files = steps(3)
    target, cache, known = resolve(CLAUDE), PlanCache(), {}
    plan(view(*messages[:-2], files=files), target, known, Policy(), cache=cache)
    for conversion in ("original/tool_result", "original/user"):
        known[DerivationRequest(files[0].facts.sha256, conversion, f"{target.name} {target.account}")] = Failed(
            "the provider refused it"
        )
    known[DerivationRequest(files[0].facts.sha256, "image")] = Failed("it can't be converted")
    made = plan(view(*messages, files=files), target, known, Policy(), cache=cache)
    assert [receipt.delivery for receipt in made.receipts] == ["noted", "native", "native"]


def test_a_rewritten_message_invalidates_the_cached_plan():
    messages, files = steps(3)
    target, cache = resolve(CLAUDE), PlanCache()
    plan(view(*messages, files=files), target, {}, Policy(), cache=cache)
    now = view(user("look again"), *messages[1:], files=files)
    assert plan(now, target, {}, Policy(), cache=cache).entries[0].parts == (Text("look again"),)


def test_a_changed_file_invalidates_the_cached_plan():
    messages, files = steps(3)
    target, cache = resolve(CLAUDE), PlanCache()
    plan(view(*messages[:-2], files=files), target, {}, Policy(), cache=cache)
    now = view(*messages, files=[attachment(1, "audio/wav"), *files[1:]])
    assert plan(now, target, Everything(), Policy(), cache=PlanCache({**cache.plans})).receipts[0].delivery == "noted"
    assert plan(
        now, target, {DerivationRequest(files[0].facts.sha256, "elsewhere"): Failed("no")}, Policy(), cache=cache
    ).wants


@pytest.fixture
def short_parts(monkeypatch):
    """Parts that end as soon as they may."""
    monkeypatch.setattr(assemble, "PART_LENGTH", 1)


@pytest.mark.usefixtures("short_parts")
@examples(150, suppress=[HealthCheck.function_scoped_fixture])
@given(runs(), runs(), st.sampled_from(MODELS), st.integers(1, 4))
def test_a_plan_in_short_parts_of_which_some_leave_the_view_equals_a_fresh_one(one, two, model, limit):
    files = [*one[1], *(replace(file, number=file.number + len(one[1])) for file in two[1])]
    messages = [*one[0], *(moved(message, len(one[1])) for message in two[0])]
    target, known, cache, policy = resolve(model), Everything(), PlanCache(), Policy(max_in_context=limit)
    for end in range(1, len(messages) + 1):
        asked = next(message for message in reversed(messages[:end]) if message.role == "user")
        now = view(*messages[:end], files=files, answering=asked.id)
        assert plan(now, target, known, policy, cache=cache) == plan(now, target, known, policy)


def moved(message, by):
    """A message that shows files with higher numbers, with other ids."""
    parts = (replace(part, number=part.number + by) if isinstance(part, Shown) else part for part in message.parts)
    call_id = message.call_id and f"{message.call_id}x"
    return replace(message, id=f"{message.id}x", call_id=call_id, parts=tuple(map(renamed, parts)))


def renamed(part):
    return replace(part, call_id=f"{part.call_id}x") if isinstance(part, ToolCall | Approval) else part


@pytest.mark.parametrize("model", MODELS)
def test_a_long_run_whose_files_leave_the_view_is_planned_like_a_fresh_one(model):
    messages, files = steps(60, size=3_000_000)
    target, known, cache = resolve(model), Everything(), PlanCache()
    for end in range(1, len(messages) + 1, 2):
        now = view(*messages[:end], files=files)
        assert plan(now, target, known, Policy(cache=True), cache=cache) == plan(now, target, known, Policy(cache=True))
    assert len(cache.plans[target].parts) > 5


class Counted(dict):
    """Counts what is looked up."""

    count = 0

    def get(self, key, default=None):
        self.count += 1
        return super().get(key, default)


def work_of(count, policy, size):
    """Look-ups of the planner and composed fragments of a run of `count` steps."""
    messages, files = steps(count, size=size)
    target, cache = resolve(CLAUDE), PlanCache()
    known, fragments, encoded = Counted(), Fragments(), []
    for end in range(1, len(messages) + 1, 2):
        before = {*map(id, encoded)}
        planned = plan(view(*messages[:end], files=files), target, known, policy, cache=cache)
        request = compose(planned, target, Options(), None, fragments)
        encoded += [fragment for fragment in request.fragments if id(fragment) not in before]
    return known.count, len(encoded)


@pytest.mark.parametrize(
    ("counts", "policy", "size"),
    [
        ((20, 40), Policy(cache=True), 1000),
        ((200, 400), Policy(cache=True), 1 << 20),
        ((200, 400), Policy(max_in_context=8), 1),
    ],
    ids=["nothing leaves", "by bytes", "by number"],
)
def test_twice_as_many_steps_take_twice_the_look_ups_and_fragments(counts, policy, size):
    short, long = (work_of(count, policy, size) for count in counts)
    assert long[0] <= 2.1 * short[0]
    assert long[1] <= 2.1 * short[1]
