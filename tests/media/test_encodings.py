# ruff: noqa: RUF001 - texts of many languages
"""Text in any encoding is text: exact where a mark or a declaration says which, and never an error otherwise."""

import io
import os
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from showandtell import Agent, File, builtin_tools, render
from showandtell.core.media_types.claims import UNKNOWN
from showandtell.media import gate
from showandtell.media.encodings import CODECS, DAMAGED, LABELS, MARKS, find_label, read_start
from support.builders import user_history
from support.properties import examples

#: What people write, with codecs that have all of its letters.
TEXTS = {
    "Nom;Ville;Prix €\nRenée;Besançon;12,50 €\nÉloïse;Orléans;3,20": ("cp1252",),
    "Straße;Größe;Müller\nKöln;über;schön": ("cp1252", "latin-1", "iso-8859-15", "cp850"),
    "Zażółć gęślą jaźń; proszę bardzo; Łódź": ("cp1250", "iso-8859-2"),
    "Имя;Город\nИван;Москва\nОльга;Санкт-Петербург": ("cp1251", "koi8-r", "cp866", "iso-8859-5"),
    "Καλημέρα σας, τι κάνετε; Η Αθήνα": ("cp1253", "iso-8859-7"),
    "Çok güzel bir gün, İstanbul'da yağmur": ("cp1254", "iso-8859-9"),
    "שלום עולם, מה שלומך היום": ("cp1255", "iso-8859-8"),
    "مرحبا بالعالم، كيف حالك اليوم": ("cp1256", "iso-8859-6"),
    "名前,都市\n太郎,東京\n花子,大阪です。ありがとうございます": ("shift_jis", "euc-jp", "iso-2022-jp"),
    "姓名,城市\n张三,北京\n李四,上海 今天天气很好": ("gbk", "gb2312", "gb18030"),
    "姓名,城市\n張三,臺北\n今天天氣很好,謝謝": ("big5",),
    "이름,도시\n김철수,서울\n안녕하세요 감사합니다": ("euc-kr",),
}
WIDE = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0", "utf-8": b"\xef\xbb\xbf"}
#: Those that the detector finds in these texts; the others are guesses.
DETECTED = ("cp1252", "cp1250", "cp1251", "cp1253", "koi8-r", "shift_jis", "gbk", "big5", "euc-kr")
PAIRS = [(text, codec) for text, codecs in TEXTS.items() for codec in codecs]


def read(folder, data, name="a.csv", claimed=None):
    """The proof of a file, and its text if it is one."""
    path = folder / name
    path.write_bytes(data)
    proof = gate.probe(path, claimed=claimed, name=name)
    return proof, gate.read_text(path, len(data) + 1, proof.encoding)


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1), st.sampled_from([*WIDE])
)
@examples()
def test_text_with_a_mark_is_exact_with_and_without_a_name(tmp_path_factory, text, codec):
    assume(not text.startswith("\ufeff"))
    folder = tmp_path_factory.getbasetemp()
    for name in ("a.csv", "unnamed"):
        proof, found = read(folder, WIDE[codec] + text.encode(codec), name)
        assert (found, proof.media_type != UNKNOWN) == (text, True)


@given(st.sampled_from(PAIRS), st.booleans(), st.integers(0, 40))
@examples()
def test_text_in_a_declared_encoding_is_exact(tmp_path_factory, pair, inside, cut):
    text, codec = pair
    head = f"<?xml version='1.0' encoding='{codec}'?>" if inside else ""
    claimed = "text/xml" if inside else f'text/csv; header=present; charset="{codec.upper()}"'
    whole = head + (text[cut:] or text)
    assert read(tmp_path_factory.getbasetemp(), whole.encode(codec), "a.txt", claimed)[1] == whole


@pytest.mark.parametrize(("text", "codec"), PAIRS)
def test_text_without_a_declaration_is_text_and_usual_encodings_are_found(tmp_path, text, codec):
    proof, found = read(tmp_path, text.encode(codec))
    assert proof.media_type == "text/csv"
    if codec in DETECTED:
        assert found == text


