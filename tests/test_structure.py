"""The shape of the code: who may import whom, transitively, and how large a room may be."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from statistics import median

import pytest

from support.paths import ROOT as REPOSITORY
from support.paths import SRC as ROOT

FILES = sorted(ROOT.rglob("*.py"))
PAGE = REPOSITORY / "web" / "src"

#: What each layer may import besides itself, and with it whatever that may import. A name at the top stands here.
LAYERS = {
    "errors": (),
    "samples": (),
    "core": ("errors",),
    "config": ("core",),
    "media": ("core",),
    "network": ("core",),
    "storage": ("config", "media", "network"),
    "inspector": ("media",),
    "providers": ("network",),
    "agent": ("providers", "storage"),
    "testing": ("agent",),
    "verify": ("agent",),
    "server": ("verify", "samples"),
    "cli": ("server",),
}
#: What is no layer: it names things of all of them.
NAMES = {"", "__main__", "asgi", "events"}
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


def layer_of(module):
    return module.partition(".")[0]


def has_rooms(package):
    """Whether folders lie in a folder."""
    return any((ROOT / package.replace(".", "/")).glob("*/__init__.py"))


def room_of(module):
    """The folder that a module lies in; beside other folders it is a room by itself."""
    package = module.rpartition(".")[0]
    return module if has_rooms(package) or has_rooms(module) else package


@cache
def below(layer):
    """Every layer that one may import."""
    return set().union(*({one, *below(one)} for one in LAYERS[layer]))


@pytest.mark.parametrize("module", sorted(MODULES - NAMES))
def test_a_module_imports_its_own_layer_and_those_below(module):
    assert layer_of(module) in LAYERS, "add the layer to LAYERS and to docs/structure.md, or choose one that is there"
    may = {layer_of(module), *below(layer_of(module))}
    upwards = {one for one in ours()[module] if layer_of(one) not in may}
    assert not upwards, f"{layer_of(module)} may import {', '.join(sorted(may))}"


def test_no_module_imports_itself_by_way_of_others():
    TopologicalSorter({module: found - {module} for module, found in ours().items()}).prepare()


def test_no_room_imports_itself_by_way_of_others():
    rooms = {room_of(module): set() for module in MODULES}
    for module, found in ours().items():
        rooms[room_of(module)] |= {room_of(one) for one in found} - {room_of(module)}
    TopologicalSorter(rooms).prepare()


IMPORTED = re.compile(r'\b(?:from|import)\s*\(?\s*"(\.[^"]+)"')


def imports_of_page(path):
    """The modules of the page that one of them imports, types and parts that are loaded later included."""
    for name in IMPORTED.findall(path.read_text()):
        aim = (path.parent / name).resolve()
        yield from (one for one in (aim.with_name(f"{aim.name}.ts"), aim.with_name(f"{aim.name}.tsx")) if one.is_file())
        yield from aim.glob("index.ts")


def test_no_module_of_the_page_imports_itself_by_way_of_others():
    modules = [*(PAGE.rglob("*.ts")), *PAGE.rglob("*.tsx")]
    graph_of_page = {path: {*imports_of_page(path)} for path in modules}
    assert sum(map(len, graph_of_page.values())) > len(modules)
    TopologicalSorter(graph_of_page).prepare()


def reach(module, seen):
    for one in ours().get(module, ()):
        if one not in seen:
            seen.add(one)
            reach(one, seen)
    return seen


@pytest.mark.parametrize("module", [name for name in sorted(MODULES) if layer_of(name) in {"core", "errors"}])
def test_a_pure_module_reaches_no_package_that_does_io(module):
    reached = {module, *reach(module, set())}
    found = {one.partition(".")[0] for name in reached for one in graph().get(name, ())} & OUTSIDE
    assert found == set()


def test_media_is_decoded_in_the_child_alone():
    decoding = {name for name, found in graph().items() if {one.partition(".")[0] for one in found} & DECODERS}
    assert {name for name in decoding if not name.startswith("media.convert")} <= CHILD
    in_parent = reach("media.gate", set())
    assert not in_parent & (CHILD - {"media.child"})


def test_no_provider_is_named_where_files_are_placed():
    providers = {
        family.provider for family in __import__("showandtell.core.capabilities.table", fromlist=["FAMILIES"]).FAMILIES
    }
    code = " ".join(
        path.read_text() for path in (ROOT / "core" / "planning").glob("*.py") if path.name != "call_ids.py"
    )
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
    assert len(path.read_text().splitlines()) <= 600
    assert [node.name for node in functions(path) if length(node) > 60] == []


def test_the_usual_file_and_function_are_small():
    assert median(len(path.read_text().splitlines()) for path in FILES) <= 150
    assert median(length(node) for path in FILES for node in functions(path)) <= 10


def test_every_public_name_has_a_home_and_a_docstring():
    import showandtell

    assert len(showandtell.__all__) <= 60
    assert set(showandtell.HOME_OF) == set(showandtell.__all__)
    assert all(getattr(showandtell, name).__doc__ for name in showandtell.__all__)
