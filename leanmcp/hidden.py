"""Files of the user's that hide a module of Python's own, or one that leanmcp needs: `json.py` beside a server.

In: an exception, or a folder. Out: a sentence that names the file. Imported once something has failed, or by a command.
A program that Python starts looks for modules beside its file first, so such a file takes the place of the real one
for every package. What Python has loaded before, or has within itself, cannot be hidden.
"""

from __future__ import annotations

import os
import sys

from .frames import INSTALLED, LIBRARY, frames_of

__all__ = ["hiding_beside", "hiding_file"]

_NEEDED = frozenset(("leanmcp", "msgspec", "orjson", "fastjsonschema", "uvloop"))
_LATER = _NEEDED - {"fastjsonschema"} | {"mimetypes", "queue", "secrets"}
"""What a server loads when it is started, or called."""
_HERE = os.path.dirname(os.path.abspath(__file__))


def hiding_file(error: BaseException) -> str:
    """Return the sentence about a file that took part in a failure and hides a module; empty where none did."""
    seen = {}
    for module in list(sys.modules.values()):
        file, name = getattr(module, "__file__", None), getattr(module, "__name__", "")
        if isinstance(file, str):
            seen[file] = name
    for trace in frames_of(error):
        code, names = trace.tb_frame.f_code, trace.tb_frame.f_globals
        if code.co_filename == names.get("__file__"):
            seen[code.co_filename] = names.get("__name__", "")
    for file, name in seen.items():
        own = _own_name(file) if file.endswith(".py") else ""  # else it is a command, such as bin/leanmcp
        if name in (own, "__main__") and _can_hide(own) and not _is_the_real_one(file, own):
            return _sentence(file, own)
    return ""


def hiding_beside(folder: str) -> tuple[str, str]:
    """Return a file in a folder that hides a module which is in use, and the sentence about it; empty without any."""
    try:
        with os.scandir(folder) as entries:
            found = {entry.name.removesuffix(".py"): entry for entry in entries if _may_be_module(entry.name)}
    except OSError:  # it may be entered and not listed, or is gone: no reason to stop a server that has loaded
        return "", ""
    for name in sorted(found.keys() & (sys.stdlib_module_names | _NEEDED)):
        file = os.path.abspath(found[name].path)
        if not found[name].name.endswith(".py"):
            file = os.path.join(file, "__init__.py")
        loaded = getattr(sys.modules.get(name), "__file__", None)
        if loaded == file or (loaded is None and name not in _LATER) or not os.path.isfile(file):
            continue
        if _can_hide(name) and not _is_the_real_one(file, name):
            return file, _sentence(file, name)
    return "", ""


def _may_be_module(name: str) -> bool:
    return name.endswith(".py") or "." not in name


def _own_name(file: str) -> str:
    folder, name = os.path.split(file)
    name = os.path.splitext(name)[0]
    return os.path.basename(folder) if name == "__init__" else name


def _can_hide(name: str) -> bool:
    """Return whether a file could take the place of a module: those in the interpreter itself are found first."""
    import _imp

    if name in sys.builtin_module_names or _imp.is_frozen(name):
        return False
    return name in sys.stdlib_module_names or name in _NEEDED


def _is_the_real_one(file: str, name: str) -> bool:
    file = os.path.realpath(file)
    if file.startswith((os.path.realpath(_HERE) + os.sep, os.path.realpath(LIBRARY) + os.sep)):
        return True
    return name in _NEEDED and any(part in file for part in INSTALLED)


def _sentence(file: str, name: str) -> str:
    whose = "leanmcp itself" if name == "leanmcp" else "a package that leanmcp needs" if name in _NEEDED else ""
    whose = whose or f"Python's own module {name!r}"
    return f"{file} hides {whose} from every program beside it; rename it"
