# A union, or JSON whose types the test knows.
# pyright: reportGeneralTypeIssues=false
"""The packaged samples: they are what they say, small, our own, and made the same each time."""

import runpy

import pytest

from showandtell.media import gate
from showandtell.samples import folder
from support.paths import ROOT

SCRIPT = ROOT / "docs" / "samples" / "make_samples.py"
SAMPLES = [
    ("invoice.pdf", gate.ProbeResult("application/pdf", pages=1)),
    ("guide.pdf", gate.ProbeResult("application/pdf", pages=3)),
    ("visitors.csv", gate.ProbeResult("text/csv")),
    ("harbour.png", gate.ProbeResult("image/png", pixels=(640, 400))),
    ("kiwi.jpg", gate.ProbeResult("image/jpeg", pixels=(480, 360))),
    ("chime.wav", gate.ProbeResult("audio/wav", seconds=1.5)),
]


@pytest.mark.parametrize(("name", "proof"), SAMPLES)
def test_each_sample_is_what_its_name_says(name, proof):
    assert gate.probe(folder() / name, claimed=None, name=name) == proof


def test_the_samples_are_small():
    assert sum((folder() / name).stat().st_size for name, _ in SAMPLES) < 300_000


def test_the_samples_are_made_anew_byte_for_byte():
    made = runpy.run_path(str(SCRIPT))["make_samples"]()
    assert set(made) == {name for name, _ in SAMPLES}
    assert {name for name, content in made.items() if (folder() / name).read_bytes() != content} == set()


def test_the_invoice_has_a_text_layer_that_adds_up():
    text = gate.describe(folder() / "invoice.pdf", "application/pdf")["text"]
    for words in ("INV-2041", "Kiwi fruit", "Rope", "Brass bell", "184.50 EUR", "Due date: 2 April 2025"):
        assert words in text
    assert 74.00 + 62.50 + 48.00 == 184.50


def test_each_page_of_the_guide_has_a_text_of_its_own():
    text = gate.describe(folder() / "guide.pdf", "application/pdf")["text"]
    assert [text.count(words) for words in ("Page 1: the lighthouse", "42 sailing boats", "high 06:12")] == [1, 1, 1]


def test_the_pictures_are_described_in_the_right_colours():
    kiwi = gate.describe(folder() / "kiwi.jpg", "image/jpeg")["colours"]
    harbour = gate.describe(folder() / "harbour.png", "image/png")["colours"]
    assert "green" in [word for word, _ in kiwi]
    assert {"blue", "orange"} <= {word for word, _ in harbour}


def test_the_sign_in_the_harbour_can_be_read():
    assert "PIER 7" in gate.read_text_in(folder() / "harbour.png", "image/png")
