"""Markdown whose code is run: files are written, commands are typed, and what they print is compared.

In a document, the code blocks mean, from top to bottom and in one folder:

- ```` ```python server.py ```` (any language, and a name): the file of that name.
- ```` ```console ````: `$ command` lines, each followed by what it prints, standard error included. A line `...` stands
  for any lines, `...` within a line for any text. A command that ends in `&` goes on until the document ends; what is
  shown is what it prints to say that it is ready.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .processes import DEADLINE, ROOT, end, environment

_FENCE = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROGRAMS = {"leanmcp": "-m leanmcp", "pytest": "-m pytest -p leanmcp.pytest_plugin", "python": ""}
_READY = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Block(NamedTuple):
    """A code block: its language, the file that it is, its text and its first line's number."""

    language: str
    name: str
    text: str
    line: int


def blocks(document: str) -> list[Block]:
    """Return the code blocks of a document."""
    return [
        Block(found[1], found[2] or "", found[3], document.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(document)
    ]


def commands(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what it prints."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:], ""))
            continue
        assert found, f"line {block.line}: a console block begins with `$ command`"
        command, printed = found[-1]
        goes_on = command.endswith("\\\n") or command.count("'") % 2
        found[-1] = (command + line, printed) if goes_on else (command, printed + line)
    return [(command.rstrip("\n"), printed) for command, printed in found]


def matches(printed: str, shown: str) -> bool:
    """Return whether a command has printed what a document shows."""
    lines = [re.escape(line).replace(re.escape("..."), ".*") for line in shown.splitlines()]
    pattern = "".join("(?:.*\n)*" if line == ".*" else line + "\n" for line in lines)
    text = "".join(line.rstrip() + "\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None


class Desk:
    """A folder and a shell to follow a document in.

    Args:
        folder: empty; files of the document come here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self._ports: dict[str, str] = {}
        self._running: list[subprocess.Popen[bytes]] = []
        path = f"{self.folder}{os.pathsep}{ROOT}"
        programs = folder / "bin"
        programs.mkdir()
        for name, arguments in _PROGRAMS.items():
            program = programs / name
            # Servers are started without this environment; what an installed package would find is said here.
            program.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" {arguments} "$@"\n')
            program.chmod(0o755)
        kept = {name: value for name, value in environment().items() if not name.startswith(("LEANMCP_", "FORCE_"))}
        self._environment = kept | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # what a document needs, it names
        }

    def follow(self, document: str) -> None:
        """Write the files of a document and type its commands.

        Raises:
            AssertionError: a command prints something else than the document shows.
        """
        for block in blocks(document):
            if block.language == "console":
                for command, shown in commands(block):
                    printed = self._begin(command) if command.endswith("&") else self._run(command)
                    assert matches(printed, self._here(shown)), f"line {block.line}: {command}\n{printed}"
            else:
                assert block.name, f"line {block.line}: a {block.language} block without a file name is not run"
                file = self.folder / block.name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(self._here(block.text))

    def leave(self) -> None:
        """End what goes on."""
        for process in self._running:
            end(process)

    def _run(self, command: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", self._here(command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE,
            env=self._environment,
            cwd=self.folder,
            start_new_session=True,
        )
        return done.stdout

    def _begin(self, command: str) -> str:
        """Start a server, on a free port in place of the one that is shown; return what it said until it was ready."""
        port = re.search(r"--port (\d+)", command)
        wanted = "8000" if port is None else port[1]
        command = command.rstrip("& ").replace(f"--port {wanted}", "") + " --port 0"
        process = subprocess.Popen(
            ["/bin/sh", "-c", "exec " + command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=self.folder,
        )
        self._running.append(process)
        assert process.stderr is not None
        printed = ""
        while line := process.stderr.readline().decode():
            printed += line
            if ready := _READY.search(line):
                self._ports[wanted] = ready[1]
                break
        return printed

    def _here(self, text: str) -> str:
        """Return a text with the ports that servers have in place of those that are shown."""
        for shown, port in self._ports.items():
            text = re.sub(rf"(?<=:){shown}\b", port, text)
        return text
