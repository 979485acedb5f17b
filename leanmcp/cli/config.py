"""Servers that mcp.json names, as hosts read it.

In: a file and a name. Out: an entry with its variables filled in. Members: `command`, `args`, `env`, `cwd`; or `url`,
`headers`. Variables as the common hosts write them: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${workspaceFolder}`,
`${userHome}`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from .faults import UsageError, proposal

FILES = ("mcp.json", ".mcp.json")
"""Where servers are looked for, in the current folder."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
_MAPS = ("mcpServers", "servers")


class Entry(Struct, kw_only=True):
    """One server.

    Args:
        command, args, env, cwd: of a server on stdio.
        url, headers: of one on HTTP.
        type: `stdio`, `http`, `streamable-http` or `streamableHttp`.
    """

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    type: str | None = None


def find_entry(name: str, config: str | None) -> tuple[Entry | None, list[str]]:
    """Return the entry of a server, None where there is none, and the names that there are.

    Args:
        name: of the server.
        config: the file; None for those of the current folder.

    Raises:
        UsageError: the file or the entry cannot be used.
    """
    known: list[str] = []
    for path in FILES if config is None else (config,):
        if config is None and not os.path.isfile(path):
            continue
        entries = _entries(path)
        if name in entries:
            return _entry(path, name, entries[name]), []
        known += entries
    return None, known


def _entries(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            text = file.read()
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; name the JSON file in it") from None
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}") from None
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        from .config_mistakes import no_json  # of mistakes only

        raise UsageError(f"{path} is no JSON: {no_json(text, fault)}") from None
    found = next((content[name] for name in _MAPS if name in content), None) if isinstance(content, dict) else None
    if not isinstance(found, dict):
        raise UsageError(f'{path} has no servers; it is expected to begin with {{"mcpServers": {{"NAME": {{...}}}}}}')
    return found


def _entry(path: str, name: str, value: Any) -> Entry:
    where = f"{path}: server {name!r}"
    try:
        entry = msgspec.convert(_filled(value, where, os.path.dirname(os.path.abspath(path))), Entry)
    except msgspec.ValidationError as fault:
        from .config_mistakes import misshapen  # as above

        raise UsageError(f"{where}: {misshapen(value, fault)}") from None
    members = Entry.__struct_fields__
    if not value.keys() <= set(members):
        from .config_mistakes import misspelt  # of members that hosts have of their own, or that are mistakes

        if told := misspelt(value, members):
            raise UsageError(f"{where}: {told}")
    if entry.type == "sse":
        raise UsageError(
            f"{where}: the HTTP+SSE transport of 2024-11-05 is not spoken here; give a Streamable HTTP URL"
        )
    if entry.command is not None and entry.url is not None:
        raise UsageError(f"{where} needs `command` or `url`, one of them; it has both")
    if not (entry.command or entry.url):
        empty = next((f"; {name} is empty" for name in ("command", "url") if name in value), "")
        raise UsageError(f"{where} needs `command` or `url`, one of them{empty or proposal('url', list(value))}")
    if tilde := next((text for text in (entry.command, *entry.args) if text and text.startswith("~/")), None):
        raise UsageError(f"{where}: {tilde!r} is for a shell; write '${{userHome}}{tilde[1:]}'")
    if entry.cwd is not None:
        entry.cwd = os.path.join(os.path.dirname(os.path.abspath(path)), os.path.expanduser(entry.cwd))
    return entry


def _filled(value: Any, where: str, folder: str) -> Any:
    """Return a value with the variables of its texts filled in."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _variable(match, where, folder, os.environ), value)
    if isinstance(value, list):
        return [_filled(item, where, folder) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, where, folder) for name, item in value.items()}
    return value


def _variable(match: re.Match[str], where: str, folder: str, environment: Mapping[str, str]) -> str:
    text = match[1]
    if text in ("workspaceFolder", "workspaceRoot"):
        return folder
    if text == "userHome":
        return os.path.expanduser("~")
    if text in ("pathSeparator", "/"):
        return os.sep
    found = _NAME.fullmatch(text)
    if found is None:
        hint = "give the value with --env or --header" if text.startswith("input:") else "write ${NAME}"
        raise UsageError(f"{where}: {match[0]} is no variable; {hint}")
    name, default = found[1], found[2]
    value = environment.get(name)
    if value or (value is not None and default is None):
        return value
    if default is None:
        raise UsageError(f"{where}: {match[0]} is not set; export {name}, or write ${{{name}:-default}}")
    return default
