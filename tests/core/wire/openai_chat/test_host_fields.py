"""Fields of a message that are the host's own go back as a whole answer has them, and to nobody else."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from showandtell.core.capabilities.resolve import resolve
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.messages.parts import Opaque, ToolCall
from showandtell.core.planning.framing import fit_call
from showandtell.core.planning.host_parts import returned
from showandtell.core.planning.values import Entry
from showandtell.core.wire.openai_chat.parse import parse_full
from showandtell.core.wire.openai_chat.render import render_entry
from showandtell.core.wire.tree import to_values
from support.builders import parser_of
from support.pieces import as_json, call_fields, function_fields, message_fields, pieces_of
from support.streams.openai_chat import DONE, delta

HERE, ELSEWHERE = "https://api.deepseek.com", "https://api.openai.com/v1"
TARGET = replace(resolve("openai-chat:deepseek-v4-pro"), base_url=HERE)
CALL = {"id": "call_1", "type": "function"}


def stored(events):
    """The parts of a message that was read at `HERE`."""
    message = Accumulator(TARGET.signer, HERE)
    message.add(events)
    return message.draft().parts


def read_stream(*deltas):
    parser = parser_of("openai-chat")
    return parser.feed(b"".join(b"data: " + as_json(item) + b"\n\n" for item in deltas) + DONE) + parser.finish()


def read_whole(message, reason="stop"):
    return parse_full(as_json({"choices": [{"message": message, "finish_reason": reason}]}))


def sent(parts, target=TARGET):
    """The message that goes back to a target, as plain values."""
    own = [fit_call(part, target) if isinstance(part, ToolCall) else part for part in parts]
    kept = [taken for part in own if (taken := returned(part, target) if isinstance(part, Opaque) else part)]
    [message] = to_values(render_entry(Entry("assistant", tuple(kept)), target), repr)
    return message


def without_nulls(fields):
    return {name: value for name, value in fields.items() if value is not None}


@given(message_fields, call_fields, function_fields, st.integers(0, 999).map(Random))
def test_fields_of_any_name_and_shape_go_back_as_a_whole_answer_has_them(own, of_call, of_function, random):
    function = {"name": "look", "arguments": "{}"}
    message = {"role": "assistant", "content": "Hm.", **own}
    message["tool_calls"] = [{**CALL, **of_call, "function": {**function, **of_function}}]
    pieces = [{name: piece} for name, value in own.items() for piece in pieces_of(value, random, name)]
    calls = [
        {"function": {name: piece}} for name, item in of_function.items() for piece in pieces_of(item, random, name)
    ]
    calls += [{name: piece} for name, item in of_call.items() for piece in pieces_of(item, random, name)]
    deltas = [delta(content="Hm."), *(delta(**piece) for piece in pieces)]
    deltas += [delta(tool_calls=[{"index": 0, **CALL, "function": function}])]
    deltas += [delta(tool_calls=[{"index": 0, **piece}]) for piece in calls]
    [call] = message["tool_calls"]
    expected = {**without_nulls(message), "tool_calls": [without_nulls(call)]}
    expected["tool_calls"][0]["function"] = function | without_nulls(of_function)
    whole, streamed = (stored(events) for events in (read_whole(message), read_stream(*deltas, delta("tool_calls"))))
    assert sent(whole) == expected
    assert sent(streamed) == expected
