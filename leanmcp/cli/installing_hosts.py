"""The hosts that `install` knows: where each one keeps its servers, and how it writes one.

In: a host's name, and the system's folders. Out: a path, and the members of an entry. From the hosts' own pages, as of
November 2026: modelcontextprotocol.io (Claude Desktop), code.claude.com/docs/en/mcp, cursor.com/docs/mcp,
code.visualstudio.com/docs/agents/reference/mcp-configuration, docs.windsurf.com, geminicli.com/docs/tools/mcp-server.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from .faults import UsageError


class Host(NamedTuple):
    """A host.

    Args:
        title: what its users call it.
        user: its file for one user, in the words of `_FOLDERS`.
        project: its file in a project's folder, None where it has none.
        servers: the member that holds the entries.
        url: the member for a URL, None where its file takes none.
        types: whether an entry says its type.
        remote: how a URL is added where the file takes none.
    """

    title: str
    user: str
    project: str | None = None
    servers: str = "mcpServers"
    url: str | None = "url"
    types: bool = False
    remote: str = ""


HOSTS = {
    "claude-desktop": Host(
        "Claude Desktop",
        "{settings}/Claude/claude_desktop_config.json",
        url=None,
        remote="add it under Settings > Connectors",
    ),
    "claude-code": Host("Claude Code", "{home}/.claude.json", ".mcp.json", types=True),
    "cursor": Host("Cursor", "{home}/.cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": Host("VS Code", "{settings}/Code/User/mcp.json", ".vscode/mcp.json", servers="servers", types=True),
    "windsurf": Host("Windsurf", "{home}/.codeium/windsurf/mcp_config.json", url="serverUrl"),
    "gemini-cli": Host("Gemini CLI", "{home}/.gemini/settings.json", ".gemini/settings.json", url="httpUrl"),
}


def user_file(host: Host, platform: str = sys.platform, environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of a host's file for this user.

    Raises:
        UsageError: the user has no home folder.
    """
    home = os.path.expanduser("~").rstrip("/")
    if home and not os.path.isabs(home):
        raise UsageError(f"there is no home folder (HOME is {home!r}); name the file of {host.title} with --config")
    if platform == "darwin":
        settings = os.path.join(home, "Library", "Application Support")
    elif platform == "win32":
        settings = environment.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    else:
        settings = environment.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(settings):  # XDG Base Directory Specification: such a path is to be ignored
            settings = f"{home}/.config"
    return os.path.normpath(host.user.format(home=home, settings=settings))


def entry_of_program(host: Host | None, command: list[str], env: Mapping[str, str]) -> dict[str, object]:
    """Return the entry of a server that the host starts; None for the form that most hosts read."""
    entry: dict[str, object] = {"type": "stdio"} if host is not None and host.types else {}
    entry |= {"command": command[0], "args": command[1:]}
    return entry | ({"env": dict(env)} if env else {})


def entry_of_url(host: Host | None, url: str, headers: Mapping[str, str]) -> dict[str, object]:
    """Return the entry of a server on HTTP, as above; the host's `url` is not None."""
    entry: dict[str, object] = {"type": "http"} if host is None or host.types else {}
    entry[(host.url if host is not None else None) or "url"] = url
    return entry | ({"headers": dict(headers)} if headers else {})
