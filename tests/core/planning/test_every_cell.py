"""The whole matrix, for real: every family of models by kind of file by place, through ingest, plan, load and render."""

import base64
from collections import Counter
from functools import cache

import msgspec
import pytest

from showandtell import File, UnsupportedFile, explain, render
from showandtell.agent.render import ingest
from showandtell.core.capabilities.resolve import families
from showandtell.storage.files.file_cache import FileCache
from support.builders import tool_history, user_history
from support.fixtures import mp4, parts, pdf, png, tiff, wav

FILES = {
    "image": ("kiwi.png", png()),
    "document": ("report.pdf", pdf("page one", "page two")),
    "audio": ("chime.wav", wav()),
    "video": ("clip.mp4", mp4()),
    "text": ("notes.txt", b"some words of a text file"),
    "scan": ("scan.tiff", tiff()),
    "other": ("parts.zip", parts()),
}
SHELF = FileCache()
MODELS = sorted({f"{family.provider}:{family.example}" for family in families()})
NUMBERED = {kind: f"{kind} 1" for kind in FILES} | {"scan": "image 1", "other": "file 1"}


@cache
def shown(kind, role):
    """A conversation about one file, the same for all models, so that each conversion is made once."""
    name, data = FILES[kind]
    file = File.from_bytes(data, name=name)
    return ingest(tool_history("Here:", file) if role == "tool" else user_history(file), SHELF)


def stands_for(receipt, data, request):
    """What the model is given of a file, as the body spells it, and how often each of that is to be found there."""
    if receipt.delivery == "noted":
        return Counter()
    if receipt.variant is None:
        return Counter([base64.b64encode(data)])
    if receipt.variant.text is not None:
        return Counter([msgspec.json.encode(receipt.variant.text)[1:-1]])
    return Counter(base64.b64encode(request.blobs.read(facts)) for facts in receipt.variant.files)


def check_body(request, kind):
    """Exactly what the receipt says is in the body, and the original only where it was not converted."""
    (receipt,), data = request.receipts, FILES[kind][1]
    body = b"".join(request.chunks())
    given = stands_for(receipt, data, request)
    if receipt.variant is None and kind == "text":
        # Some wires take a text as words, others as base64; once in either case.
        assert body.count(base64.b64encode(data)) + body.count(data) == sum(given.values())
    else:
        assert {piece: body.count(piece) for piece in given} == given
        assert body.count(base64.b64encode(data)) == given[base64.b64encode(data)]
    assert receipt.converted == (receipt.variant is not None)
    assert f"⟦{NUMBERED[kind]}" in body.decode()
    assert receipt.reason


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("model", MODELS)
def test_a_tools_file_reaches_the_model_once_or_is_noted_by_name(model, kind):
    request = render(shown(kind, "tool"), model=model)
    assert request.receipts[0].delivery in {"native", "relocated", "noted"}
    check_body(request, kind)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("model", MODELS)
def test_a_users_file_reaches_the_model_once_or_is_refused_by_name(model, kind):
    if explain(shown(kind, "user"), model=model)[0].delivery == "refused":
        with pytest.raises(UnsupportedFile, match=FILES[kind][0]):
            render(shown(kind, "user"), model=model)
    else:
        request = render(shown(kind, "user"), model=model)
        assert request.receipts[0].delivery == "native"
        check_body(request, kind)


@pytest.mark.parametrize("model", MODELS)
def test_a_document_reaches_every_model_as_it_is_or_converted(model):
    receipts = [
        explain(shown(kind, role), model=model)[0] for kind in ("document", "text") for role in ("tool", "user")
    ]
    assert {receipt.delivery for receipt in receipts} <= {"native", "relocated"}


@pytest.mark.parametrize("model", MODELS)
def test_what_nothing_takes_and_nothing_can_convert_is_noted_for_a_tool_and_refused_for_a_user(model):
    assert explain(shown("other", "tool"), model=model)[0].delivery == "noted"
    assert explain(shown("other", "user"), model=model)[0].delivery == "refused"
