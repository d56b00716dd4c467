"""What each family of models takes behind Converse, as a table; the family follows from the model's id.

Evidence: docs/providers.md, and botocore 1.44.5 where it speaks of models.
"""

from __future__ import annotations

from msgspec import Struct

#: What a model says itself comes through the service with this before it.
MODEL_SAYS = "The model returned the following errors: "
MEDIA = frozenset({"image", "document", "video", "audio"})


class Family(Struct, frozen=True):
    """What the models of one house take.

    media: files in a message; in_results: files in a tool result; not_beside: what may not share a turn with a tool
    result; s3: whether it fetches from a bucket; opens: whether the assistant may speak first; status: whether a tool
    result may have one.
    """

    vendor: str
    media: frozenset[str] = frozenset({"image", "document"})
    in_results: frozenset[str] = frozenset({"image", "document"})
    not_beside: frozenset[str] = frozenset()
    s3: bool = False
    opens: bool = False
    status: bool = True


EVERYTHING = MEDIA | {"text", "guardContent", "searchResult"}
CLAUDE = Family("claude", not_beside=frozenset({"document", "video"}), opens=True)
NOVA = Family("nova", media=MEDIA, s3=True)
#: Houses by a word of their models' ids; the inspector's own model is as strict as Claude.
FAMILIES: tuple[tuple[str, Family], ...] = (
    ("claude", CLAUDE),
    ("bedrock-converse", CLAUDE),
    ("nova", NOVA),
    ("meta.", Family("llama", not_beside=EVERYTHING)),
    ("mistral.", Family("mistral", in_results=frozenset({"document"}), not_beside=EVERYTHING)),
    ("qwen.", Family("qwen", in_results=frozenset(), opens=True)),
    ("moonshot", Family("kimi", in_results=frozenset())),
    ("writer.", Family("writer", not_beside=EVERYTHING, status=False)),
    ("openai.", Family("openai", in_results=frozenset({"document"}))),
)
UNKNOWN = Family("unknown", media=MEDIA, in_results=MEDIA, s3=True, opens=True)


def find_family(model: str) -> Family:
    """The family of a model by its id, ARN or inference profile."""
    return next((family for word, family in FAMILIES if word in model), UNKNOWN)
