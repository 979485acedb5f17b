"""What every benchmark prints around its numbers: the machine, medians with their spread, a table."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("msgspec", "orjson", "uvloop", "mcp", "pydantic", "starlette", "uvicorn", "httptools", "h11")


def environment(loop: str) -> dict[str, str]:
    """Return what a reader needs to compare the numbers with his own; `loop` says who runs on which."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _commit(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": f"{_cpu_model()}, {os.cpu_count()} cores",
        "load average": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "loop": loop,
        "versions": ", ".join(f"{name} {version}" for name in _PACKAGES if (version := _version(name))),
    }


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Return `median (min..max)`."""
    shown = [f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values))]
    return shown[0] if len(values) == 1 else f"{shown[0]} ({shown[1]}..{shown[2]})"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is text, the others are figures."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        name, *figures = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        padded = [figure.strip().rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
        return f"| {' | '.join((name, *padded))} |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join((line(header), line(rule), *map(line, rows)))


def listing(items: dict[str, str]) -> str:
    """Return a Markdown list of names and values."""
    return "\n".join(f"- {name}: {value}" for name, value in items.items())


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False).stdout

    dirty = git("status", "--porcelain", "--untracked-files=no", "--", "leanmcp").strip()
    return (git("rev-parse", "--short", "HEAD").strip() or "unknown") + (", leanmcp/ changed since" if dirty else "")


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
