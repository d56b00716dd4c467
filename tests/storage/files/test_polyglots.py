"""What is two things at once is stored as the one that its bytes prove, whatever anybody says it is."""

import itertools

from showandtell.core.messages.file import File
from showandtell.storage.files.file_cache import FileCache
from support.polyglots import OCTETS, OTHER_TEXT, REFUSED, TEXT, make_polyglots

TEXTS = {"text/html", "text/plain", "application/javascript"}
CLAIMS = [None, "picture", OCTETS, "image/png", "image/svg+xml", "application/pdf", "application/zip", "audio/mpeg"]
CLAIMS += ["video/mp4", "application/x-msdownload", *sorted(TEXTS)]
#: An ending, and what it claims where no media type does.
ENDINGS = {"": None, ".exe": None, ".png": "image/png", ".svg": "image/svg+xml", ".js": "application/javascript"}
ENDINGS |= {".pdf": "application/pdf", ".html": "text/html"}


def expect(proves: str, claim: str | None) -> str:
    """The type that is stored; text alone is among texts what it claims to be."""
    if proves == TEXT:
        return claim if claim in TEXTS else "text/plain"
    if proves == OTHER_TEXT:
        return REFUSED if claim in {*TEXTS, "image/svg+xml"} else OCTETS
    return proves


def test_a_polyglot_is_stored_as_what_its_bytes_prove_whatever_it_claims_to_be():
    file_cache, polyglots, wrong = FileCache(), make_polyglots(), []
    assert len({polyglot.data for polyglot in polyglots}) == len(polyglots) >= 60
    for item, claimed, ending in itertools.product(polyglots, CLAIMS, ENDINGS):
        claim = ENDINGS[ending] if claimed in {None, "picture", OCTETS} else claimed
        proved = file_cache.probe(File.from_bytes(item.data, name=f"a{ending}", media_type=claimed))
        found = proved.facts.media_type if proved.facts else REFUSED
        if found != expect(item.proves, claim):
            wrong.append((item.name, claimed, ending, found, proved.problem))
    assert wrong == []
