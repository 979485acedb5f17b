"""How `leanmcp run --reload` begins: with mistakes on the command line, and with whatever streams there are."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import DEADLINE, ROOT, call, end, environment, http
from tests.support.reloading import Project, ask, port_of, reloading
from tests.support.shell import leanmcp

HTTP = ("--http", "--port", "0")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_server_that_cannot_be_watched_is_told_of(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Ours: else somebody saves and saves, and nothing happens."""
    project.server.rename(project.folder / "elsewhere.py")
    folder = tmp_path_factory.mktemp("empty")
    with reloading(Path("elsewhere"), *HTTP, cwd=folder, PYTHONPATH=f"{project.folder}:{ROOT}") as (_, errors):
        lines = [errors.line(), errors.line()]  # of two processes
        assert any("reloads on save" in line for line in lines)
        assert (
            "leanmcp: nothing is watched: the server is made of no file below this folder; name its own with "
            "--reload-dir"
        ) in lines


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_hindrance(project: Project, closed: str) -> None:
    """Ours: services are started so; none of our own sockets may become one of them."""
    path = project.folder / "s"
    command = f"exec {sys.executable} -m leanmcp run {project.server} --reload --uds {path} {closed}"
    process = subprocess.Popen(["sh", "-c", command], env=environment())
    try:
        deadline = time.monotonic() + DEADLINE
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(DEADLINE)
            while client.connect_ex(str(path)):  # there is no file yet, or nobody listens yet
                assert (process.poll(), time.monotonic() < deadline) == (None, True)
                time.sleep(0.005)
            client.sendall(http(call("version"), connection="close"))
            assert b'"0000"' in client.makefile("rb").read()
    finally:
        end(process, patience=DEADLINE)
    assert not path.exists()


def test_a_client_that_was_never_there_ends_the_watcher(project: Project) -> None:
    """Ours: `<&-` on stdio, as without --reload."""
    command = f"exec {sys.executable} -m leanmcp run {project.server} --reload <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, env=environment(), timeout=DEADLINE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_mistakes_are_told_at_once(project: Project) -> None:
    """Ours: U10; what cannot be watched is not waited for."""
    done = leanmcp("run", project.folder / "sever.py", "--reload")
    assert done.returncode == 2
    assert done.stderr.startswith(f"leanmcp: no file '{project.folder}/sever.py'; did you mean 'server.py'?")
    done = leanmcp("run", project.server, "--reload", "--reload-dir", "nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith("leanmcp: --reload-dir nowhere: no such folder")
    done = leanmcp("run", "no.such.module", "--reload")
    assert done.returncode == 2
    assert "no file and no module 'no.such.module'" in done.stderr
    done = leanmcp("run", project.server, "--reload", "--transport", "htpp")
    assert done.returncode == 2
    assert done.stderr.startswith("leanmcp: unknown transport 'htpp'; did you mean 'http'?")


def test_an_address_in_use_is_told_at_once(project: Project) -> None:
    """Ours: U11; in one line, before anything is loaded."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = leanmcp("run", project.server, "--reload", "--http", "--port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"leanmcp: cannot listen on 127.0.0.1:{port}: the port is in use")
    assert done.stderr.endswith(" [LM403]\n")


def test_a_file_that_goes_and_one_that_never_loads_are_told_of(project: Project) -> None:
    """Ours: U11; the former code answers on meanwhile, which looks as if the new code did."""
    with reloading(project.server, *HTTP) as (_, errors):
        port = port_of(errors.line())
        elsewhere = project.server.rename(project.folder / "elsewhere.py")
        assert errors.line() == "leanmcp: server.py is gone; the former code goes on until it is there again"
        elsewhere.rename(project.server)
        project.helper.write_text("VERSION = '0001'\nwhile True:\n    pass\n")
        text = f"leanmcp: {project.server} is still loading after 5 s; it is at {project.helper}:"
        assert errors.line().startswith(text)
        assert ask(port, "version") == "0000"
        project.save(2)
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        assert ask(port, "version") == "0002"
