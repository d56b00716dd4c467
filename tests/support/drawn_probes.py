"""Probes of a vision check that are drawn once, and read without OCR."""

from functools import cache
from hashlib import sha256

from showandtell.inspector.answering.report import ocr_cache
from showandtell.media import gate

draw_probe = gate.draw_probe


@cache
def draw_once(kind, codes, shapes):
    return draw_probe(kind, codes, shapes)


def share_probes(monkeypatch, *, is_read):
    """Draw equal probes once. With `is_read` the inspector knows their text: OCR takes a second for one."""

    def draw(kind, codes, shapes=0):
        data = draw_once(kind, tuple(codes), shapes)
        if is_read:
            monkeypatch.setitem(ocr_cache, sha256(data).hexdigest(), " ".join(codes))
        return data

    monkeypatch.setattr(gate, "draw_probe", draw)
