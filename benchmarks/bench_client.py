"""What a call costs the client: leanmcp's against the official SDK's, on the same server.

    python benchmarks/bench_client.py [--json] [--quick]

In: options. Out: CPU of the client's process per call and calls per second, one call after another, over HTTP, stdio
and in the same process (where the server's work is in the figure, each client's own server), with the ratio of the
clients. Each client runs in a process of its own; rounds alternate.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import report
from tests.support.processes import environment, http_server

TARGET = report.ROOT / "benchmarks" / "targets" / "leanmcp_echo.py"
CLIENTS = ("leanmcp", "mcp")
_WARM_UP = 50  # calls
_ARGUMENTS = {"text": "hello, world"}


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--child", nargs=3, metavar=("CLIENT", "WAY", "TARGET"), help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    options = parser.parse_args()
    if options.child:
        client, way, target = options.child
        print(json.dumps(uvloop.run(_measured(client, way, target, options.seconds))))
        return
    rounds, seconds = (1, 0.5) if options.quick else (3, options.seconds)
    missing = [name for name in CLIENTS if importlib.util.find_spec(name) is None]
    figures = _all_figures([name for name in CLIENTS if name not in missing], rounds, seconds)
    print(json.dumps({"environment": _surroundings(), "figures": figures}) if options.json else _text(figures))
    for name in missing:
        print(f"left out: {name} is not installed", file=sys.stderr)


def _surroundings() -> dict[str, str]:
    return report.environment("both clients and the server on uvloop")


def _all_figures(clients: list[str], rounds: int, seconds: float) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Return the measurements by way and client."""
    figures: dict[str, dict[str, list[dict[str, float]]]] = {}
    with http_server(TARGET) as server:
        for way, target in (("http", server.url), ("stdio", str(TARGET)), ("in process", str(TARGET))):
            figures[way] = {client: [] for client in clients}
            for _ in range(rounds):
                for client in clients:
                    figures[way][client].append(_run(client, way, target, seconds))
    return figures


def _run(client: str, way: str, target: str, seconds: float) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", client, way, target, "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, check=True, env=environment(), timeout=120 + seconds)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _text(figures: dict[str, dict[str, list[dict[str, float]]]]) -> str:
    rows = []
    for way, by_client in figures.items():
        medians = {
            name: statistics.median(sample["cpu_us"] for sample in samples) for name, samples in by_client.items()
        }
        for name, samples in by_client.items():
            cpu = report.spread([sample["cpu_us"] for sample in samples])
            rate = report.spread([sample["calls_per_s"] for sample in samples], 0)
            rows.append([f"{name}, {way}", rate, cpu, f"{medians[name] / medians['leanmcp']:.1f}"])
    table = report.table(["client", "calls/s", "client CPU per call, us", "to leanmcp"], rows)
    return f"{report.listing(_surroundings())}\n\n{table}"


# --- one client, in a process of its own ------------------------------------------------------------------------------


async def _measured(client: str, way: str, target: str, seconds: float) -> dict[str, float]:
    async with _client(client, way, target) as session:
        for _ in range(_WARM_UP):
            await _checked(session)
        calls, cpu, started = 0, _cpu(), time.perf_counter()
        while time.perf_counter() < started + seconds:
            await session.call_tool("echo", _ARGUMENTS)
            calls += 1
        took, spent = time.perf_counter() - started, _cpu() - cpu
    return {"calls_per_s": calls / took, "cpu_us": spent / calls * 1e6}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def _checked(session: Any) -> None:
    result = await session.call_tool("echo", _ARGUMENTS)
    if result.content[0].text != _ARGUMENTS["text"]:
        raise SystemExit(f"a wrong answer: {result}")
    await asyncio.sleep(0)


def _client(client: str, way: str, target: str) -> Any:
    package = importlib.import_module(client)
    if way == "http":
        return package.Client(target)
    if way == "stdio":
        command = ["-m", "leanmcp", "run", target]
        return package.Client(package.StdioServerParameters(command=sys.executable, args=command, env=environment()))
    server = importlib.import_module(f"{client}.server").MCPServer("echo")
    server.add_tool(_echo, name="echo")
    return package.Client(server)


async def _echo(text: str) -> str:
    return text


if __name__ == "__main__":
    main()
