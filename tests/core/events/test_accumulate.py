import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.types import (
    FileMade,
    ProviderFault,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepEnd,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.errors import BadFile

END = StepEnd("end", Usage(25, 9, 5))
CALLS = StepEnd("tool_calls", Usage(25, 9, 5))
LIMIT = StepEnd("length", Usage(25, 9, 5))


def accumulate(*batches):
    accumulator = Accumulator("anthropic")
    for batch in batches:
        accumulator.add(batch)
    return accumulator


def calls_of(accumulator):
    return tuple(part for part in accumulator.draft().parts if isinstance(part, ToolCall))


def text_of(accumulator):
    return "".join(part.text for part in accumulator.draft().parts if isinstance(part, Text))


def text(name, *words):
    return [TextStart(name), *(TextDelta(name, word) for word in words), TextEnd(name)]


def call(call_id, *pieces):
    return [
        ToolInputStart(call_id, "draw"),
        *(ToolInputDelta(call_id, piece) for piece in pieces),
        ToolInputEnd(call_id),
    ]


def thought(name, *words, opaque=None):
    return [ReasoningStart(name), *(ReasoningDelta(name, word) for word in words), ReasoningEnd(name, opaque)]


EVENTS = [
    *thought("r0", "Hm", "m", opaque='{"s":1}'),
    *text("t1", "It ", "is"),
    *call("a", '{"x"', ":1}"),
    *text("t3", "!"),
    CALLS,
]


def test_parts_have_the_order_of_the_stream():
    parts = (Opaque("anthropic", '{"s":1}'), Text("It is"), ToolCall("a", "draw", '{"x":1}'), Text("!"))
    accumulator = accumulate(EVENTS)
    assert accumulator.draft() == Draft("assistant", parts, stop="tool_calls")
    assert (accumulator.usage, accumulator.stop, accumulator.detail) == (Usage(25, 9, 5), "tool_calls", "")


@given(st.lists(st.integers(0, len(EVENTS)), max_size=8))
def test_any_batches_give_the_same_message(cuts):
    edges = [0, *sorted(cuts), len(EVENTS)]
    assert (
        accumulate(*(EVENTS[start:stop] for start, stop in itertools.pairwise(edges))).draft()
        == accumulate(EVENTS).draft()
    )


def test_an_early_draft_changes_nothing():
    accumulator = Accumulator("anthropic")
    for event in EVENTS:
        accumulator.add([event])
        accumulator.draft()
    assert accumulator.draft() == accumulate(EVENTS).draft()


def test_a_stream_without_its_end_is_cut_and_keeps_its_text():
    message = accumulate([TextStart("t0"), TextDelta("t0", "It")]).draft()
    assert message == Draft("assistant", (Text("It"),), stop="cut")


def test_a_call_that_never_ended_is_left_out():
    for length in range(len(EVENTS)):
        assert accumulate(EVENTS[:length]).stop == "cut"
        assert len(calls_of(accumulate(EVENTS[:length]))) == (ToolInputEnd("a") in EVENTS[:length])


def test_an_end_in_the_middle_of_a_call_is_a_cut():
    accumulator = accumulate([ToolInputStart("a", "draw"), ToolInputDelta("a", "{}"), CALLS])
    assert (accumulator.stop, calls_of(accumulator)) == ("cut", ())


def test_arguments_cut_by_the_limit_are_left_out():
    message = accumulate([*call("a", "{}"), *call("b", '{"x'), LIMIT]).draft()
    assert message == Draft("assistant", (ToolCall("a", "draw", "{}"),), stop="length")


def test_invalid_arguments_stay_so_that_the_model_gets_an_error():
    assert calls_of(accumulate([*call("a", "{x}"), CALLS])) == (ToolCall("a", "draw", "{x}"),)


def test_calls_with_the_same_id_get_unique_ids():
    events = [*call("a", "1"), *call("a", "2"), *call("a_2", "3"), *call("a", "4"), CALLS]
    named = [*call("a", "1"), *call("a_2", "2"), *call("a_2_2", "3"), *call("a_3", "4"), CALLS]
    assert CallIds().rename(events) == named


def test_an_id_of_the_conversation_is_not_reused():
    events = [*call("a", "1"), *call("b", "2")]
    assert CallIds({"a", "a_2"}).rename(events) == [*call("a_3", "1"), *call("b", "2")]


CALL_IDS = st.sampled_from(["a", "b", "a_2", "a_2_2", ""])


@given(st.lists(CALL_IDS, max_size=12), st.sets(CALL_IDS), st.integers(1, 5))
def test_every_call_has_a_unique_id_in_any_batches(given_ids, used, size):
    events = [event for each in given_ids for event in call(each, "{}")]
    ids, apart = CallIds(set(used)), CallIds(set(used))
    named = ids.rename(events)
    batches = [apart.rename(events[at : at + size]) for at in range(0, len(events), size)]
    assert [*itertools.chain.from_iterable(batches)] == named
    starts = [event.call_id for event in named if isinstance(event, ToolInputStart)]
    assert len({*starts}) == len(given_ids)
    assert not used & {*starts}
    assert [event.call_id for event in named] == [start for start in starts for _ in range(3)]


def test_calls_with_the_same_id_may_end_together():
    first, second = call("a", "1"), call("a", "2")
    events = CallIds().rename([*first[:-1], *second[:-1], first[-1], second[-1], CALLS])
    assert [each.arguments for each in calls_of(accumulate(events))] == ["1", "2"]


def test_a_fault_keeps_what_came_before():
    accumulator = accumulate([TextStart("t0"), TextDelta("t0", "It"), ProviderFault("Overloaded")])
    assert (accumulator.stop, accumulator.detail, text_of(accumulator)) == ("error", "Overloaded", "It")


def test_empty_texts_are_dropped_and_empty_arguments_are_an_object():
    message = accumulate([*text("t0"), *call("a"), *thought("r2", "hm"), END]).draft()
    assert message.parts == (ToolCall("a", "draw", "{}"),)


def test_twenty_megabytes_are_joined_once():
    piece = "x" * 20
    accumulator = accumulate([TextStart("t0")], [TextDelta("t0", piece)] * 1_000_000, [TextEnd("t0"), END])
    assert len(text_of(accumulator)) == 20_000_000


def test_twenty_thousand_calls_with_the_same_id_get_unique_ids():
    events = [*itertools.chain.from_iterable(call("a", "{}") for _ in range(20_000)), CALLS]
    accumulator = accumulate(CallIds().rename(events))
    assert len({each.call_id for each in calls_of(accumulator)}) == 20_000


def test_the_opaque_data_of_a_call_stays_with_it():
    accumulator = accumulate([*call("a", "{}")[:-1], ToolInputEnd("a", "c2lnbmVk"), CALLS])
    assert calls_of(accumulator)[0].opaque == Opaque("anthropic", "c2lnbmVk")


def test_a_generated_file_is_a_claim_in_its_place():
    accumulator = accumulate([*text("t0", "Here:"), FileMade("image/png", b"bytes", "a.png"), *text("t1", "!"), END])
    assert accumulator.draft().parts == (Text("Here:"), File(b"bytes", "image/png", "a.png"), Text("!"))


def test_a_generated_file_without_bytes_has_a_problem():
    accumulator = accumulate([FileMade("image/png", b"", problem="was given as an address"), END])
    with pytest.raises(BadFile, match="was given as an address"):
        accumulator.draft().parts[0].open()
