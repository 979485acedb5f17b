"""The tool under load on the official SDK: `mcp_echo.py stdio`, or `mcp_echo.py http PORT`.

HTTP runs as the SDK's documentation advises for load: stateless, JSON answers, an ASGI server of one's own choice
(uvicorn on uvloop, with httptools where it is installed), and no access log.
"""

from __future__ import annotations

import sys

from mcp.server import MCPServer

server = MCPServer("echo", version="1.0", log_level="WARNING")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


def main() -> None:
    """Serve the transport that the command line names."""
    if sys.argv[1] == "stdio":
        return server.run()
    import uvicorn  # only here: the start of stdio must not pay for it

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    port = int(sys.argv[2])
    uvicorn.run(app, host="127.0.0.1", port=port, loop="uvloop", log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
