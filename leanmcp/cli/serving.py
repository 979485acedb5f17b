"""`leanmcp run`: serve the server in a file."""

from __future__ import annotations

import argparse

from .faults import OK, UsageError
from .options import Parser

_HTTP_DEFAULTS: dict[str, object] = {
    "host": "127.0.0.1",
    "port": 8000,
    "path": "/mcp",
    "allowed_host": [],
    "allowed_origin": [],
    "cors": False,
    "ssl_cert": None,
    "ssl_key": None,
}


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("target", metavar="FILE[:OBJECT]", help="Python file, and the server in it if it has several")
    parser.add_argument("--http", action="store_true", help="serve Streamable HTTP instead of stdio")
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="TCP port, 0 for a free one (default: %(default)s)")
    parser.add_argument("--path", default="/mcp", help="path of the endpoint (default: %(default)s)")
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
    from .loading import load

    http = options.http or options.uds is not None or options.fd is not None
    if not http:
        for name, default in _HTTP_DEFAULTS.items():
            if getattr(options, name) != default:
                raise UsageError(f"--{name.replace('_', '-')} is an option of HTTP: add --http")
        from ..transports.stdio_server import StandardStreams

        # Before the file is imported: what it prints at its top level must not reach the protocol either.
        streams = StandardStreams()
        load(options.target).run("stdio", streams=streams)
        return OK
    if (options.ssl_cert is None) != (options.ssl_key is None):
        raise UsageError("TLS needs both --ssl-cert and --ssl-key")
    load(options.target).run(
        "http",
        host=options.host,
        port=options.port,
        path=options.path,
        uds=options.uds,
        fd=options.fd,
        ssl=None if options.ssl_cert is None else (options.ssl_cert, options.ssl_key),
        allowed_hosts=options.allowed_host,
        allowed_origins=options.allowed_origin,
        cors=options.cors,
    )
    return OK
