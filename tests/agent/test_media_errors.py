"""A provider that refuses a request for its files is asked again without them; what was learnt stays known."""

import asyncio
import json

import pytest

from showandtell import File
from showandtell.agent.loop import MAX_FILE_RETRIES
from showandtell.core.events.types import ReceiptEvent, Retry
from showandtell.errors import RejectedFiles
from support.fixtures import jpeg, png
from support.scripted import (
    CLAUDE,
    CONVERSE,
    GEMINI,
    GPT,
    RESPONSES,
    check_usable,
    each_api,
    say,
    scripted,
    two_apis,
    watch,
)


def draw(colour: int) -> File:
    return File.from_bytes(png(8 + colour, 8), name=f"drawn{colour}.png")


def run_all(agent, text="hi", **settings):
    async def play():
        run = agent.run(text, **settings)
        return run, await watch(run)

    return asyncio.run(play())


def refused(words, status=400, **more):
    return status, json.dumps(
        {"type": "error", "error": {"type": "invalid_request_error", "message": words, **more}}
    ).encode()


def calls(*colours):
    return [(f"c{colour}", "draw", json.dumps({"colour": colour})) for colour in colours]


#: Where each api finds the second of two pictures, as its own errors spell places.
WHERE = {
    CLAUDE: "messages.2.content.1.tool_result.content.1.image.source",
    GPT: "messages[4].content[4].image_url",
    RESPONSES: "input[4].output[1].image_url",
    GEMINI: "contents[2].parts[1].function_response.parts[0].inline_data",
    CONVERSE: "messages.2.content.1.toolResult.content.1.image",
}


def place(model, pictures, at):
    """Where the picture of the call at this place, from 1, stands beside that many others."""
    match model:
        case _ if model == GPT:
            return f"messages[{pictures + 2}].content[{3 * at - 2}]"
        case _ if model == RESPONSES:
            return f"input[{pictures + at}].output[1]"
        case _ if model == GEMINI:
            return f"contents[2].parts[{at - 1}]"
        case _:
            return f"messages.2.content.{at - 1}"


@each_api
def test_the_file_that_the_answer_names_is_left_out_once_and_for_good(model):
    bad = refused(f"{WHERE[model]}: Could not process image", param=WHERE[model])
    agent, script = scripted(
        say("", *calls(1, 2), model=model), bad, say("Seen.", model=model), model=model, tools=[draw]
    )
    run, events = run_all(agent)
    assert (run.text, run.status, script.files) == ("Seen.", "complete", [0, 2, 1])
    assert [event.files for event in events if isinstance(event, Retry)] == [(2,)]
    assert [(receipt.number, receipt.delivery) for receipt in run.receipts if receipt.delivery == "noted"] == [
        (2, "noted")
    ]
    assert "Could not process image" in run.receipts[1].reason
    run_all(agent, "again", conversation=run.conversation)
    assert script.files == [0, 2, 1, 1]
    check_usable(run.conversation, model)


@each_api
def test_where_no_place_is_named_all_new_files_are_left_out_and_older_ones_stay(model):
    bad = refused("Request too large", status=413)
    agent, script = scripted(
        *(say("", *calls(1), model=model), say("", *calls(2, 3), model=model), bad, say("Seen.", model=model)),
        model=model,
        tools=[draw],
    )
    run, events = run_all(agent)
    assert (run.status, script.files) == ("complete", [0, 1, 3, 1])
    assert [event.files for event in events if isinstance(event, Retry)] == [(2, 3)]
    received = [event.receipt for event in events if isinstance(event, ReceiptEvent)]
    assert [item["number"] for item in received if "Request too large" in item["reason"]] == [2, 3]


@each_api
def test_a_refusal_that_leaving_out_does_not_cure_names_the_files_and_teaches_nothing(model):
    answers = say("", *calls(1), model=model), refused("no", status=413), refused("no such role")
    agent, script = scripted(*answers, model=model, tools=[draw])
    run, _ = run_all(agent)
    assert (run.status, run.reason, len(script.bodies)) == ("error", "no such role", 3)
    assert not [want for want in run.conversation.known() if want.scope]
    check_usable(run.conversation, model)


@each_api
def test_a_refusal_of_files_that_were_taken_before_names_them(model):
    seen = say("", *calls(1), model=model), say("Seen.", model=model)
    agent, script = scripted(*seen, refused("too large", status=413), say(".", model=model), model=model, tools=[draw])
    run, _ = run_all(agent)
    again, _ = run_all(agent, "again", conversation=run.conversation)
    assert isinstance(again.error, RejectedFiles)
    assert again.error.files == (("image 1", f"drawn1.png, {len(png(9, 8))} bytes"),)
    assert len(script.bodies) == 3
    assert run_all(agent, "once more", conversation=run.conversation)[0].text == "."


