"""The whole matrix, for real: every family of models by kind of file by place, through ingest, plan and render."""

import base64

import pytest

from builders import tool_history, user_history
from fixtures import mp4, pdf, png, wav
from showandtell import File, UnsupportedFile, explain, render
from showandtell.attachments.shelf import Shelf
from showandtell.capabilities.resolve import families

FILES = {
    "image": ("kiwi.png", png()),
    "document": ("report.pdf", pdf("page one")),
    "audio": ("chime.wav", wav()),
    "video": ("clip.mp4", mp4()),
    "text": ("notes.txt", b"some words of a text file"),
}
SHELF = Shelf()
MODELS = sorted({f"{family.provider}:{family.example}" for family in families()})
NUMBERED = {"text": "text 1", **{kind: f"{kind} 1" for kind in ("image", "document", "audio", "video")}}


def count_of(kind, data, request):
    """How often a file's bytes are in the body: as base64, or as words where a text is given so."""
    body = b"".join(request.chunks())
    return body.count(base64.b64encode(data)) + (body.count(data) if kind == "text" else 0)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("model", MODELS)
def test_a_tools_file_reaches_the_model_once_or_is_noted_by_name(model, kind):
    name, data = FILES[kind]
    request = render(tool_history("Here:", File.from_bytes(data, name=name)), model=model, shelf=SHELF)
    receipt = request.receipts[0]
    assert receipt.delivery in {"native", "relocated", "noted"}
    assert count_of(kind, data, request) == (receipt.delivery != "noted")
    assert f"⟦{NUMBERED[kind]}" in b"".join(request.chunks()).decode()
    assert receipt.reason


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("model", MODELS)
def test_a_users_file_reaches_the_model_once_or_is_refused_by_name(model, kind):
    name, data = FILES[kind]
    drafts = user_history(File.from_bytes(data, name=name))
    if explain(drafts, model=model, shelf=SHELF)[0].delivery == "refused":
        with pytest.raises(UnsupportedFile, match=name):
            render(drafts, model=model, shelf=SHELF)
    else:
        request = render(drafts, model=model, shelf=SHELF)
        assert request.receipts[0].delivery == "native"
        assert count_of(kind, data, request) == 1
