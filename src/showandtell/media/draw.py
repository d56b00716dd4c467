"""Draws the built-in chart. Runs in the child, because Pillow is imported only there."""

from __future__ import annotations

import io
import math
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from PIL import Image, ImageDraw, ImageFont

Font: TypeAlias = ImageFont.ImageFont | ImageFont.FreeTypeFont

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 64, 48
PAPER, INK, GRID, BAR = "#ffffff", "#1f2933", "#d9e2ec", "#2f6fb5"
#: The grid has about 5 lines; its step is 1, 2 or 5 times a power of ten.
GRID_LINES = 5
STEPS = (1, 2, 5, 10)
#: A smaller range of values is lost to rounding: the bars are drawn flat.
MIN_RANGE = 1e-300
#: Longer texts are cut before they are measured.
MAX_CHARACTERS = 200
#: Pillow's font is Aileron reduced to ASCII and a few signs: marks are drawn above characters, some are replaced.
MARKS = {"\u0308": "..", "\u030a": "°", "\u0301": "´", "\u0300": "`", "\u0303": "~"}  # noqa: RUF001 - this sign is intended
REPLACEMENTS = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "€": "EUR", "\u2013": "-", "\u2014": "-"}
)
SIGNS = frozenset("©«°±´·»‘’“”…‹›™")  # noqa: RUF001 - these signs are intended


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps the values from `low` to `high`, both on a line of the grid, to the height of the image."""

    low: float
    high: float
    step: float

    @property
    def lines(self) -> list[float]:
        """The values of the grid's lines."""
        return [self.low + self.step * index for index in range(round((self.high - self.low) / self.step) + 1)]

    def height_of(self, value: float) -> float:
        """The distance of a value from the top, in pixels."""
        return TOP + (HEIGHT - TOP - BOTTOM) * ((self.high - value) / (self.high - self.low))


def draw_chart(title: str, values: list[float], labels: list[str]) -> str:
    """A bar chart as PNG in base64; the axis always includes zero."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(image)
    axis, title_font = choose_axis(values), ImageFont.load_default(22)
    write(pen, (LEFT, 20), clip(title, title_font, WIDTH - LEFT - RIGHT), title_font)
    left = draw_grid(pen, axis)
    slot = (WIDTH - left - RIGHT) / len(values)
    for index, value in enumerate(values):
        ends = sorted((axis.height_of(0.0), axis.height_of(value)))
        start = left + slot * (index + 0.15)
        pen.rectangle((start, ends[0], start + slot * 0.7, max(ends[1], ends[0] + 1)), fill=BAR)
    middles = [left + slot * (index + 0.5) for index in range(len(values))]
    draw_values(pen, axis, values, middles)
    draw_labels(pen, [*labels[: len(values)], *map(str, range(len(labels) + 1, len(values) + 1))], middles, axis)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return b64encode(buffer.getvalue()).decode()


def choose_axis(values: Iterable[float]) -> Axis:
    """An axis for zero and all values, extended to the next line of a grid with round numbers."""
    low, high = min(0.0, *values), max(0.0, *values)
    if high - low < MIN_RANGE:
        return Axis(0.0, 1.0, 0.2)
    raw = (high - low) / GRID_LINES
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((power * multiple for multiple in STEPS if power * multiple >= raw * 0.999), power * 10)
    return Axis(math.floor(low / step) * step, math.ceil(high / step) * step, step)


def draw_grid(pen: ImageDraw.ImageDraw, axis: Axis) -> float:
    """Draw the lines with their values; returns where the bars start, right of the widest value."""
    texts = [format_number(line) for line in axis.lines]
    left = max(LEFT, max(small_font().getlength(text) for text in texts) + 20)
    for line, text in zip(axis.lines, texts, strict=True):
        height = axis.height_of(line)
        pen.line((left, height, WIDTH - RIGHT, height), fill=GRID)
        write(pen, (left - 8, height), text, small_font(), "rm")
    return left


def draw_values(pen: ImageDraw.ImageDraw, axis: Axis, values: Sequence[float], middles: Sequence[float]) -> None:
    """Draw the values at the ends of the bars, as many as fit."""
    texts = [format_number(value) for value in values]
    for index in thin_out(texts, middles):
        down = values[index] < 0
        height = axis.height_of(values[index]) + (4 if down else -4)
        write(pen, (middles[index], height), texts[index], small_font(), "mt" if down else "ms")


def draw_labels(pen: ImageDraw.ImageDraw, labels: Sequence[str], middles: Sequence[float], axis: Axis) -> None:
    """Draw the labels of the bars under the lowest value, as many as fit."""
    slot = (WIDTH - RIGHT - LEFT) / len(middles)
    width = max(slot - 6, small_font().getlength("M" * 6))
    texts = [clip(label, small_font(), width) for label in labels]
    for index in thin_out(texts, middles):
        height = HEIGHT - BOTTOM + (20 if axis.low < 0 else 8)
        write(pen, (middles[index], height), texts[index], small_font(), "ma")


def thin_out(texts: Sequence[str], middles: Sequence[float]) -> range:
    """The indexes of every k-th text, so that they don't touch."""
    if len(texts) == 1:
        return range(1)
    slot = middles[1] - middles[0]
    widest = max(small_font().getlength(strip_marks(text)) for text in texts)
    return range(0, len(texts), max(1, math.ceil((widest + 6) / slot)))


