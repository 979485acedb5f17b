"""The `leanmcp` command: run a server file, or call one of its tools.

Data goes to standard output, everything else to standard error. Exit codes: 0 success, 1 the tool reported an error,
2 usage. Modules that a command does not need are not imported.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from . import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .server.app import MCPServer

OK, TOOL_ERROR, USAGE, INTERRUPTED = 0, 1, 2, 130
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

_EXAMPLES = """\
examples:
  leanmcp run server.py                        serve on stdio, as a host starts it
  leanmcp run server.py --http --port 8000     serve on http://127.0.0.1:8000/mcp
  leanmcp call server.py add a=1 b=2           call one tool and print what it returns
  leanmcp call server.py add 'point:={"x":1}'  := takes JSON

exit codes: 0 success, 1 the tool reported an error, 2 usage
"""


class UsageError(Exception):
    """A mistake on the command line or in the user's file; the text says what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except UsageError as error:
        print(f"leanmcp: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # of `leanmcp call ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="leanmcp",
        description="Run and call MCP tool servers.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"leanmcp {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="serve the server in a file", description="Serve the server in a file.")
    run.set_defaults(command=_run)
    _add_target(run)
    run.add_argument("--http", action="store_true", help="serve Streamable HTTP instead of stdio")
    run.add_argument("--host", default="127.0.0.1", help="address to bind (default: %(default)s)")
    run.add_argument("--port", type=int, default=8000, help="TCP port, 0 for a free one (default: %(default)s)")
    run.add_argument("--path", default="/mcp", help="path of the endpoint (default: %(default)s)")
    run.add_argument("--allowed-host", action="append", default=[], metavar="NAME", help="a public name of this server")
    run.add_argument("--allowed-origin", action="append", default=[], metavar="URL", help="a web page that may call it")
    run.add_argument("--cors", action="store_true", help="answer the preflight requests of web pages that may call it")
    run.add_argument("--uds", metavar="PATH", help="serve on a Unix socket instead of a port")
    run.add_argument("--fd", type=int, metavar="N", help="serve on a socket that listens already, descriptor N")
    run.add_argument("--ssl-cert", metavar="FILE", help="certificate chain, for TLS")
    run.add_argument("--ssl-key", metavar="FILE", help="its key")

    call = commands.add_parser("call", help="call one tool of a server file", description="Call one tool, in process.")
    call.set_defaults(command=_call)
    _add_target(call)
    call.add_argument("tool", metavar="TOOL", nargs="?", help="name of the tool")
    call.add_argument("arguments", metavar="NAME=VALUE", nargs="*", help="argument of the tool; NAME:=JSON for JSON")
    call.add_argument("--json", action="store_true", help="print the whole result as JSON")
    return parser


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="FILE[:OBJECT]", help="Python file, and the server in it if it has several")


# --- run ----------------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    http = options.http or options.uds is not None or options.fd is not None
    if not http:
        for name, default in _HTTP_DEFAULTS.items():
            if getattr(options, name) != default:
                raise UsageError(f"--{name.replace('_', '-')} is an option of HTTP: add --http")
        from .transports.stdio_server import StandardStreams

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


# --- call ---------------------------------------------------------------------------------------------------------


def _call(options: argparse.Namespace) -> int:
    import asyncio

    from .logs import log_to_stderr
    from .run import request

    log_to_stderr("WARNING")
    with contextlib.redirect_stdout(sys.stderr):  # standard output is for the tool's result
        server = load(options.target)
    schemas = {tool.name: tool.entry.input_schema for tool in server.tools}
    if options.tool is None:
        raise UsageError(f"name a tool of {server.name!r}: {', '.join(schemas) or '(it has none)'}")
    if options.tool not in schemas:
        raise UsageError(f"no tool {options.tool!r} in {options.target}{_did_you_mean(options.tool, list(schemas))}")
    arguments = dict(_argument(item, schemas[options.tool]) for item in options.arguments)
    answer = asyncio.run(request(server, "tools/call", {"name": options.tool, "arguments": arguments}))
    if "error" in answer:
        raise UsageError(answer["error"]["message"])
    result = answer["result"]
    if options.json:
        _print_json(result)
    else:
        for block in result["content"]:
            _print_block(block, sys.stderr if result.get("isError") else sys.stdout)
    return TOOL_ERROR if result.get("isError") else OK


def _argument(item: str, schema: dict[str, Any]) -> tuple[str, Any]:
    """Return name and value of `name=value` or `name:=json`."""
    name, equals, text = item.partition("=")
    if not equals:
        raise UsageError(f"argument {item!r}: write name=value, or name:=json")
    if name.endswith(":"):
        return name[:-1], _json(name[:-1], text)
    if _admits_text(schema.get("properties", {}).get(name, {}), schema):
        return name, text
    try:
        return name, _json(name, text)
    except UsageError:
        return name, text  # the server says better what it expects


def _admits_text(node: dict[str, Any], root: dict[str, Any]) -> bool:
    if "$ref" in node:
        return _admits_text(root.get("$defs", {}).get(node["$ref"].rpartition("/")[2], {}), root)
    kinds = node.get("type", ())
    if kinds:
        return "string" in ([kinds] if isinstance(kinds, str) else kinds)
    if "anyOf" in node:
        return any(_admits_text(branch, root) for branch in node["anyOf"])
    return any(isinstance(value, str) for value in node.get("enum", ()))


def _json(name: str, text: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as fault:
        raise UsageError(f"argument {name!r} is not JSON: {fault}") from None


def _print_json(value: Any) -> None:
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _print_block(block: dict[str, Any], stream: Any) -> None:
    if block["type"] == "text":
        print(block["text"], file=stream)
    else:
        shown = {name: value for name, value in block.items() if name not in ("data", "blob")}
        print(f"[{block['type']} block: {shown}]", file=stream)


# --- the user's file ----------------------------------------------------------------------------------------------


def load(target: str) -> MCPServer:
    """Return the server that `FILE`, `FILE:OBJECT` or `MODULE:OBJECT` names.

    Raises:
        UsageError: no such file or object, or the file does not run.
    """
    path, name = _split_target(target)
    module = _import(path)
    from .server.app import MCPServer

    servers = {key: value for key, value in vars(module).items() if isinstance(value, MCPServer)}
    if name is not None:
        if not hasattr(module, name):
            raise UsageError(f"no object {name!r} in {path}{_did_you_mean(name, list(servers))}")
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
        raise UsageError(f"no file {path!r}{_did_you_mean(os.path.basename(path), names)}")
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
    from .server.app import MCPServer

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
    package = os.path.dirname(os.path.abspath(__file__)) + os.sep
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


def _did_you_mean(name: str, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there is {', '.join(sorted(known)[:10])}" if known else ""
