"""A model without eyes: its first refusal is remembered, the run and the conversation continue without the files."""

import asyncio
import json

import pytest

from showandtell import File, UnsupportedFile
from showandtell.config.learned_models import learned_models
from showandtell.core.events.types import ReceiptEvent
from showandtell.providers.exchange import Exchange
from showandtell.providers.refused_media import MODALITY
from showandtell.providers.retry import RetryPolicy
from support.agents import make_agent
from support.fixtures import pdf, png
from support.scripted import (
    CLAUDE,
    CONVERSE,
    GEMINI,
    GPT,
    Script,
    check_usable,
    each_api,
    no_time,
    say,
    scripted,
)
from support.videos import grey

#: Answers of models without eyes, in their hosts' words: status and text.
BLIND = {
    "OpenRouter": (404, "No endpoints found that support image input"),
    "vLLM": (400, "Qwen/Qwen3-8B is not a multimodal model"),
    "llama.cpp": (
        500,
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    ),
    "Gemini": (400, "Image input modality is not enabled for models/gemma-3-1b-it"),
    "OpenAI": (400, "Invalid content type. image_url is only supported by certain models."),
    "DeepSeek": (400, "Failed to deserialize the JSON body: messages[2]: unknown variant `image_url`, expected `text`"),
    "Ollama": (500, "this model is missing data required for image input"),
    "LM Studio": (400, "Model does not support images. Please use a model that does."),
    "xAI": (400, "Image inputs are not supported by this model."),
    "Anthropic": (400, "'claude-2.1' does not support image input."),
    "limit": (400, "At most 0 image(s) may be provided in one prompt."),
}
each_host = pytest.mark.parametrize("answer", BLIND.values(), ids=BLIND)
#: Texts about one file, one form or something else.
OTHER = [
    "Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    "messages.0.content.1.image.source.base64.data: URL sources are not supported",
    "This model doesn't support the s3Uri field. Remove s3Uri and try again.",
    "image URLs are not currently supported, please use base64 encoded data instead",
    "Image format not supported",
    "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "Could not process image",
    "The model does not support images of type image/tiff",
    "Unable to download the image",
    "The file type you uploaded is not supported. Please try again with a pdf",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The model `x` does not exist or you do not have access to it.",
    "function_response.parts is not supported for this model.",
    "Your request was flagged: the image violates the policy",
    "This model does not support images in tool results",
    "This model does not support assistant message prefill.",
    "No endpoints found that support tool use.",
]


def refuse(status, text):
    return status, json.dumps({"error": {"message": text}}).encode()


def draw() -> File:
    """Draw something."""
    return File.from_bytes(png(9, 8), name="drawn.png")


def blind_agent(answer, model, *later, **settings):
    calls = say("", ("c1", "draw", "{}"), model=model)
    return scripted(calls, refuse(*answer), *later, say("Done.", model=model), model=model, tools=[draw], **settings)


@each_api
@each_host
def test_a_tools_image_is_left_out_and_no_later_request_sends_one(model, answer):
    agent, script = blind_agent(answer, model)
    run = agent.run_sync("draw")
    assert (run.status, run.text, script.files) == ("complete", "Done.", [0, 1, 0])
    (receipt,) = run.receipts
    assert (receipt.delivery, receipt.place) == ("noted", None)
    assert answer[1][:60] in receipt.reason
    agent.run_sync("and now?", conversation=run.conversation)
    again, other = scripted(
        say("", ("c1", "draw", "{}"), model=model), say("Ok.", model=model), model=model, tools=[draw]
    )
    again.run_sync("draw")
    assert (script.files[3:], other.files) == ([0], [0, 0])
    check_usable(run.conversation, model)


@pytest.mark.parametrize("text", OTHER)
def test_an_error_about_one_file_or_one_form_says_nothing_about_the_model(text):
    assert MODALITY.search(text) is None


@each_api
def test_a_users_own_image_ends_the_run_as_refused_and_the_conversation_can_be_used_again(model):
    agent, script = scripted(refuse(*BLIND["OpenRouter"]), say("Ok.", model=model), model=model)
    conversation = agent.conversation()
    with pytest.raises(UnsupportedFile, match="No endpoints found that support image input"):
        agent.run_sync("look", files=[draw()], conversation=conversation)
    run = agent.run_sync("never mind", conversation=conversation)
    assert (run.status, run.text, script.files) == ("complete", "Ok.", [1, 0])
    assert run.receipts[0].delivery == "noted"


@each_api
def test_the_last_receipt_of_a_refused_image_does_not_say_that_the_model_got_it(model):
    agent, _ = scripted(refuse(*BLIND["xAI"]), model=model)

    async def watch():
        run = agent.run("look", files=[draw()])
        return [event.receipt["delivery"] async for event in run if isinstance(event, ReceiptEvent)], run

    deliveries, run = asyncio.run(watch())
    assert (deliveries, run.receipts[0].delivery, run.status) == (["native", "refused"], "refused", "refused")


