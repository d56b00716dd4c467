"""A plan with a cache equals the plan without one."""

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.derivations import DerivationRequest, Failed
from showandtell.core.messages.parts import Text
from showandtell.core.planning.incremental import PlanCache
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy, by_kind
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
