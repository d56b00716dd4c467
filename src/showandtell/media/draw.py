"""Draws the built-in chart. Runs in the child, for Pillow lives there and nowhere else."""

from __future__ import annotations

import io
from base64 import b64encode

from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 64, 48
PAPER, INK, GRID, BAR = "#ffffff", "#1f2933", "#d9e2ec", "#2f6fb5"
LINES = 4


def draw_chart(title: str, values: list[float], labels: list[str]) -> str:
    """A bar chart as PNG in base64; the axis always holds zero."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(image)
    low, high = min(0.0, *values), max(0.0, *values)
    span = (high - low) or 1.0

    def height_of(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / span

    pen.text((LEFT, 20), title[:60], fill=INK, font=ImageFont.load_default(22))
    for step in range(LINES + 1):
        draw_line(pen, low + span * step / LINES, height_of(low + span * step / LINES))
    slot = (WIDTH - LEFT - RIGHT) / len(values)
    for index, value in enumerate(values):
        left = LEFT + slot * (index + 0.15)
        ends = sorted((height_of(0.0), height_of(value)))
        pen.rectangle((left, ends[0], left + slot * 0.7, ends[1]), fill=BAR)
        label = labels[index] if index < len(labels) else str(index + 1)
        pen.text((left + slot * 0.35, HEIGHT - BOTTOM + 10), label[:12], fill=INK, font=small(), anchor="ma")
        pen.text((left + slot * 0.35, ends[0] - 4), f"{value:g}", fill=INK, font=small(), anchor="ms")
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return b64encode(buffer.getvalue()).decode()


def draw_line(pen: ImageDraw.ImageDraw, value: float, height: float) -> None:
    """One line of the grid, with its value."""
    pen.line((LEFT, height, WIDTH - RIGHT, height), fill=GRID)
    pen.text((LEFT - 8, height), f"{value:g}", fill=INK, font=small(), anchor="rm")


def small() -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    """The font of everything but the title."""
    return ImageFont.load_default(13)
