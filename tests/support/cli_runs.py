"""Commands that are run in a folder of samples."""

from support.commandline import call
from support.paths import SRC

SAMPLES = SRC / "samples"


def run(folder, *arguments, stdin=""):
    return call(folder, *arguments, stdin=stdin, environ={"SHOWANDTELL_DATA": str(folder / "data")})
