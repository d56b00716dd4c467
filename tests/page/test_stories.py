"""Two stories in a real browser, with each api: what the page sends and shows, and what reaches the model, byte for byte."""

import base64
import hashlib
import json
import re
from types import SimpleNamespace

import pytest

from fake_provider.agents import APIS
from showandtell import samples
from showandtell.inspector.request import Call, Reply, Result
from showandtell.inspector.send import default_answerer
from support import page_tools
from support.browser import Address, play, street
from support.fixtures import picture, png

INVOICE = (samples.folder() / "invoice.pdf").read_bytes()
UPLOADS = {"mine.png": png(40, 30, (250, 200, 0)), "other.png": png(30, 40, (120, 0, 120))}
DRIVE = {f"{name}.png": picture("PNG", 64, 48, colour) for name, colour in page_tools.COLOURS.items()}
LABEL = re.compile(r"⟦image (\d): ([\w.]+), (uploaded by the user|from tool gdrive_display_image)")
each_api = pytest.mark.parametrize("api", APIS)


def mind(asked):
    """The inspector's, but that it fetches a document before it answers a question about it."""
    last = asked.turns[-1].parts
    words = " ".join(part.text for part in last if hasattr(part, "text"))
    if "total of this invoice" in words and not any(isinstance(part, Result) for part in last):
        given = {"number_or_name": 1, "return_original": True}
        return Reply("", (Call("c0ffee0123456789", "get_document", json.dumps(given)),), 10)
    return default_answerer(asked)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A server for each api, all at one stand-in."""
    with street() as made:
        fake_provider = made.add_fake_provider(answerer=mind)
        sites = {
            api: made.build(tmp_path_factory.mktemp("site"), tools=page_tools.TOOLS, default_model=model)
            for api, model in APIS.items()
        }
        yield SimpleNamespace(sites=sites, ledger=fake_provider.ledger, run=made.run)


def write_story(town, api, story, folder, **given):
    """Play a story; gives what reached the model, and the messages that were stored."""
    del town.ledger[:]
    sites = {name: Address(site.url) for name, site in town.sites.items()}
    received = play(story, sites, folder, site=api, **given)
    conversation = town.run(town.sites[api].store.open(received["id"], "local"))
    asked = [item for item in town.ledger if item.size]  # what has no body only asks whether a model's server is there
    assert {item.status for item in asked} == {200}
    return [item.seen for item in asked], conversation.messages


def hashes(files):
    return [hashlib.sha256(file).hexdigest() for file in files]


def as_json(name, media_type, data):
    return {"name": name, "media_type": media_type, "data": base64.b64encode(data).decode()}


def expected():
    """What must stand beside each picture: its number, its name, and who brought it."""
    for number, (name, data) in enumerate([*UPLOADS.items(), *DRIVE.items()], 1):
        brought = "uploaded by the user" if name in UPLOADS else "from tool gdrive_display_image"
        yield hashes([data])[0], str(number), name, brought


@each_api
def test_a_document_is_uploaded_fetched_by_the_model_and_quoted(api, town, tmp_path):
    document = as_json("invoice.pdf", "application/pdf", INVOICE)
    story = "a_document_is_read_by_the_model_and_quoted"
    seen, messages = write_story(town, api, story, tmp_path, document=document, quote="184[.]50 EUR")
    assert [item.sha256 for item in seen[0]] == hashes([INVOICE])
    assert {item.sha256 for item in seen[-1]} == {*hashes([INVOICE])}
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]


@each_api
def test_pictures_keep_their_numbers_and_origins_up_to_the_model(api, town, tmp_path):
    uploads = [as_json(name, "image/png", data) for name, data in UPLOADS.items()]
    story = "pictures_keep_their_numbers_over_uploads_tools_and_a_reload"
    seen, messages = write_story(town, api, story, tmp_path, uploads=uploads)
    assert {(item.sha256, *LABEL.match(item.label).groups()) for item in seen[-1]} == {*expected()}
    assert [reference.numbers for message in messages for reference in message.references] == [(4,), (1,), (5,)]
    roles = ["user", "assistant", "user", "assistant", "tool", "tool", "tool", "assistant", *["user", "assistant"] * 2]
    assert [message.role for message in messages] == roles
