"""`leanmcp install`: add a server to the settings of a host."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .faults import OK, UsageError, proposal
from .installing_hosts import HOSTS, Host, entry_of_program, entry_of_url, user_file
from .options import Parser, headers, variables

if TYPE_CHECKING:
    from .installing_file import JSONFile
    from .screen import Screen

_EXAMPLES = """\
hosts:
  claude-desktop, claude-code, cursor, vscode, windsurf, gemini-cli
  json    prints the entry as most hosts read it, and writes nothing

examples:
  leanmcp install claude-desktop server.py
  leanmcp install cursor server.py --project --env API_KEY     with the API_KEY that is set here
  leanmcp install vscode https://example.com/mcp --name example --dry-run
  leanmcp install claude-code --name files -- npx -y some-server
  leanmcp install cursor example --remove
  leanmcp install json server.py > mcp.json

--json prints {"file", "name", "change"}, with --dry-run what would change; the host `json` prints {"mcpServers"}, with
or without it

exit codes:
  0    success
  2    a mistake on the command line, in a file, or in a name; or a file that cannot be written
"""
_PARTS = ("env", "headers")  # of an entry, whose values are secrets
_SECRETS_OF_URL = re.compile(r"(?<=//)[^/?#]*(?=@)|(?<=\?).*")  # user and password; the query
_HIDDEN = "***"
_TRIES = 5  # of hosts that write their file at the same time


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.takes_program = True
    parser.usage = f"{parser.prog} HOST TARGET [OPTION ...]\n       {parser.prog} HOST [OPTION ...] -- PROGRAM ..."
    parser.epilog = _EXAMPLES
    parser.add_argument("words", nargs="*", metavar="HOST TARGET", help="where, and which server: a file or a URL")
    parser.add_argument("--name", help="of the entry (default: the server's own)")
    parser.add_surroundings()
    parser.add_argument("--project", action="store_true", help="write the file of this folder, not the user's")
    parser.add_argument("--config", metavar="FILE", help="write this file instead")
    parser.add_json()
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")
    parser.add_argument("--force", action="store_true", help="replace another entry of this name")
    parser.add_argument("--remove", action="store_true", help="take the entry TARGET away")


def run(options: argparse.Namespace) -> int:
    """Add, replace or remove an entry."""
    words: list[str] = options.words
    if not words:
        raise UsageError(f"name a host first: {', '.join(HOSTS)} or json")
    name = words.pop(0)
    if name != "json" and name not in HOSTS:
        raise UsageError(f"unknown host {name!r}{_host_proposal(name, words)}")
    if len(words) + (options.program is not None) > 1:
        one = "one host is given at a time" if {*words} & {*HOSTS} else "see `leanmcp install --help`"
        raise UsageError(f"{words[-1]!r} is one word too many; {one}")
    from .screen import Screen

    screen = Screen(options.json)
    with screen.guarded():  # the user's file may print
        if name == "json":
            return _print_json(options, screen)
        host = HOSTS[name]
        path = _path(options, name, host)
        if options.remove:
            return _remove(options, screen, host, path)
        label, entry = _entry(options, host)
        return _install(options, screen, host, path, label, entry)


def _host_proposal(name: str, words: list[str]) -> str:
    known = [*HOSTS, "json"]
    if later := next((word for word in words if word in known), None):
        return f"; the host stands first: `leanmcp install {shlex.join([later, name])}`"
    if name.endswith(".py") or "://" in name:
        return f"; the host stands first: `leanmcp install HOST {shlex.quote(name)}`, one of {', '.join(known)}"
    several = [host for host in known if host.startswith(f"{name.lower()}-")]
    if len(several) > 1:
        return f"; did you mean {' or '.join(map(repr, several))}?"
    return proposal(name, known)


def _path(options: argparse.Namespace, name: str, host: Host) -> str:
    if options.config is not None:
        return str(options.config)
    if not options.project:
        return user_file(host)
    if host.project is None:
        known = ", ".join(known for known, other in HOSTS.items() if other.project is not None)
        raise UsageError(f"{name} has no settings of a project; these have: {known}")
    return os.path.abspath(host.project)


# --- the entry ----------------------------------------------------------------------------------------------------


def _entry(options: argparse.Namespace, host: Host | None) -> tuple[str, dict[str, object]]:
    """Return the name of an entry, and the entry.

    Raises:
        UsageError: there is no such server, or the host cannot use it.
    """
    import json

    label, entry = _described(options, host)
    try:
        json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # of a file name that is any bytes
        raise UsageError("a name or value of the entry is no UTF-8, as settings are; rename it") from None
    return label, entry


def _described(options: argparse.Namespace, host: Host | None) -> tuple[str, dict[str, object]]:
    if options.program is not None:
        if options.name is None:
            raise UsageError(f"give the entry a name: --name NAME -- {shlex.join(options.program)}")
        from .misplaced import program_mistake

        if told := program_mistake(options.words, options.program):
            raise UsageError(told)
        return _checked(options, options.name), entry_of_program(host, options.program, _variables(options))
    if not options.words:
        raise UsageError("name the server: a Python file, a URL, or `-- PROGRAM ...` at the end")
    target = options.words[0]
    if target.lower().startswith(("http://", "https://")):
        return _http(options, host, target)
    if options.header:
        raise UsageError(f"--header is an option of HTTP; {target} is started on stdio")
    label, place = _python(target, options.prog)
    if not sys.executable:
        raise UsageError("this Python does not know where it is; install with `-- /path/to/python -m leanmcp run FILE`")
    command = [sys.executable, "-m", "leanmcp", "run", place, "--transport", "stdio"]
    return _checked(options, label), entry_of_program(host, command, _variables(options))


def _http(options: argparse.Namespace, host: Host | None, url: str) -> tuple[str, dict[str, object]]:
    if options.env:
        raise UsageError(f"--env is an option of servers that are started; {url} runs already")
    if host is not None and host.url is None:
        raise UsageError(f"{host.title} takes no URL from its file; {host.remote}")
    from ..transports.http_client_url import parse_url

    try:
        parsed = parse_url(url)
    except ValueError as fault:
        raise UsageError(str(fault)) from None
    return _checked(options, parsed.host.removeprefix("www.")), entry_of_url(host, url, headers(options.header, None))


def _python(target: str, prog: str) -> tuple[str, str]:
    """Return the name of the server in a file, and where a host finds it from any folder."""
    from importlib.machinery import PathFinder

    from .loading import load

    path, colon, name = (target, "", "") if os.path.isfile(target) else target.rpartition(":")
    server = load(target, prog)  # a host shows mistakes badly: they are told here
    if os.path.isfile(path):
        return server.name, os.path.abspath(path) + colon + name
    module = path or target
    if PathFinder.find_spec(module.partition(".")[0], [os.getcwd()]) is not None:
        raise UsageError(f"a host does not find the module {module!r}; name its file, {sys.modules[module].__file__}")
    return server.name, target


def _variables(options: argparse.Namespace) -> dict[str, str]:
    if options.header:
        raise UsageError("--header is an option of HTTP; this server is started on stdio")
    return variables(options.env)


def _checked(options: argparse.Namespace, label: str) -> str:
    """Return the name that an entry gets: hosts make tool names of it, in which few characters may be."""
    if options.name is not None:
        if not re.fullmatch(r"[\w.-]+", options.name, re.ASCII):
            raise UsageError(f"--name {options.name!r}: letters, digits, `-`, `_` and `.` only")
        return str(options.name)
    return re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-") or "server"


# --- what is written ----------------------------------------------------------------------------------------------


def _print_json(options: argparse.Namespace, screen: Screen) -> int:
    if options.remove or options.project or options.config is not None:
        raise UsageError("json is no host: it prints, and has no file")
    label, entry = _entry(options, None)
    shown = entry
    if screen.shows_data and (shown := _masked(entry)) != entry:
        screen.note("leanmcp: values are not shown on a terminal; write it to a file: ... > mcp.json")
    screen.print_json({"mcpServers": {label: shown}})
    return OK


def _install(
    options: argparse.Namespace, screen: Screen, host: Host, path: str, label: str, entry: dict[str, object]
) -> int:
    def edit(file: JSONFile) -> tuple[str, str, Any, Any]:
        old = file.entries(host.servers).get(label)
        if old == entry:
            return label, "none", old, entry
        if old is not None and not options.force:
            if not options.dry_run:
                raise UsageError(
                    f"{path} has another {label!r} already; replace it with --force, or give this one a --name"
                )
            screen.note(f"leanmcp: another {label!r} is there; to replace it, --force is needed")
        file.put(host.servers, label, entry)
        return label, "added" if old is None else "replaced", old, entry

    return _changed(options, screen, host, path, edit)


def _remove(options: argparse.Namespace, screen: Screen, host: Host, path: str) -> int:
    if options.name is None and not options.words:
        raise UsageError("name the entry to remove")

    def edit(file: JSONFile) -> tuple[str, str, Any, Any]:
        entries = file.entries(host.servers)
        label = options.name or options.words[0]
        if label not in entries and options.name is None and os.path.isfile(label.rpartition(":")[0] or label):
            label = _checked(options, _python(label, options.prog)[0])
        if label not in entries:
            raise UsageError(f"{path} has no {label!r}{proposal(label, list(entries))}")
        old = entries[label]
        file.remove(host.servers, label)
        return label, "removed", old, None

    return _changed(options, screen, host, path, edit)


_WHERE = {"added": "to", "replaced": "in", "removed": "from"}


def _changed(
    options: argparse.Namespace,
    screen: Screen,
    host: Host,
    path: str,
    edit: Callable[[JSONFile], tuple[str, str, Any, Any]],
) -> int:
    """Edit a file; `edit` returns the name of an entry, what happens to it, and the entry before and after."""
    from .installing_file import JSONFile

    for _ in range(_TRIES):
        before = _read(path)
        file = JSONFile(path, before or b"")
        label, change, old, new = edit(file)
        if change == "none":
            return _done(screen, path, label, change, f"{label!r} is in {path} already; nothing to do")
        if options.dry_run:
            return _show(screen, host, path, label, change, old, new)
        if _write(path, before, file.content()):
            if new is not None:
                _doubt(screen, new)
            text = f"{label!r} {change} {_WHERE[change]} {path}; {host.title} knows it when it starts again"
            return _done(screen, path, label, change, text)
    raise UsageError(f"{path}: another program writes it all the time; close {host.title} and try again")


def _doubt(screen: Screen, entry: Mapping[str, object]) -> None:
    """Warn of a program that is not here: the host may look in other folders."""
    program = entry.get("command")
    if isinstance(program, str):
        import shutil

        if shutil.which(program) is None:
            screen.note(f"leanmcp: warning: there is no program {program!r} in PATH here; the host may not find it")


def _done(screen: Screen, path: str, label: str, change: str, text: str) -> int:
    """Say what has been done: to a person, or as JSON."""
    if screen.json:
        screen.print_json({"file": os.path.abspath(path), "name": label, "change": change})
    else:
        screen.note(f"leanmcp: {text}")
    return OK


def _read(path: str) -> bytes | None:
    """Return what a file holds, None where there is none."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"{path} is no file")  # a folder; or a device, which a file would replace
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}") from None


