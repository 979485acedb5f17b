"""What a shell completes: the protocol between script and command, and the scripts in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leanmcp.cli import COMMANDS, command_parser
from tests.support.processes import ROOT, http_server
from tests.support.shell import leanmcp, program_at_terminal

FIXTURE = ROOT / "tests" / "fixtures" / "shell.py"
PATIENT: dict[str, Any] = {"LEANMCP_COMPLETE_SECONDS": "15"}  # the machine may have other things to do
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(leanmcp completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -D -u; eval "$(leanmcp completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "leanmcp completion fish | source"),
}
Complete = Callable[..., tuple[str, list[str]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a server, an mcp.json, and the command on a path of its own."""
    shutil.copy(FIXTURE, tmp_path / "shell.py")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "loud.py").write_text(
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nraise ValueError('no')\n"
    )
    (tmp_path / "mcp.json").write_text(
        f'{{"mcpServers": {{"started": {{"command": "{sys.executable}", "args": ["started.py"]}}}}}}'
    )
    (tmp_path / "started.py").write_text("open('started.txt', 'w').close()\n")
    return tmp_path


@pytest.fixture
def complete(folder: Path) -> Complete:
    """Ask what may stand in place of the last word; the first line of the answer, and the words."""

    def ask(*words: str, shell: str = "fish", **variables: str) -> tuple[str, list[str]]:
        done = leanmcp("--complete", shell, *words, cwd=folder, **(PATIENT | variables))
        assert done.stderr == ""
        first, *lines = done.stdout.splitlines() or [""]
        return first, [line.split("\t")[0] for line in lines]

    return ask


# --- the protocol -------------------------------------------------------------------------------------------------


def test_commands_options_and_their_values_are_completed(complete: Complete) -> None:
    """Ours: U22; whatever the parsers know."""
    assert set(complete("")[1]) == {*COMMANDS, "help", "--help", "--version"}
    assert complete("di") == ("none||0|di", ["discover"])
    assert complete("help", "di")[1] == ["discover"]
    assert complete("list", "--mo")[1] == ["--mode"]
    assert complete("list", "--mode", "l")[1] == ["legacy"]
    assert complete("list", "--mode=l")[1] == ["--mode=legacy"]
    assert complete("completion", "")[1] == ["bash", "zsh", "fish"]
    assert complete("completion", "zsh", "")[1] == []
    assert "--json" not in complete("list", "--json", "--")[1]
    assert "--header" in complete("list", "--header", "A: b", "--")[1]  # which may be given again
    assert complete("list", "--timeout", "")[1] == []
    assert complete("no-such-command", "")[1] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_every_command_are_completed(name: str, complete: Complete) -> None:
    """Ours: commands that nobody has written yet included."""
    known = [option for option in command_parser(name)[0]._option_string_actions if option.startswith("--")]
    assert complete(name, "--") == ("none||0|--", known)


def test_pages_about_messages_are_completed(complete: Complete) -> None:
    """Ours: `leanmcp explain`."""
    assert complete("explain", "LM101")[1] == ["LM101"]
    assert complete("explain", "LM101", "")[1] == []


def test_hosts_are_completed(complete: Complete) -> None:
    """Ours: `leanmcp install`."""
    assert complete("install", "vs")[1] == ["vscode"]
    assert complete("install", "vscode", "s")[0] == "files|*.py|0|s"


def test_files_are_left_to_the_shell(complete: Complete) -> None:
    """Ours: kind, which ones, where in the word the path begins, and as much as is typed of it."""
    assert complete("run", "sh") == ("files|*.py|0|sh", [])
    assert complete("call", "s") == ("files|*.py|0|s", ["started"])
    assert complete("call", "--config", "m")[0] == "files||0|m"
    assert complete("call", "--config=m")[0] == "files||9|m"
    assert complete("call", "--output", "m")[0] == "folders||0|m"
    assert complete("call", "shell.py", "say", "text=@no")[0] == "files||6|no"
    assert complete("call", "shell.py", "say", "@no")[0] == "files||1|no"
    assert complete("call", "shell.py", "say", "text=a@b")[0] == "none||0|text=a@b"
    assert complete("call", "add", "--", "py")[0] == "files||0|py"


