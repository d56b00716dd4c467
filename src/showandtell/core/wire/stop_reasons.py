"""Why a message ended, by the provider's own word for it, which may be missing or new."""

from __future__ import annotations

import re
from collections.abc import Mapping

from showandtell.core.messages.message import Stop

#: What new words sound like, in order of precedence. Seen in public issues: "insufficient_system_resource" (DeepSeek),
#: "network_error" and "sensitive" (GLM), "abort" (vLLM), "eos" (TGI).
SOUNDS: tuple[tuple[re.Pattern[str], Stop], ...] = (
    (
        re.compile(
            r"error|fail|fault|abort|cancel|interrupt|insufficient|unavailable|network|time.?(?:d.?)?out|malformed|invalid"
            r"|incomplete|progress|queued|pending|cut|trunc|disconnect|unexpected|missing|too.?many|overload|expired|kill"
            r"|other|unknown|unspecified",
            re.IGNORECASE,
        ),
        "cut",
    ),
    (
        re.compile(r"filter|safe|sensitive|refus|block|prohibit|policy|moderat|recit|guard|flag|denied", re.IGNORECASE),
        "refusal",
    ),
    (re.compile(r"length|limit|max|context|budget|exceed", re.IGNORECASE), "length"),
)


def read_stop(word: str, known: Mapping[str, Stop], *, is_whole: bool) -> Stop:
    """Our reason for a provider's word; `known` are those of its API.

    A message is whole if it came to its last event, with its usage, and has content without an open call. Only then is
    a missing word an end, or a new one that doesn't sound like anything else. Otherwise the message was cut.
    """
    if word in known:
        return known[word]
    if not is_whole:
        return "cut"
    for sound, stop in SOUNDS:
        if sound.search(word):
            return stop
    return "end"
