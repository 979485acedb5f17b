"""mypy in the project, by one test at a time: its cache is one for all, and locked while it is written."""

from __future__ import annotations

import fcntl
import subprocess
import sys

from .processes import ROOT, environment

CHECK_TIMEOUT = 120.0  # seconds; mypy without its cache reads the whole project
_CACHE = ROOT / ".mypy_cache"


def mypy(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `mypy --strict` in the project; who is at it first is waited for."""
    _CACHE.mkdir(exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", *arguments],
            capture_output=True,
            text=True,
            timeout=CHECK_TIMEOUT,
            env=environment() | variables,
            cwd=ROOT,
            check=False,
        )
