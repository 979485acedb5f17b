"""The user's file: imported, and the server in it.

In: `FILE`, `FILE:OBJECT` or `MODULE:OBJECT`. Out: an MCPServer, or the user's mistake as one line with its place.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from .faults import UsageError, no_file, proposal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..server.app import MCPServer


class _NotFound(UsageError):
    """There is no such file or module."""


def load(target: str, prog: str = "", others: Sequence[str] = (), known: Sequence[str] = ()) -> MCPServer:
    """Return the server that `FILE`, `FILE:OBJECT` or `MODULE:OBJECT` names.

    Args:
        target: the name.
        prog, others, known: of the command line that has it, see `misplaced.meant_target`.

    Raises:
        UsageError: no such file or object, or the file does not run.
    """
    try:
        return _load(target)
    except _NotFound as fault:
        from .misplaced import meant_target  # of mistakes only

        told = meant_target(prog, [target, *others], known) if prog else ""
        raise UsageError(told or str(fault)) from None


def _load(target: str) -> MCPServer:
    path, name = _split_target(target)
    module = _import(path)
    from ..server.app import MCPServer

    servers = {key: value for key, value in vars(module).items() if isinstance(value, MCPServer)}
    if name is not None:
        if not hasattr(module, name):
            hint = proposal(name, list(servers)) or f'; write `{name} = MCPServer("name")` at its top level'
            raise UsageError(f"no object {name!r} in {path}{hint}")
        found = getattr(module, name)
        if not isinstance(found, MCPServer):
            from .loading_kinds import no_server  # of mistakes only

            raise UsageError(f"{name!r} in {path} is {no_server(path, name, found, servers)}")
        return found
    distinct = {id(server): server for server in servers.values()}
    if not distinct:
        from .loading_kinds import none_found

        raise UsageError(none_found(path, vars(module)))
    if len(distinct) > 1:
        raise UsageError(f"several servers in {path}; choose one: {', '.join(f'{path}:{key}' for key in servers)}")
    return next(iter(distinct.values()))


def _split_target(target: str) -> tuple[str, str | None]:
    if os.path.isfile(target):
        return target, None
    path, colon, name = target.rpartition(":")
    if name.endswith(")") and name.partition("(")[0].isidentifier() and os.path.exists(path):
        raise UsageError(f"{name!r} is a call, not an MCPServer; write `mcp = {name}` in {path}, and name {path}:mcp")
    if not colon or not name.isidentifier():
        return target, None
    return path, name


def _import(path: str) -> Any:
    import importlib.util

    if os.path.isdir(path):
        name = os.path.basename(os.path.normpath(path))
        if not name.isidentifier() or not os.path.isfile(os.path.join(path, "__init__.py")):
            raise UsageError(f"{path!r} is a folder; name a Python file in it")
        return _import_module(name, os.path.dirname(os.path.abspath(path)))
    if not os.path.isfile(path):
        if path.replace(".", "").isidentifier() and not path.lower().endswith((".py", ".pyc")):
            return _import_module(path)
        raise _NotFound(str(no_file(path)))
    full = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(os.path.realpath(full)))  # as Python does, of a link
    name = os.path.splitext(os.path.basename(full))[0]
    if name in sys.modules or name in sys.stdlib_module_names or not name.isidentifier():
        name = "leanmcp_server_file"
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise _NotFound(f"{path!r} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _no_serving(full), _as_program(full):
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            from .loading_faults import explain

            explain(error, full)
    _warn_hiding(os.path.dirname(full))
    return module


@contextlib.contextmanager
def _as_program(path: str) -> Iterator[None]:
    """Let a file see itself in `sys.argv`, as a program without arguments does, and not the words of our command."""
    words, sys.argv = sys.argv, [path]
    try:
        yield
    finally:
        sys.argv = words


def _warn_hiding(folder: str) -> None:
    """Warn of a file that works here, where Python's modules were loaded before, and breaks `python server.py`."""
    from ..hidden import hiding_beside

    file, said = hiding_beside(folder)
    if said:
        from ..logs import logger

        logger.warning("%s [LM632]", said, extra={"about": file})


@contextlib.contextmanager
def _no_serving(path: str) -> Iterator[None]:
    """Refuse `mcp.run()` at the top level of a file that is being loaded: it would serve there and never return."""
    from ..server.app import MCPServer

    def refuse(self: MCPServer, transport: str = "stdio", *unnamed: object, **options: Any) -> None:
        raise UsageError(f'{path}: it calls run() while it is loaded; put that under `if __name__ == "__main__":`')

    serve, MCPServer.run = MCPServer.run, refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        MCPServer.run = serve  # type: ignore[method-assign]


def _import_module(name: str, folder: str = "") -> Any:
    """Import a module by name, of `folder` or of the working folder."""
    import importlib

    sys.path.insert(0, folder)
    with _no_serving(name), _as_program(name):
        try:
            module = importlib.import_module(name)
        except BaseException as error:
            if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
                raise _NotFound(f"no file and no module {name!r} ({error})") from None
            from .loading_faults import explain

            explain(error, name)
    _warn_hiding(folder or ".")
    return module
