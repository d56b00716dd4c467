"""The shape of the code: who may import whom, transitively, and how large a room may be."""

import ast
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parent.parent / "src" / "showandtell"
FILES = sorted(ROOT.rglob("*.py"))

#: What each part may import of ours. A part is a top-level module or package, or a part of one where that is named.
MAY = {
    "errors": set(),
    "content": {"errors"},
    "files": {"content", "errors"},
    "sse": set(),
    "eventstream": {"errors"},
    "capabilities": {"content", "files", "errors"},
    "events": {"content", "files", "errors", "sse"},
    "delivery": {"content", "files", "errors", "capabilities", "recipes"},
    "wire": {"content", "files", "errors", "capabilities", "events", "delivery", "recipes", "sse", "eventstream"},
    "adopt": {"content", "errors", "wire", "media.claims"},
    "collecting": {"content", "files", "errors", "media.signatures", "media.claims"},
    "foreign": {"content", "files", "errors", "collecting"},
    "collect": {"content", "errors", "collecting", "foreign"},
    "cleaning": {"content", "collect"},
    "pairing": {"content", "errors"},
    "records": {"content", "errors"},
    "recipes": {"errors"},
    "drafts": {"content", "errors"},
    "media": {"content", "files", "errors", "recipes"},
    "attachments": {"content", "files", "errors", "collect", "media", "providers.surroundings", "recipes"},
    "attachments.references": {"content", "files"},
    "history": {
        "content",
        "files",
        "errors",
        "delivery",
        "events",
        "attachments",
        "media.claims",
        "cleaning",
        "pairing",
        "records",
        "steps",
        "whole",
        "writing",
    },
    "inspector": {"errors", "eventstream", "files", "media", "providers.http"},
    "providers": {"errors", "files", "capabilities", "events", "wire", "inspector"},
    "agent": {
        "content",
        "files",
        "errors",
        "capabilities",
        "events",
        "delivery",
        "wire",
        "cleaning",
        "collect",
        "recipes",
        "providers",
        "steps",
        "whole",
    },
    "agent.agent": {
        "agent",
        "content",
        "errors",
        "capabilities",
        "events",
        "delivery",
        "wire",
        "cleaning",
        "collect",
        "providers",
        "history",
        "attachments",
        "settings",
    },
    "agent.setup": {
        "agent",
        "attachments",
        "capabilities",
        "content",
        "delivery",
        "errors",
        "providers",
    },
    "agent.builtin": {"agent", "content", "files", "errors", "collect", "media"},
    "agent.documents": {"agent", "content", "files", "errors", "collect", "delivery", "recipes"},
    "rendering": {
        "agent.tools",
        "attachments",
        "capabilities",
        "collect",
        "content",
        "delivery",
        "drafts",
        "errors",
        "files",
        "history",
        "pairing",
        "settings",
        "wire",
    },
    "samples": set(),
    "steps": {"delivery", "events"},
    "whole": set(),
    "writing": set(),
    "settings": {"capabilities", "errors", "writing"},
    "server": {
        "agent",
        "attachments",
        "capabilities",
        "content",
        "delivery",
        "errors",
        "events",
        "files",
        "given",
        "history",
        "keeping",
        "providers",
        "samples",
        "settings",
    },
    "server.access": {"errors", "providers"},
    "server.gates": {"errors", "server.access"},
    "server.files": {
        "attachments",
        "content",
        "delivery",
        "errors",
        "files",
        "history",
        "keeping",
        "media",
        "recipes",
        "server.access",
        "server.answers",
        "server.gates",
        "server.shapes",
        "server.state",
        "whole",
    },
    "server.running": {
        "agent",
        "content",
        "errors",
        "events",
        "history",
        "providers",
        "server.answers",
        "server.config",
        "server.shapes",
        "whole",
    },
    "server.watching": {"content", "events", "files", "server.running"},
}
PURE = (
    "errors",
    "content",
    "files",
    "sse",
    "eventstream",
    "capabilities",
    "events",
    "recipes",
    "delivery",
    "wire",
    "adopt",
    "collecting",
    "foreign",
    "collect",
)
#: Packages that do I/O, decode media, or are heavy: no pure part reaches them, however far.
OUTSIDE = {
    "aiohttp",
    "anthropic",
    "asyncio",
    "av",
    "fastapi",
    "google",
    "openai",
    "PIL",
    "pypdfium2",
    "rapidocr",
    "rich",
    "socket",
    "sqlalchemy",
    "subprocess",
    "typer",
}
DECODERS = {"PIL", "pypdfium2", "av", "rapidocr", "numpy", "pillow_heif", "resvg_py"}
DECODERS |= {"lxml", "mammoth", "markdownify", "pocketsphinx", "pptx", "python_calamine"}
CHILD = {
    "media.cards",
    "media.child",
    "media.probe",
    "media.describe",
    "media.pictures",
    "media.documents",
    "media.sound",
    "media.ocr",
    "media.draw",
    "media.convert",
    "media.convert.zipped",
    "media.convert.colours",
    "media.convert.drawings",
    "media.convert.film",
    "media.convert.location",
    "media.convert.markup",
    "media.convert.office",
    "media.convert.pages",
    "media.convert.pictures",
    "media.convert.plain",
    "media.convert.shapes",
    "media.convert.sheets",
    "media.convert.slides",
    "media.convert.sound",
    "media.convert.speech",
    "media.convert.writing",
}


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(path):
    """Every module that a file imports, late imports included; `from a import b` counts as a.b where that is a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one.removeprefix("showandtell.") in MODULES else node.module for one in below}
    return found


MODULES = {name_of(path) for path in FILES}


@cache
def graph():
    """What each module imports."""
    return {name_of(path): imports(path) for path in FILES}


@cache
def ours():
    """What each module imports of ours."""
    return {
        name: {one.removeprefix("showandtell.") for one in found if one.startswith("showandtell")}
        for name, found in graph().items()
    }


def within(module, part):
    return module == part or module.startswith(part + ".")


def part_of(module):
    while module not in MAY and "." in module:
        module = module.rpartition(".")[0]
    return module


@pytest.mark.parametrize("module", [name for name in sorted(MODULES) if part_of(name) in MAY])
def test_a_module_imports_only_what_its_part_may(module):
    part = part_of(module)
    allowed = MAY[part] | {part}
    assert [one for one in ours()[module] if not any(within(one, may) for may in allowed)] == []


def reach(module, seen):
    for one in ours().get(module, ()):
        if one not in seen:
            seen.add(one)
            reach(one, seen)
    return seen


@pytest.mark.parametrize("module", [name for name in sorted(MODULES) if name.partition(".")[0] in PURE])
def test_a_pure_module_reaches_no_package_that_does_io(module):
    reached = {module, *reach(module, set())}
    found = {one.partition(".")[0] for name in reached for one in graph().get(name, ())} & OUTSIDE
    assert found == set()


def test_media_is_decoded_in_the_child_alone():
    decoding = {name for name, found in graph().items() if {one.partition(".")[0] for one in found} & DECODERS}
    assert decoding <= CHILD
    in_parent = reach("media.gate", set())
    assert not in_parent & (CHILD - {"media.child"})


def test_no_provider_is_named_where_files_are_placed():
    providers = {
        family.provider for family in __import__("showandtell.capabilities.table", fromlist=["FAMILIES"]).FAMILIES
    }
    code = " ".join(path.read_text() for path in (ROOT / "delivery").glob("*.py") if path.name != "ids.py")
    assert not [name for name in providers if f'"{name}' in code]


def functions(path):
    return [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def length(node):
    return node.end_lineno - node.lineno + 1


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_has_at_most_400_lines_and_a_function_60(path):
    assert len(path.read_text().splitlines()) <= 400
    assert [node.name for node in functions(path) if length(node) > 60] == []


def test_the_usual_file_and_function_are_small():
    assert median(len(path.read_text().splitlines()) for path in FILES) <= 150
    assert median(length(node) for path in FILES for node in functions(path)) <= 10


def test_every_public_name_has_a_home_and_a_docstring():
    import showandtell

    assert len(showandtell.__all__) <= 40
    assert set(showandtell.HOME_OF) == set(showandtell.__all__)
    assert all(getattr(showandtell, name).__doc__ for name in showandtell.__all__)
