"""The table of what binary wheels contain is that of the installed wheels: it is in the SBOM and in docs/install.md."""

import re
import tomllib
from importlib import metadata

import pytest

from support.nodejs import need
from support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TABLE = PROJECT["tool"]["showandtell"]["binaries"]
#: Names of shared libraries of which the licence asks more than a notice, and the names that the table has for them.
STRICT = {
    "asound": "alsa-lib",
    "avcodec": "ffmpeg",
    "crypt": "libxcrypt",
    "crypto": "openssl",
    "de265": "libde265",
    "geos": "geos",
    "gmp": "gmp",
    "gnutls": "gnutls",
    "heif": "libheif",
    "keyutils": "keyutils",
    "mp3lame": "lame",
    "nettle": "nettle",
    "quadmath": "libquadmath",
    "unistring": "libunistring",
    "x264": "x264",
    "x265": "x265",
}
#: Other names of these, and libraries of which a notice is enough. That of GCC's Fortran has an exception for programs
#: that are linked with it.
ASKS_NO_MORE = """
avdevice avfilter avformat avutil swresample swscale hogweed geos_c ssl
SvtAv1Enc Xau aom avif brotlicommon brotlidec com_err dav1d drm freetype gfortran gssapi_krb5 harfbuzz jpeg k5crypto
krb5 krb5support lber lcms2 ldap lzma openblasp openjp2 opencore-amrnb opencore-amrwb opus png16 pq sasl2
scipy_openblas64_ sharpyuv tiff vpl vpx webp webpdemux webpmux xcb xcb-shape xcb-shm xcb-xfixes zstd
"""
#: OpenSSL from 3 on is under Apache-2.0.
FREE = re.compile(r"libcrypto-\w+\.so\.[3-9]")
LIBRARY = re.compile(r"\.libs/lib([\w-]+?)(?:-r0)?(?:-[0-9a-f]{8})+(?:\.[\d.]+)?\.(?:so|dylib)")


def libraries():
    """The shared libraries in the wheels that requirements.txt names, by wheel."""
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    found = {}
    for name in locked:
        try:
            files = [str(file) for file in metadata.files(name) or () if ".libs/" in str(file)]
        except metadata.PackageNotFoundError:
            continue  # for another system
        found[name] = {LIBRARY.search(file)[1] for file in files if not FREE.search(file)}
    return found


def read(wheel, pattern):
    """What a wheel's shared libraries of a name contain."""
    files = [file.locate() for file in metadata.files(wheel) or () if re.search(pattern, str(file))]
    return b"".join(file.read_bytes() for file in files)


@pytest.fixture(autouse=True)
def linux_wheels():
    need(
        any("manylinux" in line for line in (metadata.distribution("av").read_text("WHEEL") or "").splitlines()),
        "not Linux",
    )


def test_the_table_names_the_strict_libraries_of_all_wheels():
    strict = {wheel: {STRICT[part] for part in parts if part in STRICT} for wheel, parts in libraries().items()}
    listed = {wheel: {part["name"] for part in parts} for wheel, parts in TABLE.items()}
    assert listed == {wheel: names for wheel, names in strict.items() if names}


def test_the_licence_of_each_library_is_known():
    unknown = {wheel: sorted(parts - {*STRICT, *ASKS_NO_MORE.split()}) for wheel, parts in libraries().items()}
    assert {wheel: names for wheel, names in unknown.items() if names} == {}


def test_ffmpeg_says_the_licence_of_the_table_itself():
    assert b"libavutil license: LGPL version 3 or later" in read("av", "libavutil")
    assert b"libavutil license: LGPL version 2.1 or later" in read("opencv-python-headless", "libavutil")


def test_only_opencv_contains_openssl_of_a_version_that_has_ended():
    assert b"OpenSSL 1.1.1k  FIPS" in read("opencv-python-headless", "libcrypto")
    assert re.search(rb"OpenSSL [3-9]\.", read("psycopg-binary", "libcrypto"))


def test_no_metadata_names_the_gpl():
    for wheel in ("av", "pillow-heif"):
        fields = metadata.metadata(wheel)
        assert "GPL" not in " ".join(fields.get_all("License-Expression", []) + fields.get_all("License", []))
