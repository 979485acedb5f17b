"""The `leanmcp` command, as a person uses it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import leanmcp
from tests.support.processes import DEADLINE, environment

SERVER = '''
from leanmcp import MCPServer, ToolError

mcp = MCPServer("demo")

@mcp.tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b

@mcp.tool
async def say(text: str, tags: list[str] | None = None, mark: str | None = None) -> str:
    """Say something."""
    return f"{text!r} {tags!r} {mark!r}"

@mcp.tool
async def fail(why: str) -> str:
    """Fail."""
    raise ToolError(why)

if __name__ == "__main__":
    mcp.run()
'''


@pytest.fixture
def server(tmp_path: Path) -> Path:
    file = tmp_path / "server.py"
    file.write_text(SERVER)
    return file


def leanmcp_command(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python -m leanmcp ...` and return what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "leanmcp", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )


def test_version_and_help_are_printed() -> None:
    """Ours: UX features 3 and 5."""
    assert leanmcp_command("--version").stdout == f"leanmcp {leanmcp.__version__}\n"
    help_text = leanmcp_command("--help").stdout
    assert "examples:" in help_text
    assert "exit codes:" in help_text


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["add", "a=1", "b=2"], "3\n"),
        (["add", "a=41"], "42\n"),
        (["say", "text=hi"], "'hi' None None\n"),
        (["say", "text=5", 'tags=["x"]', "mark=x"], "'5' ['x'] 'x'\n"),
        (["say", 'text:="5"', 'tags:=["x"]', "mark:=null"], "'5' ['x'] None\n"),
        (["say", "text=a=b"], "'a=b' None None\n"),
        (["say", "text="], "'' None None\n"),
    ],
)
def test_call_prints_what_the_tool_returns(server: Path, arguments: list[str], printed: str) -> None:
    """Ours: U1; text parameters take their value as it is, others take JSON, `:=` is always JSON."""
    done = leanmcp_command("call", server, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_the_text_null_is_told_apart(server: Path) -> None:
    """Ours: U21: where both are taken, a person may have meant the other one."""
    done = leanmcp_command("call", server, "say", "text=5", "mark=null")
    said = "leanmcp: mark was sent as the text 'null'; null itself is written mark:=null\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "'5' None 'null'\n", said)


def test_call_prints_json_on_request(server: Path) -> None:
    """Ours: the whole result as the wire has it."""
    done = leanmcp_command("call", server, "add", "a=1", "--json")
    assert msgspec.json.decode(done.stdout)["structuredContent"] == {"result": 2}


def test_tool_error_goes_to_standard_error_with_exit_code_1(server: Path) -> None:
    """Ours: U20."""
    done = leanmcp_command("call", server, "fail", "why=no luck")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "no luck\n")
    done = leanmcp_command("call", server, "add", "a=x")
    assert done.returncode == 1
    assert "a: Input should be a valid integer" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["call", "{dir}/sever.py", "add"], "did you mean 'server.py'"),
        (["call", "{dir}/server.py", "ad"], "did you mean 'add'"),
        (["call", "{dir}/server.py"], "add, say, fail"),
        (["call", "{dir}/server.py", "add", "a"], "name=value"),
        (["call", "{dir}/server.py", "add", "a:={"], "is not JSON"),
        (["call", "{dir}/server.py:mpc", "add"], "did you mean 'mcp'"),
        (["call", "{dir}/server.py:MCPServer", "add"], "not an MCPServer"),
        (["call", "{dir}", "add"], "folder"),
        (["call", "{dir}/syntax.py", "add"], "syntax.py:2: SyntaxError"),
        (["call", "{dir}/bad.py", "add"], "bad.py:6"),
        (["call", "{dir}/empty.py", "add"], "no MCPServer in"),
        (["call", "{dir}/two.py", "add"], "two.py:one, "),
        (["call", "{dir}/exits.py", "add"], "ended the program"),
        (["call", "{dir}/missing_import.py", "add"], "No module named"),
        (["run", "{dir}/server.py", "--port", "9"], "add --http"),
        (["run", "{dir}/nope.py"], "no file"),
    ],
)
def test_mistakes_are_told_without_a_traceback(server: Path, arguments: list[str], expected: str) -> None:
    """Ours: U11 and U21: what, where, what to do; exit code 2."""
    folder = server.parent
    (folder / "syntax.py").write_text("x = 1\ndef f(:\n")
    (folder / "bad.py").write_text(
        "from leanmcp import MCPServer\nmcp = MCPServer('x')\n\n\ndef tool(a):\n    return a\nmcp.add_tool(tool)\n"
    )
    (folder / "empty.py").write_text("x = 1\n")
    (folder / "two.py").write_text("from leanmcp import MCPServer\none = MCPServer('1')\ntwo = MCPServer('2')\n")
    (folder / "exits.py").write_text("import sys\nsys.exit('bye')\n")
    (folder / "missing_import.py").write_text("import no_such_module_anywhere\n")
    (folder / "bad.py").write_text(
        "from leanmcp import MCPServer\n\nmcp = MCPServer('x')\n\n\n@mcp.tool\ndef tool(a):\n    return a\n"
    )
    done = leanmcp_command(*(argument.replace("{dir}", str(folder)) for argument in arguments))
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 12
    assert done.stdout == ""


def test_several_servers_are_chosen_by_name(server: Path) -> None:
    """Ours: FILE:OBJECT."""
    file = server.parent / "two.py"
    file.write_text(SERVER + "\nother = MCPServer('other')\n")
    assert leanmcp_command("call", f"{file}:mcp", "add", "a=1").stdout == "2\n"


def test_module_target_and_neighbouring_modules_are_found(server: Path) -> None:
    """Ours: MODULE:OBJECT, and imports of files beside the server's."""
    (server.parent / "helper.py").write_text("VALUE = 40\n")
    (server.parent / "uses_helper.py").write_text(
        SERVER.replace("return a + b", "return a + b + __import__('helper').VALUE")
    )
    assert leanmcp_command("call", "uses_helper:mcp", "add", "a=1", cwd=server.parent).stdout == "42\n"
    assert leanmcp_command("call", server.parent / "uses_helper.py", "add", "a=1").stdout == "42\n"


