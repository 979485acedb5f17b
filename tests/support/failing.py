"""Calls of tools with a mistake in them: what reaches the model, and what their author reads in the log."""

from __future__ import annotations

import asyncio
import linecache
import logging
import re
from typing import Any, NamedTuple

from leanmcp import MCPServer
from leanmcp.logs import BriefFormatter, logger
from tests.support.in_process import request
from tests.support.mistakes import FILE

PRELUDE = (
    "import asyncio, json, sys\n"
    "from typing import Annotated, Literal\n"
    "from leanmcp import Context, Field, Model, ToolError\n"
    "class Sure(Model):\n"
    "    sure: bool\n"
)
CRASHED = "Tool 'tool' failed unexpectedly; the server's log has the details under id <id>"
MOST_LINES = 25  # where code of the author's ran
_LOG_ID = re.compile(r"\b[0-9a-f]{8}\b")


def plain(log: str) -> str:
    """Return a log without what differs between versions of Python: marks below a line, lines of its library."""
    lines = [line for line in log.splitlines() if not re.fullmatch(r"[ ^~]+", line)]
    return re.sub(r"(raised in \S+?):\d+", r"\1", "\n".join(lines))


class Seen(NamedTuple):
    """What came of a call.

    Args:
        answer: the text of the result, or of the error.
        log: as on a terminal; log ids are `<id>`.
    """

    answer: str
    log: str


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(BriefFormatter("%(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record as a terminal would show it."""
        self.lines.append(self.format(record))


def run_calls(source: str, arguments: dict[str, Any], *names: str) -> Seen:
    """Register the tools of a program and call some of them; return what came of the last call.

    Args:
        source: the program, with a server `mcp`.
        arguments: of the last call.
        names: of the tools, one call each.
    """
    mcp = MCPServer("demo")
    text = PRELUDE + source
    linecache.cache[FILE] = len(text), None, text.splitlines(keepends=True), FILE
    exec(compile(text, FILE, "exec", dont_inherit=True), {"mcp": mcp, "__name__": "server"})
    log = _Log()
    logger.addHandler(log)
    try:
        answers = [_call(mcp, name, arguments if name == names[-1] else {}) for name in names]
    finally:
        logger.removeHandler(log)
    return Seen(_LOG_ID.sub("<id>", answers[-1]), _LOG_ID.sub("<id>", "\n".join(log.lines)))


def _call(mcp: MCPServer, name: str, arguments: dict[str, Any]) -> str:
    message = asyncio.run(request(mcp, "tools/call", {"name": name, "arguments": arguments}))
    if "error" in message:
        return str(message["error"]["message"])
    return "\n".join(str(block["text"]) for block in message["result"]["content"])
