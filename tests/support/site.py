"""The site of the documentation, built by Sphinx in a process of its own."""

import subprocess
import sys


def build(root, folder, builder):
    """Build the site of a tree into `folder / "site"`: as "html", or as "dummy", which reads all and writes nothing."""
    options = ["-b", builder, "--fail-on-warning", "--keep-going", "--quiet", "-c", root / "docs"]
    command = [sys.executable, "-m", "sphinx", *options, "-d", folder / "doctrees", root, folder / "site"]
    return subprocess.run(command, stdout=-1, stderr=-1, text=True, check=False)  # noqa: S603 - our own
