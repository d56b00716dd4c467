"""`render` resolves references and follows a file policy, like an agent."""

import pytest

from showandtell import Agent, Draft, File, FilePolicy, Text, UnsupportedFile, explain, from_openai, render
from support.fixtures import png

CLAUDE = "anthropic:claude-sonnet-5"
RED, BLUE = png(), png(colour=(0, 0, 255))


def ask(text, *files):
    return Draft("user", (Text(text), *files))


def answer(text="I see."):
    return Draft("assistant", (Text(text),))


HISTORY = [
    ask("Keep these.", File.from_bytes(RED, name="red.png"), File.from_bytes(BLUE, name="blue.png")),
    answer(),
    ask("Keep this, too.", File.from_bytes(RED, name="wall.png")),
    answer(),
]


def texts(request):
    """The texts of the last message."""
    return [block["text"] for block in request.kwargs()["messages"][-1]["content"] if block["type"] == "text"]


def images(request):
    return [block for block in request.kwargs()["messages"][-1]["content"] if block["type"] == "image"]


def test_a_reference_is_explained_and_brings_a_file_back_into_view():
    request = render([*HISTORY, ask("What is in image 1?")], model=CLAUDE, file_policy=FilePolicy(max_in_context=1))
    assert "⟦image 1 = red.png, uploaded by the user⟧" in texts(request)
    assert len(images(request)) == 1
    assert not images(render([*HISTORY, ask("Thanks.")], model=CLAUDE, file_policy=FilePolicy(max_in_context=1)))


def test_a_number_that_no_file_has_reaches_the_model():
    assert "⟦no file has the number 9⟧" in texts(render([*HISTORY, ask("What is in image 9?")], model=CLAUDE))


def test_render_and_an_agent_explain_the_same():
    asked = "compare the first one I sent with image 9 and both red images"
    agent = Agent("inspector")
    conversation = agent.conversation()
    conversation.ingest_now(HISTORY)
    run = agent.run_sync(asked, conversation=conversation)
    alone = agent.conversation()
    alone.ingest_now([*HISTORY, ask(asked)])
    assert run.messages[0].references == alone.messages[-1].references != ()


def test_a_reference_in_what_a_model_or_a_tool_wrote_is_none():
    conversation = Agent("inspector").conversation()
    conversation.ingest_now([*HISTORY, answer("Look at image 1.")])
    assert conversation.messages[-1].references == ()


@pytest.mark.parametrize("policy", [FilePolicy(on_unsupported="error"), FilePolicy(on_unsupported={"other": "error"})])
def test_a_policy_decides_about_unsupported_files(policy):
    archive = ask("Open it.", File.from_bytes(b"PK\5\6" + bytes(18), name="backup.zip"))
    with pytest.raises(UnsupportedFile):
        render([archive], model=CLAUDE, file_policy=policy)
    noted = FilePolicy(on_unsupported="note")
    assert render([archive], model=CLAUDE, file_policy=noted).receipts[0].delivery == "for_tools"


def test_a_policy_limits_the_size_of_a_file():
    small = FilePolicy(max_file_bytes=len(RED) - 1)
    (receipt,) = explain([ask("Look.", File.from_bytes(RED, name="red.png"))], model=CLAUDE, file_policy=small)
    assert receipt.delivery == "refused"
    assert "is larger than" in receipt.reason


def test_a_history_without_files_gets_no_label():
    assert texts(render(from_openai([{"role": "user", "content": "image 5"}]), model=CLAUDE)) == ["image 5"]
