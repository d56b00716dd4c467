# A union, or JSON whose types the test knows.
# pyright: reportGeneralTypeIssues=false
"""Images as models accept them: upright, in sRGB, small enough. Hostile ones are rejected; locations are removed."""

import base64
import contextlib
import io
import resource
import socket
import struct
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image, ImageChops, ImageCms, ImageOps, ImageStat, PngImagePlugin
from pillow_heif import register_heif_opener

from showandtell.core.messages.conversion import Conversion, serialize_conversion
from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.child import FILE_LIMIT, handle_request
from showandtell.media.convert import images, shapes
from showandtell.media.convert.writing import write_within
from showandtell.media.worker import WorkerPool
from support import fixtures
from support.decompression_bombs import packed_zeros
from support.properties import examples

BOTH = ("image/png", "image/jpeg")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {}>{}</svg>'
XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="52,31N" exif:Kept="1">'
    b"<exif:GPSLongitude>13,24E</exif:GPSLongitude></rdf:Description></rdf:RDF></x:xmpmeta>"
)
register_heif_opener()


def write(folder: Path, image: Image.Image | bytes, format_name: str = "PNG", **options: object) -> Path:
    path = folder / "given"
    if isinstance(image, bytes):
        path.write_bytes(image)
    else:
        image.save(path, format_name, **options)
    return path


def make(path: Path, media_type: str, conversion: Conversion) -> gate.ConversionOutput:
    folder = path.parent / f"made-{len(list(path.parent.iterdir()))}"
    folder.mkdir()
    return gate.make(path, media_type, serialize_conversion(conversion), folder)


def show(
    folder: Path, image: Image.Image | bytes, format_name: str = "PNG", media_type: str = "", **conversion: object
):
    """Convert an image to a single one."""
    path = write(folder, image, format_name)
    output = make(
        path, media_type or f"image/{format_name.lower()}", Conversion("image", **{"types": BOTH, **conversion})
    )
    return look(output.files[0])


def look(path: Path) -> Image.Image:
    with Image.open(path) as image:
        image.load()
        return image


def noise(width: int, height: int) -> Image.Image:
    bands = [Image.effect_noise((width, height), 90) for _ in range(3)]
    return Image.merge("RGB", bands)


def difference(first: Image.Image, second: Image.Image) -> float:
    """The largest mean difference of a band."""
    return max(ImageStat.Stat(ImageChops.difference(first.convert("RGB"), second.convert("RGB"))).mean)


def rotated_exif(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return exif


def gps_exif(orientation: int = 6) -> Image.Exif:
    exif = rotated_exif(orientation)
    exif[ExifTags.Base.Make] = "Maker"
    exif[ExifTags.Base.XPTitle] = "behind the place".encode("utf-16-le")
    exif.get_ifd(ExifTags.IFD.GPSInfo).update({1: "N", 2: (52.0, 31.0, 12.25), 3: "E", 4: (13.0, 24.0, 7.5)})
    return exif


@pytest.mark.parametrize("format_name", ["AVIF", "BMP", "GIF", "HEIF", "JPEG", "PNG", "TIFF", "WEBP"])
def test_every_format_becomes_an_accepted_one(tmp_path, format_name):
    image = Image.linear_gradient("L").resize((300, 200)).convert("RGB")
    media_type = {"HEIF": "image/heic"}.get(format_name, "")
    shown = show(tmp_path, image, format_name, media_type, types=("image/jpeg",), side=150)
    assert (shown.format, shown.size) == ("JPEG", (150, 100))
    assert difference(shown, image.resize((150, 100))) < 6


@pytest.mark.smoke
def test_the_largest_image_of_an_icon_is_shown(tmp_path):
    path = tmp_path / "a.ico"
    Image.new("RGB", (64, 64), "red").save(path, "ICO", sizes=[(16, 16), (64, 64), (32, 32)])
    output = make(path, "image/vnd.microsoft.icon", Conversion("image", BOTH))
    assert look(output.files[0]).size == (64, 64)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_image_is_shown_upright_and_without_its_exif(tmp_path, orientation):
    image = Image.linear_gradient("L").resize((60, 40)).convert("RGB")
    image.paste("red", (0, 0, 10, 10))
    path = write(tmp_path, image, "PNG", exif=rotated_exif(orientation))
    shown = look(make(path, "image/png", Conversion("image", ("image/png",))).files[0])
    assert difference(shown, ImageOps.exif_transpose(look(path))) == 0
    assert not shown.getexif()


@given(st.integers(1, 8), st.tuples(st.integers(0, 20), st.integers(0, 12), st.integers(1, 9), st.integers(1, 9)))
def test_a_crop_of_the_upright_image_is_mapped_to_the_stored_one(orientation, part):
    stored = Image.linear_gradient("L").resize((30, 24)).convert("RGB")
    stored.putpixel((3, 5), (255, 0, 0))
    stored.info["exif"] = rotated_exif(orientation).tobytes()
    upright = ImageOps.exif_transpose(stored)
    left, top = part[0] % (upright.width - 9), part[1] % (upright.height - 9)
    box = (left, top, left + part[2], top + part[3])
    crop = stored.crop(shapes.lay_down(box, stored.size, orientation))
    crop = crop.transpose(images.TURNS[orientation]) if orientation > 1 else crop
    assert crop.tobytes() == upright.crop(box).tobytes()


@given(
    st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)),
    st.one_of(st.none(), st.integers(1, 8000)),
    st.one_of(st.none(), st.integers(1, 10**8)),
)
def test_no_image_is_larger_than_requested(size, side, pixels):
    factor = shapes.choose_factor(size, Conversion("image", side=side, pixels=pixels))
    width, height = shapes.scale_size(size, factor)
    assert factor <= 1
    assert max(width, height) <= (side or max(size))
    assert width * height <= (pixels or size[0] * size[1]) or 1 in (width, height)


