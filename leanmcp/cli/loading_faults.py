"""A user's file that does not run: what it raised as one line, with its place and what to write instead.

In: the exception of an import. Out: a UsageError. Imported once a file has failed.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import os
import re
import sys
import traceback
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

from .. import __all__ as exported
from ..elsewhere import ROOTS
from ..frames import frames_of, owner_of
from ..hidden import hiding_file
from ..logs import clipped
from ..mistakes import shorten
from ..mistyped import closest, did_you_mean
from .faults import UsageError

_MOST_FRAMES = 5
_MAX_SHOWN = 60  # characters of a line
_ALIKE = 0.75  # of a package and a neighbour of the file; below, they have no more than some letters in common
_NO_LOOP = "no running event loop"
_RELATIVE = re.compile(r"\s*from (\.+)([\w.]*) import (.+)")
_PACKAGES = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "jwt": "PyJWT",
    "psycopg2": "psycopg2-binary",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""Modules that lie in a package of another name; that of their own may be a stranger's."""
_TYPING = frozenset(("Annotated", "Any", "Callable", "Literal", "Optional", "TypedDict", "Union"))


def explain(error: BaseException, path: str) -> NoReturn:
    """Raise the user's mistake as one line with its place; with the user's own frames where user code failed.

    Args:
        error: what the import raised.
        path: what was imported, a file or a module.

    Raises:
        UsageError: always, unless `error` is one, an interrupt, or a mistake of ours.
    """
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}" if error.lineno else path  # of a NUL, Python tells none
        shown = f": {clipped(error.text.strip(), _MAX_SHOWN)}" if error.msg == "invalid syntax" and error.text else ""
        raise UsageError(f"{place}: {type(error).__name__}: {error.msg}{shown}") from None
    if isinstance(error, KeyboardInterrupt | UsageError):
        raise error
    shorten(error)
    inner = frames_of(error)[-1:]
    if inner and owner_of(inner[0].tb_frame.f_code.co_filename) == "ours":
        raise error
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if owner_of(frame.filename) == "author"]
    last = frames[-1] if frames else None
    place = path if last is None else f"{last.filename}:{last.lineno}"
    text = str(error) or "no message"
    if isinstance(error, SystemExit):
        hint = _of_exit(error)
        raise UsageError(
            f"{place}: the file ended the program (SystemExit: {text}) before it could be served{hint}"
        ) from None
    if isinstance(error, ImportError | AttributeError) and (hidden := hiding_file(error)):
        raise UsageError(f"{place}: {type(error).__name__}: {text}; {hidden}") from None
    if isinstance(error, ModuleNotFoundError) and error.name:
        file = path if last is None else last.filename
        if error.name.startswith("leanmcp."):  # it has said itself what to import
            raise UsageError(f"{place}: {text}") from None
        said = f"No module named {error.name!r}"
        text = said if text.startswith(said) else text  # some packages tell their history there
        raise UsageError(f"{place}: {text}{_where_is(error.name, file)}") from None
    hint = "" if "; " in text else _hint(error, text, path if last is None else last.filename)
    _close_coroutines(error)
    trace = "".join(traceback.format_list(frames[-_MOST_FRAMES:])) if len(frames) > 1 else ""
    said = f"{place}: {type(error).__name__}: {text}{hint}"
    raise UsageError(said + (f"\n{trace}".rstrip() if trace else "")) from None


def _hint(error: BaseException, text: str, file: str) -> str:
    """Return the end of a sentence that says what to write instead, or nothing."""
    if isinstance(error, ImportError):
        return _of_import(error, text, file)
    if isinstance(error, RuntimeError) and text == _NO_LOOP:
        return "; none runs while a file is loaded: start it in lifespan="
    if hint := _of_surroundings(error):
        return hint
    frame = _last_frame(error)
    if frame is None or frame.tb_next is not None:  # it happened further in
        return ""
    if isinstance(error, NameError) and error.name:
        return _of_name(error.name)
    if isinstance(error, AttributeError) and error.name:
        return _of_attribute(error.obj, error.name, frame)
    if isinstance(error, TypeError) and text.endswith((" is not callable", " is not subscriptable")):
        return _of_use(frame)
    return ""


