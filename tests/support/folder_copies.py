"""Copies of a folder at many moments, as killed programs would leave it."""

import shutil


class FolderCopies:
    """Copies a folder each time it is called; of equal contents only one copy is kept."""

    def __init__(self, folder, into):
        self.taken = 0
        self._folder, self._into = folder, into
        self._contents = {}

    def __call__(self, *_):
        self.taken += 1
        files = (path for path in sorted(self._folder.rglob("*")) if path.is_file())
        content = tuple((str(path.relative_to(self._folder)), path.read_bytes()) for path in files)
        if content not in self._contents:
            self._contents[content] = shutil.copytree(self._folder, self._into / f"copy{self.taken}")

    @property
    def folders(self):
        """The distinct copies, the oldest first."""
        return [*self._contents.values()]