def format_number(value: float) -> str:
    """A number as people write it: 0.3, 1,250,000, 1e+12."""
    return f"{value:,.12g}" if value == 0 or 1e-4 <= abs(value) < 1e12 else f"{value:.3g}"


def clip(text: str, font: Font, width: float) -> str:
    """A text on one line, cut off with … if it is wider than `width`."""
    line = " ".join(text[:MAX_CHARACTERS].split())
    if len(text) <= MAX_CHARACTERS and font.getlength(strip_marks(line)) <= width:
        return line
    while line and font.getlength(strip_marks(line) + "…") > width:
        line = line[:-1]
    return line.rstrip() + "…"


def split_marks(text: str) -> list[tuple[str, str]]:
    """The characters as the font has them, each with the mark above it or an empty string."""
    characters: list[tuple[str, str]] = []
    for character in unicodedata.normalize("NFD", unicodedata.normalize("NFC", text).translate(REPLACEMENTS)):
        if unicodedata.combining(character):
            if characters and character in MARKS:
                characters[-1] = (characters[-1][0], MARKS[character])
        else:
            characters.append((character if character in SIGNS or " " <= character <= "~" else "?", ""))
    return characters


def strip_marks(text: str) -> str:
    """A text as the font has it, without marks."""
    return "".join(character for character, _ in split_marks(text))


def write(pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, font: Font, anchor: str = "la") -> None:
    """Draw a text, each mark above its character."""
    base = strip_marks(text)
    pen.text(at, base, fill=INK, font=font, anchor=anchor)
    left = at[0] - font.getlength(base) * {"l": 0, "m": 0.5, "r": 1}[anchor[0]]
    for index, (character, mark) in enumerate(split_marks(text)):
        if mark:
            middle = left + font.getlength(base[:index]) + font.getlength(character) / 2
            tops = pen.textbbox(at, base, font=font, anchor=anchor)[1] - pen.textbbox(at, base, font=font)[1]
            top = pen.textbbox((0, at[1]), character, font=font)[1] + tops
            draw_mark(pen, (middle, top), mark, font)


def draw_mark(pen: ImageDraw.ImageDraw, over: tuple[float, float], mark: str, font: Font) -> None:
    """Draw a mark so that its ink ends just above a point; Pillow's text box would go down to the baseline."""
    left, top, right, _ = pen.textbbox((0, 0), mark, font=font)
    bottom = top + font.getmask(mark).getbbox()[3]
    pen.text((over[0] - (left + right) / 2, over[1] - bottom - 1), mark, fill=INK, font=font)


def small_font() -> Font:
    """The font of all text but the title."""
    return ImageFont.load_default(13)
