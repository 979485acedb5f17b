"""Servers of others, installed once below the folder of `tests/conformance/node.py`, and how each is started.

Each function raises CannotInstall where its server is not to be had; the text says why.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.conformance.node import CannotInstall, find_node, home, install, run_installer
from tests.support.processes import environment

FASTMCP = "fastmcp==4.2.3"
TYPESCRIPT = ("@modelcontextprotocol/server@2.4.0", "zod@4")
NPM_SERVERS = ("@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31")
_SERVERS = Path(__file__).with_name("servers")

__all__ = ["FRAMEWORKS", "CannotInstall", "command", "npm_server"]

FRAMEWORKS = ("official", "fastmcp", "typescript")


def command(framework: str, transport: str) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of the small server on one framework.

    Args:
        framework: one of FRAMEWORKS.
        transport: stdio or http.
    """
    variables = environment()
    if framework == "typescript":
        modules = install("typescript-server", *TYPESCRIPT)
        return [str(find_node(20)), str(_SERVERS / "typescript_server.mjs"), str(modules), transport], variables
    if framework == "fastmcp":
        variables["PYTHONPATH"] = os.pathsep.join([str(_fastmcp()), variables["PYTHONPATH"]])
    return [sys.executable, str(_SERVERS / "python_server.py"), framework, transport], variables


def npm_server(name: str, *args: str) -> list[str]:
    """Return the command of one of the reference servers from npm: everything or filesystem."""
    modules = install("npm-servers", *NPM_SERVERS)
    entry = modules / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return [str(find_node(20)), str(entry), *args]


def _fastmcp() -> Path:
    """Return the folder of fastmcp and all that it needs, apart from what the tests themselves run on."""
    target = home() / "fastmcp"
    stamp = target / "installed"
    if not (stamp.is_file() and stamp.read_text() == FASTMCP):
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
        run_installer([*pip, "--target", str(target), FASTMCP], _SERVERS)
        stamp.write_text(FASTMCP)  # last: an install that broke off is done again
    return target
