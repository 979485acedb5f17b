"""The pytest plugin in runs of its own: each test here is a user's test suite."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.processes import DEADLINE, ROOT, environment

pytest_plugins = ("pytester",)

SERVER = """
from contextlib import asynccontextmanager

from leanmcp import MCPServer, ToolError

events = []


@asynccontextmanager
async def lifespan(server):
    events.append("begins")
    yield 20
    events.append("ends")


mcp = MCPServer("Adder", lifespan=lifespan)


@mcp.tool
async def add(a: int, b: int) -> int:
    return a + b


@mcp.tool
async def divide(a: int, b: int) -> float:
    return a / b


@mcp.tool
async def refuse() -> str:
    raise ToolError("no")
"""
INI = """
[pytest]
addopts = --strict-markers --strict-config
filterwarnings = error
mcp_server = server.py:mcp
"""
PLUGINS = ("-p", "leanmcp.pytest_plugin")
ANYIO = (*PLUGINS, "-p", "anyio")
ASYNCIO = (*PLUGINS, "-p", "pytest_asyncio.plugin", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.fixture(autouse=True)
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a server and strict settings, and no plugin but those that a test names."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(server=SERVER)
    pytester.makeini(INI)


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """Run the suite in a process of its own."""
    return pytester.runpytest_subprocess(*options, timeout=DEADLINE)


# --- what a test gets ---------------------------------------------------------------------------------------------


def test_plain_test_calls_the_server_of_the_ini_file(pytester: pytest.Pytester) -> None:
    """Ours: U28; no plugin for async tests is needed, and the lifespan ends with the test."""
    pytester.makepyfile(
        """
        import pytest, server

        def test_add(mcp_sync_client):
            assert mcp_sync_client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3
            assert server.events == ["begins"]

        def test_lifespan_has_ended():
            assert server.events == ["begins", "ends"]

        def test_refusal_is_a_result(mcp_sync_client):
            assert mcp_sync_client.call_tool("refuse").is_error

        def test_mistake_is_raised(mcp_sync_client):
            with pytest.raises(ZeroDivisionError):
                mcp_sync_client.call_tool("divide", {"a": 1, "b": 0})
        """
    )
    run(pytester, *PLUGINS).assert_outcomes(passed=4)


URL_TESTS = """
    import socket, threading, urllib.parse
    import pytest
    from leanmcp import SyncClient

    urls = []

    @pytest.mark.parametrize("attempt", [1, 2])
    def test_add(mcp_url, attempt):
        urls.append(mcp_url)
        assert mcp_url.startswith("http://127.0.0.1:") and mcp_url.endswith("/mcp")
        with SyncClient(mcp_url) as client:
            assert client.call_tool("add", {"a": 1, "b": attempt}, type=int) == 1 + attempt

    def test_server_has_ended(mcp_server):
        for url in urls:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(url).port), 5).close()
        assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("leanmcp-serving")]
"""


def test_url_reaches_a_real_port_until_the_test_has_ended(pytester: pytest.Pytester) -> None:
    """Ours: U28; socket, thread and lifespan end with the test, and nothing is left to warn of."""
    pytester.makepyfile(URL_TESTS)
    run(pytester, *PLUGINS).assert_outcomes(passed=3)


ASYNC_TEST = """
    import asyncio
    import pytest, server
    from leanmcp import Client

    {mark}
    async def test_add(mcp_client):
        assert await mcp_client.call_tool("add", {{"a": 1, "b": 2}}, type=int) == 3
        assert [tool.name async for tool in mcp_client.tools()] == ["add", "divide", "refuse"]

    {mark}
    async def test_mistake_is_raised(mcp_client):
        with pytest.raises(ZeroDivisionError):
            await mcp_client.call_tool("divide", {{"a": 1, "b": 0}})

    {mark}
    async def test_url(mcp_url):
        async with Client(mcp_url) as client:
            assert await client.call_tool("add", {{"a": 1, "b": 2}}, type=int) == 3

    def test_every_lifespan_has_ended():
        assert server.events == ["begins", "ends"] * 3
"""
BACKEND = """
    import pytest

    @pytest.fixture
    def anyio_backend():
        return "asyncio"
