"""Servers of others, installed once below the folder of `tests/conformance/node.py`, and how each is started.

Each function raises CannotInstall where its server is not to be had; the text says why.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.conformance.node import CannotInstall, find_node, install, install_fastmcp
from tests.support.processes import environment

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
        modules = install("typescript-server")
        return [str(find_node(20)), str(_SERVERS / "typescript_server.mjs"), str(modules), transport], variables
    if framework == "fastmcp":
        variables["PYTHONPATH"] = os.pathsep.join([str(install_fastmcp()), variables["PYTHONPATH"]])
    return [sys.executable, str(_SERVERS / "python_server.py"), framework, transport], variables


def npm_server(name: str, *args: str) -> list[str]:
    """Return the command of one of the reference servers from npm: everything or filesystem."""
    modules = install("npm-servers")
    entry = modules / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return [str(find_node(20)), str(entry), *args]
