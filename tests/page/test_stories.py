"""Two stories in a real browser, with each api: what the page sends and shows, and what reaches the model, byte for byte."""

import base64
import hashlib
import json
import re
from types import SimpleNamespace

import pytest

from fake_provider.ours import APIS
from showandtell import samples
from showandtell.inspector.request import Call, Reply, Result
from showandtell.inspector.send import think
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
    return think(asked)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A server for each api, all at one stand-in."""
    with street() as made:
        standin = made.stand_in(mind=mind)
        houses = {
            api: made.build(tmp_path_factory.mktemp("house"), tools=page_tools.TOOLS, default_model=model)
            for api, model in APIS.items()
        }
        yield SimpleNamespace(houses=houses, ledger=standin.ledger, run=made.run)


def tell(town, api, story, folder, **given):
    """Play a story; gives what reached the model, and the messages that were stored."""
    del town.ledger[:]
    houses = {name: Address(house.url) for name, house in town.houses.items()}
    told = play(story, houses, folder, house=api, **given)
    conversation = town.run(town.houses[api].store.open(told["id"], "local"))
    asked = [one for one in town.ledger if one.size]  # what has no body only asks whether a model's server is there
    assert {one.status for one in asked} == {200}
    return [one.seen for one in asked], conversation.messages


def hashes(files):
    return [hashlib.sha256(one).hexdigest() for one in files]


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
    seen, messages = tell(town, api, story, tmp_path, document=document, quote="184[.]50 EUR")
    assert [one.sha256 for one in seen[0]] == hashes([INVOICE])
    assert {one.sha256 for one in seen[-1]} == {*hashes([INVOICE])}
    assert [one.role for one in messages] == ["user", "assistant", "tool", "assistant"]


@each_api
def test_pictures_keep_their_numbers_and_origins_up_to_the_model(api, town, tmp_path):
    uploads = [as_json(name, "image/png", data) for name, data in UPLOADS.items()]
    story = "pictures_keep_their_numbers_over_uploads_tools_and_a_reload"
    seen, messages = tell(town, api, story, tmp_path, uploads=uploads)
    assert {(one.sha256, *LABEL.match(one.label).groups()) for one in seen[-1]} == {*expected()}
    assert [reference.numbers for one in messages for reference in one.references] == [(4,), (1,), (5,)]
    roles = ["user", "assistant", "user", "assistant", "tool", "tool", "tool", "assistant", *["user", "assistant"] * 2]
    assert [one.role for one in messages] == roles
