"""Servers that fail at the command line, over HTTP: what is said, word for word, and the exit code."""

from __future__ import annotations

import asyncio

import pytest

from leanmcp.cli.faults import coded
from tests.support.bad_http_server import CLOSE, MUTE, STREAM, Script, answer, bad_server, chunk, error, event, result
from tests.support.processes import ROOT, http_server
from tests.support.shell import leanmcp

SERVER = ROOT / "tests" / "fixtures" / "shell.py"


DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}


DISCOVER = answer(result(1, **DISCOVERED))


TOOLS = answer(result(2, tools=[{"name": "add", "inputSchema": {"type": "object"}}], ttlMs=0, cacheScope="private"))


def _status(status: str, body: bytes = b"", kind: str = "text/plain", *fields: str) -> bytes:
    return answer(body, kind, status, *fields)


REMOTE: list[tuple[str, list[Script], int, str]] = [
    (
        "no token",
        [[_status("401 Unauthorized", b"who?")]],
        4,
        "{url} answered 401 Unauthorized: it wants to know who calls; give --token or --login. It says: who?",
    ),
    (
        "not allowed",
        [[_status("403 Forbidden", b"not you")]],
        4,
        "{url} answered 403 Forbidden: the token, the Host or the Origin is not allowed to do this. It says: not you",
    ),
    (
        "a wrong path",
        [[_status("404 Not Found", b"gone")]] * 2,
        3,
        "{url} answered 404 Not Found: the server is there, MCP is not at this path; ask who runs it where it is. "
        "It says: gone",
    ),
    (
        "a web page",
        [[_status("200 OK", b"<html><title>Shop</title></html>", "text/html")]],
        3,
        "{url} does not speak MCP: it answered 200 OK with text/html instead of JSON or an event stream. It says: Shop",
    ),
    (
        "a proxy without its server",
        [[_status("502 Bad Gateway", b"<h1>Bad Gateway</h1>", "text/html")]],
        3,
        "{url} answered 502 Bad Gateway: Bad Gateway",
    ),
    ("silence", [[MUTE]], 3, "{url} did not answer server/discover within 0.5 seconds; give it more with --timeout"),
    ("death", [[CLOSE]] * 2, 3, "{url} closed the connection before it had answered"),
    (
        "a stream that is cut off",
        [[DISCOVER], [TOOLS], [STREAM + chunk(event(b"")), CLOSE]],
        3,
        "{url} closed the connection in the middle of its answer",
    ),
    (
        "another protocol version",
        [[answer(result(1, **{**DISCOVERED, "supportedVersions": ["2031-01-01"]}))]],
        3,
        "{url} and this client have no protocol version in common: the server speaks 2031-01-01; this client speaks "
        "2026-07-28",
    ),
    (
        "an error of the server",
        [[DISCOVER], [TOOLS], [answer(error(-32603, "it \x1b[31mbroke", 3))]],
        1,
        "{url} answered with an error: it \\x1b[31mbroke (-32603)",
    ),
    (
        "a result that is none",
        [[DISCOVER], [TOOLS], [answer(result(3, content=5))]],
        3,
        "{url}: The server's result of tools/call is invalid: Expected `content` to be an array",
    ),
]


@pytest.mark.parametrize(("scripts", "code", "said"), [row[1:] for row in REMOTE], ids=[row[0] for row in REMOTE])
def test_server_that_fails_is_told_apart(scripts: list[Script], code: int, said: str) -> None:
    """Ours: U13; a line each, with the URL and the status."""

    async def main() -> None:
        async with bad_server(*scripts) as bad:
            words = ("call", bad.url, "add", "--timeout", "0.5" if scripts == [[MUTE]] else "20")
            done = await asyncio.to_thread(leanmcp, *words)
            expected = f"leanmcp: {coded(said.replace('{url}', bad.url))}\n"
            assert (done.returncode, done.stdout, done.stderr) == (code, "", expected)

    asyncio.run(main())


def test_token_that_is_refused_is_told_apart_from_none() -> None:
    """Ours: U13."""

    async def main() -> None:
        async with bad_server([_status("401 Unauthorized")]) as bad:
            done = await asyncio.to_thread(leanmcp, "list", bad.url, "--token", "old")
            assert (done.returncode, done.stderr) == (
                4,
                f"leanmcp: {bad.url} answered 401 Unauthorized: the token that was sent is not, or no longer, "
                "accepted. It says: (nothing) [LM622]\n",
            )
            assert bad.requests[0].fields["authorization"] == "Bearer old"

    asyncio.run(main())


def test_wrong_path_proposes_the_right_one() -> None:
    """Ours: U13."""
    with http_server(SERVER) as server:
        wrong = server.url.replace("/mcp", "/mpc")
        done = leanmcp("list", wrong)
        assert (done.returncode, done.stderr) == (
            3,
            f"leanmcp: {wrong} answered 404 Not Found: the server is there, MCP is not at this path; try {server.url}. "
            "It says: Nothing is served at /mpc; the MCP endpoint is POST /mcp [LM623]\n",
        )
        done = leanmcp("call", server.url, "fail", "why=x", "--mode", "legacy")
        assert done.returncode == 2
        assert done.stderr.startswith(f"leanmcp: {server.url} answered with an error: Method not found: 'initialize'")
