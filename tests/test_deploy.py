"""The container and the systemd units of examples/deploy: what is in them is run here, as far as this machine can."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from leanmcp import SyncClient
from tests.support.processes import DEADLINE, ROOT, end, environment

DEPLOY = ROOT / "examples" / "deploy"
SETUP = 300.0  # seconds; pip may have to fetch packages


# --- the image ----------------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, each with its arguments."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def last(word: str) -> str:
    """Return the arguments of the last instruction of a kind."""
    return [rest for name, rest in instructions() if name == word][-1]


def test_image_runs_without_root_and_copies_what_is_there() -> None:
    """Ours: U30."""
    assert int(last("USER")) > 0
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            assert [source for source in sources if not (ROOT / source).exists()] == []
    names = [word for word, _ in instructions()]
    assert names.index("USER") < names.index("CMD")


def _copy_sources(folder: Path) -> None:
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            place = folder / target.lstrip("/")
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
                elif target.endswith("/"):
                    shutil.copy(ROOT / source, folder)
                else:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / source, place)


def test_steps_of_the_image_work_in_an_environment_of_their_own(tmp_path: Path) -> None:
    """Ours: U30; it is installed from the files that are copied, started, found healthy, and ended by its signal."""
    _copy_sources(tmp_path)
    venv, outside = tmp_path / "venv", {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for name in ("PYTHONPATH", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):
        outside.pop(name, None)
    install = (
        last("RUN") if "pip install" in last("RUN") else next(rest for _, rest in instructions() if "pip " in rest)
    )
    install = install.replace("/opt/venv", str(venv)).replace("python -m venv", f"{sys.executable} -m venv")
    done = subprocess.run(
        ["/bin/sh", "-c", install.replace("--no-cache-dir", "--quiet")],
        cwd=tmp_path,
        env=outside,
        capture_output=True,
        text=True,
        timeout=SETUP,
    )
    if "No matching distribution" in done.stderr or "NewConnectionError" in done.stderr:
        pytest.skip(f"pip reaches no package index: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr

    outside["PATH"] = f"{venv}/bin{os.pathsep}{outside['PATH']}"
    command = msgspec.json.decode(last("CMD"), type=list[str])
    port = command.index("--port") + 1
    with _started([*command[:port], "0"], tmp_path / "app", outside) as (process, url):
        health = msgspec.json.decode(last("HEALTHCHECK").partition("CMD ")[2], type=list[str])
        health = [url if word.startswith("http") else word for word in health]
        healthy = subprocess.run(health, env=outside, capture_output=True, text=True, timeout=DEADLINE)
        assert healthy.returncode == 0, healthy.stderr
        process.send_signal(signal.Signals[last("STOPSIGNAL")])
        assert process.wait(DEADLINE) == 0
        ill = subprocess.run(health, env=outside, capture_output=True, text=True, timeout=DEADLINE)
        assert ill.returncode == 3


@contextmanager
def _started(command: list[str], cwd: Path, variables: dict[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a server while the block runs; yield it and its URL on loopback."""
    process = subprocess.Popen(command, cwd=cwd, env=variables, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        started = process.stderr.readline().decode()
        found = re.search(r"http://[\d.]+:(\d+)", started)
        assert found is not None, started
        yield process, f"http://127.0.0.1:{found[1]}/mcp"
    finally:
        end(process)


def test_image_is_built(tmp_path: Path) -> None:
    """Ours: U30, where there is a Docker."""
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("docker is not installed")
    asked = subprocess.run([docker, "info"], capture_output=True, text=True, timeout=DEADLINE)
    if asked.returncode:
        pytest.skip("no Docker daemon runs here")
    name = "leanmcp-deploy-test"
    build = [docker, "build", "--quiet", "-f", str(DEPLOY / "Dockerfile"), "-t", name, str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=SETUP)
    assert done.returncode == 0, done.stderr
    healthy = subprocess.run(
        [docker, "run", "--rm", name, "leanmcp", "list", "server.py"], capture_output=True, timeout=60
    )
    assert b"search_books" in healthy.stdout


# --- systemd ------------------------------------------------------------------------------------------------------


def unit(name: str) -> configparser.ConfigParser:
    """Return a unit file, parsed; of settings that may be given twice, the last one."""
    parsed = configparser.ConfigParser(strict=False, interpolation=None, delimiters="=")
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read(DEPLOY / name)
    return parsed


def test_service_starts_on_its_socket_and_ends_in_time() -> None:
    """Ours: U30; who calls before it is started is answered, and SIGTERM ends it within TimeoutStopSec."""
    service, listens = unit("leanmcp.service")["Service"], unit("leanmcp.socket")["Socket"]
    host, port = listens["ListenStream"].split(":")
    assert (host, port) == ("127.0.0.1", "8000")
    program, *arguments = shlex.split(service["ExecStart"])
    assert program.endswith("/venv/bin/leanmcp")
    arguments = [word.replace("/opt/bookshop", str(ROOT / "examples/bookshop")) for word in arguments]

    with socket.create_server((host, 0), backlog=int(listens["Backlog"])) as listening:
        url = f"http://{host}:{listening.getsockname()[1]}/mcp"
        start = (
            "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", start, str(listening.fileno()), "-m", "leanmcp", *arguments],
            pass_fds=[listening.fileno()],
            env=environment(),
            stderr=subprocess.PIPE,
        )
        try:
            with SyncClient(url) as client:  # its connection may come first
                assert "dune" in client.call_tool("search_books", {"query": "dune"}, type=str)
            process.send_signal(signal.Signals[service["KillSignal"]])
            assert process.wait(float(service["TimeoutStopSec"])) == 0
        finally:
            end(process)


@pytest.fixture
def analyze() -> str:
    """The program that judges units."""
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed")
    return found


def test_units_are_what_systemd_understands(analyze: str, tmp_path: Path) -> None:
    """Ours: U30; no unknown setting, no program that is not there."""
    program = tmp_path / "opt/bookshop/venv/bin/leanmcp"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in ("leanmcp.service", "leanmcp.socket"):
        text = (DEPLOY / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/bookshop", str(tmp_path / "opt/bookshop")))
    units = [str(tmp_path / name) for name in ("leanmcp.service", "leanmcp.socket")]
    done = subprocess.run([analyze, "verify", *units], capture_output=True, text=True, timeout=DEADLINE)
    told = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "leanmcp" in line]
    assert told == []
    assert done.returncode == 0, done.stderr


def test_service_is_exposed_as_little_as_possible(analyze: str) -> None:
    """Ours: U30; on systemd's scale, where 10 is a service that may do anything."""
    command = [analyze, "security", "--offline=true", "--threshold=20", str(DEPLOY / "leanmcp.service")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze judges only units that run")
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
