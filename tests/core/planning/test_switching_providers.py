"""A conversation switches providers at any step, and back: each gets its own opaque parts and no others."""

import asyncio
import base64
import re
from itertools import combinations
from urllib.parse import unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Json, Opaque, Text, ToolCall
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import compose
from showandtell.inspector.gemini.rules import sign
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import IncomingRequest
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.file_cache import FileCache
from support.builders import Everything
from support.fixtures import pdf, png
from support.properties import examples

CACHE = FileCache()
MODELS = sorted({f"{family.provider}:{family.example}" for family in families()})
#: One model per provider, from its first row.
PROVIDERS = {family.provider: f"{family.provider}:{family.example}" for family in reversed(families())}
PAIRS = [*combinations(sorted(PROVIDERS), 2)]
OPTIONS = Options("Be brief.", (ToolSpec("get", "Gets it.", '{"type":"object","properties":{}}'),), stream=True)
KIWI, REPORT = File.from_bytes(png(), name="kiwi.png"), File.from_bytes(pdf("one"), name="report.pdf")
PROBED = {file: CACHE.probe(file) for file in (KIWI, REPORT)}
#: Path prefix of each provider at the inspector.
PATHS = {
    "openai": "openai/v1",
    "openai-chat": "openai/v1",
    "azure": "azure/openai/v1",
    "azure-chat": "azure/openai/v1",
    "groq": "groq/openai/v1",
    "cohere": "cohere/compatibility/v1",
    **{name: f"{name}/v1" for name in ("xai", "openrouter", "mistral", "ollama", "vllm", "llamacpp", "lmstudio")},
}
OWN_PATHS = {
    "anthropic-messages": "anthropic",
    "openai-chat": "openai/v1",
    "openai-responses": "openai/v1",
    "gemini": "google",
    "bedrock-converse": "bedrock",
}
IDS = ("toolu_{}", "call_{}", "functions.get:{}", "call|{}|fc_" + "0" * 60, "{:09}")


def base_of(target):
    return OWN_PATHS[target.api] if target.provider == "inspector" else PATHS.get(target.provider, target.provider)


def signature(target, nth):
    """A provider's signature in base64. The strict Gemini readers recognize their own."""
    host = "google" if target.provider == "inspector" else target.provider
    return base64.b64encode(sign(host, f"{target.name} {nth}")).decode()


def seal(target, nth):
    """The opaque part that a provider wants back, as its parser stores it; empty if it signs nothing."""
    signed = signature(target, nth)
    match target.api:
        case "anthropic-messages":
            return f'{{"type":"thinking","thinking":"Hm.","signature":"{signed}"}}'
        case "openai-responses":
            return f'{{"type":"reasoning","id":"rs_{nth}","summary":[],"encrypted_content":"{signed}"}}'
        case "bedrock-converse":
            return f'{{"reasoningContent":{{"reasoningText":{{"text":"Hm.","signature":"{signed}"}}}}}}'
        case "openai-chat" if target.provider in {"openrouter", "litellm"}:
            return f'{{"reasoning_details":[{{"type":"reasoning.encrypted","data":"{signed}"}}]}}'
        case "gemini":
            return signed
        case _:
            return ""


class Talk:
    """A conversation in which each message may come from another model.

    `sealed` is what each model must get back, `dropped` is reasoning that nothing followed.
    """

    def __init__(self):
        self.conversation = MemoryConversation(CACHE)
        self.sealed, self.dropped, self.count = [], [], 0

    def add(self, role, *parts, **more):
        draft = Draft(role, parts, **more)
        asyncio.run(self.conversation.record(draft, [PROBED[file] for file in draft.claims]))

    def say(self, target, *calls, text="Done."):
        """Add an answer of a model with its signature: before its text, on its first call, or after its text."""
        self.count += 1
        sealed = Opaque(target.signer, seal(target, self.count))
        is_gemini = target.api == "gemini"
        asked = [ToolCall(item, "get", "{}", None if at or not is_gemini else sealed) for at, item in enumerate(calls)]
        words = [Text(text)] if text else []
        lone = [sealed] if sealed.text and not (is_gemini and calls) else []
        self.add("assistant", *([*words, *lone] if is_gemini else [*lone, *words]), *asked, stop="end")
        if sealed.text and (words or calls):
            self.sealed.append((target, sealed.text))
        elif sealed.text:
            self.dropped.append(sealed.text)

    def answer(self, *calls):
        """Add results in reverse order: an image and a PDF, an error, a JSON value."""
        found = [(Text("Here:"), KIWI, REPORT), (Text("no such file"), KIWI), (Json('{"n":1}'),)]
        for at, call in reversed([*enumerate(calls)]):
            self.add("tool", *found[at % 3], call_id=call, tool="get", is_error=at % 3 == 1)

    def ask(self, target, *, cache=True):
        """The next request to a model. Its strict reader accepts it, and it holds the model's own opaque parts only."""
        planned = plan(self.conversation.view(), target, Everything(), Policy(cache=cache))
        request = compose(planned, target, OPTIONS, CACHE.blobs)
        body = b"".join(request.chunks())
        read(request, body)
        for author, text in self.sealed:
            assert (text.strip("{}").encode() in body) == is_theirs(author, target)
        assert not [text for text in self.dropped if text.strip("{}").encode() in body]
        assert numbers(body) == {attachment.label for attachment in self.conversation.attachments.values()}
        return body


def is_theirs(author, target):
    return author.signer == target.signer and target.dialect.takes_reasoning


def numbers(body):
    return {match for match in re.findall(r"(?:image|document) \d+", body.decode()) if f"⟦{match}" in body.decode()}


def read(request, body):
    """Check a request with the strict reader of the host."""
    address = urlsplit(request.api.url(request.target, f"http://inspector/{base_of(request.target)}", stream=True))
    site, groups = find_host(address.path)
    assert groups is not None, address.path
    found = {name: unquote(value) for name, value in groups.items() if value is not None}
    return site.read(IncomingRequest(address.path, address.query, {}, body, found))


@examples(len(PAIRS))
@given(st.sampled_from(PAIRS))
def test_two_providers_take_turns_within_a_step(pair):
    here, there = (resolve(PROVIDERS[name]) for name in pair)
    talk = Talk()
    talk.add("user", Text("look"), KIWI)
    first = talk.ask(here, cache=False)
    for at, speaker in enumerate([here, there]):
        calls = [template.format(10 * at + nth) for nth, template in enumerate(IDS[2 * at : 2 * at + 3])]
        talk.say(speaker, *calls, text="One moment." if at else "")
        talk.answer(*calls)
        talk.ask(there)
    assert talk.ask(here, cache=False).startswith(first.removesuffix(b"]}"))


#: Unknown models get images, but the strict Cohere reader rejects images for this name.
models = st.sampled_from([model for model in MODELS if model != "cohere:some-model"]).map(resolve)
steps = st.lists(st.tuples(models, st.integers(0, 3), st.sampled_from(["", "Hm."])), min_size=2, max_size=6)


@examples(60)
@given(steps)
def test_a_conversation_continues_at_any_provider_and_returns_to_all_of_them(steps):
    talk = Talk()
    talk.add("user", Text("look"), KIWI)
    for at, (target, count, text) in enumerate(steps):
        talk.ask(target)
        calls = [IDS[(at + nth) % len(IDS)].format(10 * at + nth) for nth in range(count)]
        talk.say(target, *calls, text=text)
        talk.answer(*calls)
        if not calls:
            talk.add("user", Text("and now?"), REPORT)
    for target, _, _ in steps:
        talk.ask(target)
