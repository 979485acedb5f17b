"""What can be given as a command, and what a failed start says."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from leanmcp import StdioServerParameters
from leanmcp.connect import transport_to
from leanmcp.errors import CannotConnect
from leanmcp.transports.stdio_client import StdioTransport
from leanmcp.transports.stdio_client_command import environment, shown_command
from tests.support.processes import DEADLINE, ROOT
from tests.support.stdio_talk import run, talking

# --- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "error", "text"),
    [
        ({"command": ""}, ValueError, "give the program"),
        ({"command": 3}, TypeError, "command: give text, not 3"),
        ({"command": "x\0y"}, ValueError, "NUL"),
        ({"args": "server.py"}, TypeError, "args='server.py': give a list of texts"),
        ({"args": ["a", 3]}, TypeError, "args: give text, not 3"),
        ({"args": ["a\0"]}, ValueError, "NUL"),
        ({"env": {"A": 1}}, TypeError, r"env['A']: give text, not 1"),
        ({"env": {"A": "\0"}}, ValueError, "NUL"),
        ({"encoding": "latin-1"}, ValueError, "MCP on standard streams is UTF-8"),
        ({"encoding_error_handler": "xmlcharrefreplace"}, ValueError, "strict, ignore or replace"),
        ({"stderr": "inherit"}, ValueError, "'forward', 'capture', None or a function"),
        ({"shutdown_timeout": 0}, ValueError, "shutdown_timeout=0: give a positive number"),
        ({"terminate_timeout": -1}, ValueError, "give a positive number"),
        ({"max_starts": True}, ValueError, "give a positive number"),
        ({"max_line_size": "1"}, ValueError, "give a positive number"),
    ],
)
def test_parameters_are_checked_when_they_are_given(members: dict[str, Any], error: type[Exception], text: str) -> None:
    """Ours: the text tells what to give; nothing is started yet."""
    with pytest.raises(error, match=re.escape(text)):
        StdioServerParameters(**{"command": "python", **members})


def test_parameters_have_the_names_of_the_official_sdk() -> None:
    """Ours: people change one import line."""
    from mcp import StdioServerParameters as Official

    members = {
        "command": "python",
        "args": ["server.py"],
        "env": {"A": "b"},
        "cwd": "/tmp",
        "encoding": "utf-8",
        "encoding_error_handler": "strict",
    }
    assert set(members) == set(Official.model_fields)
    theirs, ours = Official(**members), StdioServerParameters(**members)  # type: ignore[arg-type]
    assert {name: getattr(theirs, name) for name in members} == {name: getattr(ours, name) for name in members}


def test_parameters_from_a_command_line() -> None:
    """Ours: quoted as in a shell; nothing is expanded."""
    found = StdioServerParameters.from_command("python 'my server.py' --path $HOME", cwd="/tmp")
    assert (found.command, found.args, found.cwd) == ("python", ["my server.py", "--path", "$HOME"], "/tmp")
    assert StdioServerParameters.from_command(["npx", "-y", "x"]).args == ["-y", "x"]
    nothing: str | list[str]
    for nothing in ("", "  ", []):
        with pytest.raises(ValueError, match="give a command"):
            StdioServerParameters.from_command(nothing)
    with pytest.raises(ValueError, match="a quotation mark has no partner"):
        StdioServerParameters.from_command("python 'server.py")


def test_paths_may_be_path_objects(tmp_path: Path) -> None:
    """Ours."""
    found = StdioServerParameters(command=tmp_path, args=[tmp_path], cwd=tmp_path)  # type: ignore[arg-type,list-item]
    assert (found.command, found.args, found.cwd) == (str(tmp_path), [str(tmp_path)], tmp_path)


def test_no_secret_is_shown() -> None:
    """Ours: `where` stands in logs and errors; keys are handed over in variables, and in options too."""
    args = [
        "server.py",
        "--api-key=abc123",
        "--token",
        "abc123",
        "PASSWORD=abc123",
        "--verbose",
        "--key-file",
        "abc123",
    ]
    found = StdioServerParameters(command="python", args=args, env={"API_KEY": "abc123"}, cwd="/tmp")
    shown = shown_command(found)
    assert shown == "python server.py --api-key=*** --token *** PASSWORD=*** --verbose --key-file ***"
    assert repr(found).endswith("env={'API_KEY': ...}, cwd='/tmp')")
    long = shown_command(StdioServerParameters(command="python", args=["x" * 500]))
    assert long.endswith("xxx...")
    assert len(long) == 160


def test_environment_is_a_safe_part_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: as in the official SDK: what names places, and no secrets; `env` adds and replaces."""
    monkeypatch.setenv("MY_SECRET", "abc")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("SHELL", "() { :;}; echo vulnerable")
    monkeypatch.delenv("TERM", raising=False)
    found = environment(StdioServerParameters(command="x", env={"MORE": "1", "HOME": "/else"}))
    assert found["PATH"] == os.environ["PATH"]
    assert (found["MORE"], found["HOME"]) == ("1", "/else")
    assert not {"MY_SECRET", "SHELL", "TERM"} & found.keys()
    assert environment(StdioServerParameters(command="x"))["HOME"] == "/home/me"


