"""Files that hold what only their owner may read, replaced as a whole.

In: a path and bytes. Out: the file with exactly these bytes, or as it was before.
Ours: tokens and pins outlive a crash in the middle of a write, and other users of the machine.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["replace_file", "rewrite_file"]


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a new file beside the old one, and put it in its place in one step.

    Args:
        path: the file.
        content: all that it holds from now on.
        mode: of a file that is not ours alone; default: its owner reads and writes it, nobody else.

    Raises:
        OSError: it cannot be written; the old one is untouched.
    """
    # mkstemp: mode 0600, and a name that is nobody else's.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(name, mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def rewrite_file(path: Path, content: bytes) -> None:
    """Replace a file of somebody else's that is there; its mode and owner stay, and so does a link to it.

    Raises:
        OSError: it cannot be written; it is untouched.
    """
    path = Path(os.path.realpath(path))
    found = path.stat()
    replace_file(path, content, stat.S_IMODE(found.st_mode))
    with suppress(PermissionError):  # only root may give a file away: with sudo it would be root's from now on
        os.chown(path, found.st_uid, found.st_gid)
