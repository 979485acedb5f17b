"""Machine instructions of one warm call, user space, from the octets in to the octets out: no clock, hardly any noise.

    python benchmarks/bench_instructions.py [--json] [--only leanmcp floor] [--functions N]

In: options. Out: instructions per call over HTTP (32 kept connections) and stdio (64 lines at once), with the ratio to
the floor, and the functions of the interpreter and of packages that take most. The server runs under valgrind's
callgrind twice, with few and with many calls; the difference is divided by the calls. Two versions are compared on a
busy machine by running it in both trees: figures of one build of Python differ by less than one per cent.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import load, report
from benchmarks.servers import RIVALS, Rival, free_port

_FEW, _MANY = 640, 3840  # calls
_AT_ONCE = {"http": 32, "stdio": 64}
_START = 120.0  # seconds; valgrind is some fifty times slower
_COUNTED = re.compile(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S+)")


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", nargs="+", choices=sorted({rival.name for rival in RIVALS}), metavar="NAME")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="list the N that take most")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; on Debian: apt-get install valgrind")
    chosen = [rival for rival in RIVALS if rival.name in (options.only or ("leanmcp", "floor"))]
    counts = {rival.key: _per_call(rival) for rival in chosen}
    environment = report.environment("uvloop")
    if options.json:
        totals = {key: round(count.total()) for key, count in counts.items()}
        print(json.dumps({"environment": environment, "instructions": totals}, indent=2))
        return
    print(f"{report.listing(environment)}\n")
    print(report.table(("server", "instructions per call", "times the floor"), _rows(counts)))
    for key, count in counts.items() if options.functions else ():
        print(f"\n{key}:\n")
        shares = [(name, f"{number:,.0f}") for name, number in count.most_common(options.functions)]
        print(report.table(("function", "instructions"), shares))


def _rows(counts: dict[str, Counter[str]]) -> list[tuple[str, str, str]]:
    rows = []
    for key, count in counts.items():
        floor = counts.get(f"floor, {key.rpartition(', ')[2]}")
        times = "-" if floor is None else f"{count.total() / floor.total():.1f}"
        rows.append((key, f"{count.total():,.0f}", times))
    return rows


def _per_call(rival: Rival) -> Counter[str]:
    """Return the instructions of a call by function."""
    with tempfile.TemporaryDirectory() as folder:
        _serve(rival, folder, 64, [])  # so that both that count find the bytecode of every module
        few, many = (_counted(rival, folder, calls) for calls in (_FEW, _MANY))
    shares: Counter[str] = Counter()
    for name, number in many.items():
        shares[name] = round((number - few[name]) / (_MANY - _FEW))
    return shares


def _counted(rival: Rival, folder: str, calls: int) -> Counter[str]:
    """Return the instructions by function of a server that starts, answers `calls` calls and ends."""
    out = Path(folder) / "callgrind"
    _serve(rival, folder, calls, ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"])
    command = ["callgrind_annotate", "--threshold=100", str(out)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: Counter[str] = Counter()
    for line in listing.splitlines():
        if (match := _COUNTED.match(line)) and match[2] != "PROGRAM":
            found[match[2].rpartition("/")[2]] += int(match[1].replace(",", ""))
    return found


def _serve(rival: Rival, folder: str, calls: int, tool: list[str]) -> None:
    """Run a server under a tool, and call it."""
    port = free_port()
    piped = subprocess.PIPE if rival.transport == "stdio" else subprocess.DEVNULL
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, "PYTHONPATH": str(report.ROOT), "PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": folder}
    process = subprocess.Popen(
        [*tool, *rival.command(port)], stdin=piped, stdout=piped, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        if rival.transport == "http":
            _ask_by_http(port, calls)
        else:
            _ask_by_line(process, calls)
        process.terminate()
        process.communicate(timeout=_START)
    finally:
        process.kill()
        process.communicate()


def _ask_by_http(port: int, calls: int) -> None:
    end = time.monotonic() + _START
    request = load.head(port) + load.message(load.FIRST_ID)
    socks: list[socket.socket] = []
    while len(socks) < _AT_ONCE["http"]:
        try:
            socks.append(socket.create_connection(("127.0.0.1", port), timeout=_START))
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
    for _ in range(calls // len(socks)):
        for sock in socks:
            sock.sendall(request)
        for sock in socks:
            _read_answer(sock)
    for sock in socks:
        sock.close()


def _read_answer(sock: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
    while len(body) < length:
        body += sock.recv(65536)


def _ask_by_line(process: subprocess.Popen[bytes], calls: int) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    lines = b"".join(load.message(load.FIRST_ID + number) + b"\n" for number in range(_AT_ONCE["stdio"]))
    for _ in range(calls // _AT_ONCE["stdio"]):
        process.stdin.write(lines)
        process.stdin.flush()
        for _ in range(_AT_ONCE["stdio"]):
            if not process.stdout.readline():
                raise RuntimeError("the server has ended")


if __name__ == "__main__":
    main()
