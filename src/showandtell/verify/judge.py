"""Turns a model's answer into a finding, and the findings of a check into capabilities that override the table's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Capability, Form, Place, Target, Verdict
from showandtell.core.display.words import one_line
from showandtell.verify.ask import PLACES, ModelReply, Route, Trial
from showandtell.verify.probes import TYPES, Layer, Probe, ProbeKind

#: "text only": only the text layer of a PDF arrived. "failed" and "skipped" give no verdict.
Outcome: TypeAlias = Literal["seen", "text only", "blind", "rejected", "failed", "skipped"]
#: From best to worst. If a place has several routes, the worst outcome counts.
VERDICTS: dict[Outcome, Verdict] = {"seen": "sees", "text only": "sees", "blind": "blind", "rejected": "rejects"}
ORDER = tuple(VERDICTS)
MAX_EVIDENCE = 300
SEPARATORS = re.compile(r"[\W_]+")


class Finding(Struct, frozen=True):
    """The outcome for one kind of file on one route. `before` is the table's verdict, "none" if it has no entry.

    told_apart: whether the model distinguished the user's own upload from the tool's file; None if it wasn't asked or
    didn't answer. tokens: prompt tokens by modality, if the provider reports them. seconds: duration of the request.
    """

    model: str
    kind: ProbeKind = field(name="sort")
    place: Place
    form: Form
    route: Route
    outcome: Outcome
    evidence: str
    before: str
    tokens: dict[str, int] = {}
    seconds: float = 0.0
    told_apart: bool | None = None


def judge(target: Target, trial: Trial, reply: ModelReply) -> Finding:
    """The finding for a model's reply."""
    outcome, summary = weigh(reply, trial.probe)
    told_apart = told_uploads_apart(reply.text, trial) if outcome in {"seen", "text only"} else None
    if told_apart is not None:
        summary += ", knew it from the user's own upload" if told_apart else ", took it for the user's own upload"
    counts = [f"{modality} {count} tokens" for modality, count in reply.usage.modalities.items() if modality != "text"]
    evidence = "; ".join([summary, *counts])
    finding = make_finding(target, trial.route, trial.kind, outcome, evidence)
    return replace(finding, tokens=reply.usage.modalities, seconds=round(reply.seconds, 2), told_apart=told_apart)


def make_finding(target: Target, route: Route, kind: ProbeKind, outcome: Outcome, evidence: str) -> Finding:
    """A finding together with the table's verdict."""
    place = PLACES[route]
    capability = target.cell(place, TYPES[kind], "inline")
    before = capability.verdict if capability else "none"
    return Finding(target.name, kind, place, "inline", route, outcome, evidence, before)


def weigh(reply: ModelReply, probe: Probe) -> tuple[Outcome, str]:
    """The outcome of a reply, and the evidence for it."""
    if reply.unrendered:
        return "skipped", f"this api has no form for it: {reply.unrendered}"
    if reply.refused:
        return "rejected", one_line(reply.refused, MAX_EVIDENCE)
    if reply.failed:
        return "failed", one_line(reply.failed, MAX_EVIDENCE)
    found = [hidden for hidden in probe.codes if contains_code(reply.text, hidden[1])]
    if not found and reply.stop != "end":
        return "failed", f"the answer ended with {reply.stop!r}, without a code"
    if not found:
        return "blind", f"answered {one_line(reply.text, 80)!r}, the code was {' and '.join(c for _, c in probe.codes)}"
    summary = f"answered {' and '.join(code for _, code in found)}{count_shapes(reply.text, probe)}"
    return name_layers(found, probe, summary)


def name_layers(found: Sequence[tuple[Layer, str]], probe: Probe, summary: str) -> tuple[Outcome, str]:
    """The outcome if at least one code was read: all of the file, or one layer of a PDF."""
    missed = [layer for layer, code in probe.codes if (layer, code) not in found]
    match missed:
        case ["pixels"]:
            return "text only", f"{summary}: text only, its pixels were not read"
        case ["text"]:
            return "seen", f"{summary}: saw its pixels, not its text layer"
        case _:
            return "seen", summary + (": read its text and its pixels" if len(found) > 1 else "")


