"""What the documents say is true: their Python runs, their commands print what stands there, their links lead somewhere.

A ```json block with a file name is written beside the samples first. In a command's output `...` stands for anything,
and one date is as good as another.
"""

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker
from types import ModuleType

import pytest

from showandtell import BadConversation, explain, load
from showandtell.core.capabilities import registry
from showandtell.samples import folder
from support.docs_generator import GENERATOR
from support.extensions import forget_registered
from support.needs import missing_keys, missing_packages
from support.paths import ROOT
from support.public_modules import MODULES

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = sorted((ROOT / "docs" / "providers").glob("*.md"))
RUN = [ROOT / "README.md", *DOCS]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
READ = [*RUN, *PAGES, *sorted((ROOT / "docs" / "adr").glob("*.md")), ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"]
BLOCK = re.compile(r"^(`{3,})(\w+)(?: (\S+))?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ showandtell (.*)\n((?:(?!\$ ).*\n?)*)", re.MULTILINE)
#: `![caption](file:5)` is what a model writes to place a file.
LINK = re.compile(r"\]\((?!file:)([^)\s#]+)(?:#[^)\s]*)?\)")
#: A row of two code spans, of which the first is JSON.
ROW = re.compile(r"^\| `([\[{].*)` \| (`+) ?(.*?) ?\2 \|$", re.MULTILINE)
#: A sample that a conversation file names.
SAMPLE = re.compile(r'"path": "(harbour\.png|kiwi\.jpg)"')
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


IMPORT = re.compile(r"^\s*(?:from|import) (showandtell[\w.]*)", re.MULTILINE)


def named(documents):
    return pytest.mark.parametrize("document", documents, ids=lambda path: str(path.relative_to(ROOT)))


@pytest.mark.parametrize("page", [*RUN, *PAGES, *EXAMPLES], ids=lambda path: path.name)
def test_no_page_and_no_example_imports_a_module_that_may_move(page):
    assert {*IMPORT.findall(page.read_text())} <= {*MODULES}


def blocks(document, language):
    """Every block of a language: the line it begins at, its file name if any, and its text."""
    text = document.read_text()
    for found in BLOCK.finditer(text):
        if found[2] == language:
            yield text.count("\n", 0, found.start(4)), found[3], found[4]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder, which is the current one, and has modules. Providers that are registered are those of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget_registered(monkeypatch, registry.REGISTRY)
    return tmp_path


@pytest.fixture(scope="module")
def strict_servers():
    with GENERATOR.run_strict_servers() as fake_provider:
        yield fake_provider


@pytest.fixture
def asked(strict_servers, monkeypatch):
    """The requests to strict servers, which our library and SDKs without settings find where they look for their provider."""
    with GENERATOR.variables_of(strict_servers) as served:
        bases = {f"{name}_BASE_URL": served[f"SHOWANDTELL_{name}_BASE_URL"] for name in ("ANTHROPIC", "OPENAI")}
        for name, value in (served | bases).items():
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        yield strict_servers.ledger


def lay(document, desk):
    """Write the document's files, with the samples beside them that they name."""
    for _, name, text in (*blocks(document, "json"), *blocks(document, "python")):
        if name:
            (desk / name).parent.mkdir(exist_ok=True)
            (desk / name).write_text(text)
            for sample in SAMPLE.findall(text):
                shutil.copy(folder() / sample, desk)


@named(RUN)
def test_every_python_block_runs_with_what_the_page_names_before_it(document, desk, monkeypatch, asked):
    lay(document, desk)
    module = ModuleType("document")
    monkeypatch.setitem(sys.modules, "document", module)
    lines, missing = document.read_text().splitlines(), {}
    for line, _, text in blocks(document, "python"):
        before, since = "\n".join(lines[:line]), len(asked)
        exec(compile("\n" * line + text, str(document), "exec"), module.__dict__)  # noqa: S102 - the document is ours
        missing[line] = [*missing_packages(text, before, desk.iterdir()), *missing_keys(asked[since:], before)]
    assert {line: names for line, names in missing.items() if names} == {}


@named(RUN)
def test_no_python_block_asserts_what_a_model_says(document):
    """A reader's model says it in other words."""
    asserted = [
        ast.unparse(node)
        for _, _, text in blocks(document, "python")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert)
    ]
    assert [
        line
        for line in asserted
        if re.search(r"\brun\.text\b|run_sync\([^()]*\)\.text|answer\.(content|choices|output)", line)
    ] == []


def lines_of(output):
    return DATE.sub("DATE", output.strip())


@named(DOCS)
def test_every_command_prints_what_stands_there(document, desk):
    lay(document, desk)
    for line, _, text in blocks(document, "console"):
        for found in COMMAND.finditer(text):
            command = [sys.executable, "-m", "showandtell", *shlex.split(found[1])]
            run = subprocess.run(  # noqa: S603 - the document is ours
                command, text=True, stdout=-1, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False
            )
            same = OutputChecker().check_output(lines_of(found[2]), lines_of(run.stdout), ELLIPSIS)
            assert same, f"{document.name}:{line}: {found[1]}\n{run.stdout}"


def test_every_link_leads_somewhere(subtests):
    for document in READ:
        with subtests.test(document=document.name):
            targets = [target for target in LINK.findall(document.read_text()) if "://" not in target]
            assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize(("record", "_", "text"), ROW.findall((ROOT / "docs" / "conversation.md").read_text()))
def test_every_error_of_a_conversation_file_reads_as_documented(record, _, text, desk):
    given = json.loads(record)
    whole = given if isinstance(given, dict) else {"version": 1, "messages": given}
    (desk / "talk.json").write_text(json.dumps(whole))
    for sample in SAMPLE.findall(record):
        shutil.copy(folder() / sample, desk)
    with pytest.raises(BadConversation) as caught:
        explain(load("talk.json"), model="inspector")
    assert str(caught.value) == text
