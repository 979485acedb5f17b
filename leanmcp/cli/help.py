"""The text of `leanmcp --help`."""

from __future__ import annotations

from collections.abc import Mapping

from .faults import EXIT_CODES

TARGETS = """\
TARGET is one of
  server.py, server.py:mcp        a Python file, run in this process, and the server in it if it has several
  package.module:mcp              the same in a module
  https://example.com/mcp         Streamable HTTP; also unix:/run/mcp.sock
  NAME                            an entry of mcp.json or .mcp.json in this folder, or of --config FILE
or it is left out, and the command that starts a server on stdio stands behind everything else:
  -- npx -y @modelcontextprotocol/server-everything
"""

_EXAMPLES = """\
examples:
  leanmcp run server.py                           serve on stdio, as a host starts it
  leanmcp run server.py --http --port 8000        serve on http://127.0.0.1:8000/mcp
  leanmcp run server.py --http --reload           the same, and new code after each save
  leanmcp install cursor server.py                add it to the settings of a host
  leanmcp list server.py                          what there is, as a table
  leanmcp call server.py add a=1 b=2              call one tool and print what it returns
  leanmcp call server.py add 'point:={"x":1}'     := takes JSON, =@file takes a file
  leanmcp call http://127.0.0.1:8000/mcp add a=1 b=2 --json
  leanmcp call add a=1 b=2 -- python server.py    the same over stdio
  leanmcp read server.py file:///logo.png > logo.png
  leanmcp check server.py                         what is wrong with it, before anybody calls it
"""


def overview(commands: Mapping[str, tuple[str, str]]) -> str:
    """Return the text."""
    width = max(map(len, commands)) + 2
    lines = [f"  {name:<{width}}{about}" for name, (_, about) in commands.items()]
    listed = "\n".join(lines)
    return (
        "usage: leanmcp COMMAND [TARGET] ... [-- PROGRAM ARGUMENT ...]\n\n"
        "Serve MCP servers, and talk to them from a shell.\n\n"
        f"commands:\n{listed}\n\n{TARGETS}\n{_EXAMPLES}\n{EXIT_CODES}\n"
        "`leanmcp COMMAND --help` shows the options of a command; `leanmcp --version` the version."
    )
