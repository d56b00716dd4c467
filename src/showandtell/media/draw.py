"""Draws the built-in chart. Runs in the child, for Pillow lives there and nowhere else."""

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
#: The grid has about as many lines; its step is 1, 2 or 5 times a power of ten.
LINES = 5
STEPS = (1, 2, 5, 10)
#: A smaller distance is lost in the arithmetic: the bars are drawn flat.
SMALLEST = 1e-300
#: Letters of a text that are looked at.
LONGEST = 200
#: Pillow's font is Aileron cut down to ASCII and a few signs: marks are set above their letters, a few letters spelled.
MARKS = {"\u0308": "..", "\u030a": "°", "\u0301": "´", "\u0300": "`", "\u0303": "~"}  # noqa: RUF001 - the sign is meant
SPELLED = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "€": "EUR", "\u2013": "-", "\u2014": "-"}
)
SIGNS = frozenset("©«°±´·»‘’“”…‹›™")  # noqa: RUF001 - the same


@dataclass(frozen=True, slots=True)
class Axis:
    """The values from `low` to `high`, both on a line of the grid, on the picture's height."""

    low: float
    high: float
    step: float

    @property
    def lines(self) -> list[float]:
        """Where the grid's lines are."""
        return [self.low + self.step * index for index in range(round((self.high - self.low) / self.step) + 1)]

    def height_of(self, value: float) -> float:
        """How far from the top a value lies, in pixels."""
        return TOP + (HEIGHT - TOP - BOTTOM) * ((self.high - value) / (self.high - self.low))


def draw_chart(title: str, values: list[float], labels: list[str]) -> str:
    """A bar chart as PNG in base64; the axis always holds zero."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(image)
    axis, big = choose_axis(values), ImageFont.load_default(22)
    write(pen, (LEFT, 20), clip(title, big, WIDTH - LEFT - RIGHT), big)
    left = draw_grid(pen, axis)
    slot = (WIDTH - left - RIGHT) / len(values)
    for index, value in enumerate(values):
        ends = sorted((axis.height_of(0.0), axis.height_of(value)))
        start = left + slot * (index + 0.15)
        pen.rectangle((start, ends[0], start + slot * 0.7, max(ends[1], ends[0] + 1)), fill=BAR)
    middles = [left + slot * (index + 0.5) for index in range(len(values))]
    draw_figures(pen, axis, values, middles)
    draw_labels(pen, [*labels[: len(values)], *map(str, range(len(labels) + 1, len(values) + 1))], middles, axis)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return b64encode(buffer.getvalue()).decode()


def choose_axis(values: Iterable[float]) -> Axis:
    """Zero and all values, out to the next line of a grid with round figures."""
    low, high = min(0.0, *values), max(0.0, *values)
    if high - low < SMALLEST:
        return Axis(0.0, 1.0, 0.2)
    raw = (high - low) / LINES
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((power * times for times in STEPS if power * times >= raw * 0.999), power * 10)
    return Axis(math.floor(low / step) * step, math.ceil(high / step) * step, step)


def draw_grid(pen: ImageDraw.ImageDraw, axis: Axis) -> float:
    """The lines with their values; gives where the bars begin, right of the widest value."""
    words = [figure(line) for line in axis.lines]
    left = max(LEFT, max(small().getlength(word) for word in words) + 20)
    for line, word in zip(axis.lines, words, strict=True):
        height = axis.height_of(line)
        pen.line((left, height, WIDTH - RIGHT, height), fill=GRID)
        write(pen, (left - 8, height), word, small(), "rm")
    return left


def draw_figures(pen: ImageDraw.ImageDraw, axis: Axis, values: Sequence[float], middles: Sequence[float]) -> None:
    """Each bar's value at its end, as many as have room."""
    words = [figure(value) for value in values]
    for index in thinned(words, middles):
        down = values[index] < 0
        height = axis.height_of(values[index]) + (4 if down else -4)
        write(pen, (middles[index], height), words[index], small(), "mt" if down else "ms")


def draw_labels(pen: ImageDraw.ImageDraw, labels: Sequence[str], middles: Sequence[float], axis: Axis) -> None:
    """What each bar is called, under the lowest figure, as many as have room."""
    slot = (WIDTH - RIGHT - LEFT) / len(middles)
    room = max(slot - 6, small().getlength("M" * 6))
    words = [clip(label, small(), room) for label in labels]
    for index in thinned(words, middles):
        height = HEIGHT - BOTTOM + (20 if axis.low < 0 else 8)
        write(pen, (middles[index], height), words[index], small(), "ma")


def thinned(words: Sequence[str], middles: Sequence[float]) -> range:
    """Every k-th word, so that none touches the next."""
    if len(words) == 1:
        return range(1)
    slot = middles[1] - middles[0]
    widest = max(small().getlength(fold(word)) for word in words)
    return range(0, len(words), max(1, math.ceil((widest + 6) / slot)))


def figure(value: float) -> str:
    """A number as people write it: 0.3, 1,250,000, 1e+12."""
    return f"{value:,.12g}" if value == 0 or 1e-4 <= abs(value) < 1e12 else f"{value:.3g}"


def clip(text: str, font: Font, room: float) -> str:
    """Words on one line, cut with … where they are wider than their room."""
    line = " ".join(text[:LONGEST].split())
    if len(text) <= LONGEST and font.getlength(fold(line)) <= room:
        return line
    while line and font.getlength(fold(line) + "…") > room:
        line = line[:-1]
    return line.rstrip() + "…"


def letters(text: str) -> list[tuple[str, str]]:
    """Each letter that the font has, with the mark that stands above it, if any."""
    found: list[tuple[str, str]] = []
    for letter in unicodedata.normalize("NFD", unicodedata.normalize("NFC", text).translate(SPELLED)):
        if unicodedata.combining(letter):
            if found and letter in MARKS:
                found[-1] = (found[-1][0], MARKS[letter])
        else:
            found.append((letter if letter in SIGNS or " " <= letter <= "~" else "?", ""))
    return found


def fold(text: str) -> str:
    """The same without marks."""
    return "".join(letter for letter, _ in letters(text))


def write(pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, font: Font, anchor: str = "la") -> None:
    """Write words, each mark above its letter."""
    base = fold(text)
    pen.text(at, base, fill=INK, font=font, anchor=anchor)
    left = at[0] - font.getlength(base) * {"l": 0, "m": 0.5, "r": 1}[anchor[0]]
    for index, (letter, mark) in enumerate(letters(text)):
        if mark:
            middle = left + font.getlength(base[:index]) + font.getlength(letter) / 2
            tops = pen.textbbox(at, base, font=font, anchor=anchor)[1] - pen.textbbox(at, base, font=font)[1]
            top = pen.textbbox((0, at[1]), letter, font=font)[1] + tops
            put_mark(pen, (middle, top), mark, font)


def put_mark(pen: ImageDraw.ImageDraw, over: tuple[float, float], mark: str, font: Font) -> None:
    """Set a sign so that its ink ends just above a point; a text's own box goes down to the baseline."""
    left, top, right, _ = pen.textbbox((0, 0), mark, font=font)
    bottom = top + font.getmask(mark).getbbox()[3]
    pen.text((over[0] - (left + right) / 2, over[1] - bottom - 1), mark, fill=INK, font=font)


def small() -> Font:
    """The font of everything but the title."""
    return ImageFont.load_default(13)