"""


def test_async_test_of_anyio(pytester: pytest.Pytester) -> None:
    """Ours: U28."""
    pytester.makeconftest(BACKEND)
    pytester.makepyfile(ASYNC_TEST.format(mark="@pytest.mark.anyio"))
    run(pytester, *ANYIO).assert_outcomes(passed=4)


def test_other_event_loop_than_asyncio_is_skipped(pytester: pytest.Pytester) -> None:
    """Ours: anyio runs a test once for each event loop that is installed."""
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(params=["asyncio", "trio"])
        def anyio_backend_name(request):
            return request.param

        @pytest.fixture
        def anyio_backend():
            return "asyncio"
        """
    )
    pytester.makepyfile("import pytest\n@pytest.mark.anyio\nasync def test_it(mcp_client, anyio_backend_name): ...")
    run(pytester, *ANYIO).assert_outcomes(passed=1, skipped=1)


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_async_test_of_pytest_asyncio(pytester: pytest.Pytester, mode: str) -> None:
    """Ours: U28."""
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(ASYNC_TEST.format(mark="@pytest.mark.asyncio" if mode == "strict" else ""))
    run(pytester, *ASYNCIO, f"--asyncio-mode={mode}").assert_outcomes(passed=4)


def test_client_lives_on_the_loop_of_its_test(pytester: pytest.Pytester) -> None:
    """Ours: pytest-asyncio has a loop for each scope."""
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.asyncio(loop_scope="session")
        async def test_session(mcp_client):
            assert await mcp_client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3

        @pytest.mark.asyncio
        async def test_function(mcp_client):
            assert await mcp_client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3
        """
    )
    run(pytester, *ASYNCIO).assert_outcomes(passed=2)


def test_both_plugins_for_async_tests_may_be_there(pytester: pytest.Pytester) -> None:
    """Ours: a test belongs to the one that its mark names."""
    pytest.importorskip("pytest_asyncio")
    pytester.makeconftest(BACKEND)
    pytester.makepyfile(
        test_first=ASYNC_TEST.format(mark="@pytest.mark.anyio"),
        test_second=ASYNC_TEST.format(mark="@pytest.mark.asyncio").replace("* 3", "* 6"),
    )
    run(pytester, *ANYIO, *ASYNCIO[2:]).assert_outcomes(passed=8)


def test_own_fixture_makes_a_server_for_each_test(pytester: pytest.Pytester) -> None:
    """Ours: the fixture of a conftest.py goes before the ini option, and may give clients their options."""
    pytester.makeconftest(
        """
        import pytest
        from leanmcp import Context, MCPServer, Model
        from leanmcp.types import ElicitResult

        class Sure(Model):
            sure: bool

        @pytest.fixture
        def mcp_server():
            mcp = MCPServer("Counter")
            calls = []

            @mcp.tool
            async def count(ctx: Context) -> int:
                answer = await ctx.elicit("Sure?", Sure)
                calls.append(answer.action)
                return len(calls)

            return mcp

        @pytest.fixture
        def mcp_client_options():
            async def answer(context, question):
                return ElicitResult(action="accept", content={"sure": True})

            return {"elicitation_callback": answer}
        """
    )
    pytester.makepyfile(
        """
        def test_first(mcp_sync_client):
            assert mcp_sync_client.call_tool("count", type=int) == 1

        def test_second(mcp_sync_client):
            assert mcp_sync_client.call_tool("count", type=int) == 1
        """
    )
    run(pytester, *PLUGINS).assert_outcomes(passed=2)


# --- mistakes -----------------------------------------------------------------------------------------------------

PLAIN = "def test_it({}): pass"
MISTAKES = {
    "no server": (
        "[pytest]",
        "",
        PLAIN.format("mcp_sync_client"),
        "no server to test: write a fixture `mcp_server` that returns your MCPServer, or put "
        '`mcp_server = "server.py:mcp"` under [[]tool.pytest.ini_options[]]',
    ),
    "no file": (
        "[pytest]\nmcp_server = servr.py",
        "",
        PLAIN.format("mcp_url"),
        "mcp_server = servr.py: *no file '*servr.py'*server.py*",
    ),
    "a URL": (
        "[pytest]\nmcp_server = http://127.0.0.1:1/mcp",
        "",
        PLAIN.format("mcp_sync_client"),
        "mcp_server = http://127.0.0.1:1/mcp: give the file or module of a server, which runs in the test; to test one "
        "at a URL, use SyncClient(url)",
    ),
    "no server in the fixture": (
        "[pytest]",
        "import pytest\n@pytest.fixture\ndef mcp_server(): return 'server.py'",
        PLAIN.format("mcp_sync_client"),
        "the fixture mcp_server gave a str; return an MCPServer",
    ),
    "options that are none": (
        INI,
        "import pytest\n@pytest.fixture\ndef mcp_client_options(): return None",
        PLAIN.format("mcp_sync_client"),
        "the fixture mcp_client_options gave a NoneType; return a dict of options of Client",
    ),
    "client without await": (
        INI,
        "",
        PLAIN.format("mcp_client"),
        "mcp_client is for `async def` tests: mark the test with @pytest.mark.anyio or @pytest.mark.asyncio; in a "
        "plain test, use mcp_sync_client",
    ),
    "two of one server": (
        INI,
        "",
        PLAIN.format("mcp_sync_client, mcp_url"),
        "server 'Adder' runs already, for another fixture: take one of mcp_client, mcp_sync_client and mcp_url in a "
        "test, and let mcp_server make a server for each test",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_told_in_a_line(pytester: pytest.Pytester, mistake: str) -> None:
    """Ours: what is wrong and what to write, without a traceback."""
    ini, conftest, test, text = MISTAKES[mistake]
    pytester.makeini(ini)
    pytester.makeconftest(conftest)
    pytester.makepyfile(test)
    result = run(pytester, *PLUGINS)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([text])
    assert "Traceback" not in result.stdout.str()
    assert "another exception" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


def test_lifespan_that_fails_is_raised(pytester: pytest.Pytester) -> None:
    """Ours: at the beginning and at the end, in both kinds of fixture."""
    pytester.makeconftest(
        """
        from contextlib import asynccontextmanager
        import pytest
        from leanmcp import MCPServer

        @pytest.fixture(params=["begin", "end"])
        def mcp_server(request):
            @asynccontextmanager
            async def lifespan(server):
                if request.param == "begin":
                    raise ValueError("cannot begin")
                yield
                raise ValueError("cannot end")

            return MCPServer("Broken", lifespan=lifespan)
        """
    )
    pytester.makepyfile("def test_url(mcp_url): pass\ndef test_client(mcp_sync_client): pass")
    result = run(pytester, *PLUGINS)
    result.stdout.fnmatch_lines(["E *ValueError: cannot begin", "E *ValueError: cannot end"])
    assert result.parseoutcomes()["errors"] >= 3


# --- for everybody else -------------------------------------------------------------------------------------------


def test_entry_point_loads_the_plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: what pip installs of pyproject.toml; asked for by `-p no:leanmcp`, it stays away."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = pytester.mkdir("installed_probe-1.dist-info")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: installed-probe\nVersion: 1\n")
    lines = [f"{name} = {module}" for name, module in points.items()]
    (installed / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines]))
    monkeypatch.setenv("PYTHONPATH", f"{pytester.path}:{ROOT}")
    pytester.makepyfile("def test_it(mcp_sync_client): assert mcp_sync_client.list_tools().tools")
    run(pytester, "-p", "no:asyncio").assert_outcomes(passed=1)
    pytester.makeini("[pytest]")
    run(pytester, "-p", "no:asyncio", "-p", "no:leanmcp").assert_outcomes(errors=1)


def test_plugin_imports_nothing_until_it_is_asked(tmp_path: Path) -> None:
    """Ours: every pytest run of an environment with leanmcp loads it."""
    code = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import leanmcp.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=tmp_path
    )
    own = set(done.stdout.split()) - {"leanmcp", "leanmcp.pytest_plugin"}
    assert not {name for name in own if name.startswith(("leanmcp", "msgspec", "orjson", "asyncio"))}, done.stderr
    assert len(own) < 5
