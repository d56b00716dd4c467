"""The way from a claim to a proof: what is refused leaves nothing, what the store can't do is no fault of the file."""

import asyncio
import io

import pytest
from PIL import ExifTags, Image

from showandtell import File
from showandtell.errors import BadFile, FileChanged, StorageFailed
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.proofs import probe_all, probe_now
from support.fixtures import jpeg, png, truncated, wav
from support.photos import photo

TEXT = "a line that comes again\n" * 1000


def files_below(path):
    return [item.name for item in path.rglob("*") if item.is_file()]


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


@pytest.fixture
def broken(tmp_path):
    """A store that can't be used: a file is where its folder should be."""
    (tmp_path / "file").write_bytes(b"")
    return FileCache(Folder(tmp_path / "file" / "blobs"))


def test_bytes_are_held_before_they_are_kept(folder):
    held = []
    file_cache = FileCache(
        folder, reference=lambda sha256, size: held.append((sha256, size, list(folder.list_blobs())))
    )
    facts = file_cache.probe(File.from_bytes(png(), name="a.png")).facts
    assert held == [(facts.sha256, len(png()), [])]
    assert folder.read(facts) == png()


def test_what_may_not_be_held_is_a_problem_of_the_file_and_not_kept(folder):
    def refuse(_sha256, size):
        raise BadFile("", f"is over the quota by {size} bytes", "delete some files")

    proved = FileCache(folder, reference=refuse).probe(File.from_bytes(b"words", name="a.txt"))
    assert (proved.facts, proved.problem) == (None, "is over the quota by 5 bytes: delete some files")
    assert files_below(folder.path) == []


@pytest.mark.parametrize("data", [truncated(png(64, 64)), b"", png() + bytes(2000)], ids=["torn", "empty", "too large"])
def test_a_file_that_fails_leaves_nothing_behind(folder, data):
    assert FileCache(folder, max_file_bytes=2000).probe(File.from_bytes(data, name="a.png")).problem
    assert files_below(folder.path) == []


def test_a_store_that_is_broken_is_raised_and_blamed_on_no_file(broken):
    file = File.from_bytes(png(), name="a.png")
    for prove in (
        broken.probe,
        lambda item: probe_now(broken, item),
        lambda item: asyncio.run(probe_all(broken, [item])),
    ):
        with pytest.raises(StorageFailed, match="can't be used"):
            prove(file)


def test_a_reader_of_a_store_that_is_broken_is_no_bad_file_either(folder):
    def unreachable():
        raise StorageFailed("the store s3://b: connection refused")

    with pytest.raises(StorageFailed, match="connection refused"):
        FileCache(folder).probe(File.from_reader(unreachable, 4, "image/png", "a.png"))


def test_a_reader_of_a_blob_that_is_gone_is_a_problem_of_that_file(folder):
    def gone():
        raise FileChanged("the stored image/png is gone")

    proved = FileCache(folder).probe(File.from_reader(gone, 4, "image/png", "a.png"))
    assert proved.problem == "can't be read (FileChanged): check what it is read from"


def test_bytes_that_are_known_are_only_hashed_unless_they_are_gone(folder, monkeypatch):
    spooled, spool = [], Folder.spool
    monkeypatch.setattr(Folder, "spool", lambda self, *rest: spooled.append(rest[1]) or spool(self, *rest))
    cache, data = FileCache(folder), png(20)
    first = cache.probe(File.from_bytes(data, name="a.png"))
    assert cache.probe(File.from_bytes(bytes(data), name="b.png")).facts == first.facts
    assert spooled == ["a.png"]
    assert cache.probe(File.from_bytes(png(21), name="c.png")).facts != first.facts
    folder.delete(first.facts.sha256)
    assert cache.probe(File.from_bytes(data, name="a.png")).facts == first.facts
    assert spooled == ["a.png", "c.png", "a.png"]


def test_the_same_bytes_are_proved_for_each_claim_and_stored_once(folder):
    file_cache = FileCache(folder)
    claims = [("a.txt", None), ("a.md", None), ("a.txt", "text/csv"), ("a.png", None), ("b.txt", None)]
    proved = [file_cache.probe(File.from_bytes(b"a,b\n1,2\n", media_type, name)) for name, media_type in claims]
    types = [item.facts.media_type for item in proved]
    assert types == ["text/plain", "text/markdown", "text/csv", "text/plain", "text/plain"]
    assert [item.corrected for item in proved] == [None, None, None, "image/png", None]
    assert [item.name for item in proved] == [name for name, _ in claims]
    assert len(files_below(folder.path)) == 1


COMPRESSED = {
    "text": (TEXT.encode(), "a.md", True),
    "JSON": (b"[" + b"1," * 5000 + b"1]", "a.json", True),
    "SVG": (b'<svg xmlns="http://www.w3.org/2000/svg">' + b"<g/>" * 2000 + b"</svg>", "a.svg", True),
    "sound": (wav(1.0), "a.wav", True),
    "small text": (TEXT.encode()[:4096], "a.txt", False),
    "a picture": (png(800, 800), "a.png", False),
}


@pytest.mark.parametrize(("data", "name", "expected"), COMPRESSED.values(), ids=COMPRESSED)
def test_plain_formats_are_compressed_where_they_last(folder, data, name, expected):
    facts = FileCache(folder).probe(File.from_bytes(data, name=name)).facts
    assert files_below(folder.path) == [facts.sha256 + (".zst" if expected else "")]
    assert (folder.read(facts), folder.check(facts)) == (data, None)
    temporary = FileCache()
    temporary.probe(File.from_bytes(data, name=name))
    assert temporary.blobs.blob(facts.sha256).read_bytes() == data


def test_where_a_photo_was_taken_is_kept_unless_it_is_to_be_stripped(folder):
    taken = File.from_bytes(photo((52.0, 31.0, 12.0)), name="home.png")
    kept, stripped = (FileCache(folder, strip_location=item).probe(taken) for item in (False, True))
    exif = [Image.open(io.BytesIO(folder.read(item.facts))).getexif() for item in (kept, stripped)]
    assert [bool(item.get_ifd(ExifTags.IFD.GPSInfo)) for item in exif] == [True, False]
    assert exif[1][ExifTags.Base.Make] == "Our camera"
    assert (stripped.name, stripped.corrected, stripped.facts.pixels) == (kept.name, kept.corrected, (8, 8))
    assert len(files_below(folder.path)) == 2


@pytest.mark.parametrize("data", [photo(), jpeg(), TEXT.encode()[:50]], ids=["no place", "no EXIF", "text"])
def test_what_tells_no_place_stays_byte_for_byte(folder, data):
    facts = FileCache(folder, strip_location=True).probe(File.from_bytes(data, name="a")).facts
    assert folder.read(facts) == data
