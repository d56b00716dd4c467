"""What senders claim that polyglots are, and what is stored of each."""

from showandtell.core.messages.file import File
from showandtell.storage.files.file_cache import FileCache
from support.polyglots import OCTETS, REFUSED, TEXT

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
    return proves


def find_wrong(cases):
    """The cases, a polyglot, a claim and an ending each, of which another type is stored than the bytes prove."""
    file_cache, wrong = FileCache(), []
    for item, claimed, ending in cases:
        claim = ENDINGS[ending] if claimed in {None, "picture", OCTETS} else claimed
        proved = file_cache.probe(File.from_bytes(item.data, name=f"a{ending}", media_type=claimed))
        found = proved.facts.media_type if proved.facts else REFUSED
        if found != expect(item.proves, claim):
            wrong.append((item.name, claimed, ending, found, proved.problem))
    return wrong
