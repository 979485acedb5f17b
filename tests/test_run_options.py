"""The options of `run` and `run_async`: unknown ones, and the names that the official SDK uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp import Context, Limits, MCPServer
from leanmcp.errors import BindError
from tests.support.events import BOTH
from tests.support.lines import asking
from tests.support.processes import DEADLINE, call, http


@pytest.fixture
def mcp() -> MCPServer:
    """A server with one tool."""
    mcp = MCPServer("options", limits=Limits(keep_alive_timeout=7))

    @mcp.tool
    async def echo(text: str) -> str:
        return text

    return mcp


@asynccontextmanager
async def serving(mcp: MCPServer, capfd: pytest.CaptureFixture[str], **options: Any) -> AsyncIterator[int]:
    """Serve inside the test's own loop; give the port."""
    task = asyncio.ensure_future(mcp.run_async("streamable-http", port=0, **options))
    text = ""
    async with asyncio.timeout(DEADLINE):
        while "Ctrl-C" not in text and not task.done():
            text += capfd.readouterr().err
            await asyncio.sleep(0)
        try:
            yield int(text.partition("127.0.0.1:")[2].partition("/")[0]) if text else 0
        finally:
            task.cancel()
            await asyncio.wait((task,))


async def ask(port: int, message: bytes) -> bytes:
    """Send a request and read to the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(message)
    data = await reader.read()
    writer.close()
    return data


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("prot", "did you mean 'port'?"),
        ("allowed_host", "did you mean 'allowed_hosts'?"),
        ("keep_alive", "did you mean 'sse_keep_alive'?"),
        ("workers", "unknown option 'workers'"),
        ("stop", "there is 'host', 'port', 'path'"),
        ("started", "there is 'host', 'port', 'path'"),
        ("streams", "there is 'host', 'port', 'path'"),
        ("zzz", "there is 'host', 'port', 'path'"),
        ("streamable_http_pat", "unknown option 'streamable_http_pat'"),
    ],
)
@pytest.mark.parametrize("transport", ["stdio", "http", "streamable-http"])
def test_an_unknown_option_is_refused(mcp: MCPServer, transport: str, name: str, hint: str) -> None:
    """Ours: a misspelt option must not be dropped in silence; TypeError, as for any unknown argument."""
    with pytest.raises(TypeError, match=f"unknown option '{name}'") as error:
        asyncio.run(mcp.run_async(transport, **{name: 1}))
    assert hint in str(error.value)


@pytest.mark.parametrize("transport", ["htp", "sse", "", "STDIO"])
def test_an_unknown_transport_is_refused(mcp: MCPServer, transport: str) -> None:
    """Ours: before anything is served."""
    with pytest.raises(ValueError, match="unknown transport") as error:
        asyncio.run(mcp.run_async(transport))
    if transport == "htp":
        assert "did you mean 'http'?" in str(error.value)


@pytest.mark.parametrize("path", ["mcp", "", "https://name/mcp"])
def test_a_path_without_a_slash_is_refused(mcp: MCPServer, path: str) -> None:
    """Ours: in words."""
    with pytest.raises(ValueError, match="starts with '/'"):
        asyncio.run(mcp.run_async("http", port=0, path=path))


@pytest.mark.parametrize("option", ["path", "streamable_http_path"])
def test_the_path_may_be_named_as_the_official_sdk_names_it(
    mcp: MCPServer, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    """Ours: code that moves over keeps its options."""

    async def main() -> None:
        async with serving(mcp, capfd, **{option: "/api/tools/"}) as port:
            for path, status in (("/api/tools", b"200"), ("/api/tools/", b"200"), ("/mcp", b"404")):
                answer = await ask(port, http(call("echo", {"text": "x"}), path=path, connection="close"))
                assert answer.startswith(b"HTTP/1.1 " + status)

    asyncio.run(main())


def test_the_body_limit_may_be_named_as_the_official_sdk_names_it(
    mcp: MCPServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ours: FIELD 55; the other limits stay."""

    async def main() -> None:
        async with serving(mcp, capfd, max_request_body_size=1000) as port:
            small, large = (http(call("echo", {"text": "x" * size}), connection="close") for size in (500, 1000))
            assert (await ask(port, small)).startswith(b"HTTP/1.1 200")
            assert (await ask(port, large)).startswith(b"HTTP/1.1 413")

    asyncio.run(main())
    assert (mcp.limits.max_body_size, mcp.limits.keep_alive_timeout) == (1000, 7)


