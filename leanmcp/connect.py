"""From what a user calls a server to the transport that reaches it.

In: an MCPServer, a URL, `unix:/path`, StdioServerParameters, or a transport. Out: a transport, not started.
Spec 2026-07-28: basic/transports/index.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal

from .parameters import StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .client.transport import Transport
    from .transports.http_client import Auth

Kind = Literal["url", "command", "transport", "server", "unknown"]
"""How a client reaches what it is given: over HTTP, as a child process, as it says itself, or in this process."""

_HTTP_IS_AWAY = {
    "command": "a child process is reached without HTTP; hand secrets to it as StdioServerParameters(env={...})",
    "transport": "a transport made by hand takes that itself, as in HTTPTransport(url, headers=..., auth=...)",
    "server": "a server in this process is reached without HTTP; leave it out",
}
_SERVER_IS_AWAY = {
    "url": "what a function raises in another process stays there; leave it out",
    "command": "what a function raises in another process stays there; leave it out",
    "transport": "a transport made by hand takes that itself; give the MCPServer to the client instead",
}


def kind_of(server: Any) -> Kind:
    """Return how a server is reached."""
    if isinstance(server, str):
        return "url"
    if isinstance(server, StdioServerParameters):
        return "command"
    if callable(getattr(server, "request", None)) and callable(getattr(server, "start", None)):
        return "transport"
    from .server.app import MCPServer  # loaded already where it is one

    return "server" if isinstance(server, MCPServer) else "unknown"


def check_target(
    server: Any,
    *,
    headers: Mapping[str, str] | None = None,
    auth: Auth | None = None,
    raise_exceptions: bool = False,
    label: str = "",
) -> None:
    """Refuse the options of a client that would be dropped, because its server is reached in another way.

    Args:
        server, headers, auth, raise_exceptions: as `transport_to`.
        label: what the program calls the server, for the error text.

    Raises:
        TypeError: there is such an option; the text says what to do instead.
    """
    kind = kind_of(server)
    for name, is_given, reasons in (
        ("headers", bool(headers), _HTTP_IS_AWAY),
        ("auth", auth is not None, _HTTP_IS_AWAY),
        ("raise_exceptions", raise_exceptions, _SERVER_IS_AWAY),
    ):
        if is_given and kind in reasons:
            shown = "<URL>" if kind == "url" else f"<{type(server).__name__}>"
            called = f", label={label!r}" if label else ""
            raise TypeError(f"Client({shown}{called}, {name}=...): {reasons[kind]}")


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
        TypeError: nothing that a client can reach, or an option that this way has no use for.
        ValueError: a text that is no URL.
    """
    check_target(server, headers=headers, auth=auth, raise_exceptions=raise_exceptions)
    kind = kind_of(server)
    if kind == "url":
        if hint := _command_in(server):
            raise TypeError(f"Client({server!r}): a URL is expected of a text; to start a server, give {hint}")
        return _http(server, headers, auth)
    if kind == "command":
        from .transports.stdio_client import StdioTransport

        return StdioTransport(server)
    if kind == "transport":
        made: Transport = server
        return made
    if kind == "server":
        from .in_process import InProcess

        return InProcess(server, raise_exceptions)
    raise _no_server(server)


def _no_server(server: Any) -> TypeError:
    """Return the error of what no client can reach, which says what was probably meant."""
    if isinstance(server, list | tuple) and server and all(isinstance(word, str) for word in server):
        return TypeError(f"Client({server!r}): to start a server, give {_parameters(*server)}")
    if isinstance(server, os.PathLike):
        return TypeError(f"Client({server!r}): to start a server, give {_parameters(*_started_by(os.fspath(server)))}")
    if type(server).__name__ == "StdioServerParameters":
        return TypeError("Client(StdioServerParameters(...)): this class is another package's; import it from leanmcp")
    if isinstance(server, dict):  # of mcp.json, and not as a whole: settings hold keys
        return TypeError(f"Client(<dict>): {_entry(server)}")
    if isinstance(server, type):
        return TypeError(f"Client({server.__name__}): give an MCPServer, a URL or parameters, not the class; call it")
    shown = repr(server) if server is None or isinstance(server, int | float | bytes) else f"<{type(server).__name__}>"
    return TypeError(f"Client({shown}): give an MCPServer, a URL, StdioServerParameters or 'unix:/path'")


def _entry(settings: dict[Any, Any]) -> str:
    """Return what to give instead of settings as they stand in mcp.json."""
    if "command" in settings:
        return "to start a server, give StdioServerParameters(command=..., args=[...], env={...})"
    if "url" in settings:
        return "a URL is expected, not settings with one: Client(url, headers={...})"
    return (
        "several servers are a ClientGroup, by label: ClientGroup({'books': 'https://books.example.com/mcp', "
        "'films': StdioServerParameters(command='python', args=['films.py'])})"
    )


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
    from .transports.http_client import HTTPTransport  # brings ssl, which other transports do without

    url, uds = address, ""
    if address.startswith("unix:"):
        url, uds = "http://localhost/mcp", address.removeprefix("unix:").removeprefix("//")
        if not uds.startswith("/"):
            raise ValueError(f"{address!r}: give the absolute path of a Unix socket, such as 'unix:/run/mcp.sock'")
    return HTTPTransport(url, headers=headers, auth=auth, uds=uds, user_agent=f"leanmcp/{__version__}")
