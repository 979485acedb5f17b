"""What is said of a transport or an option of `run()` that there is not; loaded by mistakes only.

In: what was given. Out: the text of the exception.
"""

from __future__ import annotations

from collections.abc import Iterable

from .elsewhere import PROTECTED
from .mistyped import did_you_mean

_NO_SSE = "there is no HTTP+SSE transport; the path of the endpoint is path="
_PAIR = "give the paths of certificate chain and key, ssl=(chain, key)"
_TLS = ("certfile", "keyfile", "ssl_cert", "ssl_certfile", "ssl_context", "ssl_key", "ssl_keyfile", "tls")
_NOT_HERE = {
    **dict.fromkeys(_TLS, _PAIR),
    **dict.fromkeys(("auth", "auth_server_provider", "token_verifier"), PROTECTED),
    **dict.fromkeys(("message_path", "mount_path", "sse_path"), _NO_SSE),
    **dict.fromkeys(("sock", "socket"), "give the descriptor of a socket that listens, fd=sock.fileno()"),
    **dict.fromkeys(("http", "loop", "uvicorn_config"), "leave it out; no other server runs below this one"),
    **dict.fromkeys(("address", "bind", "hostname"), "it is host="),
    **dict.fromkeys(("endpoint", "prefix", "url"), "the path of the endpoint is path=, its address host= and port="),
    **dict.fromkeys(("lifespan", "name", "version"), "give it to MCPServer(...)"),
    **dict.fromkeys(("mode", "transports"), "the transport comes first, run('http')"),
    **dict.fromkeys(("threads", "max_connections"), "give MCPServer(limits=Limits({}=...))"),
    "timeout": "give it to each tool, @mcp.tool(timeout=...)",
    "access_log": "leave it out; there is none",
    "debug": "errors and their tracebacks are logged always",
    "event_store": "leave it out; streams of 2026-07-28 are not resumed",
    "limits": "give it to MCPServer(limits=Limits(...))",
    **dict.fromkeys(
        ("log", "log_level", "logger", "loglevel"), "set it with logging.getLogger('leanmcp').setLevel(...)"
    ),
    "middleware": "give it to MCPServer(middleware=[...])",
    "reload": "the command reloads: leanmcp run server.py --http --reload",
    **dict.fromkeys(("banner", "no_banner", "show_banner"), "leave it out; one line is printed"),
    "stateless": "leave it out; it always is",
    "timeout_keep_alive": "give MCPServer(limits=Limits(keep_alive_timeout=...))",
    "transport_security": "give allowed_hosts=[...], allowed_origins=[...]",
    **dict.fromkeys(("processes", "workers"), "a server is one process; start several behind a proxy"),
}
"""Options of other servers: what there is in their place."""


def instead(option: str) -> str:
    """Return what to do in place of an option that there is not, empty where nobody knows."""
    return _NOT_HERE.get(option, "").format(option)


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return what is said of a name that is none of `known`."""
    known = list(known)
    if kind == "option" and (told := instead(str(name))):
        return f"unknown option {name!r}; {told}"
    if kind == "transport" and str(name).lower() in ("sse", "http+sse"):
        return f"unknown transport {name!r}; HTTP+SSE is not served, its successor is 'http'"
    hint = did_you_mean(str(name), known) or f"; there is {', '.join(map(repr, known))}"
    return f"unknown {kind} {name!r}{hint}"


def unnamed(value: object) -> str:
    """Return what is said of a value behind the transport that has no name."""
    name = "port" if isinstance(value, int) else "path" if str(value).startswith("/") else "host"
    return f"run: an option has no name; write {name}={value!r}"
