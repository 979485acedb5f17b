"""From what a user calls a server to the transport that reaches it.

In: an MCPServer, a URL, `unix:/path`, StdioServerParameters, or a transport. Out: a transport, not started.
Spec 2026-07-28: basic/transports/index.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from .parameters import StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .client.transport import Transport
    from .transports.http_client import Auth


def transport_to(
    server: Any,
    *,
    headers: Mapping[str, str] | None = None,
    auth: Auth | None = None,
    raise_exceptions: bool = False,
) -> Transport:
    """Return the transport to a server, not started.

    Args:
        server: an MCPServer, an `http(s)://` URL, StdioServerParameters, `unix:/path` (HTTP over a Unix socket), or a
            transport made by hand, for limits and certificates of its own.
        headers: sent with every HTTP request.
        auth: supplies HTTP headers that change.
        raise_exceptions: of an MCPServer, raise what its functions raise by mistake.

    Raises:
        TypeError: nothing that a client can reach.
        ValueError: a text that is no URL.
    """
    if isinstance(server, str):
        if hint := _command_in(server):
            raise TypeError(f"Client({server!r}): a URL is expected of a text; to start a server, give {hint}")
        return _http(server, headers, auth)
    if isinstance(server, StdioServerParameters):
        from .transports.stdio_client import StdioTransport

        return StdioTransport(server)
    if callable(getattr(server, "request", None)) and callable(getattr(server, "start", None)):
        made: Transport = server
        return made
    from .server.app import MCPServer

    if isinstance(server, MCPServer):
        from .in_process import InProcess

        return InProcess(server, raise_exceptions)
    if isinstance(server, list | tuple) and server and all(isinstance(word, str) for word in server):
        raise TypeError(f"Client({server!r}): to start a server, give {_parameters(*server)}")
    if isinstance(server, os.PathLike):
        raise TypeError(f"Client({server!r}): to start a server, give {_parameters(*_started_by(os.fspath(server)))}")
    if type(server).__name__ == "StdioServerParameters":
        raise TypeError("Client(StdioServerParameters(...)): this class is another package's; import it from leanmcp")
    # Not as a whole: settings hold keys.
    shown = repr(server) if server is None or isinstance(server, int | float | bytes) else f"<{type(server).__name__}>"
    raise TypeError(f"Client({shown}): give an MCPServer, a URL, StdioServerParameters or 'unix:/path'")


def _command_in(text: str) -> str:
    """Return the parameters that start what `text` names, empty where it names a file or a command least of all."""
    if "://" in text or text.startswith("unix:"):
        return ""
    words = text.split()
    if len(words) > 1 and re.fullmatch(r"[\w./~+-]+", words[0]):
        return f"StdioServerParameters.from_command({text!r})"
    if text.endswith(_SCRIPTS) or text.startswith(("./", "../", "/", "~")):
        return _parameters(*_started_by(text))
    return ""


_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".exe", ".jar")


def _started_by(path: str) -> list[str]:
    """Return the command that runs a file."""
    program = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".jar": "java"}
    runner = program.get(os.path.splitext(path)[1])
    return [path] if runner is None else [runner, *(["-jar"] if runner == "java" else []), path]


def _parameters(command: str, *args: str) -> str:
    return f"StdioServerParameters(command={command!r}{f', args={list(args)!r}' if args else ''})"


def _http(address: str, headers: Mapping[str, str] | None, auth: Auth | None) -> Transport:
    from . import __version__
    from .transports.http_client import HTTPTransport  # brings h11 and ssl, which other transports do without

    url, uds = address, ""
    if address.startswith("unix:"):
        url, uds = "http://localhost/mcp", address.removeprefix("unix:").removeprefix("//")
        if not uds.startswith("/"):
            raise ValueError(f"{address!r}: give the absolute path of a Unix socket, such as 'unix:/run/mcp.sock'")
    return HTTPTransport(url, headers=headers, auth=auth, uds=uds, user_agent=f"leanmcp/{__version__}")