SELF = """
import asyncio, sys
from leanmcp import Client, StdioServerParameters

print("started", file=open("log", "a"))

async def main():
    async with Client(StdioServerParameters(command=sys.executable, args=["both.py"], env={"PYTHONPATH": sys.argv[1]})):
        pass

asyncio.run(main())
"""


def test_program_that_starts_itself_comes_to_an_end(tmp_path: Path) -> None:
    """Ours: a client in the file of its server; each one would start the next one."""
    (tmp_path / "both.py").write_text(SELF.replace("sys.argv[1]", repr(str(ROOT))))
    done = subprocess.run(
        [sys.executable, "both.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 1
    assert (tmp_path / "log").read_text() == "started\n" * 2
    assert (
        "both.py cannot be started: it has started this process itself, so it would go on without end; " in done.stderr
    )


# --- starts that fail -------------------------------------------------------------------------------------------------


def failure(loop: str = "uvloop", **members: Any) -> str:
    """Return why a start fails."""

    async def main() -> str:
        transport = StdioTransport(StdioServerParameters(**members))
        with pytest.raises(CannotConnect) as caught:
            await transport.start()
        assert transport.starts == 0
        await transport.close()
        assert caught.value.where == transport.where
        assert caught.value.message.startswith(f"{transport.where} cannot be started: ")
        return caught.value.message.partition(" cannot be started: ")[2]

    return run(loop, main())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of all kinds."""
    for name, text in {
        "data": "no program",
        "server.py": "print()",
        "server.mjs": "",
        "lost": "#!/no/such/interpreter\n",
        "strange": "\x7fELF but not really",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "lost").chmod(0o755)
    (tmp_path / "strange").chmod(0o755)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("./missing", "there is no file '{0}/./missing'"),
        ("./folder", "'{0}/./folder' is a folder"),
        ("./data", "'{0}/./data' is not executable; chmod +x {0}/./data"),
        ("./server.py", "is not executable; give command='{1}', args=['./server.py']"),
        ("./server.mjs", "is not executable; give command='node', args=['./server.mjs']"),
        (
            "server.py",
            "there is no program 'server.py' in PATH; './server.py' is not executable; give command='{1}', arg",
        ),
        (
            "python server.py",
            "give command='python', args=['server.py'], or StdioServerParameters.from_command('python s",
        ),
        ("./lost", "the first line of '{0}/./lost' names the interpreter '/no/such/interpreter', which does not exist"),
        ("./strange", "'{0}/./strange' is no program: give its interpreter as command and the file in args"),
        ("no-such-program-anywhere", "there is no program 'no-such-program-anywhere' in PATH; give its whole path"),
        ("mkdr", "there is no program 'mkdr' in PATH; did you mean 'mkdir'?"),
    ],
)
def test_start_that_fails_says_why(loop: str, command: str, text: str, folder: Path) -> None:
    """Ours: U13; what is wrong, and what to give instead."""
    assert text.format(folder, sys.executable) in failure(loop, command=command, cwd=folder)


def test_missing_folder_and_empty_path_are_told_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: Python alone would call all of them "No such file or directory"."""
    assert failure(command="true", cwd=folder / "none") == f"cwd={str(folder / 'none')!r} is no folder"
    assert failure(command="true", cwd=folder / "data") == f"cwd={str(folder / 'data')!r} is no folder"
    said = failure(command="python3", env={"PATH": "/nowhere"})
    assert said == f"there is no program 'python3' in PATH; give command={sys.executable!r}"
    assert "(env= sets PATH)" in failure(command="true", env={"PATH": "/nowhere"})
    assert "Argument list too long" in failure(command="true", args=["x" * 5_000_000])


def test_descriptors_may_run_out() -> None:
    """Ours: the text says whose fault it is; nothing is left behind."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def main() -> None:
        transport = StdioTransport(StdioServerParameters(command="cat"))
        held: list[int] = []
        gc.collect()  # what it would close later would be descriptors to be had
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, soft), hard))
        try:
            while len(held) < 256:
                held.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
        os.close(held.pop())
        try:
            with pytest.raises(CannotConnect, match="has no file descriptors left"):
                await transport.start()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for fd in held:
                os.close(fd)
        await transport.close()

    run("uvloop", main())


def test_relative_command_and_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a relative command is looked up in `cwd`, as a shell there would."""
    script = folder / "folder" / "serve"
    script.write_text("#!/bin/sh\npwd\nexec cat\n")
    script.chmod(0o755)
    monkeypatch.chdir(folder)

    async def main() -> None:
        async with asyncio.timeout(10):
            transport = StdioTransport(StdioServerParameters(command="./serve", cwd="folder", stderr=None))
            await transport.start()
            await transport.close()

    run("uvloop", main())


# --- what a client is given -------------------------------------------------------------------------------------------


def test_parameters_make_a_transport() -> None:
    """Ours."""
    transport = transport_to(StdioServerParameters(command="python", args=["server.py"]))
    assert isinstance(transport, StdioTransport)
    assert transport.where == "python server.py"


@pytest.mark.parametrize(
    ("given", "proposed"),
    [
        ("server.py", "StdioServerParameters(command='python', args=['server.py'])"),
        ("./server.py", "StdioServerParameters(command='python', args=['./server.py'])"),
        ("./server", "StdioServerParameters(command='./server')"),
        ("/usr/bin/server", "StdioServerParameters(command='/usr/bin/server')"),
        ("build/index.js", "StdioServerParameters(command='node', args=['build/index.js'])"),
        ("server.jar", "StdioServerParameters(command='java', args=['-jar', 'server.jar'])"),
        ("python server.py", "StdioServerParameters.from_command('python server.py')"),
        ("npx -y @scope/server /tmp", "StdioServerParameters.from_command('npx -y @scope/server /tmp')"),
        (["python", "server.py"], "StdioServerParameters(command='python', args=['server.py'])"),
        (("server",), "StdioServerParameters(command='server')"),
        (Path("server.py"), "StdioServerParameters(command='python', args=['server.py'])"),
    ],
)
def test_command_that_is_no_parameters_is_answered_with_them(given: Any, proposed: str) -> None:
    """Ours: a text is a URL, so that no typing slip starts a program."""
    with pytest.raises(TypeError, match=re.escape(proposed)):
        transport_to(given)


def test_parameters_of_the_official_sdk_are_told_apart() -> None:
    """Ours: half an import line was changed."""
    from mcp import StdioServerParameters as Official

    with pytest.raises(TypeError, match="import it from leanmcp"):
        transport_to(Official(command="python"))


def test_a_server_that_prints_its_folder_is_where_it_should_be(folder: Path) -> None:
    """Ours: `cwd` and `env` arrive."""
    lines: list[str] = []

    async def main() -> None:
        both = asyncio.Event()

        def take(line: str) -> None:
            lines.append(line)
            if len(lines) == 2:
                both.set()

        command = ["sh", "-c", "pwd >&2; echo $COLOUR >&2; exec cat > /dev/null"]
        transport = StdioTransport(
            StdioServerParameters.from_command(command, cwd=folder, env={"COLOUR": "blue"}, stderr=take)
        )
        await transport.start()
        await both.wait()  # `close` gives a server that starts slowly no more than its shutdown_timeout
        await transport.close()
        async with talking():
            pass

    run("uvloop", main())
    assert lines == [str(folder.resolve()), "blue"]