def told_of_author(error: BaseException) -> str:
    """Return where the author's code raised while it served, and from what; empty for a mistake of ours."""
    frames = [(owner_of(frame.filename), frame) for frame in traceback.extract_tb(error.__traceback__)]
    theirs = [frame for owner, frame in frames if owner == "author"]
    innermost = next((owner for owner, _ in reversed(frames) if owner != "library"), "ours")
    if not theirs or innermost == "ours":
        return ""
    last = theirs[-1]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    told = f"{last.filename}:{last.lineno}: {_said(error)}{_of_surroundings(error)}"
    return told if cause is None else f"{told}\ncaused by {_said(cause)}"


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _of_surroundings(error: BaseException) -> str:
    """Return the end of a sentence about a variable or an input that the program expects, and does not get."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    if isinstance(error, KeyError) and len(error.args) == 1 and last and last[0].filename == "<frozen os>":
        return f"; the variable is not set: export {error.args[0]}, or have the host set it in its `env`"
    if isinstance(error, FileNotFoundError) and isinstance(name := error.filename, str) and not os.path.isabs(name):
        theirs = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        file = next((file for file in reversed(theirs) if owner_of(file) == "author"), "")
        if os.path.exists(os.path.join(os.path.dirname(file), name)):
            here = f"it is looked for in {os.getcwd()}, where the command runs, and stands beside"
            return f"; {here} {os.path.basename(file)}: write Path(__file__).parent / {name!r}"
    if isinstance(error, EOFError) and str(error) == "EOF when reading a line":
        return "; nobody answers input() here: read it from a file or a variable"
    return ""


def _of_exit(error: BaseException) -> str:
    """Return the end of a sentence where the file has read a command line, which is not its own here."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if os.path.join(os.path.dirname(os.__file__), "argparse.py") not in files:
        return ""
    return '; read arguments under `if __name__ == "__main__":`, or put `-- python FILE ...` at the end instead'


# --- imports ----------------------------------------------------------------------------------------------------------


def _of_import(error: ImportError, text: str, file: str) -> str:
    if "no known parent package" in text or "beyond top-level package" in text:
        return f"; {_by_module(error, file)}"
    other = error.path
    if "cannot import name" in text and other and other != file and owner_of(other) == "author":
        running = {os.path.realpath(frame.filename) for frame in traceback.extract_tb(error.__traceback__)}
        if os.path.realpath(other) in running:  # it has not got to the end
            names = f"{os.path.basename(other)} and {os.path.basename(file)}"
            return f"; {names} import each other: define it in a third file, and import it from there in both"
    return _hidden_by_library(error.name, file)


def _hidden_by_library(name: str | None, file: str) -> str:
    """Return the end of a sentence where a neighbour of a file was meant, and Python's own module was there before."""
    own = os.path.join(os.path.dirname(os.path.abspath(file)), f"{name}.py")
    loaded = getattr(sys.modules.get(name or ""), "__file__", None)
    if name not in sys.stdlib_module_names or not os.path.isfile(own) or loaded == own:
        return ""
    return f"; {own} has the name of Python's own module {name!r}, which is loaded: rename it"