def test_bash_is_told_what_stands_before_a_path(complete: Complete) -> None:
    """Ours: an `@` breaks words, and is replaced all the same."""
    words = ("call", "shell.py", "say", "text=@no")
    assert complete(*words, shell="bash", LEANMCP_WORDBREAKS="=:@")[0] == "files||@|no"
    assert complete(*words, shell="bash", LEANMCP_WORDBREAKS="=")[0] == "files||@|no"
    assert complete(*words, shell="bash", LEANMCP_WORDBREAKS="")[0] == "files||text=@|no"
    assert complete("call", "--config=m", shell="bash", LEANMCP_WORDBREAKS="=")[0] == "files|||m"


def test_names_of_a_python_file_are_completed(complete: Complete) -> None:
    """Ours: U22; the file runs here, its lists are read."""
    assert complete("call", "shell.py:")[1] == ["shell.py:mcp"]
    assert complete("list", "shell.py", "tools", "")[1] == ["resources", "templates", "prompts"]
    assert complete("call", "shell.py", "a")[1] == ["add"]
    assert complete("call", "shell.py:mcp", "--json", "a")[1] == ["add"]
    assert complete("call", "shell.py", "say", "")[1] == ["text=", "tags=", "numbers=", "loud="]
    assert complete("call", "shell.py", "say", "loud=true", "tags=x", "")[1] == ["text=", "tags=", "numbers="]
    assert complete("call", "shell.py", "say", "loud=")[1] == ["loud=true", "loud=false"]
    assert complete("call", "shell.py", "say", "loud:=f")[1] == ["loud:=false"]
    assert complete("call", "shell.py", "no_such_tool", "")[1] == []
    assert complete("read", "shell.py", "lib://")[1] == ["lib://hours", "lib://logo", "lib://books/{number}"]
    assert complete("read", "shell.py", "lib://hours", "")[1] == []
    assert complete("prompt", "shell.py", "")[1] == ["review"]
    assert complete("prompt", "shell.py", "review", "code=x", "")[1] == ["language="]
    assert complete("prompt", "shell.py", "review", "language=r")[1] == ["language=rust"]
    assert complete("complete", "shell.py", "review", "l")[1] == ["language="]
    assert complete("complete", "shell.py", "lib://books/{number}", "")[1] == ["number="]
    assert complete("listen", "shell.py", "tools", "")[1] == ["resources", "prompts", "lib://hours", "lib://logo"]


def test_words_have_descriptions_for_shells_that_show_them(folder: Path) -> None:
    """Ours: `WORD<tab>about`; bash gets what it inserts."""
    done = leanmcp("--complete", "zsh", "call", "shell.py", "a", cwd=folder, **PATIENT)
    assert done.stdout == "none||0|a\nadd\tAdd two numbers.\n"
    done = leanmcp("--complete", "bash", "call", "shell.py", "a", cwd=folder, **PATIENT)
    assert done.stdout == "none|||a\nadd \n"


def test_no_description_reaches_the_terminal_as_it_is(folder: Path, complete: Complete) -> None:
    """Ours: a server may have written anything into it; and a name of that kind is none that can be typed."""
    (folder / "odd.py").write_text(
        "from leanmcp import MCPServer\nmcp = MCPServer('odd')\n"
        "@mcp.tool(description='A \\x1b[31m' + '\\n\\t\\u202e' * 1000)\ndef add() -> int:\n    return 1\n"
        "@mcp.resource('a://x\\u202ey', description='x')\ndef odd() -> str:\n    return ''\n"
    )
    done = leanmcp("--complete", "fish", "call", "odd.py", "", cwd=folder, **PATIENT)
    [_, line] = done.stdout.splitlines()
    assert line.startswith("add\tA \\x1b[31m \\u202e \\u202e")
    assert (line.isascii(), len(line)) == (True, len("add\t") + 80)
    assert complete("read", "odd.py", "")[1] == []


