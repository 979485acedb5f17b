"""What a first call costs a newcomer: packages, disk, installation, commands; and the packages and disk of rivals.

    python benchmarks/bench_install.py [--json] [--quick]

In: options. Out: for each way to install, into an empty environment each time, with a warm package cache: packages,
disk as it is after the installation and, of leanmcp, after a first answer over HTTP and stdio (Python then wrote the
bytecode of what runs); seconds from the empty environment to the first answer; seconds of leanmcp's commands.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import report

HERE = str(report.ROOT)
LEAN = ("--no-compile", "--compile")
RIVALS = ("mcp[cli]", "fastmcp", "aiohttp-tiny-mcp")
_SERVER = '''\
from leanmcp import MCPServer

mcp = MCPServer("demo")


@mcp.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
'''
_TIMEOUT = 600.0  # seconds, of one installation or command
_CALL = ("add", "a=1", "b=2")

Figures = dict[str, float]


def main() -> None:
    """Measure, and print tables or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--quick", action="store_true", help="leanmcp alone, each command once")
    options = parser.parse_args()
    installed: dict[str, Figures] = {}
    commands: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for way in LEAN:
            place = Newcomer(Path(folder) / way.strip("-"))
            installed[f"leanmcp, pip install {way}"] = place.first_answers(way)
            commands = place.commands(1 if options.quick else 5)
        for rival in () if options.quick else RIVALS:
            installed[f"{rival}, pip install --compile"] = Newcomer(Path(folder) / rival).install(rival, "--compile")
    if options.json:
        surroundings = report.environment("uvloop")
        print(json.dumps({"environment": surroundings, "installed": installed, "commands": commands}))
        return
    print(_text(installed, commands))


class Newcomer:
    """An environment that is empty at first, and a folder with a server of six lines.

    Args:
        folder: where both are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=_TIMEOUT)
        self._file = folder / "server.py"
        self._file.write_text(_SERVER)
        (self._packages,) = folder.glob("venv/lib/python*/site-packages")
        self._empty = _size(self._packages)

    def install(self, package: str, way: str) -> Figures:
        """Return what the installation of a package took and added.

        Args:
            package: a name, or the folder of a project.
            way: "--compile" or "--no-compile", for the bytecode of all modules.
        """
        pip = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install", way, package)
        before = set(self._packages.glob("*.dist-info"))
        took = self._seconds("python", *pip)
        added = set(self._packages.glob("*.dist-info")) - before
        return {"seconds": took, "packages": len(added), **self._disk("installed")}

    def first_answers(self, way: str) -> Figures:
        """Return what leanmcp took up to its first answer, and the disk with the bytecode of what was run for it."""
        figures = self.install(HERE, way)
        stdio = self._seconds("leanmcp", "call", str(self._file), *_CALL)
        ready, called = self._over_http()
        answers = {"stdio": figures["seconds"] + stdio, "http": figures["seconds"] + ready + called}
        return figures | answers | self._disk("answered")

    def commands(self, times: int) -> dict[str, list[float]]:
        """Return the seconds of each command, which has run before."""
        file = str(self._file)
        runs: dict[str, Callable[[], float]] = {
            "leanmcp --help": lambda: self._seconds("leanmcp", "--help"),
            "leanmcp call server.py add a=1 b=2": lambda: self._seconds("leanmcp", "call", file, *_CALL),
            "leanmcp check server.py": lambda: self._seconds("leanmcp", "check", file),
            "import leanmcp": lambda: self._seconds("python", "-c", "import leanmcp"),
        }
        for run in runs.values():
            run()
        found = {name: [run() for _ in range(times)] for name, run in runs.items()}
        http = [self._over_http() for _ in range(times)]
        found["leanmcp run server.py --http, until it is ready"] = [ready for ready, _ in http]
        found["leanmcp call http://127.0.0.1:8000/mcp add a=1 b=2"] = [called for _, called in http]
        return found

    def _over_http(self) -> tuple[float, float]:
        """Return the seconds until a server is ready, and those of one call."""
        command = [str(self._folder / "venv/bin/leanmcp"), "run", str(self._file), "--http", "--port", "0"]
        began = time.perf_counter()
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=_environment()) as server:
            assert server.stderr is not None
            try:
                line = server.stderr.readline()
                ready = time.perf_counter() - began
                url = next((word for word in line.split() if word.startswith("http://")), None)
                if url is None:
                    raise SystemExit(f"the server did not start: {line}{server.stderr.read()}")
                return ready, self._seconds("leanmcp", "call", url, *_CALL)
            finally:
                server.terminate()

    def _seconds(self, program: str, *arguments: str) -> float:
        """Run a program of the environment; return the seconds that it took."""
        command = [str(self._folder / "venv/bin" / program), *arguments]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT, env=_environment())
        return time.perf_counter() - began

    def _disk(self, when: str) -> Figures:
        size, blocks = _size(self._packages)
        return {f"MB {when}": (size - self._empty[0]) / 1e6, f"MiB of blocks {when}": (blocks - self._empty[1]) / 2**20}


def _environment() -> dict[str, str]:
    """Return the environment of a newcomer: bytecode is written, and nothing is found but what is installed."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _size(folder: Path) -> tuple[int, int]:
    """Return the bytes of all files below a folder, and those of the blocks that hold them, as `du` adds them up.

    pip itself is left out: it is there before, and its bytecode comes as it runs.
    """
    files = [found.lstat() for found in folder.rglob("*") if found.relative_to(folder).parts[0] != "pip"]
    return sum(file.st_size for file in files), sum(file.st_blocks * 512 for file in files)


def _text(installed: dict[str, Figures], commands: dict[str, list[float]]) -> str:
    columns = {
        "packages": ("packages", 0),
        "MB": ("MB installed", 1),
        "MiB, du": ("MiB of blocks installed", 1),
        "MB after answers": ("MB answered", 1),
        "MiB, du, after answers": ("MiB of blocks answered", 1),
        "s to a first answer, stdio": ("stdio", 1),
        "s, HTTP": ("http", 1),
    }
    sizes = [
        [way, *(f"{figures[key]:.{digits}f}" if key in figures else "" for key, digits in columns.values())]
        for way, figures in installed.items()
    ]
    times = [[f"`{name}`" if " " in name else name, report.spread(taken, 2)] for name, taken in commands.items()]
    parts = (
        report.listing(report.environment("uvloop")),
        report.table(["in an empty environment", *columns], sizes),
        report.table(["command", "seconds"], times),
    )
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
