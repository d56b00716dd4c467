"""Two conversations in a real browser with each API: what the page shows and stores, and the bytes that reach the model."""

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
from support.browser import SiteAddress, background_servers, run_scenario
from support.fixtures import picture, png

INVOICE = (samples.folder() / "invoice.pdf").read_bytes()
UPLOADS = {"mine.png": png(40, 30, (250, 200, 0)), "other.png": png(30, 40, (120, 0, 120))}
DRIVE = {f"{name}.png": picture("PNG", 64, 48, colour) for name, colour in page_tools.COLOURS.items()}
LABEL = re.compile(r"⟦image (\d): ([\w.]+), (uploaded by the user|from tool gdrive_display_image)")


def each_api(first):
    """A test for each API, of which all but the first are thorough: `tests/agent` tests what reaches each model, too."""
    params = [pytest.param(api, marks=[pytest.mark.thorough] * (api != first)) for api in APIS]
    return pytest.mark.parametrize("api", params)


def answer(request):
    """Like the inspector, but first calls `get_document` for a question about the invoice."""
    last = request.turns[-1].parts
    text = " ".join(part.text for part in last if hasattr(part, "text"))
    if "total of this invoice" in text and not any(isinstance(part, Result) for part in last):
        arguments = {"number_or_name": 1, "return_original": True}
        return Reply("", (Call("c0ffee0123456789", "get_document", json.dumps(arguments)),), 10)
    return default_answerer(request)


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """A server for each API, all with one fake provider."""
    with background_servers() as background:
        fake_provider = background.add_fake_provider(answerer=answer)
        sites = {
            api: background.add_server(tmp_path_factory.mktemp("site"), tools=page_tools.TOOLS, default_model=model)
            for api, model in APIS.items()
        }
        yield SimpleNamespace(sites=sites, ledger=fake_provider.ledger, run=background.run)


def run_and_read(servers, api, scenario, folder, **scenario_input):
    """Run a scenario; return the files of each request to the model, and the stored messages."""
    del servers.ledger[:]
    sites = {name: SiteAddress(site.url) for name, site in servers.sites.items()}
    result = run_scenario(scenario, sites, folder, site=api, **scenario_input)
    conversation = servers.run(servers.sites[api].store.open(result["id"], "local"))
    requests = [item for item in servers.ledger if item.size]  # requests without a body only check for a local server
    assert {item.status for item in requests} == {200}
    return [item.seen for item in requests], conversation.messages


def hashes(files):
    return [hashlib.sha256(file).hexdigest() for file in files]


def as_json(name, media_type, data):
    return {"name": name, "media_type": media_type, "data": base64.b64encode(data).decode()}


def expected():
    """The hash of each picture with its number, its name and its origin."""
    for number, (name, data) in enumerate([*UPLOADS.items(), *DRIVE.items()], 1):
        origin = "uploaded by the user" if name in UPLOADS else "from tool gdrive_display_image"
        yield hashes([data])[0], str(number), name, origin


@each_api("anthropic-messages")
def test_a_document_is_uploaded_read_by_the_model_and_quoted(api, servers, tmp_path):
    document = as_json("invoice.pdf", "application/pdf", INVOICE)
    scenario = "a_document_is_read_by_the_model_and_quoted"
    seen, messages = run_and_read(servers, api, scenario, tmp_path, document=document, quote="184[.]50 EUR")
    assert [item.sha256 for item in seen[0]] == hashes([INVOICE])
    assert {item.sha256 for item in seen[-1]} == {*hashes([INVOICE])}
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]


#: In this API pictures of tools are in a message of their own.
@each_api("openai-chat")
def test_pictures_reach_the_model_with_their_numbers_and_origins(api, servers, tmp_path):
    uploads = [as_json(name, "image/png", data) for name, data in UPLOADS.items()]
    scenario = "pictures_keep_their_numbers_across_uploads_tools_and_a_reload"
    seen, messages = run_and_read(servers, api, scenario, tmp_path, uploads=uploads)
    assert {(item.sha256, *LABEL.match(item.label).groups()) for item in seen[-1]} == {*expected()}
    assert [reference.numbers for message in messages for reference in message.references] == [(4,), (1,), (5,)]
    roles = ["user", "assistant", "user", "assistant", "tool", "tool", "tool", "assistant", *["user", "assistant"] * 2]
    assert [message.role for message in messages] == roles
