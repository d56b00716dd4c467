"""The program's own way from sound to words: used for the model and for tools, and never for what a model hears."""

import asyncio

from showandtell import File
from showandtell.agent.builtin_tools import get_document
from support.fixtures import wav
from support.scripted import CLAUDE, GEMINI, say, scripted, watch

CHIME = File.from_bytes(wav(), name="chime.wav")


def talk(model, *answers, transcribe, tools=()):
    agent, script = scripted(*answers, model=model, transcribe=transcribe, tools=tools)
    run = agent.run("What is said?", files=[CHIME])
    asyncio.run(watch(run))
    return run, script


def test_a_model_that_can_not_hear_reads_what_the_program_wrote_down():
    run, script = talk(CLAUDE, say("I see."), transcribe=lambda path: f"Good morning, {path.stat().st_size} bytes.")
    assert (run.receipts[0].delivery, run.receipts[0].converted) == ("native", True)
    assert f"Good morning, {len(wav())} bytes." in str(script.bodies[0])


def test_a_model_that_hears_is_given_the_sound():
    run, script = talk(GEMINI, say("A chime.", model=GEMINI), transcribe=lambda _: "never")
    assert (run.receipts[0].converted, script.files) == (False, [1])


def test_a_tool_that_wants_the_words_gets_those_of_the_program():
    call = ("c1", "get_document", '{"number_or_name": 1}')
    run, _ = talk(
        GEMINI,
        say("", call, model=GEMINI),
        say("I see.", model=GEMINI),
        transcribe=lambda _: "Good morning.",
        tools=[get_document],
    )
    assert [message.text for message in run.messages if message.role == "tool"] == [
        "audio 1 (chime.wav) as text:\nGood morning."
    ]


def test_a_program_that_fails_to_write_it_down_is_asked_again_in_the_next_run():
    asked = []

    def fail(path):
        asked.append(path)
        raise OSError("busy")

    agent, _ = scripted(say("Hm."), transcribe=fail)
    conversation = agent.conversation()
    for _ in range(2):
        asyncio.run(watch(agent.run("Hm?", files=[CHIME] if not asked else [], conversation=conversation)))
    assert len(asked) == 2