@pytest.mark.parametrize("name", ["a.sql", "a.srt", "a.unheard-of", "a"])
@pytest.mark.parametrize(("text", "codec"), PAIRS)
def test_text_is_text_whatever_its_file_is_called(tmp_path, text, codec, name):
    whole = f"-- {text}\n" * 20
    proof, found = read(tmp_path, whole.encode(codec), name)
    assert (proof.media_type, found[:3], found.count("\n")) == ("text/plain", "-- ", whole.count("\n"))


@given(
    st.sampled_from([*TEXTS]),
    st.integers(1, 400),
    st.sampled_from([b"\xff", b"\xc3", b"\xe2\x82", b"\x80"]),
    st.booleans(),
)
@examples()
def test_a_wrong_byte_leaves_the_rest_of_a_text_in_utf_8_as_it_is(tmp_path_factory, text, at, wrong, is_marked):
    whole = f"{text}\n" * 40
    data = whole[:at].encode() + wrong + whole[at:].encode()
    proof, found = read(tmp_path_factory.getbasetemp(), b"\xef\xbb\xbf" * is_marked + data, "a.log")
    assert proof.encoding == DAMAGED
    assert found.replace("\ufffd", "").removeprefix("\ufeff") == whole


def test_hints_count_in_text_that_is_not_utf_8(tmp_path):
    for head in (
        "# encoding: windows-1255",
        '@charset "windows-1255";',
        '"Content-Type: text/plain; charset=CP1255\\n"',
    ):
        text = f"{head}\nשלום"
        assert read(tmp_path, text.encode("cp1255"), "a.css")[1] == text
        assert read(tmp_path, text.encode(), "a.css")[1] == text


@given(st.binary(min_size=1, max_size=200), st.sampled_from(["a.csv", "a.txt", "a.html", "a.json", "a.py", "a.xml"]))
@examples()
def test_no_bytes_of_a_claimed_text_stop_a_message(tmp_path_factory, data, name):
    proof, _ = read(tmp_path_factory.getbasetemp(), data, name)
    receipt = render(user_history(File.from_bytes(data, name=name)), model="anthropic:claude-sonnet-5").receipts[0]
    assert (receipt.delivery == "refused") is False
    assert proof.encoding is None or proof.media_type != UNKNOWN


@pytest.mark.parametrize("name", ["noise.csv", "noise", "noise.bin"])
def test_random_bytes_are_no_text(tmp_path, name):
    for size in (64, 5000):
        assert read(tmp_path, os.urandom(size) + b"\0\1\2", name)[0].media_type == UNKNOWN


@given(st.text(max_size=30))
def test_a_declared_name_is_known_or_not_and_imports_nothing(name):
    assert find_label(name) in {None, *CODECS}


def test_all_names_have_codecs_and_are_known_again():
    assert {find_label(label) for label in CODECS} == {*CODECS}
    for label, codec in CODECS.items():
        assert read_start(io.BytesIO("a\r\nb".encode(codec)), label, 9) == "a\nb"
    assert {*MARKS.values(), *LABELS.values()} <= {*CODECS}


def test_the_detector_is_imported_by_the_first_file_that_needs_it():
    script = "import sys, showandtell.media.gate; print('charset_normalizer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"False\n"  # noqa: S603


@pytest.mark.parametrize("codec", ["cp1252", "utf-16"])
def test_a_tool_reads_a_piece_of_a_text_in_another_encoding(tmp_path, codec):
    file = File.from_bytes(("x" * 90 + "Größe\nKöln €\n").encode(codec), name="sizes.csv")
    run = Agent("inspector", builtin_tools(tmp_path)).run_sync(
        "/get_document number_or_name=1 search=köln", files=[file]
    )
    assert "Größe Köln €" in run.messages[2].text
    (tmp_path / "there.csv").write_bytes("Größe".encode(codec))
    run = Agent("inspector", builtin_tools(tmp_path)).run_sync("/read_file path=there.csv return_original=false")
    assert "Größe" in run.messages[2].text