def contains_code(answer: str, code: str) -> bool:
    """Whether an answer contains a code, with any spacing. One character, or one of several words, may be wrong."""
    squeezed = squeeze(answer)
    parts = code.split()
    if len(parts) > 1:
        return sum(squeeze(word) in squeezed for word in parts) >= len(parts) - 1
    return any(is_near(squeezed[start : start + len(code)], code) for start in range(len(squeezed) - len(code) + 1))


def is_near(text: str, code: str) -> bool:
    """Whether at most one character differs."""
    return sum(character != expected for character, expected in zip(text, code, strict=True)) <= 1


def squeeze(text: str) -> str:
    """The letters and digits of a text, in upper case."""
    return SEPARATORS.sub("", text).upper()


def count_shapes(answer: str, probe: Probe) -> str:
    """The counted shapes in an answer as evidence; empty if the file has none."""
    match = re.search(r"shapes\W*(\d+)", answer, re.IGNORECASE)
    return f", {match[1]} of {probe.shapes} shapes" if probe.shapes and match else ""


def told_uploads_apart(answer: str, trial: Trial) -> bool | None:
    """Whether the line about the user's files has the code of the user's file, not the tool's; None if neither."""
    match = re.search(r"\bmine\W(.*)", answer, re.IGNORECASE)
    if match is None or trial.decoy is None:
        return None
    if any(contains_code(match[1], code) for _, code in trial.probe.codes):
        return False
    return True if any(contains_code(match[1], code) for _, code in trial.decoy.codes) else None


def capabilities_from(
    target: Target, findings: Iterable[Finding], today: str, host: str = ""
) -> tuple[Capability, ...]:
    """The capabilities that follow from a check: one for each kind and place with a verdict.

    `host` is added to the evidence, if another host answered instead of the provider.
    """
    verdicts = [finding for finding in findings if finding.outcome in VERDICTS]
    keys: dict[tuple[ProbeKind, Place], None] = {(finding.kind, finding.place): None for finding in verdicts}
    test = f"eye test at {host} with" if host else "eye test with"
    return tuple(replace(decide_capability(target, verdicts, kind, place, test), date=today) for kind, place in keys)


def decide_capability(
    target: Target, findings: Sequence[Finding], kind: ProbeKind, place: Place, test: str
) -> Capability:
    """The capability for one kind in one place. The worst of its routes counts, since files must be seen on each.

    A place where only a PDF's text arrives counts as blind if another one shows its pixels, so that files go there.
    """
    matching = [finding for finding in findings if (finding.kind, finding.place) == (kind, place)]
    worst = max(matching, key=lambda finding: ORDER.index(finding.outcome)).outcome
    evidence = [f"{finding.route}: {finding.evidence}" for finding in matching]
    other_outcomes = [finding.outcome for finding in findings if finding.kind == kind and finding.place != place]
    verdict = VERDICTS[worst]
    if worst == "text only" and place == "tool_result" and other_outcomes and set(other_outcomes) == {"seen"}:
        verdict = "blind"
        evidence.append("in a user message its pixels are seen, too")
    return update_capability(target, kind, place, verdict, f"{test} {TYPES[kind]}, {'; '.join(evidence)}")


def update_capability(target: Target, kind: ProbeKind, place: Place, verdict: Verdict, evidence: str) -> Capability:
    """The table's entry with a new verdict. Without an entry, or for a wildcard, it covers only the tested type."""
    capability = target.cell(place, TYPES[kind], "inline")
    if capability is None:
        return Capability(place, kind, (TYPES[kind],), "inline", verdict, evidence, "")
    is_unspecific = verdict == "sees" and any(media_type.endswith("/*") for media_type in capability.media_types)
    types = (TYPES[kind],) if is_unspecific else capability.media_types
    return replace(capability, media_types=types, verdict=verdict, evidence=evidence)
