"""Files of other people, whole and damaged, through the one gate: each ends in an answer or in words that name it.

`SHARE=0.05 pytest stress/test_corpora.py -s` does a twentieth of the damage, and tells the figures.
"""

import itertools
import os
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from corpora import Sample, damage, read_corpora

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.media_types.signatures import detect_type
from showandtell.errors import BadFile
from showandtell.media import gate, structure

SEED = "corpora 1"
#: How many damaged files of a kind there are.
DAMAGED = {"image": 5000, "document": 2000, "sound": 600}
SHARE = float(os.environ.get("SHARE", "1"))
#: As many as gate's crews have children: a file then never waits for another, and what is measured is its own time.
THREADS = 2
CONVERSIONS = {
    "image": ["image?as=image/png,image/jpeg&bytes=3750000&side=1568", "image?as=image/webp&bytes=9000&crop=1,1,40,30"],
    "document": ["pages?as=image/png&bytes=3750000&most=5&side=1568", "pages?as=image/jpeg&only=2&side=768", "text"],
    "audio": ["audio?as=audio/mpeg&bytes=9000000", "audio?as=audio/wav&bytes=90000", "transcript"],
    "video": ["frames?as=image/jpeg&bytes=900000&most=8&side=768&sound=audio/wav", "audio?as=audio/ogg", "transcript"],
    "text": ["image?as=image/png&side=768", "text"],  # a drawing
    "other": [],
}
#: Files with bytes after their image, beside MPO, which is several JPEGs.
CONTINUED = {"sugarshack_bad_mpo_header.jpg", "tRNS_null_1x1.png"}
kinds = pytest.mark.parametrize("kind", DAMAGED)


class Outcome(NamedTuple):
    """What came of one question about one file: done, refused, stopped (a child's death), late, or an exception's name.

    What is late may be asked again; a decoder that isn't installed counts as late, too.
    """

    name: str
    ask: str
    end: str
    words: str
    seconds: float


@cache
def corpora() -> dict[str, list[Sample]]:
    found = read_corpora()
    return {kind: [item for item in found if item.kind == kind] for kind in DAMAGED}


def spoil(kind: str, number: int) -> Sample:
    """A damaged file, the same one at every run; its name tells the source and the number of the damage."""
    random, sources = Random(f"{SEED} {kind} {number}"), corpora()[kind]  # noqa: S311 - nothing is secret
    source = sources[number % len(sources)]
    return Sample(f"{source.name} #{number}", damage(source, random.choice(sources), random), kind)


def ask(received: list[Outcome], name: str, question: str, do: Callable[[], Any]) -> Any:
    """Ask, and write down how it ended."""
    start, answer, end, words = time.perf_counter(), None, "done", ""
    try:
        answer = do()
    except BadFile as error:
        words = error.problem
        end = "stopped" if "stopped the decoder" in words else "late" if error.passing else "refused"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        end, words = type(error).__name__, str(error)
    received.append(Outcome(name, question, end, words, time.perf_counter() - start))
    return answer


def examine(sample: Sample, folder: Path, *, whole: bool) -> list[Outcome]:
    """Everything that is asked of a file when it comes in, and all its conversions, of a damaged one one of them."""
    received: list[Outcome] = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place, "file")
        path.write_bytes(sample.data)
        proof = ask(received, sample.name, "prove", lambda: gate.probe(path, claimed=None, name="file"))
        for question, do in list_questions(path, proof.media_type, whole=whole) if proof else ():
            with tempfile.TemporaryDirectory(dir=place) as made:
                ask(received, sample.name, question, partial(do, Path(made)))
    if any(item.end not in {"done", "refused"} for item in received):
        (folder / f"{sample.name.replace('/', ' ')}.found").write_bytes(sample.data)
    return received


def list_questions(path: Path, media_type: str, *, whole: bool) -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """What is asked of a proved file, as calls with an empty folder."""
    yield "describe", lambda _: gate.describe(path, media_type)
    yield "strip", partial(gate.strip_location, path, media_type)
    for conversion in CONVERSIONS[kind_of(media_type)] if whole else choose(path, media_type):
        yield conversion, partial(gate.make, path, media_type, conversion)


def choose(path: Path, media_type: str) -> list[str]:
    """One of a type's recipes, the same one for the same bytes; no transcript, which is `audio` and then minutes more."""
    fitting = [item for item in CONVERSIONS[kind_of(media_type)] if item != "transcript"]
    return [fitting[zlib.crc32(path.read_bytes()) % len(fitting)]] if fitting else []


def examine_all(read: Callable[[int], Sample], count: int, folder: Path, *, whole: bool) -> list[Outcome]:
    """The outcomes of `count` files, read one after the other."""
    with ThreadPoolExecutor(THREADS) as pool:
        found = pool.map(lambda at: examine(read(at), folder, whole=whole), range(count))
        return list(itertools.chain.from_iterable(found))


def check(label: str, received: list[Outcome]) -> None:
    """Print the figures; nothing may have stopped a child, taken too long, or raised what isn't ours."""
    files, ends = len({item.name for item in received}), Counter(item.end for item in received)
    refused = sum(item.end == "refused" for item in received if item.ask == "prove")
    slow = sorted(received, key=lambda item: -item.seconds)[:3]
    print(f"{label}: {files} files, {refused} refused as they came; {len(received)} questions: {dict(ends)}")  # noqa: T201
    for item in slow:
        print(f"  {item.seconds:.2f} s: {item.ask} of {item.name}: {item.end} {item.words}")  # noqa: T201
    assert [item for item in received if item.end not in {"done", "refused"}] == []


@kinds
def test_whole_files_are_answered_or_refused(kind, tmp_path):
    samples = corpora()[kind]
    check(f"whole, {kind}", examine_all(samples.__getitem__, len(samples), tmp_path, whole=True))


@kinds
def test_damaged_files_are_answered_or_refused(kind, tmp_path):
    count = round(DAMAGED[kind] * SHARE)
    check(f"damaged, {kind}", examine_all(partial(spoil, kind), count, tmp_path, whole=False))


def test_images_of_others_are_never_accepted_without_their_end(tmp_path):
    random, accepted = Random(SEED), []  # noqa: S311 - nothing is secret
    for sample in corpora()["image"]:
        media_type = detect_type(partial(read_part, sample.data), len(sample.data))
        if media_type not in structure.MEASURES or not is_accepted(sample.data, media_type, tmp_path):
            continue
        ends = {len(sample.data) - 1, *(random.randrange(16, len(sample.data)) for _ in range(8))}
        if any(is_accepted(sample.data[:end], media_type, tmp_path) for end in ends):
            accepted.append(sample.name)
    assert [name for name in accepted if "mpo" not in name and Path(name).name not in CONTINUED] == []


def read_part(data: bytes, at: int, length: int) -> bytes:
    """Bytes that may lie outside."""
    return data[max(at, 0) :][: max(length, 0)]


def is_accepted(data: bytes, media_type: str, folder: Path) -> bool:
    """Whether the structure alone proves an image."""
    path = folder / "image"
    path.write_bytes(data)
    try:
        return structure.measure(path, media_type) is not None
    except BadFile:
        return False