def _write(path: str, before: bytes | None, content: bytes) -> bool:
    """Replace a file; return False where another program has changed it since it was read."""
    from ..private_files import replace_file, rewrite_file

    target = Path(os.path.realpath(path))  # a link stays one
    if _read(path) != before:
        return False
    try:
        if before is None:
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, content)
        else:
            rewrite_file(target, content)
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}; it is left as it is") from None
    return True


# --- what is shown ------------------------------------------------------------------------------------------------


def _show(screen: Screen, host: Host, path: str, label: str, change: str, old: Any, new: Any) -> int:
    """Print what would change of an entry, without the secrets of either."""
    import difflib

    if screen.json:
        return _done(screen, path, label, change, "")
    before, after = (_lines(host, label, entry) for entry in (old, new))
    if before == after:
        after = [*after, "(values that are not shown)"]
    for line in difflib.unified_diff(before, after, path, path, n=99, lineterm=""):
        screen.data(line)
    return OK


def _lines(host: Host, label: str, entry: Any) -> list[str]:
    import json

    if entry is None:
        return []
    return json.dumps({host.servers: {label: _masked(entry)}}, indent=2, ensure_ascii=False).splitlines()


def _masked(entry: Any) -> Any:
    """Return an entry without the values that are secrets."""
    if not isinstance(entry, Mapping):
        return entry
    return {name: _masked_member(name, value) for name, value in entry.items()}


def _masked_member(name: str, value: Any) -> Any:
    if name in _PARTS and isinstance(value, Mapping):
        return dict.fromkeys(value, _HIDDEN)
    return _SECRETS_OF_URL.sub(_HIDDEN, value) if isinstance(value, str) and "://" in value else value
