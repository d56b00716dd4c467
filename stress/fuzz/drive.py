"""Fuzzes one target for SECONDS, then lets its inputs grow: `drive.py TARGET SECONDS FOLDER`.

The folder receives the inputs that were found, and the one that broke something as `crash-…`.
"""

import importlib
import re
import sys
from pathlib import Path

import atheris

#: Bytes of an input: the longest seed is shorter, and its choices lie at its end.
LONGEST = 10_000
#: Seconds; no valid input takes this long.
SLOWEST = 10
#: What stands in quotes, or before a mark: what a change of single bytes would not find.
WORD = re.compile(rb'"([A-Za-z_.:*/-]{2,40})"|([A-Za-z][A-Za-z0-9-]{3,20}[:=,;])')


def write_words(seeds: list[bytes], path: Path) -> None:
    """The words of the seeds as a dictionary."""
    words = {match[0] or match[1] for seed in seeds for match in WORD.findall(seed)}
    path.write_bytes(b"".join(b'"%b"\n' % word for word in sorted(words)))


def main(target: str, seconds: str, folder: Path) -> None:
    """Never comes back: it ends with status 0 where nothing broke."""
    with atheris.instrument_imports(include=["showandtell", "python_multipart"]):
        found = importlib.import_module(target)
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for at, item in enumerate(found.SEEDS):
        (corpus / f"seed-{at}").write_bytes(item)
    write_words(found.SEEDS, folder / "words")
    bounds = (f"-max_total_time={seconds}", f"-timeout={SLOWEST}", f"-max_len={LONGEST}", "-print_final_stats=1")
    places = (f"-artifact_prefix={folder}/", f"-dict={folder}/words", str(corpus))
    atheris.Setup([sys.argv[0], *bounds, *places], found.RUN)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
