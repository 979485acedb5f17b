"""Imports point downward only (DESIGN, "Shape of the tree")."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "leanmcp"
FILES = sorted(ROOT.rglob("*.py"))

# What each layer may import; a layer may always import itself.
ALLOWED = {
    "base": set(),
    "protocol": {"base"},
    "schema": {"base"},
    "fields": {"base", "schema"},
    "server": {"base", "protocol", "schema", "fields"},
    "client": {"base", "protocol", "schema"},
    "transports": {"base", "protocol"},
    "oauth": {"base", "client", "transports"},
    "checking": {"base", "protocol", "schema", "server", "client"},
    "top": {"base", "protocol", "schema", "fields", "server", "client", "transports", "oauth", "checking"},
}
BASE = {
    "errors",
    "events",
    "feature_types",
    "types",
    "limits",
    "logs",
    "calls",
    "parameters",
    "mistyped",
    "elsewhere",
    "brief",
    "frames",
    "hidden",
    "forks",
    "mistakes",
    "explanations",
    "private_files",
}
FIELDS = {"fields", "constraints"}  # what users write into annotations
PACKAGES = {"protocol", "schema", "server", "client", "transports", "oauth", "checking"}

REACH_UP = {("app.py", "leanmcp.run"), ("client.py", "leanmcp.connect"), ("client.py", "leanmcp.__version__")}

# One owner per dependency.
OWNERS = {
    "uvloop": {"run.py"},
    "h11": set(),
    "fastjsonschema": {"generator.py"},
    "pydantic": set(),
}
NO_IO = {"asyncio", "socket", "threading", "ssl", "selectors", "subprocess"}


def _layer(parts: tuple[str, ...]) -> str:
    if parts and parts[0] in PACKAGES:
        return parts[0]
    if parts and parts[0] in FIELDS:
        return "fields"
    return "base" if parts and parts[0] in BASE else "top"


def _imports(path: Path) -> list[tuple[ast.stmt, str, bool]]:
    """Return each import of a file: node, dotted target, whether it stands at the top level."""
    package = ("leanmcp", *path.relative_to(ROOT).parent.parts)
    tree = ast.parse(path.read_text())
    top = {id(node) for node in tree.body}
    found: list[tuple[ast.stmt, str, bool]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node, alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            targets = [".".join([*base, *(node.module or "").split(".")]).rstrip(".")]
            if not node.module:
                targets = [".".join([*base, alias.name]) for alias in node.names]
            found += [(node, target, id(node) in top) for target in targets]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downward(path: Path) -> None:
    """Ours: only MCPServer.run and Client reach up, at call time, to the layer that joins them with transports."""
    layer = _layer(tuple(part.removesuffix(".py") for part in path.relative_to(ROOT).parts))
    for node, target, at_top in _imports(path):
        if not target.startswith("leanmcp"):
            continue
        imported = _layer(tuple(target.split(".")[1:]))
        if (path.name, target) in REACH_UP and not at_top:
            continue
        assert imported == layer or imported in ALLOWED[layer], f"{path.name}:{node.lineno} imports {target}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_dependency_has_one_owner(path: Path) -> None:
    """Ours: a dependency is imported where it is owned, nowhere else."""
    for node, target, _ in _imports(path):
        owners = OWNERS.get(target.split(".")[0])
        assert owners is None or path.name in owners, f"{path.name}:{node.lineno} imports {target}"


@pytest.mark.parametrize("path", sorted((ROOT / "protocol").glob("*.py")), ids=lambda path: path.name)
def test_protocol_imports_no_io_module(path: Path) -> None:
    """Ours: protocol/ is sans-IO."""
    assert not {target.split(".")[0] for _, target, _ in _imports(path)} & NO_IO


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_is_one_room(path: Path) -> None:
    """Ours: a file that passes 450 lines is split by meaning."""
    assert path.read_text().count("\n") <= 450
