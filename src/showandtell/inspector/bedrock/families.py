"""What each family of models accepts in Converse. The model id determines the family.

Sources: docs/providers.md, and botocore 1.44.5 where it documents models.
"""

from __future__ import annotations

from msgspec import Struct

#: The prefix of errors that come from the model rather than the service.
MODEL_ERROR = "The model returned the following errors: "
MEDIA = frozenset({"image", "document", "video", "audio"})


class Family(Struct, frozen=True):
    """What the models of a vendor accept.

    media: kinds of files in a message. in_results: kinds of files in a tool result. not_with_results: blocks that may
    not share a turn with a tool result. s3: whether S3 locations are allowed. assistant_first: whether a conversation
    may start with the assistant. result_status: whether a tool result may have a status. call_type: the type of calls;
    empty if they have none.
    """

    vendor: str
    media: frozenset[str] = frozenset({"image", "document"})
    in_results: frozenset[str] = frozenset({"image", "document"})
    not_with_results: frozenset[str] = frozenset()
    s3: bool = False
    assistant_first: bool = False
    result_status: bool = True
    call_type: str = ""


#: The type of calls in recorded answers of Claude 4.5 and Nova 2. botocore's types have only "server_tool_use".
CALL_TYPE = "tool_use"
EVERYTHING = MEDIA | {"text", "guardContent", "searchResult"}
CLAUDE = Family("claude", not_with_results=frozenset({"document", "video"}), assistant_first=True, call_type=CALL_TYPE)
NOVA = Family("nova", media=MEDIA, s3=True, call_type=CALL_TYPE)
#: Families by a part of the model id. The inspector's own model is as strict as Claude.
FAMILIES: tuple[tuple[str, Family], ...] = (
    ("claude", CLAUDE),
    ("bedrock-converse", CLAUDE),
    ("nova", NOVA),
    ("meta.", Family("llama", not_with_results=EVERYTHING)),
    ("mistral.", Family("mistral", in_results=frozenset({"document"}), not_with_results=EVERYTHING)),
    ("qwen.", Family("qwen", in_results=frozenset(), assistant_first=True)),
    ("moonshot", Family("kimi", in_results=frozenset())),
    ("writer.", Family("writer", not_with_results=EVERYTHING, result_status=False)),
    ("openai.", Family("openai", in_results=frozenset({"document"}))),
)
UNKNOWN = Family("unknown", media=MEDIA, in_results=MEDIA, s3=True, assistant_first=True)


def find_family(model: str) -> Family:
    """The family of a model by its id, ARN or inference profile."""
    return next((family for word, family in FAMILIES if word in model), UNKNOWN)
