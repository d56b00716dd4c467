"""Find deadlines in tests that a busy machine exceeds: a guard against hanging has 60 seconds or more.

Less than a second is a timeout that a test is about, which always happens. `make lint` runs this.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Functions whose first or second argument is how long they wait.
WAITING = {"wait": 0, "join": 0, "result": 0, "timeout": 0, "timeout_at": 0, "fail_after": 0, "wait_for": 1, "until": 1}
#: What a test gives a deadline that it is about: a tool, a setting, a hostile package's own connection.
ABOUT = {"tool", "Tool", "create_connection", "lambda_named"}


def name_of(call: ast.Call) -> str:
    """Return the last part of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def deadlines(call: ast.Call) -> Iterator[ast.expr]:
    """Return the arguments of a call that say how long it waits."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "timeout")
    place = WAITING.get(name_of(call))
    if place is not None and len(call.args) > place:
        yield call.args[place]


def too_short(source: str) -> Iterator[int]:
    """Return the lines of the deadlines from one second to less than sixty."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and name_of(node) not in ABOUT:
            for value in deadlines(node):
                if isinstance(value, ast.Constant) and isinstance(value.value, int | float) and 1 <= value.value < 60:
                    yield node.lineno


def main() -> int:
    """Print each place. Returns 1 if there is one."""
    files = sorted((ROOT / "tests").rglob("*.py"))
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in too_short(path.read_text())]
    for place in found:
        print(f"{place}: a busy machine exceeds this deadline; give it 60 seconds, or less than one if it has to pass")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