def _by_module(error: ImportError, file: str) -> str:
    """Return how to name a file that imports from the package that it lies in, or how to import without one."""
    folder, name = os.path.split(os.path.abspath(file))
    names = [os.path.splitext(name)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        above, name = os.path.split(folder)
        if above == folder:
            break
        folder = above
        names.insert(0, name)
    if len(names) > 1:
        names = names[:-1] if names[-1] == "__init__" else names
        return f"it is a part of a package: in {folder}, name it {'.'.join(names)} instead of by its file"
    said = _RELATIVE.match(_line_of(error))
    instead = "import without the dot"
    if said is not None and len(said[1]) == 1:
        instead = f"write `from {said[2]} import {said[3].strip()}`" if said[2] else f"write `import {said[3].strip()}`"
    return f"{os.path.basename(file)} is in no package, there is no __init__.py beside it: {instead}"


def _where_is(name: str, file: str) -> str:
    """Return where a module is that was not found: another folder, a neighbour of nearly that name, or for pip."""
    package = name.partition(".")[0]
    if package in ROOTS:
        return f"; that is of the official SDK: `leanmcp migrate {file}` changes it, or says what to write"
    if package == "fastmcp":
        return f"; leanmcp does without it: `leanmcp migrate {file}` says what to import of leanmcp instead"
    if package in sys.modules and name != package:
        return f"; {package} is there, and has no module {name.rpartition('.')[2]!r}"
    beside = os.path.dirname(os.path.abspath(file))
    folders, above = [os.getcwd()], beside
    while len(folders) < 4 and (above := os.path.dirname(above)) != os.path.dirname(above):
        folders.append(above)
    for folder in folders:
        if folder == beside or not (found := _module_in(folder, package)):
            continue
        dotted = os.path.splitext(os.path.relpath(file, folder))[0].replace(os.sep, ".")
        if not all(word.isidentifier() for word in dotted.split(".")):
            return f"; {found} is in {folder}, not beside {os.path.basename(file)}: set PYTHONPATH={folder}"
        here = "from here" if folder == os.getcwd() else f"in {folder}"
        return f"; {found} is in {folder}, not beside {os.path.basename(file)}: {here}, name it {dotted}"
    entries = os.listdir(beside) if os.access(beside, os.R_OK) else []
    neighbours = [os.path.splitext(entry)[0] for entry in entries if entry.endswith(".py")]
    near = closest(package, neighbours, cutoff=_ALIKE)
    if near is not None and near != os.path.splitext(os.path.basename(file))[0]:
        return f"; did you mean {near!r}? {near}.py is beside {os.path.basename(file)}"
    package = _PACKAGES.get(package, package)
    return f"; correct the name, or install it where leanmcp is, as in `{sys.executable} -m pip install {package}`"


def _module_in(folder: str, name: str) -> str:
    """Return the file or folder that holds a module, empty where there is none."""
    if os.path.isfile(os.path.join(folder, f"{name}.py")):
        return f"{name}.py"
    if os.path.isfile(os.path.join(folder, name, "__init__.py")):
        return f"{name}{os.sep}"
    return ""


# --- names ------------------------------------------------------------------------------------------------------------


def _of_name(name: str) -> str:
    if name in exported:
        return f"; from leanmcp import {name}"
    if name in _TYPING:
        return f"; from typing import {name}"
    return f"; import {name}" if name in sys.stdlib_module_names else did_you_mean(name, exported)


def _of_attribute(owner: object, name: str, frame: TracebackType) -> str:
    from ..server.app import MCPServer

    if isinstance(owner, FunctionType) and hasattr(MCPServer, name):
        shown = _defined(owner, frame)
        return f"; {shown}, and hides the server of that name: rename one of the two" if shown else ""
    if type(owner).__module__.partition(".")[0] in ROOTS:
        file = frame.tb_frame.f_code.co_filename
        return f"; that is a {type(owner).__name__} of the official SDK: `leanmcp migrate {file}` says what to write"
    if isinstance(owner, ModuleType) and owner.__name__ == "leanmcp":
        return ""  # it has said so itself
    hidden = ""
    if isinstance(owner, ModuleType):
        hidden = _hidden_by_library(owner.__name__, frame.tb_frame.f_code.co_filename)
    return hidden or did_you_mean(name, [one for one in dir(owner) if not one.startswith("_")])


def _of_use(frame: TracebackType) -> str:
    """Return what a thing is that was called, or had brackets behind it, where its name misleads."""
    from ..server.app import MCPServer

    node = _expression(frame)
    node = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    if isinstance(node, ast.Attribute) and isinstance(_value(node.value, frame), MCPServer):
        return "; give it to MCPServer(name, lifespan=function)" if node.attr == "lifespan" else ""
    if node is None:
        return ""
    value, written = _value(node, frame), ast.unparse(node)
    if isinstance(value, FunctionType):
        shown = _defined(value, frame)
        hides = f", and hides Python's own {written}: rename it" if hasattr(builtins, written) else ""
        return f"; {shown}{hides}" if shown else ""
    if isinstance(value, ModuleType):
        member = "MCPServer" if value.__name__ == "leanmcp" else value.__name__.rpartition(".")[2]
        if member == "MCPServer" or callable(getattr(value, member, None)):
            return f"; {written} is a module: write {written}.{member}(...)"
    return ""


def _defined(function: FunctionType, frame: TracebackType) -> str:
    """Return where a function of the user's is defined, that its module has under the function's name."""
    code = function.__code__
    if owner_of(code.co_filename) != "author" or function.__name__ == "<lambda>":
        return ""
    same = code.co_filename == frame.tb_frame.f_code.co_filename
    where = f"line {_def_line(code)}" if same else f"{code.co_filename}:{_def_line(code)}"
    return f"{function.__name__} is the function of {where} here"


def _def_line(code: CodeType) -> int:
    """Return the line of `def`, below the decorators."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return line


# --- the place --------------------------------------------------------------------------------------------------------


def _last_frame(error: BaseException) -> TracebackType | None:
    """Return the author's innermost frame."""
    theirs = (frame for frame in reversed(frames_of(error)) if owner_of(frame.tb_frame.f_code.co_filename) == "author")
    return next(theirs, None)


def _line_of(error: BaseException) -> str:
    frame = _last_frame(error)
    return "" if frame is None else linecache.getline(frame.tb_frame.f_code.co_filename, frame.tb_lineno)


def _expression(frame: TracebackType) -> ast.expr | None:
    """Return the expression that raised, where it stands on one line."""
    code = frame.tb_frame.f_code
    positions = list(code.co_positions())[frame.tb_lasti // 2]
    first, last, start, end = positions
    if first is None or first != last:
        return None
    line = linecache.getline(code.co_filename, first).encode()  # columns are counted in bytes
    try:
        parsed = ast.parse(line[start:end].decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return parsed


def _value(node: ast.expr, frame: TracebackType) -> Any:
    """Return what a name stands for where an exception was raised, None for all other expressions."""
    if not isinstance(node, ast.Name):
        return None
    scope = frame.tb_frame
    for names in (scope.f_locals, scope.f_globals, vars(builtins)):
        if node.id in names:
            return names[node.id]
    return None


def _close_coroutines(error: BaseException) -> None:
    """End the coroutines that wait in the frames of a failure: that nobody awaits them is told as its cause."""
    for frame in frames_of(error):
        for value in list(frame.tb_frame.f_locals.values()):
            if inspect.iscoroutine(value):
                value.close()
