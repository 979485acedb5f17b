"""Fixtures that give a test its server: called in the test's own process, or on a real port.

In: the fixture `mcp_server`, or the ini option of that name. Out: clients and a URL, closed behind each test.
Ours. pytest loads this in every run of an environment that has leanmcp, so nothing else is imported until a test asks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from .client import Client, SyncClient
    from .server.app import MCPServer

_SETUP = (
    "no server to test: write a fixture `mcp_server` that returns your MCPServer, "
    'or put `mcp_server = "server.py:mcp"` under [tool.pytest.ini_options]'
)
_LOOP_SCOPES = ("function", "class", "module", "package", "session")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini(
        "mcp_server", "the server that the fixtures of leanmcp test: FILE, FILE:OBJECT or MODULE:OBJECT", default=""
    )


def pytest_configure(config: pytest.Config) -> None:
    """Offer the fixtures to the tests of pytest-asyncio, where it is loaded."""
    if any(map(config.pluginmanager.hasplugin, ("asyncio", "pytest_asyncio.plugin"))):  # installed, or by -p
        config.pluginmanager.register(_asyncio_fixtures(), "leanmcp-asyncio")


# --- the server ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def mcp_server(request: pytest.FixtureRequest) -> MCPServer:
    """The server to test, of the ini option `mcp_server`; define a fixture of this name to make one for each test."""
    config = request.config
    target: str = config.getini("mcp_server")
    if not target:
        _fail(_SETUP)
    if "://" in target:
        _fail(
            f"mcp_server = {target}: give the file or module of a server, which runs in the test; to test one at a "
            "URL, use SyncClient(url)"
        )
    from .cli.faults import UsageError
    from .cli.loading import load

    here = config.rootpath if config.inipath is None else config.inipath.parent
    try:
        return load(_imported(str(here / target)) or target)
    except UsageError as fault:
        text = f"mcp_server = {target}: {fault}"
    _fail(text)  # out here, or pytest would print it twice


def _imported(target: str) -> str | None:
    """Return what `load` takes for a file, None for a module; a file that a test has imported is not run again."""
    import os
    import sys

    path, colon, name = (target, "", "") if os.path.isfile(target) else target.rpartition(":")
    if not os.path.isfile(path):
        return target if target.endswith(".py") else None
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file is not None and os.path.realpath(file) == os.path.realpath(path):
            return f"{module.__name__}{colon}{name}"
    return target


@pytest.fixture
def mcp_client_options() -> dict[str, Any]:
    """Options of `mcp_client` and `mcp_sync_client`, see `leanmcp.Client`; define a fixture of this name to give some.

    `raise_exceptions` is True unless you say otherwise: what a tool raises by mistake is raised in the test.
    """
    return {}


# --- what tests ask for -------------------------------------------------------------------------------------------


@pytest.fixture
def mcp_sync_client(mcp_server: MCPServer, mcp_client_options: dict[str, Any]) -> Iterator[SyncClient]:
    """A `SyncClient` of the server in this process, for plain tests."""
    from .client import SyncClient

    with SyncClient(_checked(mcp_server), **_options(mcp_client_options)) as client:
        yield client


@pytest.fixture
def mcp_client(request: pytest.FixtureRequest) -> Client:
    """A `Client` of the server in this process, for `async def` tests of anyio or pytest-asyncio."""
    marker = request.node.get_closest_marker("asyncio")
    if "anyio_backend" in request.fixturenames:
        if request.getfixturevalue("anyio_backend_name") != "asyncio":
            pytest.skip("leanmcp runs on asyncio; a fixture anyio_backend that returns 'asyncio' runs each test once")
        name = "_mcp_client"
    elif marker is not None and request.config.pluginmanager.hasplugin("leanmcp-asyncio"):
        scope = marker.kwargs.get("loop_scope") or request.config.getini("asyncio_default_test_loop_scope")
        name = f"_mcp_client_of_{scope}"
    else:
        _fail(
            "mcp_client is for `async def` tests: mark the test with @pytest.mark.anyio or @pytest.mark.asyncio; "
            "in a plain test, use mcp_sync_client"
        )
    client: Client = request.getfixturevalue(name)
    return client


@pytest.fixture
def mcp_url(mcp_server: MCPServer) -> Iterator[str]:
    """The URL of the server on a free port of 127.0.0.1, served in a thread until the test has ended."""
    from .testing import serving

    with serving(_checked(mcp_server)) as url:
        yield url


# --- how ----------------------------------------------------------------------------------------------------------


async def _connected(mcp_server: MCPServer, mcp_client_options: dict[str, Any]) -> AsyncIterator[Client]:
    from .client import Client

    async with Client(_checked(mcp_server), **_options(mcp_client_options)) as client:
        yield client


_mcp_client = pytest.fixture(_connected, name="_mcp_client")


def _asyncio_fixtures() -> ModuleType:
    """Return a plugin with a fixture for each event loop that pytest-asyncio may run a test on."""
    import pytest_asyncio

    def of(scope: Any) -> Callable[..., Any]:
        async def connected(mcp_server: MCPServer, mcp_client_options: dict[str, Any]) -> AsyncIterator[Client]:
            async for client in _connected(mcp_server, mcp_client_options):
                yield client

        fixture: Callable[..., Any] = pytest_asyncio.fixture(loop_scope=scope, name=f"_mcp_client_of_{scope}")(
            connected
        )
        return fixture

    plugin = ModuleType("leanmcp_asyncio_fixtures")
    vars(plugin).update({f"mcp_client_of_{scope}": of(scope) for scope in _LOOP_SCOPES})
    return plugin


def _options(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        _fail(f"the fixture mcp_client_options gave a {type(given).__name__}; return a dict of options of Client")
    return {"raise_exceptions": True, **given}


def _checked(server: Any) -> MCPServer:
    """Return the server, if it is one and nothing else runs it."""
    from .server.app import MCPServer

    if not isinstance(server, MCPServer):
        _fail(f"the fixture mcp_server gave a {type(server).__name__}; return an MCPServer")
    if server.serving_loop is not None:
        _fail(
            f"server {server.name!r} runs already, for another fixture: take one of mcp_client, mcp_sync_client and "
            "mcp_url in a test, and let mcp_server make a server for each test"
        )
    return server


def _fail(text: str) -> NoReturn:
    pytest.fail(text, pytrace=False)
