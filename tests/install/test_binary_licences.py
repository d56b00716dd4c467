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
    "avcodec": "ffmpeg",
    "crypto": "openssl",
    "de265": "libde265",
    "heif": "libheif",
    "x264": "x264",
    "x265": "x265",
}
#: OpenSSL from 3 on is under Apache-2.0.
FREE = re.compile(r"libcrypto-\w+\.so\.[3-9]")
LIBRARY = re.compile(r"\.libs/lib(\w+?)-\w+\.(?:so|dylib)")


def libraries():
    """The strict libraries in the wheels that requirements.txt names, by wheel."""
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    found = {}
    for name in locked:
        try:
            files = [str(file) for file in metadata.files(name) or ()]
        except metadata.PackageNotFoundError:
            continue  # for another system
        parts = {match[1] for file in files if (match := LIBRARY.search(file)) and not FREE.search(file)}
        if strict := {STRICT[part] for part in parts if part in STRICT}:
            found[name] = strict
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
    assert {wheel: {part["name"] for part in parts} for wheel, parts in TABLE.items()} == libraries()


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