@each_api
def test_a_users_own_image_becomes_a_note_if_the_policy_says_so(model):
    agent, script = scripted(
        refuse(*BLIND["vLLM"]), say("Ok.", model=model), model=model, on_unsupported={"image": "note"}
    )
    run = agent.run_sync("look", files=[draw()])
    assert (run.status, script.files) == ("complete", [1, 0])


@pytest.mark.parametrize("model", [CLAUDE, GEMINI, CONVERSE])
def test_a_document_goes_as_text_if_the_model_takes_no_documents(model):
    answer = refuse(400, "This model doesn't support documents.")
    agent, script = scripted(answer, say("Ok.", model=model), model=model)
    run = agent.run_sync("read", files=[File.from_bytes(pdf("Hello there"), name="a.pdf")])
    assert run.status == "complete"
    assert script.files[1] in {0, 1}  # its text, or its page as an image
    assert run.receipts[0].converted


@each_api
def test_a_converted_film_is_not_sent_again_after_its_frames_were_refused(model):
    film = File.from_bytes(grey(seconds=2), name="film.mp4")
    agent, script = scripted(refuse(400, "an image is broken"), say("Ok.", model=model), model=model)
    run = agent.run_sync("watch", files=[film])
    again = agent.run_sync("and now?", conversation=run.conversation)
    assert (run.status, again.status) == ("complete", "complete")
    assert script.files[0] > 0
    assert script.files[1:] == [0, 0]
    assert "an image is broken" in run.receipts[0].reason


def test_a_document_whose_pages_were_refused_goes_as_text_in_this_and_in_later_requests():
    document = File.from_bytes(pdf("Hello there"), name="a.pdf")
    groq = "groq:qwen/qwen3.6-27b"
    agent, script = scripted(refuse(400, "an image is broken"), say("Ok.", model=GPT), model=groq)
    run = agent.run_sync("read", files=[document])
    agent.run_sync("and now?", conversation=run.conversation)
    assert (run.status, script.files) == ("complete", [1, 0, 0])
    assert all("Hello there" in json.dumps(body) for body in script.bodies[1:])


@each_api
@pytest.mark.parametrize("host", ["llama.cpp", "Ollama"])
def test_a_500_that_says_what_the_model_does_not_take_is_not_retried_with_all_its_files(model, host):
    agent, script = blind_agent(BLIND[host], model, retry=RetryPolicy(tries=2, sleep=no_time))
    run = agent.run_sync("draw")
    assert (run.status, script.files) == ("complete", [0, 1, 0])


@each_api
@pytest.mark.parametrize(
    ("status", "text"),
    [(500, "Internal error"), (503, "Image input is not available, try again later"), (500, "image worker overloaded")],
)
def test_a_5xx_that_may_pass_is_retried_with_its_files(model, status, text):
    agent, script = blind_agent((status, text), model, retry=RetryPolicy(tries=2, sleep=no_time))
    assert (agent.run_sync("draw").status, script.files) == ("complete", [0, 1, 1])


def test_what_one_account_learned_does_not_count_for_another():
    agent, _ = blind_agent(BLIND["vLLM"], CLAUDE)
    agent.run_sync("draw")
    script = Script(say("Ok."), model=CLAUDE)
    exchange = Exchange(script.send, script.exchange.base, {"x-api-key": "another"})
    make_agent(CLAUDE, exchange=exchange).run_sync("look", files=[draw()])
    assert script.files == [1]


@each_api
def test_an_error_about_the_form_of_the_content_leads_to_a_probe_whose_refusal_is_remembered(model):
    place = {GPT: "messages.3.content", GEMINI: "contents.2"}.get(model, "messages.2.content")
    answers = (400, f"'{place}' : value must be a string")
    agent, script = blind_agent(answers, model, say("Done.", model=model), refuse(400, "no"), say("Ok.", model=model))
    run = agent.run_sync("draw")
    assert (run.status, script.files) == ("complete", [0, 1, 0, 1])
    (learned,) = learned_models().all
    assert [(found.kind, found.takes) for found in learned.modalities] == [("image", False)]
    agent.run_sync("again", files=[], conversation=run.conversation)
    assert script.files[4:] == [0]


@each_api
def test_a_probe_that_is_accepted_clears_the_model_and_is_not_repeated(model):
    answers = (400, "this image: no")
    agent, script = blind_agent(answers, model)
    agent.run_sync("draw")
    (learned,) = learned_models().all
    assert [(found.kind, found.takes) for found in learned.modalities] == [("image", True)]
    assert script.files == [0, 1, 0, 1]


@pytest.mark.parametrize("status", [413, 400])
@pytest.mark.parametrize(
    "text", ["image too large", "Could not process image", "the image is corrupt", "prompt too long"]
)
def test_other_errors_cause_no_probe_and_teach_nothing(status, text):
    agent, script = blind_agent((status, f"{text} (image)"), CLAUDE)
    agent.run_sync("draw")
    assert (learned_models().all, len(script.bodies)) == ((), 3)
