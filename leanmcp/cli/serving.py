"""`leanmcp run`: serve the server in a file."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .faults import OK, UsageError
from .options import Parser

TRANSPORTS = ("stdio", "http", "streamable-http")

_DEFAULTS: dict[str, Any] = {"host": "127.0.0.1", "port": 8000, "path": "/mcp"}
_OF_HTTP = ("host", "port", "path", "allowed_host", "allowed_origin", "cors", "ssl_cert", "ssl_key")


_EPILOG = """\
examples:
  leanmcp run server.py                                   on stdio, as a host starts it
  leanmcp run server.py --http --port 8000                on http://127.0.0.1:8000/mcp
  leanmcp run server.py:mcp --http --reload
  leanmcp run server.py --http --host 0.0.0.0 --allowed-host mcp.example.com

On stdio, standard output belongs to the protocol; on HTTP nothing is printed there. All else goes to standard error.

exit codes:
  0    the server has ended: end of input, SIGTERM
  1    the address cannot be bound, or the server failed
  2    a mistake on the command line or in the file
  130  interrupted (Ctrl-C)
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("target", metavar="FILE[:OBJECT]", help="Python file, and the server in it if it has several")
    parser.add_argument("--transport", metavar="NAME", help="stdio (the default), http or streamable-http")
    parser.add_argument("--http", action="store_true", help="serve Streamable HTTP instead of stdio")
    parser.add_argument(
        "--reload", action="store_true", help="restart when a Python file is saved that the server has imported"
    )
    parser.add_argument(
        "--reload-dir",
        action="append",
        default=[],
        metavar="FOLDER",
        help="watch what it imports from there, too; the file's own folder is watched always",
    )
    parser.add_argument("--host", help="address to bind (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="TCP port, 0 for a free one (default: 8000)")
    parser.add_argument("--path", help="path of the endpoint (default: /mcp)")
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME", help="a public name of this server"
    )
    parser.add_argument(
        "--allowed-origin", action="append", default=[], metavar="URL", help="a web page that may call it"
    )
    parser.add_argument(
        "--cors", action="store_true", help="answer the preflight requests of web pages that may call it"
    )
    parser.add_argument("--uds", metavar="PATH", help="serve on a Unix socket instead of a port")
    parser.add_argument("--fd", type=int, metavar="N", help="serve on a socket that listens already, descriptor N")
    parser.add_argument("--ssl-cert", metavar="FILE", help="certificate chain, for TLS")
    parser.add_argument("--ssl-key", metavar="FILE", help="its key")


def run(options: argparse.Namespace) -> int:
    """Serve until the server ends."""
    if options.target.lower().startswith(("http://", "https://")):
        raise UsageError(
            f"{options.target!r} is no Python file: `run` serves one; `leanmcp list {options.target}` talks to a server"
        )
    http = _is_http(options)
    if not http:
        for name in _OF_HTTP:  # also where it is given what holds without it
            if getattr(options, name) not in (None, False, []):
                raise UsageError(f"--{name.replace('_', '-')} is an option of HTTP: add --http")
    elif (options.ssl_cert is None) != (options.ssl_key is None):
        raise UsageError("TLS needs both --ssl-cert and --ssl-key")
    if options.reload or options.reload_dir:
        if not hasattr(os, "fork"):
            raise UsageError("--reload needs a system that can fork; run without it")
        from .reloading import supervise

        return supervise(options, http)
    from .loading import load

    if http:
        given = http_options(options)
    else:
        from ..transports.standard_streams import StandardStreams

        # Before the file is imported: what it prints at its top level must not reach the protocol either.
        given = {"_streams": StandardStreams()}
    server = load(options.target, options.prog)
    from ..run import run as serve

    serve(server, "http" if http else "stdio", **given)
    return OK


def _is_http(options: argparse.Namespace) -> bool:
    implied = options.http or options.uds is not None or options.fd is not None
    if options.transport is None:
        return bool(implied)
    if options.transport not in TRANSPORTS:
        from ..run_mistakes import unknown  # of mistakes only

        raise UsageError(unknown("transport", options.transport, TRANSPORTS))
    if options.transport == "stdio" and implied:
        raise UsageError("--transport stdio and an option of HTTP; leave out one of them")
    return bool(options.transport != "stdio")


def http_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a command line under the names that `MCPServer.run` has for them."""
    given = {name: getattr(options, name) for name in _DEFAULTS}
    return {
        **{name: _DEFAULTS[name] if value is None else value for name, value in given.items()},
        "uds": options.uds,
        "fd": options.fd,
        "ssl": None if options.ssl_cert is None else (options.ssl_cert, options.ssl_key),
        "allowed_hosts": options.allowed_host,
        "allowed_origins": options.allowed_origin,
        "cors": options.cors,
    }
