"""The user's file: imported, and the server in it.

In: `FILE`, `FILE:OBJECT` or `MODULE:OBJECT`. Out: an MCPServer, or the user's mistake as one line with its place.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from .faults import UsageError, proposal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..server.app import MCPServer


def load(target: str) -> MCPServer:
    """Return the server that `FILE`, `FILE:OBJECT` or `MODULE:OBJECT` names.

    Raises:
        UsageError: no such file or object, or the file does not run.
    """
    path, name = _split_target(target)
    module = _import(path)
    from ..server.app import MCPServer

    servers = {key: value for key, value in vars(module).items() if isinstance(value, MCPServer)}
    if name is not None:
        if not hasattr(module, name):
            raise UsageError(f"no object {name!r} in {path}{proposal(name, list(servers))}")
        found = getattr(module, name)
        if not isinstance(found, MCPServer):
            raise UsageError(f"{name!r} in {path} is a {type(found).__name__}, not an MCPServer")
        return found
    distinct = {id(server): server for server in servers.values()}
    if not distinct:
        raise UsageError(f'no MCPServer in {path}; write `mcp = MCPServer("name")` at its top level')
    if len(distinct) > 1:
        raise UsageError(f"several servers in {path}; choose one: {', '.join(f'{path}:{key}' for key in servers)}")
    return next(iter(distinct.values()))


def _split_target(target: str) -> tuple[str, str | None]:
    if os.path.isfile(target):
        return target, None
    path, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        return target, None
    return path, name


def _import(path: str) -> Any:
    import importlib.util

    if os.path.isdir(path):
        raise UsageError(f"{path!r} is a folder; name a Python file in it")
    if not os.path.isfile(path):
        if path.replace(".", "").isidentifier() and not path.endswith(".py"):
            return _import_module(path)
        folder = os.path.dirname(path) or "."
        names = [entry for entry in os.listdir(folder) if entry.endswith(".py")] if os.path.isdir(folder) else []
        raise UsageError(f"no file {path!r}{proposal(os.path.basename(path), names)}")
    full = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(full))
    name = os.path.splitext(os.path.basename(full))[0]
    if name in sys.modules or not name.isidentifier():
        name = "leanmcp_server_file"
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path!r} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _no_serving(full):
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            _explain_import(error, full)
    return module


@contextlib.contextmanager
def _no_serving(path: str) -> Iterator[None]:
    """Refuse `mcp.run()` at the top level of a file that is being loaded: it would serve there and never return."""
    from ..server.app import MCPServer

    def refuse(self: MCPServer, transport: str = "stdio", **options: Any) -> None:
        raise UsageError(f'{path}: it calls run() while it is loaded; put that under `if __name__ == "__main__":`')

    serve, MCPServer.run = MCPServer.run, refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        MCPServer.run = serve  # type: ignore[method-assign]


def _import_module(name: str) -> Any:
    import importlib

    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(f"no file and no module {name!r} ({error})") from None
    except BaseException as error:
        _explain_import(error, name)


def _explain_import(error: BaseException, path: str) -> NoReturn:
    """Raise the user's mistake as one line with its place; with the user's own frames where user code failed."""
    import traceback

    if isinstance(error, SyntaxError):
        raise UsageError(f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}") from None
    if isinstance(error, KeyboardInterrupt | UsageError):
        raise error
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((package, "<frozen"))
    ]
    place = next((f"{frame.filename}:{frame.lineno}" for frame in reversed(frames)), path)
    text = str(error) or "no message"
    if isinstance(error, SystemExit):
        raise UsageError(
            f"{place}: the file ended the program (SystemExit: {text}) before it could be served"
        ) from None
    trace = "".join(traceback.format_list(frames[-5:])) if len(frames) > 1 else ""
    raise UsageError(f"{place}: {type(error).__name__}: {text}" + (f"\n{trace}".rstrip() if trace else "")) from None
