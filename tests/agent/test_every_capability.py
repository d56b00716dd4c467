"""The complete matrix: every model family, kind of file and place, through ingest, plan, load and render."""

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
CACHE = FileCache()
MODELS = sorted({f"{family.provider}:{family.example}" for family in families()})
LABELS = {kind: f"{kind} 1" for kind in FILES} | {"scan": "image 1", "other": "file 1"}


@cache
def shown(kind, role):
    """A conversation about one file, shared by all models so that each conversion runs once."""
    name, data = FILES[kind]
    file = File.from_bytes(data, name=name)
    return ingest(tool_history("Here:", file) if role == "tool" else user_history(file), CACHE)


def expected_pieces(receipt, data, request):
    """The bytes of a file that the request body should contain, with how often."""
    if receipt.delivery in {"noted", "for_tools"}:
        return Counter()
    if receipt.variant is None:
        return Counter([base64.b64encode(data)])
    if receipt.variant.text is not None:
        return Counter([msgspec.json.encode(receipt.variant.text)[1:-1]])
    return Counter(base64.b64encode(request.blobs.read(facts)) for facts in receipt.variant.files)


def check_body(request, kind):
    """The body contains what the receipt says, and the original only if it was not converted."""
    (receipt,), data = request.receipts, FILES[kind][1]
    body = b"".join(request.chunks())
    expected = expected_pieces(receipt, data, request)
    if receipt.variant is None and kind == "text":
        # Some APIs take a text file as text, others as base64; it appears once in either case.
        assert body.count(base64.b64encode(data)) + body.count(data) == sum(expected.values())
    else:
        assert {piece: body.count(piece) for piece in expected} == expected
        assert body.count(base64.b64encode(data)) == expected[base64.b64encode(data)]
    assert receipt.converted == (receipt.variant is not None)
    assert f"⟦{LABELS[kind]}" in body.decode()
    assert receipt.reason


@pytest.mark.parametrize("kind", FILES)
def test_a_tool_file_is_sent_once_or_noted_by_name(kind, subtests):
    for model in MODELS:
        with subtests.test(model=model):
            request = render(shown(kind, "tool"), model=model)
            assert request.receipts[0].delivery in {"native", "relocated", "noted", "for_tools"}
            check_body(request, kind)


@pytest.mark.parametrize("kind", FILES)
def test_a_user_file_is_sent_once_or_refused_by_name(kind, subtests):
    for model in MODELS:
        with subtests.test(model=model):
            if explain(shown(kind, "user"), model=model)[0].delivery == "refused":
                with pytest.raises(UnsupportedFile, match=FILES[kind][0]):
                    render(shown(kind, "user"), model=model)
            else:
                request = render(shown(kind, "user"), model=model)
                assert request.receipts[0].delivery in {"native", "for_tools"}
                check_body(request, kind)


def test_every_model_gets_a_document_as_it_is_or_converted(subtests):
    for model in MODELS:
        with subtests.test(model=model):
            receipts = [
                explain(shown(kind, role), model=model)[0] for kind in ("document", "text") for role in ("tool", "user")
            ]
            assert {receipt.delivery for receipt in receipts} <= {"native", "relocated"}


def test_a_file_of_a_kind_that_models_dont_read_is_for_tools_only(subtests):
    for model in MODELS:
        with subtests.test(model=model):
            assert explain(shown("other", "tool"), model=model)[0].delivery == "for_tools"
            assert explain(shown("other", "user"), model=model)[0].delivery == "for_tools"
