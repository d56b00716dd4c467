"""What an error says counts more than the path that it names: many paths lead nowhere in the request."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from showandtell import File
from support.fixtures import pdf, png, wav
from support.scripted import CLAUDE, GEMINI, GPT, MODELS, RESPONSES, check_usable, say, scripted

FILES = {
    "image": File.from_bytes(png(9, 8), name="image.png"),
    "document": File.from_bytes(pdf("Hello"), name="document.pdf"),
    "audio": File.from_bytes(wav(), name="audio.wav"),
}
TYPES = (
    "Supported types: audio_embeds, audio_url, image_embeds, image_pil, image_url, input_audio, input_image, input_text, "
    "output_text, prompt_embeds, refusal, text, thinking, tool_reference, video_embeds, video_url."
)
STRING = (
    "2 validation errors:\n  {'type': 'string_type', 'loc': 'body.messages.0.content', 'msg': 'Input should be a valid "
    "string', 'input': '<list of 2 items>'}"
)


def unsupported(kind):
    return f"Unsupported chat content part type: '{kind}'. {TYPES} (parameter=type, value={kind})", "type"


def at_most(limit, kind):
    return f"At most {limit} {kind}(s) may be provided in one prompt. (parameter={kind})", kind


#: Answers of vLLM whose `param` leads nowhere, with the API and the kind of the file: recorded, and with other limits.
VLLM = [
    (GPT, "document", *unsupported("file")),
    (GPT, "image", *unsupported("blob")),
    (GEMINI, "audio", *at_most(0, "audio")),
    (GPT, "image", *at_most(0, "image")),
    (GPT, "image", *at_most(2, "image")),
    (GPT, "image", *at_most(0, "video")),
    (CLAUDE, "document", STRING, "body.messages.0.content"),
    (RESPONSES, "document", *unsupported("input_file")),
    (RESPONSES, "image", *unsupported("input_image")),
]


def refuse(text, param, status=400):
    return status, json.dumps({"error": {"message": text, "type": "BadRequestError", "param": param}}).encode()


def run_refused(model, kind, *refusal):
    """Run a tool whose file is refused once: the run, and the script of the provider."""

    def show() -> File:
        """Return a file."""
        return FILES[kind]

    answers = say("", ("c1", "show", "{}"), model=model), refuse(*refusal), say("Done.", model=model)
    agent, script = scripted(*answers, model=model, tools=[show])
    return agent.run_sync("show"), script


@pytest.mark.parametrize(("model", "kind", "text", "param"), VLLM)
def test_a_refusal_of_vllm_leads_to_a_request_without_the_file(model, kind, text, param):
    run, script = run_refused(model, kind, text, param)
    assert (run.status, run.text, script.files[1]) == ("complete", "Done.", 1)
    assert script.bodies[1] != script.bodies[2]
    check_usable(run.conversation, model)


WORDS = st.sampled_from(
    [
        "Failed to load image: cannot identify image file",
        "Could not process image",
        "Input should be a valid string",
        "unsupported content[].type",
        "'input_file' is not supported by llamacpp at this moment",
        "Invalid base64",
    ]
)
STEPS = st.sampled_from(["body", "image", "type", "content", "image_url", "param", "0", "7", "messages", "input", "x"])


@given(st.sampled_from(MODELS), WORDS, st.lists(STEPS, max_size=4), st.sampled_from([".", "/", "#/"]))
def test_wherever_a_path_leads_an_error_about_files_is_answered_without_them(model, words, steps, separator):
    run, script = run_refused(model, "image", words, separator.join(steps))
    assert (run.status, run.text, script.files[1]) == ("complete", "Done.", 1)


@given(st.sampled_from(MODELS), WORDS, st.sampled_from(["", "body.", "request."]), st.sampled_from(["0.x", "[0].name"]))
def test_an_error_about_a_tool_is_reported_whatever_its_words(model, words, start, end):
    assume("not supported" not in words)
    run, script = run_refused(model, "image", words, f"{start}tools{'' if end.startswith('[') else '.'}{end}")
    assert (run.status, run.reason, len(script.bodies)) == ("error", words, 2)


def test_of_several_paths_the_closest_to_a_file_counts():
    """FastAPI names each of its complaints, from the outside in."""
    text = f"{STRING}\n  {{'loc': 'body.messages.0.content.4', 'msg': 'Input should be a valid dictionary'}}"
    answers = refuse(text, "body.messages.0.content"), say("Done.", model=CLAUDE)
    agent, script = scripted(*answers, model=CLAUDE)
    run = agent.run_sync("look", files=[FILES["image"], FILES["document"]])
    assert (run.status, script.files) == ("complete", [2, 1])
