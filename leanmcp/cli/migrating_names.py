"""Names of the official Python SDK, and what stands for them here.

In: a module of `mcp` and a name in it, of version 1 or 2. Out: the module of leanmcp that has it, as its `__all__` says
when the command runs; or what to do instead, as "elsewhere" has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from ..elsewhere import INSTEAD_OF_MODULES, INSTEAD_OF_NAMES, RENAMED, ROOTS, instead_of_name
from ..mistyped import did_you_mean

_V1 = "mcp.server.fastmcp"  # what version 2 calls mcp.server.mcpserver

HOMES: dict[str, tuple[str, ...]] = {
    "mcp": ("leanmcp", "leanmcp.types"),
    "mcp.client": ("leanmcp.client", "leanmcp"),
    "mcp.client.auth": ("leanmcp.oauth",),
    "mcp.client.stdio": ("leanmcp",),
    "mcp.client.subscriptions": ("leanmcp.client",),
    "mcp.server": ("leanmcp.server",),
    "mcp.server.auth": (),
    "mcp.server.elicitation": ("leanmcp.elicit",),
    "mcp.server.lowlevel": (),
    "mcp.server.mcpserver": ("leanmcp", "leanmcp.server", "leanmcp.elicit", "leanmcp.types"),
    "mcp.server.mcpserver.prompts": ("leanmcp", "leanmcp.server"),
    "mcp.server.mcpserver.prompts.base": ("leanmcp.server",),
    "mcp.server.mcpserver.resources": ("leanmcp.server",),
    "mcp.server.mcpserver.tools": (),
    "mcp.server.runner": (),
    "mcp.server.subscriptions": ("leanmcp.server.subscriptions",),
    "mcp.shared": (),
    "mcp.shared.auth": ("leanmcp.oauth",),
    "mcp.shared.exceptions": ("leanmcp", "leanmcp.errors"),
    "mcp.shared.subscriptions": ("leanmcp.client",),
    "mcp.types": ("leanmcp.types",),
    "mcp_types": ("leanmcp.types",),
}
"""Where the names of a module, and of those below it, are looked for; the first one stands for the module itself."""

_MOVED = {
    ("mcp.types", "CallToolRequestParams"): "leanmcp.server",
    ("mcp_types", "CallToolRequestParams"): "leanmcp.server",
}

DIFFERENCES = (
    "Types are msgspec Structs, not pydantic models: `msgspec.to_builtins(result)` for `model_dump()`. Constructors "
    "take `mime_type` and `mimeType`; what is read is `mime_type`.",
    "URIs are strings, where version 1 of the official SDK had `AnyUrl`.",
    'Arguments that a tool does not have are refused; `extra_args="ignore"` drops them.',
    "Every parameter of a tool is annotated; a signature that cannot be published is refused where it is registered.",
    "A name or URI that is taken is refused where it is registered; `replace=True` takes its place.",
    "An unknown tool raises `MCPError` (-32602) at the client; a tool that failed is `result.is_error`, as there.",
    "`structured_content` is None where there is none and where it is null; `result.has_structured_content` tells.",
    "A content block of an unknown type is a plain dict.",
    "`tools()`, `prompts()` and `resources()` of a client walk through all pages; `list_tools()` returns one.",
    "`listen` is entered: `async with client.listen(...) as changes: async for event in changes: ...`.",
    "Changes are told to clients that listen, not to whoever is connected.",
    "A client waits 60 seconds for an answer; `read_timeout_seconds=None` waits for ever.",
    "`MCPError(code, message, data)` is made of three values; `caught.error.code` and `caught.code` are the same.",
    "Servers speak 2026-07-28 only, clients 2025-11-25 and 2025-06-18 too. There is no HTTP+SSE transport.",
    "`MCPServer(name, title, ...)`: the second value is the title, where version 1 had `instructions`.",
    "`ctx.info(...)` and its like, `ctx.session` and `mcp.get_context()` are not there: clients get no log messages; a "
    "tool annotates a parameter with `Context`.",
    "`mcp.settings`, `mcp.custom_route` and `mcp.streamable_http_app()` are not there: options are given to `run`, "
    "other pages and ASGI applications are served beside it.",
    'Host, port and path are given to `mcp.run("http", ...)`, not to the constructor. Only loopback names are served '
    "until `allowed_hosts=` names others.",
    "The text of an exception that is no `ToolError` stays in the log; the client gets its id.",
    "A `def` tool runs in a thread, as there; `print` goes to standard error on stdio.",
    "Commands: `leanmcp run server.py` for `mcp run`, `leanmcp call server.py ...` to try a tool, as `mcp dev` does.",
)
"""What behaves differently although its name is the same, or has no name."""


class Home(NamedTuple):
    """Where a name of the official SDK is here.

    Args:
        module: of leanmcp.
        name: in it.
    """

    module: str
    name: str


def is_official(module: str | None) -> bool:
    """Return whether a module belongs to the official SDK, or would where a search has put our name in front of it."""
    if module is None or not module.startswith("leanmcp."):
        return module is not None and module.partition(".")[0] in ROOTS
    try:
        find_spec(module)
    except ModuleNotFoundError:
        return True
    return False


def homes_of(module: str) -> tuple[str, ...]:
    """Return where the names of a module are looked for."""
    path = _plain(module)
    while path and path not in HOMES:
        path = path.rpartition(".")[0]
    return HOMES.get(path, ())


def candidates(module: str, name: str) -> list[Home]:
    """Return where a name is, the usual place first; nothing where leanmcp has no such thing."""
    moved = _MOVED.get((module, name))
    ours = RENAMED.get(name, name)
    return [
        Home(home, ours) for home in ((moved,) if moved else homes_of(module)) if ours in import_module(home).__all__
    ]


def module_home(module: str) -> str | None:
    """Return the module that stands for one as a whole, None where there is none."""
    homes = HOMES.get(_plain(module), ())
    return homes[0] if homes else None


def is_module(path: str) -> bool:
    """Return whether a dotted path is a module that we know."""
    return _plain(path) in HOMES


def instead(module: str, name: str) -> str:
    """Return what to do instead of a name that leanmcp does not have."""
    told = instead_of_name(name)
    if name in INSTEAD_OF_NAMES:
        return told
    path = f"{_plain(module)}.{name}"
    while path := path.rpartition(".")[0]:
        if path in INSTEAD_OF_MODULES:
            return INSTEAD_OF_MODULES[path]
    from ..types import __all__ as types

    return told or f"leanmcp has nothing of that name{did_you_mean(name, types)}"


def instead_of_fastmcp(names: Iterable[str]) -> str:
    """Return what to write instead of an import of FastMCP 2.

    Args:
        names: what is imported, or modules.
    """
    from .. import __all__ as ours

    meant = [RENAMED.get(name, name) for name in names]
    known = [name for name in meant if name in ours] or ["MCPServer"]
    return f"FastMCP 2 is not the official SDK: change it by hand, to `from leanmcp import {', '.join(known)}`"


def _plain(module: str) -> str:
    module = module.removeprefix("lean")
    return module.replace(_V1, "mcp.server.mcpserver", 1) if module.startswith(_V1) else module
