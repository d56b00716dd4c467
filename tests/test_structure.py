"""The structure of the code: which layer may import which, names of modules, and sizes of files and functions."""

import ast
import re
from collections import Counter
from functools import cache, partial
from graphlib import TopologicalSorter
from statistics import median

import pytest

from support.paths import ROOT as REPOSITORY
from support.paths import SRC as ROOT
from support.syntax import nodes

FILES = sorted(ROOT.rglob("*.py"))
PAGE = REPOSITORY / "web" / "src"

#: The layers that each layer imports, besides itself and the layers below those. Every top-level name is listed.
LAYERS = {
    "checking": ("errors", "lazy"),
    "errors": (),
    "installation": (),
    "lazy": ("installation",),
    "plugins": ("checking",),
    "version": (),
    "samples": (),
    "core": ("checking", "plugins"),
    "config": ("core",),
    "media": ("core",),
    "network": ("core", "version"),
    "storage": ("config", "media", "network"),
    "inspector": ("media",),
    "providers": ("network",),
    "agent": ("providers", "storage"),
    "testing": ("agent", "inspector"),
    "verify": ("agent",),
    "server": ("verify", "samples"),
    "cli": ("server",),
}
#: Modules that are not in a layer, because they re-export names of several.
NAMES = {"", "__main__", "asgi", "conversations", "events", "extending", "hosted"}
#: Packages that do I/O, decode media, or are slow to import: no pure module reaches them, not even indirectly.
OUTSIDE = {
    "aiohttp",
    "anthropic",
    "asyncio",
    "av",
    "charset_normalizer",
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
    """All modules that a file imports, also inside functions; `from a import b` counts as a.b if that is a module."""
    modules = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= {name if name.removeprefix("showandtell.") in MODULES else node.module for name in below}
    return modules


MODULES = {name_of(path) for path in FILES}


@cache
def graph():
    return {name_of(path): imports(path) for path in FILES}


@cache
def own_imports():
    """The modules of this package that each module imports."""
    return {
        name: {module.removeprefix("showandtell.") for module in modules if module.startswith("showandtell")}
        for name, modules in graph().items()
    }


def layer_of(module):
    return module.partition(".")[0]


def has_folders(package):
    return any((ROOT / package.replace(".", "/")).glob("*/__init__.py"))


def unit_of(module):
    """The folder of a module, or the module itself if its folder has subfolders."""
    package = module.rpartition(".")[0]
    return module if has_folders(package) or has_folders(module) else package


@cache
def below(layer):
    """All layers that a layer may import."""
    return set().union(*({lower, *below(lower)} for lower in LAYERS[layer]))


def test_a_module_imports_its_own_layer_and_those_below(subtests):
    for module in sorted(MODULES - NAMES):
        with subtests.test(module=module):
            assert layer_of(module) in LAYERS, (
                "add the layer to LAYERS and to docs/architecture.md, or choose one that is there"
            )
            may = {layer_of(module), *below(layer_of(module))}
            upwards = {name for name in own_imports()[module] if layer_of(name) not in may}
            assert not upwards, f"{layer_of(module)} may import {', '.join(sorted(may))}"


def test_the_architecture_page_has_a_row_for_every_layer():
    rows = re.findall(r"^\| (`[^|]+`) \|", (REPOSITORY / "docs" / "architecture.md").read_text(), re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(LAYERS)


def test_no_modules_import_each_other_in_a_circle():
    TopologicalSorter({module: names - {module} for module, names in own_imports().items()}).prepare()


def test_no_folders_import_each_other_in_a_circle():
    units = {unit_of(module): set() for module in MODULES}
    for module, names in own_imports().items():
        units[unit_of(module)] |= {unit_of(name) for name in names} - {unit_of(module)}
    TopologicalSorter(units).prepare()


#: Names of modules that every folder of its kind has.
REPEATED = {"__init__", "hosted", "render", "parse", "encode", "rewrite", "schema", "rules", "read", "write"}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_has_no_two_modules_of_one_name(layer):
    names = Counter(path.stem for path in (ROOT / layer).rglob("*.py") if "migrations" not in path.parts)
    assert {name for name, count in names.items() if count > 1} <= REPEATED


IMPORTED = re.compile(r'\b(?:from|import)\s*\(?\s*"(\.[^"]+)"')


def imports_of_page(path):
    """The modules of the page that a module imports, including types and lazy imports."""
    for name in IMPORTED.findall(path.read_text()):
        target = (path.parent / name).resolve()
        yield from (file for end in (".ts", ".tsx") if (file := target.with_name(target.name + end)).is_file())
        yield from target.glob("index.ts")


def test_no_modules_of_the_page_import_each_other_in_a_circle():
    modules = [*(PAGE.rglob("*.ts")), *PAGE.rglob("*.tsx")]
    graph_of_page = {path: {*imports_of_page(path)} for path in modules}
    assert sum(map(len, graph_of_page.values())) > len(modules)
    TopologicalSorter(graph_of_page).prepare()


def reach(module, seen):
    for name in own_imports().get(module, ()):
        if name not in seen:
            seen.add(name)
            reach(name, seen)
    return seen


def test_a_pure_module_reaches_no_package_that_does_io(subtests):
    for module in [name for name in sorted(MODULES) if layer_of(name) in {"core", "errors"}]:
        with subtests.test(module=module):
            reached = {module, *reach(module, set())}
            packages = {module.partition(".")[0] for name in reached for module in graph().get(name, ())}
            assert packages & OUTSIDE == set()


def test_media_is_decoded_in_the_child_process_only():
    decoding = {name for name, modules in graph().items() if {used.partition(".")[0] for used in modules} & DECODERS}
    assert {name for name in decoding if not name.startswith("media.convert")} <= CHILD
    in_parent = reach("media.gate", set())
    assert not in_parent & (CHILD - {"media.child"})


def test_no_provider_is_named_where_files_are_placed():
    providers = {
        family.provider for family in __import__("showandtell.core.capabilities.table", fromlist=["FAMILIES"]).FAMILIES
    }
    files = list((ROOT / "core" / "planning").glob("*.py"))
    assert not [name for name in providers for path in files if any(map(partial(starts, name), strings(path)))]


def strings(path):
    """The string constants of a module, without docstrings."""
    docstrings = {node.value for node in nodes(path) if isinstance(node, ast.Expr)}
    yield from (node.value for node in nodes(path) if isinstance(node, ast.Constant) and node not in docstrings)


def starts(name, value):
    return isinstance(value, str) and value.startswith(name)


def functions(path):
    return [node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(node):
    """The lines of a function without its docstring."""
    first = node.body[0]
    documented = ast.get_docstring(node) is not None
    return node.end_lineno - node.lineno + 1 - (first.end_lineno - first.lineno + 1 if documented else 0)


def test_a_file_has_at_most_500_lines_and_a_function_60(subtests):
    for path in FILES:
        with subtests.test(path=name_of(path)):
            assert len(path.read_text().splitlines()) <= 500
            assert [node.name for node in functions(path) if length(node) > 60] == []


def test_the_median_file_and_function_are_small():
    assert median(len(path.read_text().splitlines()) for path in FILES) <= 150
    assert median(length(node) for path in FILES for node in functions(path)) <= 10


def test_every_public_name_has_a_module_and_a_docstring():
    import showandtell

    assert len(showandtell.__all__) <= 60
    assert set(showandtell.MODULE_OF) == set(showandtell.__all__)
    assert all(getattr(showandtell, name).__doc__ for name in showandtell.__all__)
