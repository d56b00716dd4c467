"""What a model that writes summaries and titles reads of a conversation."""

from msgspec.structs import replace

from showandtell.core.messages.parts import Approval, Json, Text, ToolCall
from showandtell.core.planning.plain_text import MAX_PART, as_plain_text
from support.builders import assistant, attachment, result, shown, user

OWN = replace(attachment(2, "text/csv"), name="own.csv", audience="user")
FILES = {1: replace(attachment(1), name="rain.png"), 2: OWN}


def test_a_message_says_whose_it_is_and_names_its_files():
    assert as_plain_text(user("Will it rain?", shown(1)), FILES) == "User:\nWill it rain?\n[image 1: rain.png]"
    assert as_plain_text(replace(user("Hi"), author="Ann"), FILES) == "Ann:\nHi"


def test_calls_and_results_have_their_tools_and_files():
    call = replace(assistant("call_1"), parts=(ToolCall("call_1", "radar", '{"town": "Ulm"}'),))
    assert as_plain_text(call, FILES) == 'Assistant:\ncalls radar with {"town": "Ulm"}'
    answered = replace(result("call_1", Json('{"map": null}', (("/map", shown(1)),))), tool="radar")
    assert as_plain_text(answered, FILES) == 'Result of radar:\n{"map": null}\n[image 1: rain.png]'
    assert as_plain_text(replace(answered, is_error=True, tool=None), FILES).splitlines()[0] == "Error of a tool:"


def test_what_is_for_the_user_alone_is_left_out():
    assert as_plain_text(user(Text("secret", audience="user"), Text(" ")), FILES) == ""
    assert as_plain_text(user(shown(2)), FILES) == "User:\n[text 2: for the user alone]"


def test_decisions_are_in_words():
    message = replace(user("x"), parts=(Approval("call_1", approved=True), Approval("call_2", False, "too dear")))
    assert as_plain_text(message, FILES) == "User:\nallowed the call\ndidn't allow the call too dear"


def test_a_long_text_keeps_its_start_and_its_end():
    text = as_plain_text(user(f"{'a' * MAX_PART}{'b' * MAX_PART}"), FILES)
    half = MAX_PART // 2
    assert text == f"User:\n{'a' * half} … (4,000 characters) … {'b' * half}"
    assert as_plain_text(user("a" * MAX_PART), FILES) == f"User:\n{'a' * MAX_PART}"
