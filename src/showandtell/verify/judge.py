"""From a model's answer to a finding, and from the findings of a test to cells that stand before the table's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Capability, Form, Place, Target, Verdict
from showandtell.core.capabilities.matrix import one_line
from showandtell.verify.ask import PLACES, Heard, Route, Trial
from showandtell.verify.probes import TYPES, Layer, Probe, Sort

#: "text only": of a PDF only the text layer arrived. "failed" and "skipped" prove nothing.
Outcome: TypeAlias = Literal["seen", "text only", "blind", "rejected", "failed", "skipped"]
#: From best to worst: a place of two routes is as good as the worse of them.
VERDICTS: dict[Outcome, Verdict] = {"seen": "sees", "text only": "sees", "blind": "blind", "rejected": "rejects"}
ORDER = tuple(VERDICTS)
LONGEST = 300
SEPARATORS = re.compile(r"[\W_]+")


class Finding(Struct, frozen=True):
    """What one route of one kind of file showed. `before` is the table's verdict, "none" where it has no cell.

    told_apart: whether the model knew the user's own upload from the tool's file; None where it wasn't asked or
    didn't say. tokens: the prompt's by modality, where the provider tells.
    """

    model: str
    sort: Sort
    place: Place
    form: Form
    route: Route
    outcome: Outcome
    evidence: str
    before: str
    tokens: dict[str, int] = {}
    seconds: float = 0.0
    told_apart: bool | None = None


def judge(target: Target, trial: Trial, heard: Heard) -> Finding:
    """What an answer says about a route."""
    outcome, words = weigh(heard, trial.probe)
    apart = tell_apart(heard.text, trial) if outcome in {"seen", "text only"} else None
    if apart is not None:
        words += ", knew it from the user's own upload" if apart else ", took it for the user's own upload"
    counts = [f"{modality} {count} tokens" for modality, count in heard.usage.modalities.items() if modality != "text"]
    evidence = "; ".join([words, *counts])
    found = find(target, trial.route, trial.sort, outcome, evidence)
    return replace(found, tokens=heard.usage.modalities, seconds=round(heard.seconds, 2), told_apart=apart)


def find(target: Target, route: Route, sort: Sort, outcome: Outcome, evidence: str) -> Finding:
    """A finding about a route, beside what the table says."""
    place = PLACES[route]
    cell = target.cell(place, TYPES[sort], "inline")
    before = cell.verdict if cell else "none"
    return Finding(target.name, sort, place, "inline", route, outcome, evidence, before)


def weigh(heard: Heard, probe: Probe) -> tuple[Outcome, str]:
    """The outcome, with what it is known by."""
    if heard.unwritten:
        return "skipped", f"this api has no form for it: {heard.unwritten}"
    if heard.refused:
        return "rejected", one_line(heard.refused, LONGEST)
    if heard.failed:
        return "failed", one_line(heard.failed, LONGEST)
    read = [hidden for hidden in probe.codes if holds(heard.text, hidden[1])]
    if not read and heard.stop != "end":
        return "failed", f"the answer ended with {heard.stop!r}, without a code"
    if not read:
        return "blind", f"answered {one_line(heard.text, 80)!r}, the code was {' and '.join(c for _, c in probe.codes)}"
    words = f"answered {' and '.join(code for _, code in read)}{count_shapes(heard.text, probe)}"
    return name_layers(read, probe, words)


def name_layers(read: Sequence[tuple[Layer, str]], probe: Probe, words: str) -> tuple[Outcome, str]:
    """Whether all of a file was read; of a PDF, which of its layers."""
    missed = [layer for layer, code in probe.codes if (layer, code) not in read]
    match missed:
        case ["pixels"]:
            return "text only", f"{words}: text only, its pixels were not read"
        case ["text"]:
            return "seen", f"{words}: saw its pixels, not its text layer"
        case _:
            return "seen", words + (": read its text and its pixels" if len(read) > 1 else "")


def holds(answer: str, code: str) -> bool:
    """Whether an answer says a code, however it is spaced; one letter, or one of several words, may be wrong."""
    said = squeeze(answer)
    words = code.split()
    if len(words) > 1:
        return sum(squeeze(word) in said for word in words) >= len(words) - 1
    return any(near(said[at : at + len(code)], code) for at in range(len(said) - len(code) + 1))


def near(found: str, code: str) -> bool:
    """Whether at most one letter differs."""
    return sum(one != other for one, other in zip(found, code, strict=True)) <= 1


def squeeze(text: str) -> str:
    """Letters and digits alone, in capitals."""
    return SEPARATORS.sub("", text).upper()


def count_shapes(answer: str, probe: Probe) -> str:
    """What an answer says of the shapes, where there were any."""
    said = re.search(r"shapes\W*(\d+)", answer, re.IGNORECASE)
    return f", {said[1]} of {probe.shapes} shapes" if probe.shapes and said else ""


def tell_apart(answer: str, trial: Trial) -> bool | None:
    """Whether the line about the user's files names the user's file and not the tool's; None where it says neither."""
    said = re.search(r"\bmine\W(.*)", answer, re.IGNORECASE)
    if said is None or trial.decoy is None:
        return None
    if any(holds(said[1], code) for _, code in trial.probe.codes):
        return False
    return True if any(holds(said[1], code) for _, code in trial.decoy.codes) else None


def learn(target: Target, findings: Iterable[Finding], today: str, host: str = "") -> tuple[Capability, ...]:
    """The cells that a test proves: one for each kind and place that gave a verdict.

    `host` stands in the evidence: it answered, and not the provider itself.
    """
    proved = [finding for finding in findings if finding.outcome in VERDICTS]
    keys: dict[tuple[Sort, Place], None] = {(finding.sort, finding.place): None for finding in proved}
    test = f"eye test at {host} with" if host else "eye test with"
    return tuple(replace(settle_cell(target, proved, sort, place, test), date=today) for sort, place in keys)


def settle_cell(target: Target, findings: Sequence[Finding], sort: Sort, place: Place, test: str) -> Capability:
    """The cell of one place: the worse of its routes counts, for a file must be seen on each of them.

    A place where only a PDF's text arrives is blind if another one shows its pixels: files are to go there instead.
    """
    here = [one for one in findings if (one.sort, one.place) == (sort, place)]
    worst = max(here, key=lambda one: ORDER.index(one.outcome)).outcome
    told = [f"{one.route}: {one.evidence}" for one in here]
    elsewhere = [one.outcome for one in findings if one.sort == sort and one.place != place]
    verdict = VERDICTS[worst]
    if worst == "text only" and place == "tool_result" and elsewhere and set(elsewhere) == {"seen"}:
        verdict = "blind"
        told.append("in a user message its pixels are seen, too")
    return write_cell(target, sort, place, verdict, f"{test} {TYPES[sort]}, {'; '.join(told)}")


def write_cell(target: Target, sort: Sort, place: Place, verdict: Verdict, evidence: str) -> Capability:
    """The table's own cell with a new verdict; where there is none, or it names no types, one for the type tried."""
    cell = target.cell(place, TYPES[sort], "inline")
    if cell is None:
        return Capability(place, sort, (TYPES[sort],), "inline", verdict, evidence, "")
    vague = verdict == "sees" and any(one.endswith("/*") for one in cell.media_types)
    types = (TYPES[sort],) if vague else cell.media_types
    return replace(cell, media_types=types, verdict=verdict, evidence=evidence)
