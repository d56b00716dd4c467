"""What ends an answer: a cut stream is never a success, and a whole answer is never lost for lack of a word."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showandtell.core.events.accumulate import Accumulator
from showandtell.core.messages.parts import Text, ToolCall
from support.builders import parser_of
from support.scripted import (
    CLAUDE,
    CONVERSE,
    FRAMED,
    GEMINI,
    GPT,
    MODELS,
    RESPONSES,
    begin,
    event,
    framed,
    say,
    scripted,
)

API = {
    CLAUDE: "anthropic-messages",
    GPT: "openai-chat",
    RESPONSES: "openai-responses",
    GEMINI: "gemini",
    CONVERSE: "bedrock-converse",
}
USAGE = {
    CLAUDE: {"output_tokens": 5},
    GPT: {"prompt_tokens": 10, "completion_tokens": 5},
    RESPONSES: {"input_tokens": 10, "output_tokens": 5},
    GEMINI: {"promptTokenCount": 10, "candidatesTokenCount": 5},
    CONVERSE: {"inputTokens": 10, "outputTokens": 5},
}
#: No word at all, new words for an end, and new words that say something else.
MISSING, NEW = [None, ""], ["eos", "done", "turn_over", "STOPPED"]
BAD = ["abort", "network_error", "insufficient_system_resource", "max_time_limit", "sensitive", "in_progress"]
TEXT, CALL = "A kiwi.", ("c1", "draw", '{"word": "kiwi"}')
BEGUN = {"text": (TEXT,), "call": ("", CALL), "both": (TEXT, CALL)}
each_model = pytest.mark.parametrize("model", MODELS)


def data(**fields):
    return f"data: {json.dumps(fields)}\n\n".encode()


def end_of(model, word, *, has_usage=True, has_end=True):
    """The last frames of a stream: a reason or none, with or without usage and the very last frame."""
    usage = {"usage": USAGE[model]} if has_usage else {}
    match API[model]:
        case "anthropic-messages":
            delta = {} if word is None else {"stop_reason": word}
            return event("message_delta", delta=delta, **usage) + has_end * event("message_stop")
        case "openai-chat":
            chunk = data(choices=[{"index": 0, "delta": {}, "finish_reason": word}], **usage)
            return chunk + has_end * b"data: [DONE]\n\n"
        case "openai-responses":
            status = {} if word is None else {"status": word}
            return has_end * event("response.done", response={**status, **usage})
        case "gemini":
            finish = {"finishReason": word} if word is not None and has_end else {}
            counts = {"usageMetadata": USAGE[model]} if has_usage else {}
            return data(candidates=[{"content": {"parts": []}, "index": 0, **finish}], **counts)
        case _:
            reason = {} if word is None else {"stopReason": word}
            return has_end * framed("messageStop", **reason) + has_usage * framed("metadata", **usage)


def read(model, stream):
    """The message of a stream and its detail."""
    parser, message = parser_of(API[model], FRAMED if model == CONVERSE else ""), Accumulator("test")
    message.add([*parser.feed(stream), *parser.finish()])
    return message.draft(), message.detail


@given(
    st.sampled_from(MODELS),
    st.sampled_from([*BEGUN]),
    st.sampled_from([*MISSING, *NEW, *BAD]),
    st.booleans(),
    st.booleans(),
)
@example(GPT, "call", None, True, True)
@example(GPT, "call", None, True, False)
@example(GPT, "text", "eos", True, True)
@example(CLAUDE, "text", None, True, True)
def test_only_a_message_that_came_to_its_end_with_its_usage_may_lack_a_known_word(
    model, kind, word, has_usage, has_end
):
    stream = begin(*BEGUN[kind], model=model) + end_of(model, word, has_usage=has_usage, has_end=has_end)
    draft, detail = read(model, stream)
    # Gemini has no last frame beside the reason.
    is_whole = has_usage and has_end and not (model == GEMINI and word in MISSING)
    succeeds = is_whole and word not in BAD
    assert (draft.stop in ("end", "tool_calls")) == succeeds
    assert detail == (word or "") or not has_end
    if succeeds:
        assert draft.stop == ("end" if kind == "text" else "tool_calls")
        assert [part.text for part in draft.parts if isinstance(part, Text)] == ([] if kind == "call" else [TEXT])
        assert [part.arguments for part in draft.parts if isinstance(part, ToolCall)] == ([CALL[2]] * (kind != "text"))


@given(st.sampled_from(MODELS), st.sampled_from([*BEGUN]), st.sampled_from([*MISSING, *NEW]), st.floats(0, 1))
def test_a_stream_that_is_cut_anywhere_is_no_success(model, kind, word, share):
    stream = begin(*BEGUN[kind], model=model) + end_of(model, word)
    # The last frame counts without the blank line after it.
    last = len(stream if model == CONVERSE else stream.rstrip()) - 1
    cut = stream[: int(share * last)]
    if not (model == GEMINI and json.dumps(word).encode() in cut):
        assert read(model, cut)[0].stop == "cut"


@each_model
@pytest.mark.parametrize("word", [*MISSING, *NEW])
def test_a_call_whose_arguments_are_torn_is_not_run_for_lack_of_a_word(model, word):
    torn = begin("", ("c1", "draw", '{"word": "ki'), model=model) + end_of(model, word)
    assert read(model, torn)[0].stop == "cut"


@each_model
@pytest.mark.parametrize("word", [*MISSING, *NEW, *BAD])
def test_an_end_without_any_content_is_no_answer(model, word):
    assert read(model, begin(model=model) + end_of(model, word))[0].stop not in ("end", "tool_calls")


@each_model
def test_a_call_without_a_reason_is_run_and_an_answer_with_a_new_one_names_it(model):
    """Gemini's stream has a reason or is cut."""
    word = "new_word" if model == GEMINI else None

    def draw(word: str) -> str:
        return word

    answers = (begin(*BEGUN[kind], model=model) + end_of(model, end) for kind, end in (("call", word), ("text", "eos")))
    agent, script = scripted(*answers, model=model, tools=[draw])
    run = agent.run_sync("draw")
    assert (run.status, run.reason, run.text, len(script.bodies)) == ("complete", "eos", TEXT, 2)
    assert [message.role for message in run.messages] == ["user", "assistant", "tool", "assistant"]


@each_model
def test_a_known_end_has_no_reason(model):
    agent, _ = scripted(say(TEXT, model=model), model=model)
    run = agent.run_sync("hi")
    assert (run.status, run.reason) == ("complete", None)
