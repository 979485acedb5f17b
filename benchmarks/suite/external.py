"""Load generators that are not ours, where they are installed: wrk and h2load, from Debian's packages or any other.

They check nothing but the HTTP status; that is why the rest is measured with our own. h2load writes the time of each
request into a file; a latency there begins when the request was sent, not when it was due.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.generator.answers import WrongAnswer
from benchmarks.generator.job import FIRST_ID, cpu_seconds, percentile
from benchmarks.suite.messages import call, method
from benchmarks.suite.results import LeftOut
from benchmarks.suite.server import Server
from benchmarks.suite.workloads import Workload

_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}
_TIMEOUT = 60.0  # seconds besides the timed part
_CONNECTIONS = 32
_PROGRAMS = ("wrk", "h2load")


def absent() -> dict[str, str]:
    """Return the programs that are not installed, to what that leaves out."""
    return {name: "not installed (Debian: wrk, nghttp2-client)" for name in _PROGRAMS if shutil.which(name) is None}


def require(kind: str) -> None:
    """Raise LeftOut where a program that `kind` names is not installed."""
    if kind in _PROGRAMS and shutil.which(kind) is None:
        raise LeftOut(f"{kind} is not installed")


def run(workload: Workload, server: Server, seconds: float, rate: float) -> dict[str, float]:
    """Return the figures of one run."""
    body = call(server.dialect, workload, FIRST_ID)
    head = server.dialect.head(method(workload), workload.tool).decode().splitlines()[1:-1]
    fields = dict(line.split(": ", 1) for line in head)
    del fields["Host"]
    whole = max(1, round(seconds))
    with tempfile.TemporaryDirectory() as folder:
        cpu, begun = cpu_seconds(server.process.pid), time.perf_counter()
        measured = _wrk if workload.kind == "wrk" else _h2load
        figures = measured(Path(folder), f"http://127.0.0.1:{server.port}/mcp", body, fields, whole, rate)
        spent = cpu_seconds(server.process.pid) - cpu
        elapsed = time.perf_counter() - begun
    figures["cpu_us"] = spent / max(figures.pop("calls"), 1) * 1e6
    figures["server_share"] = spent / elapsed
    return figures


def _wrk(folder: Path, url: str, body: bytes, fields: dict[str, str], seconds: int, _: float) -> dict[str, float]:
    script = [f'wrk.headers["{name}"] = "{value}"' for name, value in fields.items()]
    script += ['wrk.method = "POST"', f"wrk.body = [==[{body.decode()}]==]"]
    (folder / "post.lua").write_text("\n".join(script))
    text = _output(
        ["wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(folder / "post.lua"), url], seconds
    )
    return read_wrk(text)


def read_wrk(text: str) -> dict[str, float]:
    """Return the figures that wrk prints.

    Raises:
        WrongAnswer: there were answers other than 2xx, or none.
    """
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    calls = re.search(r"(\d+) requests in", text)
    if failed is not None or calls is None:
        raise WrongAnswer(f"wrk: {text.strip()[-200:]}")
    figures = {"calls": float(calls[1])}
    rate = re.search(r"Requests/sec: +([\d.]+)", text)
    figures["calls_per_s"] = float(rate[1]) if rate else 0.0
    for share, value, unit in re.findall(r"^ +(50|99)% +([\d.]+)(us|ms|s)$", text, re.MULTILINE):
        figures[f"p{share}_us"] = float(value) * _UNITS[unit]
    return figures


def _h2load(folder: Path, url: str, body: bytes, fields: dict[str, str], seconds: int, rate: float) -> dict[str, float]:
    (folder / "body").write_bytes(body)
    log = folder / "log"
    headers = [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]
    text = _output(
        [
            "h2load",
            "--h1",
            f"-c{_CONNECTIONS}",
            f"-D{seconds}",
            f"--rps={max(1, rate / _CONNECTIONS):.0f}",
            f"--data={folder / 'body'}",
            f"--log-file={log}",
            *headers,
            url,
        ],
        seconds,
    )
    if not log.is_file() or log.stat().st_size == 0:
        raise WrongAnswer(f"h2load: {text.strip()[-200:]}")
    return read_h2load(log.read_text(), seconds)


def read_h2load(log: str, seconds: float) -> dict[str, float]:
    """Return the figures in the log of h2load: lines of start, status and microseconds.

    Raises:
        WrongAnswer: there were answers other than 200.
    """
    entries = [line.split("\t") for line in log.splitlines()]
    if any(status != "200" for _, status, _ in entries):
        raise WrongAnswer("h2load: answers other than 200")
    ordered = sorted(float(time) for _, _, time in entries)
    shares = {"p50_us": 0.5, "p99_us": 0.99, "p99.9_us": 0.999}
    return {
        "calls": float(len(ordered)),
        "calls_per_s": len(ordered) / seconds,
        **{name: percentile(ordered, share) for name, share in shares.items()},
    }


def _output(command: list[str], seconds: int) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + _TIMEOUT, check=False)
    if done.returncode:
        raise WrongAnswer(f"{command[0]}: {(done.stderr or done.stdout).strip()[-200:]}")
    return done.stdout
