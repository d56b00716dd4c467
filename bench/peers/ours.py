"""Show & Tell, measured as its peers are: images in tool results, for Anthropic."""

from __future__ import annotations

import sys
from time import process_time

from sink import arrivals, report

from cases import MODELS, one_step, stored, temporary, unlimited
from memory import peak_mib
from showandtell.core.planning.plan import plan
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import compose

folder = temporary(sys.argv[1])
target = unlimited(MODELS["anthropic-messages"])


def work() -> None:
    planned = plan(one_step(stored(folder)), target, {}, Policy())
    size = sum(len(piece) for piece in compose(planned, target, Options(), {}, folder).chunks())
    arrivals.append((process_time(), peak_mib(), size))


report("showandtell", "tool results", work)
