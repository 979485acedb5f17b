"""Which files a server is made of, and which of them have changed.

In: paths of files that were imported, reported one by one. Out: paths that changed, appeared or went since the last
look. A look is one `stat` for each file and one for each of their folders; nothing is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import cache_from_source

_IGNORED = {"__pycache__", "site-packages", "dist-packages", "node_modules"}
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # runs in the watcher: cannot be reloaded

Signature = tuple[int, int, int]


class Roots:
    """The folders below which files are watched.

    Args:
        folders: existing ones.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        found = [os.path.abspath(folder) for folder in folders]
        self._prefixes = [os.path.join(folder, "") for folder in dict.fromkeys(found)]

    def watch(self, path: str) -> bool:
        """Return whether a file is the user's Python code: below a root, in no hidden folder, no package's."""
        if not path.endswith(".py") or path.startswith(_OWN):
            return False
        for prefix in self._prefixes:
            if path.startswith(prefix):
                parts = path[len(prefix) :].split(os.sep)
                return not any(part.startswith(".") or part in _IGNORED for part in parts)
        return False

    def shown(self, path: str) -> str:
        """Return a path as the user knows it."""
        return next((path[len(root) :] for root in self._prefixes if path.startswith(root)), path)


class Files:
    """The files that are watched, as they were at the last look."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._files: dict[str, Signature | None] = {}
        self._folders: dict[str, tuple[int, frozenset[str]]] = {}
        self._missed: list[str] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to watch."""
        return not self._files

    def add(self, path: str, since: int = 0) -> None:
        """Watch a file, and its folder for new ones.

        Args:
            path: absolute.
            since: nanoseconds of the clock; a file that was written later may not be what was imported.
        """
        if path in self._files:
            return
        signature = self._files[path] = _signature(path)
        if since and signature is not None and signature[0] > since:
            self._missed.append(path)
        folder = os.path.dirname(path)
        if folder not in self._folders:
            self._folders[folder] = _listing(folder)

    def changes(self) -> list[str]:
        """Return what has changed since the last look."""
        found, self._missed = self._missed, []
        for path, known in self._files.items():
            signature = _signature(path)
            if signature != known:
                self._files[path] = signature
                found.append(path)
        for folder, (changed, names) in self._folders.items():
            if _changed(folder) != changed:
                listing = self._folders[folder] = _listing(folder)
                new = [os.path.join(folder, name) for name in listing[1] - names]
                found += [path for path in new if path not in self._files and self._roots.watch(path)]
        return found


def forget_bytecode(path: str) -> None:
    """Delete the bytecode of a file that has changed.

    Python takes it for new as long as second and size of the file are the same, and whoever saves often has that.
    """
    try:
        os.unlink(cache_from_source(path))
    except (OSError, NotImplementedError):  # there is none
        return


def _signature(path: str) -> Signature | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _listing(folder: str) -> tuple[int, frozenset[str]]:
    """Return when the names in a folder last changed, and those of Python files."""
    changed = _changed(folder)
    try:
        return changed, frozenset(name for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return changed, frozenset()