@pytest.mark.parametrize("seconds", ["x", "nan", "inf", "-1", "1e300"])
def test_a_time_that_is_none_counts_for_nothing(complete: Complete, seconds: str) -> None:
    """Ours: what cannot be waited for is not taken."""
    assert complete("di", LEANMCP_COMPLETE_SECONDS=seconds)[1] == ["discover"]


def test_enumerations_and_their_arrays_are_completed(folder: Path, complete: Complete) -> None:
    """Ours: also in what is optional, referred to, or an item."""
    (folder / "kinds.py").write_text(
        "import enum\nfrom typing import Literal\nfrom leanmcp import MCPServer\nmcp = MCPServer('kinds')\n"
        "class Size(enum.Enum):\n    small = 'small one'\n    large = 'large'\n"
        "@mcp.tool\ndef pick(\n    size: Size, level: Literal[1, 2] | None = None, tags: list[Literal['a', 'b']] = []\n"
        ") -> str:\n    return 'x'\n"
    )
    assert sorted(complete("call", "kinds.py", "pick", "size=")[1]) == ["size=large", "size=small one"]
    assert complete("call", "kinds.py", "pick", "size:=l")[1] == []
    assert complete("call", "kinds.py", "pick", 'size:="l')[1] == ['size:="large"']
    assert complete("call", "kinds.py", "pick", "level=")[1] == ["level=1", "level=2"]
    assert complete("call", "kinds.py", "pick", "tags=a", "tags=")[1] == ["tags=a", "tags=b"]
    assert complete("call", "kinds.py", "pick", "size=s", shell="bash")[1] == ["size=small\\ one "]


def test_a_url_is_asked(complete: Complete) -> None:
    """Ours: with the token and the headers that the command line gives."""
    with http_server(FIXTURE) as server:
        assert complete("call", server.url, "a")[1] == ["add"]
        assert complete("prompt", server.url, "review", "language=")[1] == ["language=python", "language=rust"]
        assert complete("call", server.url, "a", LEANMCP_COMPLETE_SECONDS="0")[1] == []
    assert complete("call", server.url, "a")[1] == []  # it is gone


def test_no_program_is_started(folder: Path, complete: Complete) -> None:
    """Ours: an entry of mcp.json with a command may do anything; nobody has pressed Enter."""
    assert complete("call", "st") == ("files|*.py|0|st", ["started"])
    assert complete("call", "started", "") == ("none||0|", [])
    assert complete("call", "--", sys.executable, "started.py", "")[1] == []
    assert not (folder / "started.txt").exists()


def test_a_file_that_prints_or_fails_is_silent(folder: Path, complete: Complete) -> None:
    """Ours: nothing gets into the line that somebody is typing."""
    assert complete("call", "loud.py", "") == ("none||0|", [])
    (folder / "loud.py").write_text(FIXTURE.read_text() + "print('out')\n")
    assert complete("call", "loud.py", "ad")[1] == ["add"]
    (folder / "exits.py").write_text("import os\nos.write(2, b'x')\nraise SystemExit('no')\n")
    assert complete("call", "exits.py", "")[1] == []
    done = leanmcp("--complete", "zsh", "call", "no.py", "", cwd=folder, LEANMCP_COMPLETE_DEBUG="1")
    assert "no file 'no.py'" in done.stderr


def test_nothing_is_written(folder: Path, complete: Complete) -> None:
    """Ours: not even a compiled module."""
    before = sorted(folder.rglob("*"))
    complete("call", "shell.py", "a")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "loop", ["while True: pass", "import time; time.sleep(60)", "import os; os.read(os.pipe()[0], 1)"]
)
def test_a_file_that_takes_long_is_given_up(folder: Path, loop: str) -> None:
    """Ours: even where it computes without end."""
    (folder / "slow.py").write_text(loop)
    done = leanmcp("--complete", "zsh", "call", "slow.py", "", cwd=folder, LEANMCP_COMPLETE_SECONDS="0.2")
    assert (done.stdout, done.stderr) == ("", "")