@pytest.mark.parametrize("size", [0, -1, "1", True])
def test_a_body_limit_that_cannot_be_is_refused(mcp: MCPServer, size: Any) -> None:
    """Ours: as in `Limits`."""
    with pytest.raises(ValueError, match="max_body_size"):
        asyncio.run(mcp.run_async("http", port=0, max_request_body_size=size))


@pytest.mark.parametrize("json_response", [False, True])
def test_stateless_http_and_json_response_are_taken(
    mcp: MCPServer, capfd: pytest.CaptureFixture[str], json_response: bool
) -> None:
    """Ours: the first is always so; the second switches event streams off."""

    @mcp.tool
    async def step(ctx: Context[Any]) -> str:
        await ctx.report_progress(1)
        return "done"

    async def main() -> None:
        async with serving(mcp, capfd, stateless_http=True, json_response=json_response) as port:
            answer = await ask(port, http(asking(call("step")), accept=BOTH, connection="close"))
            assert (b"text/event-stream" in answer) == (not json_response)

    asyncio.run(main())


@pytest.mark.parametrize("origins", [True, ["https://app.example"]])
def test_cors_may_name_origins(mcp: MCPServer, capfd: pytest.CaptureFixture[str], origins: Any) -> None:
    """Ours: a list allows them besides those of this machine."""

    async def main() -> None:
        async with serving(mcp, capfd, cors=origins) as port:
            for origin, listed in (("http://localhost:1", True), ("https://app.example", origins is not True)):
                answer = await ask(port, http(call("echo", {"text": "x"}), origin=origin, connection="close"))
                assert (b"access-control-allow-origin" in answer.lower()) == listed
                assert answer.startswith(b"HTTP/1.1 200" if listed else b"HTTP/1.1 403")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("fields", "options", "status"),
    [
        ({"host": "mcp.example:8000"}, {}, 421),
        ({"host": "mcp.example:8000"}, {"allowed_hosts": ["mcp.example"]}, 200),
        ({"host": "mcp.example:8000"}, {"allowed_hosts": ["mcp.example:8000"]}, 200),
        ({"host": "mcp.example:8001"}, {"allowed_hosts": ["mcp.example:8000"]}, 421),
        ({"host": "mcp.example.evil.example"}, {"allowed_hosts": ["mcp.example"]}, 421),
        ({"host": "[fd00::5]:8000"}, {"allowed_hosts": ["fd00::5"]}, 200),
        ({"host": "[fd00::5]:8000"}, {"allowed_hosts": ["[fd00::5]:8000"]}, 200),
        ({"host": "[::1]:8000"}, {}, 200),
        ({"host": "[::1]:8000", "origin": "http://[::1]:8000"}, {}, 200),
        ({"host": "[2001:db8::1]:8000"}, {}, 421),
        ({"host": "[2001:db8::1]:8000"}, {"allowed_hosts": ["[2001:db8::1]"]}, 200),
        ({"host": "mcp.example", "origin": "https://app.example"}, {"allowed_hosts": ["mcp.example"]}, 403),
        ({"origin": "https://app.example"}, {"allowed_origins": ["https://app.example"]}, 200),
        ({"origin": "https://app.example"}, {"allowed_origins": iter(["https://app.example/"])}, 200),
        ({"origin": "https://app.example"}, {"allowed_origins": ["*"], "allowed_hosts": iter(["*"])}, 200),
        ({"origin": "https://app.example:444"}, {"allowed_origins": ["https://app.example"]}, 403),
        ({"origin": "http://app.example"}, {"allowed_origins": ["https://app.example"]}, 403),
        ({"origin": "https://app.example.evil.example"}, {"allowed_origins": ["https://app.example"]}, 403),
        ({"host": "mcp.example"}, {"allowed_origins": ["http://mcp.example"]}, 421),
    ],
)
def test_hosts_and_origins_may_be_allowed(
    mcp: MCPServer, capfd: pytest.CaptureFixture[str], fields: Any, options: Any, status: int
) -> None:
    """Spec: basic/transports/streamable-http, "Security & Endpoint" 1; policy P9, by the options of `run`."""

    async def main() -> None:
        async with serving(mcp, capfd, **options) as port:
            answer = await ask(port, http(call("echo", {"text": "x"}), connection="close", **fields))
            assert answer.startswith(b"HTTP/1.1 %d " % status)

    asyncio.run(main())


@pytest.mark.parametrize("host", ["256.1.1.1", "no-such-host.invalid"])
def test_an_address_that_is_none_is_told_in_words(mcp: MCPServer, host: str) -> None:
    """Ours: BindError names it."""
    with pytest.raises(BindError, match=f"cannot listen on {host}"):
        asyncio.run(mcp.run_async("http", host=host, port=0))
