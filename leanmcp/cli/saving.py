"""Files of results in a folder of the user's choice.

In: bytes, and a name or URI that a stranger has written. Out: new files inside the folder; nothing is overwritten.
"""

from __future__ import annotations

import os
import re

from .faults import UsageError

_NOT_IN_NAMES = re.compile(r"[^\w.\-]+", re.ASCII)
_MAX_NAME = 80  # characters
_EXTENSIONS = {"audio/ogg": ".ogg", "audio/wav": ".wav"}  # as Python does not know them


class Folder:
    """Where files go.

    Args:
        path: made where it does not exist.

    Raises:
        UsageError: it cannot be made.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"--output {path}: {fault.strerror}") from None

    def save(self, content: bytes, name: str, mime_type: str) -> str:
        """Write a new file and return its path.

        Args:
            content: of it.
            name: a URI, or a name without extension; only its last part is used, as far as it is harmless.
            mime_type: tells the extension where the name has none.

        Raises:
            UsageError: it cannot be written.
        """
        import mimetypes  # of files only

        stem, extension = os.path.splitext(_harmless(name))
        kind = mime_type.partition(";")[0].strip().lower()
        extension = extension or _EXTENSIONS.get(kind) or mimetypes.guess_extension(kind, strict=False) or ".bin"
        number = 1
        while True:
            path = os.path.join(self._path, f"{stem}{'' if number == 1 else f'-{number}'}{extension}")
            try:
                # O_EXCL: neither a file nor a link that is there already is written to.
                with open(path, "xb") as file:
                    file.write(content)
                return path
            except FileExistsError:
                number += 1
            except OSError as fault:
                raise UsageError(f"--output: {path}: {fault.strerror}") from None


def _harmless(name: str) -> str:
    """Return the last part of a name or URI, of letters, digits, dots and dashes, not hidden, and no path."""
    last = re.split(r"[/\\]", name.partition("?")[0].partition("#")[0].rstrip("/\\"))[-1]
    return _NOT_IN_NAMES.sub("-", last).strip(".-")[-_MAX_NAME:] or "file"