@each_api
@pytest.mark.parametrize(
    "words",
    [
        "tools.0.name: too long",
        "tools.0.input_schema.image: could not process image",
        "messages: roles must alternate",
        "tools.0.function.parameters: invalid format 'uri'",
        "Unknown parameter: 'response_format'.",
        "model: not in a supported format",
        "messages: prompt is too large",
    ],
)
def test_a_refusal_that_is_not_about_files_is_reported_at_once(model, words):
    agent, script = scripted(say("", *calls(1), model=model), refused(words), model=model, tools=[draw])
    run, _ = run_all(agent)
    assert (run.status, run.reason, len(script.bodies)) == ("error", words, 2)


@each_api
@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_a_persons_file_that_the_provider_refuses_reaches_the_model_and_the_run_goes_on(model, status):
    answers = refused("Could not process image", status), say("I can't see it.", model=model)
    agent, script = scripted(*answers, model=model)
    run, _ = run_all(agent, "look", files=[draw(1)])
    assert (run.status, run.text, script.files) == ("complete", "I can't see it.", [1, 0])
    assert "was not sent" in json.dumps(script.bodies[1])


def test_a_persons_file_is_found_by_the_place_that_the_answer_names():
    bad = refused("messages.0.content.4.image: Could not process image")
    agent, script = scripted(bad, say("I see one."))
    run, events = run_all(agent, "look", files=[draw(1), draw(2)])
    assert (run.status, script.files) == ("complete", [2, 1])
    assert [event.files for event in events if isinstance(event, Retry)] == [(2,)]


@each_api
def test_a_strict_program_hears_of_a_refused_file_as_an_error(model):
    answers = say("", *calls(1), model=model), refused("the image is broken")
    agent, _ = scripted(*answers, model=model, tools=[draw], on_unsupported="error")
    run, _ = run_all(agent)
    assert (run.status, run.reason) == ("refused", "file")
    check_usable(run.conversation, model)


@each_api
def test_a_refusal_without_end_ends(model):
    answers = say("", *calls(*range(1, 5)), model=model), refused("an image is broken")
    agent, script = scripted(*answers, model=model, tools=[draw])
    run, _ = run_all(agent)
    assert (run.status, script.files) == ("error", [0, 4, 0])
    check_usable(run.conversation, model)


@each_api
def test_files_that_are_named_one_by_one_are_left_out_one_by_one_and_then_it_is_enough(model):
    """Each refusal names one more file, and there are more files than the loop has patience."""
    pictures = MAX_FILE_RETRIES + 2
    bad = [refused(f"image {at} is broken", param=place(model, pictures, at)) for at in range(pictures, 0, -1)]
    agent, script = scripted(say("", *calls(*range(1, pictures + 1)), model=model), *bad, model=model, tools=[draw])
    run, _ = run_all(agent)
    assert (run.status, len(script.bodies)) == ("error", 1 + MAX_FILE_RETRIES)
    assert script.files[1:] == [*range(pictures, 2, -1)]
    check_usable(run.conversation, model)


@two_apis
@pytest.mark.parametrize(
    ("status", "words"), [(413, "Request too large"), (400, "image dimensions exceed 2000 pixels")]
)
def test_a_file_that_is_too_large_is_sent_again_as_a_smaller_copy(model, status, words):
    large = File.from_bytes(png(2400, 1200), name="large.png")
    answers = say("", ("c1", "big", "{}"), model=model), refused(words, status), say("Seen.", model=model)
    agent, script = scripted(*answers, model=model, tools=[tool_of(large)])
    run, _ = run_all(agent)
    assert (run.status, script.files) == ("complete", [0, 1, 1])
    (receipt,) = run.receipts
    assert receipt.converted is True
    assert receipt.variant.scale < 1
    assert words in receipt.reason
    run_all(agent, "again", conversation=run.conversation)
    assert script.bodies[3] != script.bodies[1]


@each_api
def test_a_file_that_can_not_be_processed_is_sent_again_in_another_encoding(model):
    small = File.from_bytes(jpeg(9, 8), name="small.jpg")
    answers = say("", ("c1", "big", "{}"), model=model), refused("Could not process image"), say("Seen.", model=model)
    agent, script = scripted(*answers, model=model, tools=[tool_of(small)])
    run, _ = run_all(agent)
    assert (run.status, script.files, run.receipts[0].converted) == ("complete", [0, 1, 1], True)
    assert script.bodies[1] != script.bodies[2]


@two_apis
def test_a_copy_that_is_refused_too_becomes_a_note(model):
    large = File.from_bytes(png(2400, 1200), name="large.png")
    bad = refused("Could not process image")
    agent, script = scripted(
        *(say("", ("c1", "big", "{}"), model=model), bad, bad, say("Sad.", model=model)),
        model=model,
        tools=[tool_of(large)],
    )
    run, _ = run_all(agent)
    assert (run.status, script.files, run.receipts[0].delivery) == ("complete", [0, 1, 1, 0], "noted")
    assert len({json.dumps(body) for body in script.bodies}) == len(script.bodies)


def tool_of(file):
    def big() -> File:
        """Draw a large image."""
        return file

    return big
