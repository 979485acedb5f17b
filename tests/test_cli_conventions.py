"""What holds for every command of `leanmcp`, those included that nobody has written yet."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp.cli import COMMANDS, command_parser
from leanmcp.cli.faults import UsageError
from leanmcp.cli.options import Parser
from tests.support.processes import DEADLINE, ROOT, environment
from tests.support.shell import at_terminal, leanmcp

FIXTURE = str(ROOT / "tests" / "fixtures" / "shell.py")
WITHOUT_DATA = {"run"}  # standard output belongs to the protocol
ENDLESS = {"run", "listen"}  # what these print is tested where they are
SAMPLES = {
    "list": [FIXTURE],
    "call": [FIXTURE, "say", "text=x"],
    "read": [FIXTURE, "lib://hours"],
    "prompt": [FIXTURE, "review", "code=x"],
    "discover": [FIXTURE],
    "complete": [FIXTURE, "review", "language=p"],
    "check": [FIXTURE],
    "migrate": ["old.py"],
    "explain": [],
    "version": [],
    "completion": ["bash"],
    "install": ["json", FIXTURE],
}
"""A line for each command that prints data, after which it ends by itself."""
CODES = re.compile(r"^  (\d+)  +\S", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """What `leanmcp COMMAND --help` prints."""
    found = {}
    for name in COMMANDS:
        done = leanmcp(name, "--help", COLUMNS="100")
        assert (done.returncode, done.stderr) == (0, ""), name
        found[name] = done.stdout
    return found


def _parser(name: str) -> Parser:
    return command_parser(name)[0]


def _examples(text: str, name: str) -> list[list[str]]:
    """Return the command lines in a help text, what is said about each cut off."""
    lines = re.findall(rf"^  leanmcp {name}\b(.*)$", text, re.MULTILINE)
    return [shlex.split(re.split(r" {2,}| [<>|] ", line.strip())[0]) for line in lines]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_usage_examples_and_exit_codes(name: str, helps: dict[str, str]) -> None:
    """Ours: UX features 5 and 8."""
    text = helps[name]
    assert text.startswith(f"usage: leanmcp {name}")
    assert "examples:\n" in text
    codes = text.partition("exit codes:\n")[2]
    assert {"0", "2"} <= set(CODES.findall(codes)) or name == "version"
    assert max(map(len, text.splitlines())) <= 120
    about = COMMANDS[name][1]
    assert f"\n{about[:1].upper()}{about[1:]}.\n" in text
    assert not about.endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_in_help_are_command_lines(name: str, helps: dict[str, str]) -> None:
    """Ours: what is shown can be typed."""
    examples = _examples(helps[name], name)
    assert examples
    for words in examples:
        try:
            _parser(name).parse_words(words)
        except UsageError as error:
            pytest.fail(f"leanmcp {name} {shlex.join(words)}: {error}")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - WITHOUT_DATA))
def test_help_documents_the_shape_of_json(name: str, helps: dict[str, str]) -> None:
    """Ours: U20."""
    assert "--json" in _parser(name)._option_string_actions
    assert re.search(r"^--json prints .*\"\w+\"", helps[name], re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - ENDLESS))
def test_data_goes_to_standard_output_and_has_the_documented_shape(
    name: str, helps: dict[str, str], tmp_path: Path
) -> None:
    """Ours: U20; colours neither, whatever is forced."""
    assert name in SAMPLES, f"add a line for `leanmcp {name}` to SAMPLES"
    (tmp_path / "old.py").write_text("from mcp import Client\n")
    done = leanmcp(name, *SAMPLES[name], "--json", cwd=tmp_path, FORCE_COLOR="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    shown = msgspec.json.decode(done.stdout)
    documented = re.search(r"^--json prints (.*?)(?:\n\n|\Z)", helps[name], re.MULTILINE | re.DOTALL)
    assert documented is not None
    assert isinstance(shown, dict)
    assert set(shown) <= set(re.findall(r'"(\w+)"', documented[1]))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_told_with_the_one_that_was_meant(name: str) -> None:
    """Ours: U21; one line, exit code 2, nothing on standard output."""
    known = [option for option in _parser(name)._option_string_actions if option.startswith("--")]
    words = SAMPLES.get(name, ["server.py"])
    for option in known:
        mistyped = f"{option[:3]}{option[4:]}" if len(option) > 6 else f"{option}x"
        with pytest.raises(UsageError) as caught:
            _parser(name).parse_words([*words, mistyped])
        found = re.fullmatch(rf"unknown option '{mistyped}'; did you mean '(.*)'\?", str(caught.value))
        assert found is not None
        assert found[1] in known
    done = leanmcp(name, *words, "--hepl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "did you mean '--help'?" in done.stderr


def _choices() -> list[Any]:
    return [
        pytest.param(name, action, id=f"{name} {action.option_strings[-1] if action.option_strings else action.dest}")
        for name in COMMANDS
        for action in _parser(name)._actions
        if action.choices is not None
    ]


@pytest.mark.parametrize(("name", "action"), _choices())
def test_a_choice_that_is_none_is_told_with_the_one_that_was_meant(name: str, action: argparse.Action) -> None:
    """Ours: U21."""
    choice = str(next(iter(action.choices or ())))
    words = [action.option_strings[-1], f"{choice}x"] if action.option_strings else [f"{choice}x"]
    with pytest.raises(UsageError, match=re.escape(f"did you mean {choice!r}?")):
        _parser(name).parse_words(words)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_command_is_told_with_the_one_that_was_meant(name: str) -> None:
    """Ours: U21; at `help` too."""
    for words in ([f"{name}x"], ["help", f"{name}x"]):
        done = leanmcp(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"unknown command {name + 'x'!r}; did you mean {name!r}?" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_colours_follow_the_conventions(name: str) -> None:
    """Ours: U24; no-color.org, force-color.org: NO_COLOR wins, FORCE_COLOR needs no terminal."""
    plain = leanmcp(name, "--no-such")
    assert not COLOURS.search(plain.stderr)
    forced = leanmcp(name, "--no-such", FORCE_COLOR="1")
    assert COLOURS.search(forced.stderr)
    assert COLOURS.sub("", forced.stderr) == plain.stderr
    assert leanmcp(name, "--no-such", NO_COLOR="1", FORCE_COLOR="1").stderr == plain.stderr


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - ENDLESS))
def test_colours_on_a_terminal_are_no_more_than_colours(name: str, tmp_path: Path) -> None:
    """Ours: the same text, and none at all with NO_COLOR."""
    (tmp_path / "old.py").write_text("from mcp import Client\n")
    with at_terminal(name, *SAMPLES[name], cwd=tmp_path) as terminal:
        assert terminal.finish() == 0
        coloured = terminal.shown
    with at_terminal(name, *SAMPLES[name], cwd=tmp_path, NO_COLOR="1") as terminal:
        assert terminal.finish() == 0
        assert not COLOURS.search(terminal.shown)
        assert COLOURS.sub("", coloured) == terminal.shown


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - ENDLESS))
def test_output_that_nobody_reads_ends_a_command_quietly(name: str, tmp_path: Path) -> None:
    """Ours: as with `| head`."""
    (tmp_path / "old.py").write_text("from mcp import Client\n")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "leanmcp", name, *SAMPLES[name], "--json"],
            stdin=subprocess.DEVNULL,
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            timeout=DEADLINE,
            env=environment(),
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - ENDLESS))
def test_closed_standard_streams_are_no_crash(name: str, tmp_path: Path) -> None:
    """Ours: `<&- >&- 2>&-`, as some services start programs; what else is opened becomes none of them."""
    (tmp_path / "old.py").write_text("from mcp import Client\n")
    words = shlex.join([sys.executable, "-m", "leanmcp", name, *SAMPLES[name]])
    for closed in ("<&- >&- 2>&-", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f"exec {words} {closed}"],
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            timeout=DEADLINE,
            env=environment(),
            check=False,
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_a_mistake_that_nobody_hears_keeps_its_exit_code() -> None:
    """Ours: U20; it is no data either."""
    command = f"exec {sys.executable} -m leanmcp vesion 2>&-"
    done = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, timeout=DEADLINE, env=environment(), check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
