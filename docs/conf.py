"""The site of the documentation: Sphinx reads the Markdown files as they are, and the docstrings of the public modules.

`make docs` builds it into build/site. Its sources are below the repository's root, so that links between the README,
`docs/` and files of the code are the same on the site as in a checkout. A link that leads nowhere is a warning, and
warnings are errors.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import Element, TextElement
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

DOCS = Path(__file__).parent

project = "Show & Tell"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/*.md", "docs/adr/*.md", "docs/api/*.rst", "docs/providers/*.md"]
# Folders that aren't searched for pages.
exclude_patterns = sorted({"build", *(path.name for path in DOCS.parent.iterdir() if path.is_dir() and path != DOCS)})
root_doc = "README"

#: The side bar, by page: its captions with the pages below them, for people who use the library, run the server, or
#: change the code.
NAVIGATION = {
    root_doc: {
        "Use it in a program": (
            "docs/install docs/tools docs/hosted docs/agent docs/files docs/history docs/conversation"
            " docs/image-context docs/reach docs/models docs/verify docs/render docs/embed docs/extending"
            " docs/coming-from"
        ),
        "Run the server": "docs/command-line docs/server docs/deploy SECURITY",
        "Contribute": (
            "CONTRIBUTING docs/architecture docs/glossary docs/testing docs/providers docs/answer-types docs/speed"
            " docs/scale docs/reliability docs/adr/README CHANGELOG"
        ),
        "API reference": "docs/api/showandtell docs/api/*",
    },
    "docs/models": {"Providers": "docs/providers/*"},
    "docs/adr/README": {"Decisions": "docs/adr/0*"},
}

#: The modules of the reference.
MODULES = ("showandtell", *(f"showandtell.{path.stem}" for path in DOCS.glob("api/*.rst")))

# Headings have the anchors that GitHub gives them.
myst_heading_anchors = 6

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
# Names in single backticks are links where they name something public, and code elsewhere.
default_role = "py:obj"
add_module_names = False
maximum_signature_line_length = 100

html_theme = "furo"
html_title = "Show & Tell"
html_copy_source = False
html_show_copyright = False
# Quotation marks stay as they are written; autodoc needs its dashes.
smartquotes_action = "D"
autodoc_preserve_defaults = True


def add_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add the side bar to the pages that have other pages below them. GitHub shows these files without it."""
    for caption, pages in NAVIGATION.get(page, {}).items():
        options = [":hidden:", ":glob:", f":caption: {caption}", "", *(f"/{name}" for name in pages.split())]
        source[0] += "\n".join(["\n```{toctree}", *options, "```\n"])


def shorten_defaults(_app: Sphinx, *arguments: Any) -> tuple[str | None, str | None]:
    """Show `...` for defaults that have no form in code, such as `<factory>`."""
    *_, signature, returns = arguments
    return signature and re.sub(r"= <(?:[^<>]|<\w+>)+>", "= ...", signature), returns


def find_elsewhere(app: Sphinx, env: BuildEnvironment, node: pending_xref, words: TextElement) -> Element | None:
    """Link a name of another public module, such as an exception, which is in `showandtell.errors`."""
    domain, target = env.domains.python_domain, node["reftarget"]
    for module in MODULES:
        name = f"{module}.{target}"
        if node["refdomain"] == "py" and name in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, words)
    return None


def name_front_page(app: Sphinx, error: Exception | None) -> None:
    """Servers show index.html for the folder."""
    if error is None and app.builder.format == "html":
        shutil.copy(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-signature", shorten_defaults)
    app.connect("missing-reference", find_elsewhere)
    app.connect("build-finished", name_front_page)