def test_command_works_from_an_environment_that_is_not_activated(server: Path) -> None:
    """Ours: U5."""
    script = Path(sys.executable).with_name("leanmcp")
    if not script.exists():
        pytest.skip("leanmcp is not installed in this environment, only importable")
    done = subprocess.run(
        [str(script), "call", str(server), "add", "a=1"], capture_output=True, text=True, timeout=DEADLINE, env={}
    )
    assert done.stdout == "2\n"


def test_run_inside_a_loop_names_the_other_method() -> None:
    """Ours: UX, run() inside a loop."""
    code = (
        "import asyncio\nfrom leanmcp import MCPServer\nasync def main(): MCPServer('x').run()\nasyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, env=environment()
    )
    assert "run_async" in done.stderr.splitlines()[-2]


@pytest.mark.parametrize(("name", "expected"), [("htpp", "did you mean 'http'"), ("sse", "its successor is 'http'")])
def test_unknown_transport_is_told(name: str, expected: str) -> None:
    """Ours: U21."""
    code = f"from leanmcp import MCPServer\nMCPServer('x').run({name!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, env=environment()
    )
    assert expected in done.stderr.splitlines()[-2]


def test_what_a_file_prints_while_it_is_loaded_never_reaches_the_protocol(tmp_path: Path) -> None:
    """Ours: standard output belongs to the protocol, and with `call` to the result, from the first line on."""
    file = tmp_path / "chatty.py"
    file.write_text("print('loading')\nimport os; os.write(1, b'raw')\n" + SERVER)
    done = leanmcp_command("run", file)
    assert (done.returncode, done.stdout) == (0, "")
    assert "loading" in done.stderr
    file.write_text("print('loading')\n" + SERVER)
    assert leanmcp_command("call", file, "add", "a=1").stdout == "2\n"


@pytest.mark.parametrize("command", [["call", "{file}", "add", "a=1"], ["run", "{file}"], ["run", "{file}", "--http"]])
def test_run_at_the_top_level_of_a_file_is_told(tmp_path: Path, command: list[str]) -> None:
    """Ours: it would serve while the file is loaded, and never return."""
    file = tmp_path / "eager.py"
    file.write_text(SERVER.replace('if __name__ == "__main__":\n    mcp.run()', "mcp.run()"))
    done = leanmcp_command(*(part.replace("{file}", str(file)) for part in command))
    assert done.returncode == 2
    assert '__name__ == "__main__"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("MCPServer('x').run(port=9)", "port: an option of HTTP"),
        ("MCPServer('x').run('http', port=99999)", "port=99999: give a number from 0 to 65535"),
        ("MCPServer('x').run('http', allowed_hosts='example.com')", "give a list"),
        ("MCPServer('x', lifespan=lambda server: None).run()", "@asynccontextmanager"),
        ("MCPServer('x', limits={'threads': 1})", "give Limits("),
        ("MCPServer('x', version=1.0)", "version=1.0; give a string"),
        ("MCPServer(42)", "name=42; give a string"),
        ("MCPServer('x', instructions=5)", "instructions=5: give a string"),
    ],
)
def test_mistakes_in_options_end_in_a_line_that_helps(code: str, expected: str) -> None:
    """Ours: U12 and U15."""
    done = subprocess.run(
        [sys.executable, "-c", f"from leanmcp import MCPServer\n{code}\n"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
        stdin=subprocess.DEVNULL,
    )
    assert expected in done.stderr.splitlines()[-2]


def test_reader_of_a_call_that_leaves_is_no_mistake(server: Path) -> None:
    """Ours: `leanmcp call ... | true`."""
    command = f"{sys.executable} -m leanmcp call {server} say text=hi | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=DEADLINE, env=environment())
    assert "Traceback" not in done.stderr
