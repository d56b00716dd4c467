"""Our requests have the shape of recorded requests that providers accepted, if the recordings are available."""

import json
import re

import pytest

from showandtell.core.capabilities.cells import VENDORS
from showandtell.core.wire.options import Options
from showandtell.core.wire.renderers import renderer_of
from support.paths import SHARED
from support.sdk_clients import CALL, PDF, PNG, WITNESSES, aim, arguments, model, placed, rest, result, user

RECORDINGS = SHARED / "data" / "accepted_requests.jsonl"
ENDPOINTS = {
    "anthropic-messages": "/v1/messages",
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "gemini": ":generateContent",
    "bedrock-converse": "/converse",
}
#: Our keys beyond the nearest recording. All are in the SDK's types; no recording has text along with a PDF.
OURS = {
    ("anthropic-messages", "document"): {"content.content.title", "content.content.text", "content.content.type:text"},
    ("openai-responses", "image"): {"type:message"},
    ("openai-responses", "document"): {"type:message", "output.text", "output.type:input_text"},
}
RELOCATED = {("openai-chat", "image"), ("openai-chat", "document"), ("bedrock-converse", "document")}
#: Keys whose values are data of tools and schemas.
FOREIGN = {"args", "input", "arguments", "response", "json"}


def shape(value, at=""):
    """Yield every path of keys, in camel case, and the values of `type`."""
    match value:
        case dict():
            for key, item in value.items():
                path = f"{at}.{re.sub(r'_([a-z])', lambda found: found[1].upper(), key)}".removeprefix(".")
                yield f"{path}:{item}" if key == "type" else path
                if key not in FOREIGN:
                    yield from shape(item, path)
        case list():
            for item in value:
                yield from shape(item, at)


def recorded(api, file):
    """Yield the accepted requests of this API with such a file in the planner's place."""
    place = "user" if (api, file.kind) in RELOCATED else "tool_result"
    lines = RECORDINGS.read_text().splitlines() if RECORDINGS.exists() else []
    for case in map(json.loads, lines):
        held = {(media["where"], media["kind"].partition("/")[0]) for media in case["media"]}
        if case["endpoint"].endswith(ENDPOINTS[api]) and (place, file.media_type.partition("/")[0]) in held:
            yield set(shape(case["request"][renderer_of(api).MESSAGES_KEY]))


def conversation(api, file):
    asked = (user("Use the tool."), model(CALL))
    if (api, file.kind) in RELOCATED:
        return (*asked, user(result("file 1: shown below"), "[file 1]", placed(file, place="user")))
    return (*asked, user(result("Report:", placed(file))))


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
@pytest.mark.parametrize("file", [PNG, PDF], ids=["image", "document"])
@pytest.mark.parametrize("api", VENDORS)
def test_every_key_of_our_request_occurs_in_the_nearest_accepted_request(api, file):
    ours = set(shape(rest(conversation(api, file), aim(api), Options())[renderer_of(api).MESSAGES_KEY]))
    nearest = sorted(recorded(api, file), key=lambda theirs: len(ours - theirs))[:1]
    assert nearest
    for theirs in nearest:
        assert ours - theirs - OURS.get((api, file.kind), set()) == set()


@pytest.mark.parametrize("api", VENDORS)
def test_an_unknown_key_is_noticed(api):
    called = arguments(conversation(api, PNG), aim(api), Options())
    called[renderer_of(api).MESSAGES_KEY][0]["surprise"] = 1
    with pytest.raises((ValueError, AssertionError), match="surprise"):
        WITNESSES[api](called)