def test_the_lifespan_is_not_entered(folder: Path, complete: Complete) -> None:
    """Ours: lists need no database."""
    (folder / "life.py").write_text(
        "from contextlib import asynccontextmanager\nfrom leanmcp import MCPServer\n@asynccontextmanager\n"
        "async def life(server):\n    open('entered.txt', 'w').close()\n    yield\n"
        "mcp = MCPServer('life', lifespan=life)\n@mcp.tool\ndef add() -> int:\n    return 1\n"
    )
    assert complete("call", "life.py", "")[1] == ["add"]
    assert not (folder / "entered.txt").exists()


@pytest.mark.parametrize(
    ("typed", "breaks", "inserted"),
    [
        ("lou", "=:", ["loud="]),
        ("loud=t", "=:", ["true "]),
        ("loud=t", "", ["loud=true "]),
        ("loud=", "=", ["true ", "false "]),
        ("'loud=t", "=:", ["loud=true"]),
        ('"loud=t', "=:", ["loud=true"]),
        ("loud='t", "=:", ["true"]),
        ("lo\\ud=t", "=", ["true "]),
        ("l'oud'=t", "=", ["true "]),
        ("loud=t", ":@", ["loud=true "]),
        ("'loud='t", "=", ["loud=true "]),
    ],
)
def test_bash_is_told_what_it_inserts(complete: Complete, typed: str, breaks: str, inserted: list[str]) -> None:
    """Ours: it replaces what stands behind the last of COMP_WORDBREAKS, or behind an open quote."""
    assert complete("call", "shell.py", "say", typed, shell="bash", LEANMCP_WORDBREAKS=breaks)[1] == inserted


# --- the shells ---------------------------------------------------------------------------------------------------


def _command(folder: Path) -> Path:
    """Write a `leanmcp` that completes, and otherwise says with which words it was started."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    command = bin_folder / "leanmcp"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "if sys.argv[1] not in ('--complete', 'completion'):\n"
        "    print('WORDS' + ''.join(f'[{word}]' for word in sys.argv[1:]) + 'END')\n"
        "else:\n    from leanmcp.cli import main\n    sys.exit(main())\n"
    )
    command.chmod(0o755)
    return bin_folder


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_and_parses(shell: str) -> None:
    """Ours: as text, and in JSON."""
    done = leanmcp("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--complete" in done.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    parsed = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, timeout=20, check=False)
    assert (parsed.returncode, parsed.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_completes(shell: str, folder: Path) -> None:
    """Ours: U22, typed at a terminal: a Tab, and what has become of the line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "inner").mkdir()
    (folder / "inner" / "deep one.py").write_text("")
    variables = PATIENT | {"PATH": f"{_command(folder)}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    command, setup = SHELLS[shell]
    lines = {
        "leanmcp disc\t\n": "[discover]",
        "leanmcp call shel\tad\ta=1\n": "[call][shell.py][add][a=1]",
        "leanmcp call shell.py say lou\tt\t\n": "[call][shell.py][say][loud=true]",
        "leanmcp call shell.py:m\tadd\n": "[call][shell.py:mcp][add]",
        "leanmcp read shell.py lib://h\t\n": "[read][shell.py][lib://hours]",
        "leanmcp call shell.py say text=@note\t\n": "[call][shell.py][say][text=@notes.txt]",
        "leanmcp list --mod\tleg\t\n": "[list][--mode][legacy]",
        "leanmcp call star\t\n": "[call][started]",
        "leanmcp run inn\tde\t\n": "[run][inner/deep one.py]",
        "leanmcp call shell.py say text=@inn\tde\t\n": "[call][shell.py][say][text=@inner/deep one.py]",
        "leanmcp call ~/shel\tad\t\n": f"[call][{folder}/shell.py][add]",
        "bin/leanmcp disc\t\n": "[discover]",
        "leanmcp call 'shell.py' ad\t\n": "[call][shell.py][add]",
    }
    if shell == "bash":  # which closes the quote itself
        lines["leanmcp call shell.py say 'lou\tt\t\n"] = "[call][shell.py][say][loud=true]"
    with program_at_terminal(command, cwd=folder, **variables) as terminal:
        terminal.type(f"{setup}; echo rea''dy\n")
        terminal.wait_for("ready")
        for typed, words in lines.items():
            terminal.type(typed)
            terminal.wait_for(f"WORDS{words}")
        terminal.type("exit\n")
        terminal.finish()
