"""One line for each row of the capability matrix, as the golden copy of test_capabilities.py has it."""

from showandtell.core.capabilities import matrix as table
from showandtell.core.capabilities.resolve import families

CODES = {"native": "N", "relocated": "R", "converted": "C", "noted": "-", "words": "W"}


def format_row(row):
    """Provider, API, pattern, a letter for each kind of a tool's files, and the kinds that a user may upload."""
    family = next(f for f in families() if (f.provider, f.example) == (row["provider"], row["example"]))
    tool = "".join(CODES[option] for option in row["tool_result"].values())
    uploads = [kind for kind, option in row["user"].items() if option == "native"]
    return " ".join([row["provider"], row["api"], family.patterns[0], tool, *uploads])


def matrix_rows():
    """All lines, in the order of the table."""
    return [format_row(row) for row in table.matrix()]
