"""The command of a server: how it is found, what it is called in texts, and what a failed start means.

In: StdioServerParameters. Out: a program that exists, its environment, or CannotConnect that tells what to do.
Spec 2026-07-28: basic/transports/stdio.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import sys
import zlib

from ..errors import CannotConnect
from ..mistyped import closest
from ..parameters import StdioServerParameters

# What the official SDK hands on, too: enough to find programs and a home, and no secret of this process.
_INHERITED = (
    (
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    )
    if sys.platform == "win32"
    else ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
)
_SECRET = re.compile(r"(-*[\w.-]*(?:key|token|secret|password|passwd|auth)[\w.-]*)(=.*)?", re.IGNORECASE | re.DOTALL)
_STARTED = "LEANMCP_STARTED"  # the variable with the marks of the commands that led to a process
_SHOWN = 160  # characters of a command in texts
_FIRST_LINE = 256  # bytes that the kernel reads of a script to find its interpreter


def environment(parameters: StdioServerParameters) -> dict[str, str]:
    """Return the variables of a server: the few that are handed on, a mark of its command, what the user gave."""
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    # A value like this is a function of an old bash, which would run it ("Shellshock").
    kept = {name: value for name, value in kept.items() if not value.startswith("()")}
    return kept | {_STARTED: f"{os.environ.get(_STARTED, '')} {_mark(parameters)}".strip()} | (parameters.env or {})


def _mark(parameters: StdioServerParameters) -> str:
    """Return what tells this command from others."""
    folder = os.path.abspath(parameters.cwd or ".")
    said = (folder, parameters.command, *parameters.args, *sorted((parameters.env or {}).items()))
    return f"{zlib.crc32(repr(said).encode(errors='replace')):08x}"


def shown_command(parameters: StdioServerParameters) -> str:
    """Return the command as it is typed, clipped, without the values of options that look like secrets."""
    words = [parameters.command]
    hides_next = False
    for word in parameters.args:
        match = None if hides_next else _SECRET.fullmatch(word)
        if hides_next or (match is not None and match[2]):
            words.append("***" if match is None else f"{match[1]}=***")
        else:
            words.append(word)
        hides_next = match is not None and not match[2] and word.startswith("-")
    text = " ".join(word if "***" in word else shlex.quote(word) for word in words)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def find_program(parameters: StdioServerParameters, variables: dict[str, str], where: str) -> str:
    """Return the program to start.

    Raises:
        CannotConnect: there is none, or it cannot be run.
    """
    if _mark(parameters) in os.environ.get(_STARTED, "").split():
        reason = "it has started this process itself, so it would go on without end; put the client into another file"
        raise CannotConnect(f"{where} cannot be started: {reason}", where)
    folder = os.path.abspath(parameters.cwd or ".")
    if not os.path.isdir(folder):
        raise CannotConnect(f"{where} cannot be started: cwd={folder!r} is no folder", where)
    command = parameters.command
    if os.path.dirname(command):
        path = os.path.join(folder, command)
        if not os.path.exists(path):
            raise CannotConnect(f"{where} cannot be started: there is no file {path!r}", where)
        if not os.access(path, os.X_OK) or os.path.isdir(path):
            raise CannotConnect(f"{where} cannot be started: {_not_executable(path, command)}", where)
        return path
    found = shutil.which(command, path=variables.get("PATH", os.defpath))
    if found is None:
        raise CannotConnect(f"{where} cannot be started: {_not_found(command, folder, variables)}", where)
    return found


def start_failed(fault: Exception, program: str, where: str) -> CannotConnect:
    """Return the error of a program that exists and yet cannot be started."""
    reason = str(fault)
    if isinstance(fault, OSError):
        reason = os.strerror(fault.errno) if fault.errno else reason
        interpreter = _interpreter(program)
        if isinstance(fault, FileNotFoundError) and interpreter:
            reason = f"the first line of {program!r} names the interpreter {interpreter!r}, which does not exist"
        elif fault.errno == errno.ENOEXEC:
            reason = f"{program!r} is no program: give its interpreter as command and the file in args"
        elif fault.errno in (errno.EMFILE, errno.ENFILE):
            reason += "; this process has no file descriptors left"
    return CannotConnect(f"{where} cannot be started: {reason}", where)


def _not_executable(path: str, command: str) -> str:
    if os.path.isdir(path):
        return f"{path!r} is a folder"
    hint = f"chmod +x {shlex.quote(path)}"
    if path.endswith(".py"):
        hint = f"give command={sys.executable!r}, args=[{command!r}]"
    elif path.endswith((".js", ".mjs", ".cjs")):
        hint = f"give command='node', args=[{command!r}]"
    return f"{path!r} is not executable; {hint}"


def _not_found(command: str, folder: str, variables: dict[str, str]) -> str:
    """Say that a command does not exist, and what was probably meant."""
    if len(words := command.split()) > 1:
        return (
            f"there is no program {command!r}; command= is the program alone: give command={words[0]!r}, "
            f"args={words[1:]!r}, or StdioServerParameters.from_command({command!r})"
        )
    if os.path.isfile(os.path.join(folder, command)):
        return f"there is no program {command!r} in PATH; " + _not_executable("./" + command, "./" + command)
    text = f"there is no program {command!r} in PATH"
    if command in ("python", "python3"):
        return f"{text}; give command={sys.executable!r}"
    names = [name for name in _programs(variables) if abs(len(name) - len(command)) <= 2]
    if (meant := closest(command, names, cutoff=0.75)) is not None:
        return f"{text}; did you mean {meant!r}?"
    if "PATH" in (variables.keys() - os.environ.keys()) or variables.get("PATH") != os.environ.get("PATH"):
        text += " (env= sets PATH)"
    return f"{text}; give its whole path"


def _programs(variables: dict[str, str]) -> list[str]:
    names: set[str] = set()
    for folder in variables.get("PATH", os.defpath).split(os.pathsep):
        if os.access(folder, os.R_OK) and os.path.isdir(folder):
            names.update(os.listdir(folder))
    return sorted(names)


def _interpreter(program: str) -> str:
    """Return the interpreter that the first line of a script names, empty where there is none."""
    try:
        with open(program, "rb") as file:
            line = file.read(_FIRST_LINE).partition(b"\n")[0]
    except OSError:
        return ""
    words = line[2:].split() if line.startswith(b"#!") else []
    return words[0].decode(errors="replace") if words else ""
