"""A file without a server: what it has instead, and how that becomes one.

In: the names of a module. Out: a sentence. Imported where no MCPServer was found.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

from ..server.app import MCPServer


def no_server(path: str, name: str, found: object, servers: Mapping[str, MCPServer]) -> str:
    """Return what an object is that was named as the server, and what to write instead.

    Args:
        path: what was loaded.
        name: of the object.
        found: the object.
        servers: those of the module by name.
    """
    if any(tool.name == name for server in servers.values() for tool in server.tools):
        return f"a tool, not an MCPServer; call it with `leanmcp call {path} {name} ...`"
    said = f"of type {type(found).__name__}, not an MCPServer"
    if inspect.isclass(found) and issubclass(found, MCPServer):
        return f'the class {found.__name__}, not an MCPServer; call it there, `mcp = {name}("name")`'
    if callable(found):
        return f"{said}; call it there, `mcp = {name}()`, and name what it returns"
    key = next(iter(servers), None)
    return f'{said}; write `{name} = MCPServer("name")` there' if key is None else f"{said}; there is {path}:{key}"


def none_found(path: str, names: Mapping[str, Any]) -> str:
    """Return what to say of a file that has no MCPServer at its top level.

    Args:
        path: what was loaded.
        names: the names of its module.
    """
    said = f"no MCPServer in {path}; "
    own = {name: value for name, value in names.items() if not name.startswith("__")}
    for name, value in own.items():
        if inspect.iscoroutine(value):
            value.close()
            return f"{said}{name} is a coroutine, for {value.__qualname__}() is `async def`: write it with `def`"
        if inspect.isclass(value) and issubclass(value, MCPServer) and name != value.__name__:
            return f'{said}{name} is the class {value.__name__}: call it, `{name} = {value.__name__}("name")`'
    for name, value in own.items():
        home = "" if inspect.isclass(value) else type(value).__module__.partition(".")[0]
        kind = type(value).__name__
        if home == "mcp" and kind in ("FastMCP", "MCPServer", "Server"):
            shown = f"`leanmcp migrate {path}` changes it" if os.path.isfile(path) else "`leanmcp migrate` changes it"
            return f"{said}{name} is a {kind} of the official SDK: {shown}"
        if home == "fastmcp" and kind == "FastMCP":
            return f'{said}{name} is a FastMCP of the package fastmcp: write `{name} = MCPServer("name")`'
    for name, value in own.items():
        if made := _makes(name, value):
            return f"{said}{made} at its top level"
    if any(inspect.isclass(value) and value.__module__.startswith("leanmcp.client.") for value in own.values()):
        return f"{said}it is a client, which `python {path}` runs"
    return f'{said}write `mcp = MCPServer("name")` at its top level'


def _makes(name: str, value: Any) -> str:
    """Return how to take the server out of what makes or holds one, empty where nothing does."""
    held = vars(value) if inspect.isclass(value) else value if isinstance(value, dict) else {}
    for key, inner in held.items():
        if isinstance(inner, MCPServer):
            taken = f"{name}.{key}" if inspect.isclass(value) else f"{name}[{key!r}]"
            return f"{taken} is one: write `mcp = {taken}`"
    if not inspect.isfunction(value) or value.__module__ == MCPServer.__module__:
        return ""
    promised = value.__annotations__.get("return")
    if "MCPServer" not in value.__code__.co_names and promised not in (MCPServer, "MCPServer"):
        return ""
    if inspect.iscoroutinefunction(value):
        return f"{name}() makes one, but is `async def`: write it with `def`, and `mcp = {name}()`"
    wanted = ", ".join(name for name, one in inspect.signature(value).parameters.items() if one.default is one.empty)
    return f"{name}() makes one: write `mcp = {name}({wanted})`"
