"""Content codings: which compressed form of a response a client accepts (RFC 9110, section 12.5.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers

#: The weight of a coding in Accept-Encoding.
WEIGHT: Final = re.compile(r"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)", re.ASCII)
IDENTITY: Final = "identity"


def choose_coding(headers: Headers, offered: Sequence[str]) -> str | None:
    """Return the coding for the response to a request with these headers, or None to send it as it is.

    Of codings that the client likes equally, the first offered one is chosen. A part of a response (`Range`) has no
    coding.
    """
    if "range" in headers:
        return None
    weights = read_weights(",".join(headers.getlist("accept-encoding")))
    others = weights.get("*", 0.0)
    best = max(offered, key=lambda coding: weights.get(coding, others))
    weight = weights.get(best, others)
    return best if weight > 0 and weight >= weights.get(IDENTITY, 0.0) else None


def read_weights(accept_encoding: str) -> dict[str, float]:
    """Return the weight of each coding in the header. One whose weight can't be read isn't accepted."""
    weights: dict[str, float] = {}
    for entry in accept_encoding.lower().split(","):
        coding, has_weight, parameter = entry.partition(";")
        weight = WEIGHT.fullmatch("".join(parameter.split())) if has_weight else None
        weights[coding.strip()] = float(weight[1]) if weight else 0.0 if has_weight else 1.0
    return weights
