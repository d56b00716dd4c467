"""Each fast path gives what its general path gives.

| fast path | general path | held by |
| --- | --- | --- |
| `StreamParser`: reads that complete no event; texts before other deltas | one event at a time | `core/wire/test_stream.py`, `agent/test_faults.py` (any cut) |
| `core/wire/sse.py`: line ends are replaced only if there are other ones | line by line | `core/wire/test_sse.py` |
| `core/wire/aws_eventstream.py`: headers that were read before | each frame by itself | `core/wire/test_aws_eventstream.py` |
| `core/wire/halves.py`: marks only in JSON that msgspec refuses | every text joined | `core/wire/test_halves.py` |
| `core/wire/gemini`: token counts of one form are decoded once | each one decoded | here |
| `core/collect/surrogates.py`: ASCII, and JSON without such escapes, as they are | every character | here |
| `core/collect/quick.py`: values that are collected at once | in the call's thread | here |
| `core/collect/json_text.py`, `base64_text.py`, `data_uris.py`: searches before parsing | parsed | `core/collect/test_json_text.py`, `test_collect.py` |
| `core/collect/png.py`: rows by run lengths or repeats | Pillow reads it | `core/collect/test_png.py` |
| `core/planning/incremental.py`: new messages alone are planned | the whole conversation | `core/planning/test_incremental.py` |
| `core/wire/request.py`: fragments of entries, and of sixteen in a row | each entry rendered | here |
| `agent/known_messages.py`, `agent/turn_state.py`: new messages alone are read | all of them | here |
| `media/structure`: measured by structure | decoded | `media/structure` |
| `server/middleware/h11_writes.py`: heads written at once | h11 | `server/middleware/test_h11_writes.py` |
"""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from showandtell import File, ToolResult
from showandtell.agent.known_messages import KnownMessages
from showandtell.agent.turn_state import TurnState
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.collect.quick import is_quick
from showandtell.core.collect.surrogates import ESCAPES, REPLACEMENT, join_surrogates, replace_lone_escapes
from showandtell.core.messages.message import starts_turn
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Fragments, compose
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from support.builders import Everything, parser_of, view
from support.fixtures import png
from support.replanned_conversations import MODELS, runs

HALVES = st.text(st.sampled_from(["a", "é", "😀", "\ud83d", "\ude00"]), max_size=8)


@given(HALVES)
def test_text_of_any_halves_is_what_utf_16_reads(text):
    assert join_surrogates(text) == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@given(st.lists(st.sampled_from(["a", r"\n", r"\\", r"\ud83d", r"\uDE00", r"\u00e9", "u", "d8", "😀"]), max_size=8))
def test_json_with_any_escapes_has_its_lone_ones_replaced(pieces):
    text = "".join(pieces).encode()
    general = ESCAPES.sub(lambda match: match[0] if match[1] is None else REPLACEMENT.encode(), text)
    assert replace_lone_escapes(text) == general


FILE = File.from_bytes(png(), name="a.png")
TEXTS = st.sampled_from(["", "kiwi", "a.png", "image", "text", "file", "resource", "data:image/png;base64,aGk=", "{}"])
KEYS = st.sampled_from(["type", "text", "file_path", "path", "content", "data", "mimeType", "source", "uri"])
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(-5, 5) | st.just(FILE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def collected(value, **settings):
    """The parts of a value, or its error."""
    try:
        result = ToolResult(value, **settings)
    except Exception as error:  # noqa: BLE001 - the two ways fail alike, however that is
        return type(error), str(error)
    return result.parts, result.is_error, result.links, result.metadata


@given(VALUES)
def test_a_value_that_is_collected_at_once_is_what_the_thread_of_its_call_makes_of_it(tmp_path_factory, value):
    folder = Path(tmp_path_factory.getbasetemp())
    (folder / "a.png").write_bytes(png())
    assert not is_quick(value) or collected(value) == collected(value, files_from=folder)


@given(runs(), st.sampled_from(MODELS), st.lists(st.integers(0, 40), max_size=6))
def test_a_request_of_remembered_fragments_has_the_bytes_of_a_fresh_one(run, model, ends):
    (messages, files), target, blobs, fragments = run, resolve(model), MemoryConversation().blobs, Fragments()
    for end in (1 + at % len(messages) for at in ends):  # a conversation also goes back to an earlier branch
        planned = plan(view(*messages[:end], files=files), target, Everything(), Policy(max_in_context=3))
        remembered = compose(planned, target, Options(), blobs, fragments)
        fresh = compose(planned, target, Options(), blobs)
        assert (remembered.segments, remembered.size) == (fresh.segments, fresh.size)


@given(runs(), st.lists(st.integers(0, 40), max_size=6), st.sampled_from([None, "get"]))
def test_what_is_known_of_messages_that_were_followed_is_what_all_of_them_say(run, ends, answer_tool):
    (messages, files), known, turn = run, KnownMessages(), TurnState()
    for end in (1 + at % len(messages) for at in ends):
        asked = next(message for message in reversed(messages[:end]) if starts_turn(message))
        now, fresh = view(*messages[:end], files=files, answering=asked.id), KnownMessages()
        known.follow(now.messages)
        fresh.follow(now.messages)
        assert known == fresh
        turn = turn.follow(now, answer_tool)
        assert turn == TurnState().follow(now, answer_tool)


COUNTS = st.dictionaries(
    st.sampled_from(["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"]),
    st.none() | st.integers(0, 2000),
)


@given(st.lists(COUNTS, min_size=1, max_size=25))
def test_the_token_counts_of_a_stream_are_the_newest_of_each_name(counts):
    parser, newest = parser_of("gemini"), dict[str, int]()
    for count in counts:
        newest |= {name: value for name, value in count.items() if value is not None}
        parser.feed(f"data: {json.dumps({'usageMetadata': count})}\n\n".encode())
    usage = parser.finish()[-1].usage
    thoughts = newest.get("thoughtsTokenCount", 0)
    assert usage.input_tokens == newest.get("promptTokenCount", 0)
    assert usage.output_tokens == newest.get("candidatesTokenCount", 0) + thoughts
    assert (usage.reasoning_tokens, usage.cached_tokens) == (thoughts, newest.get("cachedContentTokenCount", 0))
