"""The servers that are compared: what they are made of, how they are started, what they cannot do.

Each is run at the settings that its own documentation gives for speed; `settings` says which.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from benchmarks.suite.messages import OLD_REVISION, REVISION
from benchmarks.suite.workloads import Workload


class Rival(msgspec.Struct, frozen=True, kw_only=True):
    """One server.

    Args:
        name: as `--only` and the tables name it.
        kind: how it is installed; "ours" are leanmcp and the floors.
        packages: that pip or npm installs.
        shown: the packages whose versions are printed.
        target: the program in `targets/`, or two of them, for http and stdio.
        imports: the statement of the import workload: what a server cannot do without.
        settings: what was chosen for speed.
        revision: of the protocol.
        variables: of its environment.
        streams: further variables, for the workload that needs event streams.
        lacks: pattern of workload names to the reason why they are not for it.
        transports: it serves.
        colour: of its bars.
    """

    name: str
    kind: Literal["ours", "python", "node", "go"]
    packages: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    target: str
    stdio_target: str = ""
    imports: str = ""
    settings: str
    revision: str = REVISION
    variables: dict[str, str] = {}
    streams: dict[str, str] = {}
    lacks: dict[str, str] = {}
    transports: tuple[str, ...] = ("http", "stdio", "process")
    colour: str

    @property
    def floor(self) -> bool:
        """Whether it answers without looking at the request."""
        return self.name == "floor"

    def lack(self, workload: Workload) -> str:
        """Return why a workload is not for this server, "" where it is."""
        for pattern, reason in self.lacks.items():
            if fnmatchcase(workload.name, pattern):
                return reason
        return ""


_ONE_THREAD = "has no worker threads for functions"
_OLD = f"speaks {OLD_REVISION}, which has no such exchange"
_NO_PAGES = "has no page size"
_NOT_PYTHON = "no Python"
_UVICORN = ("uvicorn", "uvloop", "httptools")

RIVALS = (
    Rival(
        name="leanmcp",
        kind="ours",
        shown=("msgspec", "orjson", "uvloop", "fastjsonschema"),
        target="leanmcp_server.py",
        imports="from leanmcp import MCPServer",
        settings="defaults",
        colour="#c2410c",
    ),
    Rival(
        name="aiohttp-tiny-mcp",
        kind="python",
        packages=("aiohttp-tiny-mcp>=0.5.8", "uvloop"),
        shown=("aiohttp-tiny-mcp", "aiohttp", "pydantic", "uvloop"),
        target="tiny_server.py",
        imports="from aiohttp_tiny_mcp import Registry",
        settings="uvloop on both transports, no access log, no compression",
        lacks={"echo-thread": "takes coroutines only", "echo-inline": "takes coroutines only"},
        colour="#0f766e",
    ),
    Rival(
        name="mcp",
        kind="python",
        packages=("mcp>=2.3.0", *_UVICORN),
        shown=("mcp", "pydantic", "starlette", "uvicorn", "uvloop", "httptools"),
        target="mcp_server.py",
        imports="from mcp.server import MCPServer",
        settings="stateless, JSON answers, uvicorn on uvloop with httptools, no access log; event streams for progress",
        streams={"BENCH_STREAMS": "1"},
        lacks={"echo-inline": "runs every def in a thread", "list-5000-paged": _NO_PAGES},
        colour="#1d4ed8",
    ),
    Rival(
        name="fastmcp",
        kind="python",
        packages=("fastmcp>=4.2", *_UVICORN),
        shown=("fastmcp", "mcp", "pydantic", "starlette", "uvicorn", "uvloop", "httptools"),
        target="fastmcp_server.py",
        imports="from fastmcp import FastMCP",
        settings="as mcp; log level ERROR, no banner",
        variables={"FASTMCP_LOG_LEVEL": "ERROR", "FASTMCP_CHECK_FOR_UPDATES": "off"},
        streams={"BENCH_STREAMS": "1"},
        lacks={
            "list-5000-paged": "pages are not measured",
            "listen": "answers subscriptions/listen with 404 by default",
        },
        colour="#7c3aed",
    ),
    Rival(
        name="chuk-mcp-server",
        kind="python",
        packages=("chuk-mcp-server>=0.26", "uvloop", "httptools"),
        shown=("chuk-mcp-server", "pydantic", "starlette", "uvicorn", "uvloop", "httptools", "orjson"),
        target="chuk_server.py",
        imports="from chuk_mcp_server import ChukMCPServer",
        settings="its own run(), which takes uvloop and httptools; log level error; one session",
        revision=OLD_REVISION,
        lacks={
            "echo-thread": _ONE_THREAD,
            "nested": "has no model arguments",
            "invalid": "has no model arguments",
            "list-5000": "answers in pages of 100",
            "progress": "progress is not measured on the old revision",
            "round-trip": _OLD,
            "listen": _OLD,
        },
        colour="#a16207",
    ),
    Rival(
        name="typescript-sdk",
        kind="node",
        packages=("@modelcontextprotocol/server@2", "@modelcontextprotocol/node@2", "zod@4"),
        shown=("@modelcontextprotocol/server", "@modelcontextprotocol/node", "zod"),
        target="typescript_server.mjs",
        settings="createMcpHandler on node:http, JSON unless a call streams; serveStdio",
        lacks={
            "echo-thread": _ONE_THREAD,
            "list-5000-paged": _NO_PAGES,
            "import": _NOT_PYTHON,
            "entries": _NOT_PYTHON,
        },
        colour="#be185d",
    ),
    Rival(
        name="go-sdk",
        kind="go",
        packages=("github.com/modelcontextprotocol/go-sdk",),
        shown=("github.com/modelcontextprotocol/go-sdk",),
        target="go/main.go",
        settings="stateless, JSON answers, GOMAXPROCS=1; event streams for progress",
        streams={"BENCH_STREAMS": "1"},
        variables={"GOMAXPROCS": "1"},
        lacks={
            "echo-thread": _ONE_THREAD,
            "echo-inline": "every function runs on a goroutine",
            "import": _NOT_PYTHON,
            "entries": _NOT_PYTHON,
            "invalid": "names the first fault only",
            "round-trip": "seals no state of its own",
            "listen": "is not measured",
        },
        colour="#0369a1",
    ),
    Rival(
        name="floor",
        kind="ours",
        target="floor_http.py",
        stdio_target="floor_stdio.py",
        imports="import asyncio, msgspec, orjson",
        settings="HTTP: a raw uvloop protocol writes a fixed answer; stdio: a fixed line for each line",
        colour="#6b7280",
    ),
)
