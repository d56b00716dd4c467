"""Receipts in words, from their records: how a file was sent, where, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from showandtell.core.display.words import counted, short

PLACES = {"tool_result": "in the tool result", "user": "in a user message", "answer": "in the answer"}
#: The words of the page (`web/src/receipts/words.ts`).
DELIVERIES = {
    "native": "shown",
    "relocated": "shown",
    "noted": "name only",
    "refused": "refused",
    "listed": "out of view",
    "withheld": "kept from the model",
    "for_tools": "for tools only",
}
#: Short names of media types.
TYPES = {
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/x-ipynb+json": "notebook",
}
#: Starts of a reason that repeat how the file was sent.
REPEATED = ("converted: ", "given as words: ", "kept from the model: ")


def delivery_line(record: Mapping[str, Any]) -> str:
    """How a file was sent, where, and why."""
    reason = str(record["reason"])
    for start in REPEATED if record["converted"] or record["delivery"] == "withheld" else ():
        reason = reason.removeprefix(start)
    place = "in a follow-up message" if record["delivery"] == "relocated" else PLACES.get(record["place"], "")
    return f"{f'{delivered(record)} {place}'.rstrip()}: {short(by_ending(reason))}"


def delivered(record: Mapping[str, Any]) -> str:
    """The delivery in words, or what the file was converted to."""
    delivery = DELIVERIES[record["delivery"]]
    return f"converted to {became(record)}" if record["converted"] and delivery == "shown" else delivery


def became(record: Mapping[str, Any]) -> str:
    """What a file was converted to: text, pages, frames, audio or an image, and how much of it."""
    kind, pages = record["kind"], pages_of(record)
    parts: list[str]
    if record.get("described_by"):
        parts = [f"a description by {record['described_by']}", *([pages] if pages else [])]
    elif record["cell"] is None:
        has_speech = kind in {"audio", "video"}
        parts = ["a machine transcript" if has_speech else "text", *([pages] if " of " in pages else [])]
    elif record.get("times"):
        parts = [f"{counted(len(record['times']), 'frame')}{of_seconds(record)}"]
    elif kind == "audio":
        parts = [f"audio in another format{of_seconds(record) if record.get('cut') else ''}"]
    else:
        parts = [pages or "an image"]
        if record.get("crop"):
            parts.append(f"its part {', '.join(map(str, record['crop']))}")
        if kind == "image" and (scale := record.get("scale", 1.0)) != 1.0:
            parts.append(f"{'scaled' if scale < 1 else 'enlarged'} to {scale:.0%}")
    return ", ".join([*parts, *(["cut"] if record.get("cut") else [])])


def pages_of(record: Mapping[str, Any]) -> str:
    """Which pages are shown, and of how many; empty if it has no pages."""
    pages, total = record.get("pages"), record.get("total")
    if not pages:
        return ""
    if total is None or len(pages) == total:
        return counted(len(pages), "page")
    first, last = pages[0], pages[-1]
    if len(pages) == 1:
        shown = f"page {first}"
    elif last - first == len(pages) - 1:
        shown = f"pages {first} to {last}"
    else:
        shown = f"pages {', '.join(map(str, pages))}"
    return f"{shown} of {total:g}"


def of_seconds(record: Mapping[str, Any]) -> str:
    """The duration of the original, if it is known."""
    return f" of {record['total']:.3g} s" if record.get("total") else ""


def by_ending(text: str) -> str:
    """Text with long media types replaced by the suffix of such files."""
    for name, ending in TYPES.items():
        text = text.replace(name, ending)
    return text
