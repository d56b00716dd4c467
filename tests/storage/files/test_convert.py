"""What the plan wants is made, stored and proved; what can't be made says why, and none stops another."""

import io

from PIL import Image

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.conversion import MAX_CHARACTERS
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.errors import BadFile
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.files.convert import convert, convert_all
from showandtell.storage.files.file_cache import FileCache
from support import fixtures

SHOWN = "image?as=image/png,image/jpeg&side=40"


def shelve(data: bytes, name: str = "a", file_cache: FileCache | None = None) -> tuple[FileCache, str]:
    file_cache = file_cache or FileCache()
    return file_cache, file_cache.probe(File.from_bytes(data, name=name)).facts.sha256


def test_a_conversion_is_stored_and_proved():
    file_cache, sha256 = shelve(fixtures.png(80, 60))
    made = convert(DerivationRequest(sha256, SHOWN), file_cache)
    assert (made.files[0].media_type, made.files[0].pixels, made.scale) == ("image/png", (40, 30), 0.5)
    stored = Image.open(io.BytesIO(file_cache.blobs.read(made.files[0])))
    assert stored.size == (40, 30)
    assert file_cache.facts[made.files[0].sha256] == made.files[0]


def test_pages_come_with_their_numbers():
    file_cache, sha256 = shelve(fixtures.pdf("one", "two", "three"))
    made = convert(DerivationRequest(sha256, "pages?as=image/png&most=2&side=90"), file_cache)
    assert (made.pages, made.total, [file.pixels for file in made.files]) == ((1, 2), 3, [(90, 60)] * 2)


def test_words_are_given_as_they_are():
    file_cache, sha256 = shelve("Grüße\n".encode(), "a.txt")
    assert convert(DerivationRequest(sha256, "text"), file_cache) == Derivative(text="Grüße\n")


def test_words_that_are_cut_say_so_within_the_limit():
    file_cache, sha256 = shelve(b"words " * 50_000, "a.txt")
    made = convert(DerivationRequest(sha256, "text"), file_cache)
    assert (len(made.text), made.cut) == (MAX_CHARACTERS, True)
    assert made.text.endswith("\n(cut here: the rest is not shown)")


def test_words_of_a_document_say_up_to_which_page_they_go():
    page = "\n".join(["forty letters of nothing but some letters"] * 12)
    file_cache, sha256 = shelve(fixtures.pdf(*[page] * 500))
    made = convert(DerivationRequest(sha256, "text"), file_cache)
    assert f"up to page {made.pages[-1]} of 500: the rest is not shown)" in made.text[-60:]
    assert len(made.text) <= MAX_CHARACTERS


def test_what_fails_says_why_and_stops_no_other():
    file_cache, picture = shelve(fixtures.png(80, 60))
    _, scan = shelve(fixtures.pdf(""), file_cache=file_cache)
    wants = [
        DerivationRequest(picture, SHOWN),
        DerivationRequest(scan, "text"),
        DerivationRequest(picture, "dance"),
        DerivationRequest(picture, "?"),
        DerivationRequest("0" * 64, "text"),
    ]
    known = convert_all(wants, file_cache)
    reasons = [found.reason for found in (known[want] for want in wants[1:])]
    assert isinstance(known[wants[0]], Derivative)
    assert reasons[0] == "has no text layer: look at its pages as pictures"
    assert "can't be made into dance" in reasons[1]
    assert all(reasons)


def test_many_wants_are_answered_each_with_its_own():
    file_cache = FileCache()
    wants = [
        DerivationRequest(shelve(fixtures.png(width, 50), file_cache=file_cache)[1], SHOWN) for width in range(41, 53)
    ]
    known = convert_all(wants, file_cache)
    assert [round(40 / known[want].scale) for want in wants] == [*[50] * 10, 51, 52]


def test_bytes_that_are_gone_are_named():
    file_cache, sha256 = shelve(fixtures.png())
    file_cache.blobs.delete(sha256)
    found = convert(DerivationRequest(sha256, SHOWN), file_cache)
    assert isinstance(found, Failed)
    assert "is missing: add the file again" in found.reason


def test_flipped_bytes_are_never_converted_and_good_ones_are_when_they_are_back(tmp_path):
    page = b"<p>pay 1000 to alice</p>"
    _, sha256 = shelve(page, "a.html", FileCache(Folder(tmp_path)))
    blob = Folder(tmp_path).blob(sha256)
    blob.chmod(0o600)
    blob.write_bytes(page.replace(b"1000", b"9000"))
    file_cache = FileCache(Folder(tmp_path))
    file_cache.facts[sha256] = Facts(sha256, "text/html", len(page))
    found = convert(DerivationRequest(sha256, "text"), file_cache)
    assert found.passing is True
    assert "no longer matches its hash" in found.reason
    shelve(page, "a.html", file_cache)
    assert convert(DerivationRequest(sha256, "text"), file_cache).text == "pay 1000 to alice"


def test_what_may_be_there_another_time_fails_in_passing():
    def refuse(_sha256, size):
        raise BadFile("", f"is over the quota by {size} bytes", "delete some files")

    file_cache, sha256 = shelve(fixtures.png(80, 60))
    file_cache.reference = refuse
    over, gone = (
        convert(DerivationRequest(sha256, SHOWN), file_cache),
        convert(DerivationRequest("0" * 64, "text"), file_cache),
    )
    broken = convert(DerivationRequest(sha256, "dance"), file_cache)
    assert "is over the quota" in over.reason
    assert (over.passing, gone.passing, broken.passing) == (True, True, False)


def test_a_thumbnail_is_a_conversion_like_any_other():
    file_cache, sha256 = shelve(fixtures.pdf("one", "two"))
    made = convert(DerivationRequest(sha256, "thumbnail"), file_cache)
    assert [(file.media_type, max(file.pixels)) for file in made.files] == [("image/webp", 320)]
    assert file_cache.blobs.check(made.files[0]) is None


def test_a_derivative_larger_than_the_limit_of_the_cache_is_a_failure():
    small = FileCache(max_file_bytes=3000)
    file_cache, sha256 = shelve(fixtures.pdf("one"), file_cache=small)
    found = convert(DerivationRequest(sha256, "pages?as=image/png"), file_cache)
    assert isinstance(found, Failed)
    assert "is larger than 3000 bytes" in found.reason


def test_nothing_is_left_behind_where_things_were_made(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file_cache, sha256 = shelve(fixtures.png(80, 60))
    before = {path for path in tmp_path.iterdir() if path != file_cache.blobs.path}
    convert(DerivationRequest(sha256, SHOWN), file_cache)
    convert(DerivationRequest(sha256, "image?as=audio/wav"), file_cache)
    assert {path for path in tmp_path.iterdir() if path != file_cache.blobs.path} == before