@given(st.integers(1, 300), st.integers(1, 40))
def test_frames_are_spread_from_the_first_to_the_last(count, limit):
    chosen = shapes.spread(count, limit)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(count, limit)
    assert chosen[0] == 0
    assert limit == 1 or chosen[-1] == count - 1


@examples(25)
@given(st.integers(1, 300), st.integers(1, 300), st.integers(1200, 60_000), st.sampled_from(["L", "RGB", "RGBA"]))
def test_a_written_image_stays_within_its_bytes(tmp_path_factory, width, height, limit, mode):
    folder = tmp_path_factory.mktemp("bytes")
    path, size = write_within(
        noise(width, height).convert(mode), Conversion("image", BOTH, bytes=limit), str(folder), "1"
    )
    assert Path(path).stat().st_size <= limit
    assert look(path).size == size


def test_quality_is_lowered_before_the_size(tmp_path):
    photo = write(tmp_path, noise(400, 300), "JPEG", quality=95)
    output = make(photo, "image/jpeg", Conversion("image", BOTH, bytes=photo.stat().st_size * 2 // 3))
    assert (look(output.files[0]).size, output.scale) == ((400, 300), 1.0)
    output = make(photo, "image/jpeg", Conversion("image", BOTH, bytes=photo.stat().st_size // 20))
    assert look(output.files[0]).width == round(400 * output.scale) < 400


def test_an_image_that_cannot_fit_is_rejected(tmp_path):
    with pytest.raises(BadFile, match="can't be made as small as 5 bytes"):
        show(tmp_path, noise(50, 50), bytes=5)


def test_drawings_stay_sharp_and_photographs_small(tmp_path):
    chart = Image.new("RGB", (300, 200), "white")
    chart.paste("navy", (20, 20, 60, 180))
    clear = noise(60, 60)
    clear.putalpha(Image.linear_gradient("L").resize((60, 60)))
    kinds = [show(tmp_path, image).format for image in (chart, clear, noise(60, 60), Image.effect_noise((60, 60), 99))]
    assert kinds == ["PNG", "PNG", "JPEG", "JPEG"]


def test_transparent_parts_are_white_if_only_jpeg_is_accepted(tmp_path):
    clear = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    assert show(tmp_path, clear, types=("image/jpeg",)).getpixel((20, 20)) == (255, 255, 255)


def test_a_palette_keeps_its_transparency(tmp_path):
    image = Image.new("P", (20, 20), 1)
    image.putpalette([10, 20, 30, 200, 30, 30])
    image.paste(0, (0, 0, 10, 20))
    path = write(tmp_path, image, "PNG", transparency=0)
    shown = look(make(path, "image/png", Conversion("image", BOTH)).files[0])
    assert [shown.convert("RGBA").getpixel((at, 5)) for at in (2, 15)] == [(10, 20, 30, 0), (200, 30, 30, 255)]


@pytest.mark.parametrize(("sample", "grey"), [(0, 0), (0x8000, 127), (0xFFFF, 255)])
def test_sixteen_bits_become_eight(tmp_path, sample, grey):
    for format_name in ("PNG", "TIFF"):
        shown = show(tmp_path, Image.new("I;16", (16, 16), sample), format_name, types=("image/png",))
        assert abs(shown.convert("L").getpixel((8, 8)) - grey) <= 1


def test_cmyk_becomes_rgb(tmp_path):
    shown = show(tmp_path, Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", types=("image/png",))
    red, green, blue = shown.convert("RGB").getpixel((8, 8))
    assert red > 200
    assert max(green, blue) < 60


def test_a_colour_profile_is_applied_and_left_out(tmp_path):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exchanged = profile.replace(b"rXYZ", b"....", 1).replace(b"gXYZ", b"rXYZ", 1).replace(b"....", b"gXYZ", 1)
    path = write(tmp_path, Image.new("RGB", (16, 16), (255, 0, 0)), "PNG", icc_profile=exchanged)
    shown = look(make(path, "image/png", Conversion("image", ("image/png",))).files[0])
    assert difference(shown, Image.new("RGB", (16, 16), (0, 255, 0))) < 3
    assert "icc_profile" not in shown.info


def test_a_damaged_profile_is_ignored(tmp_path):
    path = write(tmp_path, Image.new("RGB", (16, 16), (255, 0, 0)), "PNG", icc_profile=b"nonsense" * 20)
    shown = look(make(path, "image/png", Conversion("image", ("image/png",))).files[0])
    assert shown.convert("RGB").getpixel((1, 1)) == (255, 0, 0)


def test_a_zoom_shows_a_small_part_twice_as_large(tmp_path):
    image = noise(40, 30).resize((400, 300))
    output = make(write(tmp_path, image), "image/png", Conversion("image", ("image/png",), crop=(100, 50, 500, 150)))
    shown = look(output.files[0])
    assert (shown.size, output.scale) == ((600, 200), 2.0)
    assert difference(shown.resize((300, 100)), image.crop((100, 50, 400, 150))) < 2


def test_a_crop_outside_is_rejected_with_the_size(tmp_path):
    with pytest.raises(BadFile, match=r"has nothing at 9, 9, 20, 20: it is 8 x 8 pixels"):
        show(tmp_path, fixtures.png(), crop=(9, 9, 20, 20))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "I"])
def test_strips_give_the_same_image(monkeypatch, mode):
    image = noise(90, 70).convert(mode)
    full = images.resize(image, (3.0, 5.0, 88.0, 69.0), (41, 23))
    monkeypatch.setattr(images, "STRIP_PIXELS", 500)
    parts = images.resize(image, (3.0, 5.0, 88.0, 69.0), (41, 23))
    assert max(ImageChops.difference(full, parts).tobytes()) <= 1


@pytest.mark.parametrize("format_name", ["GIF", "PNG", "WEBP"])
def test_an_animation_is_shown_as_frames_with_their_times(tmp_path, format_name):
    frames = [Image.new("RGB", (20, 20), (12 * at, 0, 200)) for at in range(20)]
    path = write(tmp_path, frames[0], format_name, save_all=True, append_images=frames[1:], duration=100, lossless=True)
    output = make(path, f"image/{format_name.lower()}", Conversion("image", BOTH, max_count=3))
    assert output.times == (0.0, 1.0, 1.9)
    reds = [look(file).convert("RGB").getpixel((5, 5))[0] for file in output.files]
    assert reds == pytest.approx([0, 120, 228], abs=3)


def test_single_frames_of_an_animation_can_be_requested(tmp_path):
    frames = [Image.new("RGB", (20, 20), (12 * at, 0, 200)) for at in range(20)]
    path = write(tmp_path, frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100)
    assert make(path, "image/gif", Conversion("image", BOTH, pages=(11, 3))).times == (0.2, 1.0)
    with pytest.raises(BadFile, match="has 20 frames: there is no frame 21"):
        make(path, "image/gif", Conversion("image", BOTH, pages=(21,)))


def test_a_tiff_of_several_pages_is_shown_page_by_page(tmp_path):
    pages = [Image.new("RGB", (20 + at, 20), (12 * at, 0, 0)) for at in range(9)]
    path = write(tmp_path, pages[0], "TIFF", save_all=True, append_images=pages[1:])
    output = make(path, "image/tiff", Conversion("image", BOTH))
    assert (output.pages, output.total, len(output.files)) == ((1, 2, 3, 4), 9, 4)
    output = make(path, "image/tiff", Conversion("image", BOTH, pages=(7, 30)))
    assert (output.pages, look(output.files[0]).width) == ((7,), 26)


def test_a_drawing_becomes_an_image_with_its_text(tmp_path):
    drawing = SVG.format('width="200" height="100"', '<text x="10" y="50" font-family="Nowhere">words</text>')
    output = make(write(tmp_path, drawing.encode()), "image/svg+xml", Conversion("image", BOTH))
    shown = look(output.files[0])
    assert (shown.size, output.scale) == ((768, 384), 3.84)
    assert shown.getchannel("A").getbbox() is not None


def test_a_crop_of_a_drawing_is_drawn_again(tmp_path):
    drawing = SVG.format('viewBox="0 0 1000 1000"', '<rect width="10" height="10" fill="#00f"/>')
    shown = show(tmp_path, drawing.encode(), media_type="image/svg+xml", crop=(0, 0, 20, 20))
    assert shown.width > 40
    assert shown.convert("RGBA").getpixel((shown.width // 4, shown.width // 4)) == (0, 0, 255, 255)


@pytest.mark.parametrize("attribute", ["href", "xlink:href"])
@pytest.mark.parametrize("place", ["{}", "file://{}", "&place;", "data:image/svg+xml;base64,{nested}"])
def test_a_drawing_opens_no_other_file(tmp_path, attribute, place):
    canary = tmp_path / "canary.png"
    canary.write_bytes(fixtures.png(10, 10, (0, 255, 0)))
    image = '<image {}="{}" width="10" height="10"/>'
    nested = base64.b64encode(SVG.format("", image.format("href", canary)).encode()).decode()
    body = SVG.format('width="10" height="10"', image.format(attribute, place.format(canary, nested=nested)))
    drawing = f'<!DOCTYPE svg [<!ENTITY place "{canary}">]>{body}'
    shown = show(tmp_path, drawing.encode(), media_type="image/svg+xml")
    assert shown.convert("RGBA").getchannel("A").getbbox() is None


def test_a_drawing_connects_to_no_host(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.png"
        drawing = SVG.format("", f'<style>@import "{address}";</style><image href="{address}" width="9" height="9"/>')
        show(tmp_path, drawing.encode(), media_type="image/svg+xml")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def inflating(name: bytes) -> bytes:
    """A small PNG with a chunk that would inflate to 256 MiB."""
    return fixtures.png()[:33] + chunk(name, b"a\0\0" + packed_zeros(256)) + fixtures.png()[33:]


LAUGHS = "".join(f"<!ENTITY a{at} '{f'&a{at - 1};' * 10}'>" for at in range(1, 12))
USES = "".join(f"<g id='a{at}'>" + f"<use href='#a{at - 1}'/>" * 10 + "</g>" for at in range(1, 9))
BOMBS = [
    ("image/png", lambda: fixtures.huge_png(30_000), "is too large"),
    ("image/png", lambda: inflating(b"zTXt"), "can't be decoded: it is damaged"),
    ("image/png", lambda: inflating(b"iCCP"), "can't be decoded: it is damaged"),
    ("image/png", lambda: fixtures.truncated(fixtures.png(60, 60)), "is torn"),
    ("image/heic", fixtures.heic, "is torn"),
    (
        "image/svg+xml",
        f"<!DOCTYPE svg [<!ENTITY a0 'ha'>{LAUGHS}]><svg>&a11;</svg>".encode,
        "can't be drawn: it is damaged",
    ),
    (
        "image/svg+xml",
        lambda: SVG.format("", f"<defs><g id='a0'/>{USES}</defs><use href='#a8'/>").encode(),
        "can't be drawn: it is damaged",
    ),
    ("image/svg+xml", lambda: SVG.format("", "<g>" * 50_000 + "</g>" * 50_000).encode(), "nested too deeply"),
    ("image/svg+xml", lambda: b"<svg", "its end is missing"),
]


@pytest.mark.parametrize(("media_type", "build", "problem"), BOMBS, ids=[f"{row[0]} {row[2]}" for row in BOMBS])
def test_a_bomb_is_rejected_by_name(tmp_path, media_type, build, problem):
    with pytest.raises(BadFile, match=problem) as caught:
        show(tmp_path, build(), media_type=media_type)
    assert str(tmp_path) not in str(caught.value)
    assert caught.value.advice


@pytest.mark.parametrize(
    "size", ['width="1e30" height="2"', 'width="-5" height="x"', 'viewBox="0 0 0 0"', 'width="1e-9"']
)
def test_a_drawing_of_any_size_stays_bounded(tmp_path, size):
    assert max(show(tmp_path, SVG.format(size, "").encode(), media_type="image/svg+xml").size) <= 4096


@examples(60)
@given(
    st.sampled_from(
        [fixtures.gif(), fixtures.webp(), fixtures.tiff(), fixtures.bmp(), fixtures.jpeg(), fixtures.svg()]
    ),
    st.integers(0, 400),
    st.binary(min_size=1, max_size=8),
)
def test_a_damaged_file_gives_an_image_or_an_error(tmp_path_factory, data, at, damage):
    media_type = next(name for head, name in HEADS.items() if data.startswith(head))
    at %= len(data)
    damaged = data[:at] + damage + data[at + len(damage) :]
    with contextlib.suppress(BadFile):
        assert min(show(tmp_path_factory.mktemp("torn"), damaged, media_type=media_type).size) > 0


HEADS = {
    b"GIF": "image/gif",
    b"RIFF": "image/webp",
    b"II": "image/tiff",
    b"BM": "image/bmp",
    b"\xff\xd8": "image/jpeg",
    b"<svg": "image/svg+xml",
}


def test_only_the_converting_process_may_write(tmp_path):
    show(tmp_path, fixtures.png())
    assert resource.prlimit(gate.CONVERTERS.free[-1].process.pid, resource.RLIMIT_FSIZE)[0] == FILE_LIMIT


def test_a_file_beyond_its_limit_is_not_written(tmp_path, monkeypatch):
    code = "import sys; sys.dont_write_bytecode = True; from showandtell.media import child; child.FILE_LIMIT = 999; child.main(['--convert'])"
    monkeypatch.setattr(gate, "CONVERTERS", pool := WorkerPool((sys.executable, "-c", code), 1))
    with pytest.raises(BadFile, match="can't be written when it is converted"):
        show(tmp_path, noise(100, 100))
    pool.stop()


@pytest.mark.parametrize("path", ["/etc/passwd", "{}/../given", "{}/link", "{}/folder", "{}/none"])
def test_a_result_must_be_a_file_in_the_folder(tmp_path, monkeypatch, path):
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").mkdir()
    response = f"import json; input(); print(json.dumps({{'result': {{'files': ['{path.format(folder)}']}}}}))"
    monkeypatch.setattr(gate, "CONVERTERS", pool := WorkerPool((sys.executable, "-c", response), 1))
    with pytest.raises(BadFile, match="something that is no file"):
        gate.make(write(tmp_path, fixtures.png()), "image/png", "image", folder)
    pool.stop()


@pytest.mark.parametrize("conversion", ["frames", "image?side=0", "image?crop=1,2", "image?as=audio/wav", "pages"])
def test_an_impossible_conversion_is_rejected(tmp_path, conversion):
    with pytest.raises(BadFile, match=r"can't be"):
        gate.make(write(tmp_path, fixtures.png()), "image/png", conversion, tmp_path)


def test_thumbnails_of_all_kinds_are_small(tmp_path):
    for data, media_type in (
        (fixtures.png(1000, 10), "image/png"),
        (fixtures.svg(900, 600), "image/svg+xml"),
        (fixtures.pdf("one", "two"), "application/pdf"),
        (fixtures.mp4(), "video/mp4"),
    ):
        (small,) = gate.make(write(tmp_path, data), media_type, "thumbnail", tmp_path).files
        assert max(look(small).size) == (64 if media_type == "video/mp4" else 320)
    with pytest.raises(BadFile, match="can't be made into a small picture"):
        gate.make(write(tmp_path, fixtures.wav()), "audio/wav", "thumbnail", tmp_path)


@pytest.mark.parametrize("format_name", ["AVIF", "HEIF", "JPEG", "PNG", "TIFF", "WEBP"])
def test_only_the_location_is_removed(tmp_path, format_name):
    notes = PngImagePlugin.PngInfo()
    notes.add_itxt("XML:com.adobe.xmp", XMP.decode())
    with_place = {"exif": gps_exif().tobytes()} | ({} if format_name == "TIFF" else {"xmp": XMP, "pnginfo": notes})
    given = write(tmp_path, noise(64, 48), format_name, **with_place)
    media_type = {"HEIF": "image/heic"}.get(format_name, f"image/{format_name.lower()}")
    (tmp_path / "out").mkdir()
    stripped = gate.strip_location(given, media_type, tmp_path / "out")
    before, after = look(given), look(stripped)
    assert before.getexif().get_ifd(ExifTags.IFD.GPSInfo)
    assert not after.getexif().get_ifd(ExifTags.IFD.GPSInfo)
    tags = (ExifTags.Base.Make, ExifTags.Base.Orientation, ExifTags.Base.XPTitle)
    assert [after.getexif().get(tag) for tag in tags] == [before.getexif().get(tag) for tag in tags]
    assert after.tobytes() == before.tobytes()
    seconds = struct.pack("<II", 49, 4)  # 12.25 of them
    assert seconds in given.read_bytes()
    assert not [value for value in (b"52,31N", b"13,24E", b"GPSLatitude", seconds) if value in stripped.read_bytes()]
    assert stripped.stat().st_size == given.stat().st_size
    assert gate.strip_location(stripped, media_type, tmp_path) is None


def test_the_location_of_a_second_image_is_removed_too(tmp_path):
    first, second = io.BytesIO(), io.BytesIO()
    noise(20, 20).save(first, "JPEG", exif=rotated_exif(6))
    noise(20, 20).save(second, "JPEG", exif=gps_exif())
    given = write(tmp_path, first.getvalue() + second.getvalue())
    stripped = gate.strip_location(given, "image/jpeg", tmp_path).read_bytes()
    with Image.open(io.BytesIO(stripped[len(first.getvalue()) :])) as image:
        assert not image.getexif().get_ifd(ExifTags.IFD.GPSInfo)
        assert image.getexif()[ExifTags.Base.Make] == "Maker"


def test_an_image_without_a_location_is_not_copied(tmp_path):
    path = write(tmp_path, noise(20, 20), "JPEG", exif=rotated_exif(6))
    assert gate.strip_location(path, "image/jpeg", tmp_path) is None
    assert gate.strip_location(path, "audio/wav", tmp_path) is None


def test_a_location_that_cannot_be_removed_is_rejected(tmp_path):
    notes = PngImagePlugin.PngInfo()
    notes.add_itxt("XML:com.adobe.xmp", XMP.decode(), zip=True)
    with pytest.raises(BadFile, match="tells where it was taken"):
        gate.strip_location(write(tmp_path, noise(20, 20), "PNG", pnginfo=notes), "image/png", tmp_path)


@examples(60)
@given(st.integers(0, 399), st.binary(min_size=1, max_size=8))
def test_damaged_exif_is_stripped_or_rejected(tmp_path_factory, at, damage):
    folder, buffer = tmp_path_factory.mktemp("exif"), io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG", exif=gps_exif())
    data = buffer.getvalue()
    (folder / "a").write_bytes(data[: 4 + at] + damage + data[4 + at + len(damage) :])
    request = {"task": "strip", "path": str(folder / "a"), "media_type": "image/jpeg", "folder": str(folder)}
    response = handle_request({**request, "seconds": 20})
    assert "result" in response or response["problem"]


def test_a_drawing_without_a_view_box_fills_its_image(tmp_path):
    plain = b'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><rect width="200" height="100" fill="#ffa500"/></svg>'
    (tmp_path / "plain.svg").write_bytes(plain)
    output = gate.make(tmp_path / "plain.svg", "image/svg+xml", "image?as=image/png", tmp_path)
    assert gate.describe(output.files[0], "image/png")["colours"] == [["orange", 1.0]]
