"""Files that hold what only their owner may read, replaced as a whole.

In: a path and bytes. Out: the file with exactly these bytes, or as it was before.
Ours: tokens and pins outlive a crash in the middle of a write, and other users of the machine.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(path: Path, content: bytes) -> None:
    """Write a new file beside the old one, and put it in its place in one step.

    Raises:
        OSError: it cannot be written; the old one is untouched.
    """
    # mkstemp: mode 0600, and a name that is nobody else's.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
