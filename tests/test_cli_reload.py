"""`leanmcp run --reload`: new code answers soon, mistakes stop nobody, and no call is lost between two servers."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.processes import DEADLINE, call, http, request
from tests.support.reloading import SERVER, Client, Project, ask, port_of, reloading, running
from tests.support.shell import program_at_terminal
from tests.support.stdio_talk import has_ended

HTTP = ("--http", "--port", "0")
LIFESPAN = """
import sys
from contextlib import asynccontextmanager

@asynccontextmanager
async def lifespan(server):
    yield
    print("the lifespan has ended", file=sys.stderr)
"""

TOO_LONG = "Invalid request: longer than 1000 bytes"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def _wait_for_end(*pids: int) -> None:
    deadline = time.monotonic() + DEADLINE
    while not all(has_ended(pid) for pid in pids):
        assert time.monotonic() < deadline, "a server goes on"
        time.sleep(0.005)


# --- HTTP ---------------------------------------------------------------------------------------------------------


def test_new_code_answers_on_the_same_port(project: Project) -> None:
    """Ours: U23; several saves within a second, of files of one size, which Python's bytecode takes for the same."""
    with reloading(project.server, *HTTP) as (_, errors):
        started = errors.line()
        assert started.startswith('leanmcp 0.1.0 "demo" 4 tools http://127.0.0.1:')
        port = port_of(started)
        assert ask(port, "version") == "0000"
        for number in range(1, 5):
            project.save(number)
            assert errors.line() == "leanmcp: reloaded (helper.py changed)"
            assert ask(port, "version") == f"{number:04}"
        project.server.write_text(
            project.server.read_text() + "\n\n@mcp.tool\ndef more() -> int:\n    'More.'\n    return 5\n"
        )
        assert errors.line() == "leanmcp: reloaded (server.py changed)"
        assert ask(port, "more") == 5


@pytest.mark.parametrize(
    ("wrong", "message"), [("VERSION =\n", "SyntaxError"), ("import nowhere\n", "No module named 'nowhere'")]
)
def test_a_mistake_in_new_code_stops_nobody(project: Project, wrong: str, message: str) -> None:
    """Ours: U11 and U23; the former code answers until the mistake is mended."""
    with reloading(project.server, *HTTP) as (_, errors):
        port = port_of(errors.line())
        project.helper.write_text(wrong)
        said = errors.until("not reloaded")
        assert len(said) <= 12
        assert f"{project.helper}:1: " in said[0]
        assert message in said[0]
        assert said[-1] == "leanmcp: not reloaded (helper.py changed); the former code goes on until the next save"
        assert ask(port, "version") == "0000"
        project.save(1)
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        assert ask(port, "version") == "0001"


def test_a_mistake_at_the_start_waits_for_the_next_save(project: Project) -> None:
    """Ours: U23; a module that is missing may be a file that is about to be written."""
    project.helper.unlink()
    with reloading(project.server, *HTTP) as (process, errors):
        assert "No module named 'helper'" in errors.line()
        assert errors.until("waiting")[-1] == "leanmcp: no server; waiting for the next save"
        assert process.poll() is None
        project.save(7)
        assert ask(port_of(errors.line()), "version") == "0007"


def test_no_call_is_lost_while_servers_change(project: Project) -> None:
    """Ours: U23; connections wait in the socket that all servers share."""
    answers: list[str] = []
    failures: list[Exception] = []
    done = threading.Event()

    def call_on_and_on(port: int) -> None:
        try:
            while not done.is_set():
                answers.append(ask(port, "version"))
        except Exception as error:
            failures.append(error)

    with reloading(project.server, *HTTP) as (_, errors):
        port = port_of(errors.line())
        threads = [threading.Thread(target=call_on_and_on, args=(port,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, 4):
                project.save(number)
                assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        finally:
            done.set()
            for thread in threads:
                thread.join(DEADLINE)
        assert ask(port, "version") == "0003"
    assert failures == []
    assert set(answers) <= {"0000", "0001", "0002", "0003"}
    assert len(answers) > 30


def test_a_mistake_saved_while_servers_change_stops_nobody(project: Project) -> None:
    """Ours: U23; the one that has loaded begins before another is tried, for the former one is ending already."""
    with reloading(project.server, *HTTP) as (_, errors):
        port = port_of(errors.line())
        busy, idle = (socket.create_connection(("127.0.0.1", port), DEADLINE) for _ in range(2))
        with busy, idle:
            idle.sendall(http(call("version")))
            assert b'"0000"' in idle.recv(65536)
            busy.sendall(http(call("slow", {"seconds": DEADLINE * 3})))
            assert ask(port, "version") == "0000"
            project.save(1)
            assert idle.recv(65536) == b""  # the former server is ending
            project.helper.write_text("VERSION =\n")
            # Two processes write here, and the first line may come last but one.
            said = errors.until("leanmcp: not reloaded")
            assert said[-1] == "leanmcp: not reloaded (helper.py changed); the former code goes on until the next save"
            assert "leanmcp: reloaded (helper.py changed)" in said
            assert any("SyntaxError" in line for line in said)
            assert ask(port, "version") == "0001"


def test_a_running_call_has_time_to_end(project: Project) -> None:
    """Ours: the old code answers what it has begun; what takes too long is cut off."""
    with reloading(project.server, *HTTP) as (_, errors):
        port = port_of(errors.line())
        short, long = (socket.create_connection(("127.0.0.1", port), DEADLINE) for _ in range(2))
        with short, long:
            long.sendall(http(call("slow", {"seconds": DEADLINE * 3})))
            short.sendall(http(call("slow", {"seconds": 0.6})))
            assert ask(port, "version") == "0000"
            project.save(1)
            assert errors.line() == "leanmcp: reloaded (helper.py changed)"
            assert b'"0000"' in short.makefile("rb").read()
            assert long.makefile("rb").read() == b""
        assert ask(port, "version") == "0001"


def test_a_server_that_crashes_is_told_and_starts_again_at_the_next_save(project: Project) -> None:
    """Ours: not before, for it would crash again."""
    with reloading(project.server, *HTTP) as (_, errors):
        port = port_of(errors.line())
        with socket.create_connection(("127.0.0.1", port), DEADLINE) as client:
            client.sendall(http(call("crash")))
            assert errors.line() == (
                "leanmcp: the server has ended by itself (exit code 3); it starts again at the next save"
            )
        project.save(2)
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        assert ask(port, "version") == "0002"


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_no_server_outlives_its_watcher(project: Project, transport: str) -> None:
    """Ours: U23; also where the watcher has no chance to end it."""
    with reloading(project.server, *(HTTP if transport == "http" else ())) as (process, errors):
        pid = ask(port_of(errors.line()), "pid") if transport == "http" else Client(process).ask("pid")
        assert pid != process.pid
        process.kill()
        process.wait(DEADLINE)
        _wait_for_end(pid)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_signal_ends_both(project: Project, transport: str, number: signal.Signals, code: int) -> None:
    """Ours: with the exit codes of a server without --reload."""
    with reloading(project.server, *(HTTP if transport == "http" else ())) as (process, errors):
        pid = ask(port_of(errors.line()), "pid") if transport == "http" else Client(process).ask("pid")
        process.send_signal(number)
        assert process.wait(DEADLINE) == code
        assert has_ended(pid)
        assert errors.line() == ""


def test_ctrl_c_at_a_terminal_ends_both(project: Project) -> None:
    """Ours: there, it reaches both processes at once, and the server is not told twice."""
    command = [sys.executable, "-m", "leanmcp", "run", str(project.server), "--reload", *HTTP]
    with program_at_terminal(command) as terminal:
        terminal.wait_for("Ctrl-C stops)\n")
        port = port_of(terminal.shown)
        pid = ask(port, "pid")
        with socket.create_connection(("127.0.0.1", port), DEADLINE) as client:
            client.sendall(http(call("slow", {"seconds": 0.5})))
            assert ask(port, "version") == "0000"
            terminal.type("\x03")
            assert b'"0000"' in client.makefile("rb").read()
        assert terminal.finish() == 130
        assert has_ended(pid)


def test_an_interrupt_of_the_watcher_alone_ends_the_server_in_time(project: Project) -> None:
    """Ours: `kill -INT` at a terminal reaches one process only; the server has its time to end."""
    project.server.write_text(LIFESPAN + SERVER.replace('MCPServer("demo")', 'MCPServer("demo", lifespan=lifespan)'))
    command = [sys.executable, "-m", "leanmcp", "run", str(project.server), "--reload", *HTTP]
    with program_at_terminal(command) as terminal:
        terminal.wait_for("Ctrl-C stops)\n")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.finish() == 130
        assert "the lifespan has ended" in terminal.shown


def test_only_files_that_the_server_has_imported_count(project: Project) -> None:
    """Ours: a test or a script beside the server is saved without consequence."""
    other = project.folder / "other.py"
    other.write_text("")
    with reloading(project.server, *HTTP) as (_, errors):
        errors.line()
        other.write_text("x = 1\n")
        (project.folder / "notes.txt").write_text("x")
        project.save(1)
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"


def test_another_folder_is_watched_as_well(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Ours: --reload-dir, as often as there are folders."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    for folder in folders:
        (folder / f"in_{folder.name[:3]}.py").write_text("VERSION = 'a'\n")
    paths = "".join(f"sys.path.append({str(folder)!r})\n" for folder in folders)
    project.helper.write_text(f"import sys\n{paths}import in_one, in_two\nVERSION = in_one.VERSION + in_two.VERSION\n")
    given = [word for folder in folders for word in ("--reload-dir", str(folder))]
    with reloading(project.server, *HTTP, *given) as (_, errors):
        port = port_of(errors.line())
        assert ask(port, "version") == "aa"
        for folder, version in zip(folders, ("ba", "bb"), strict=True):
            (folder / f"in_{folder.name[:3]}.py").write_text("VERSION = 'b'\n")
            assert errors.line() == f"leanmcp: reloaded (in_{folder.name[:3]}.py changed)"
            assert ask(port, "version") == version


def test_a_module_is_watched_from_the_folder_where_it_is_found(project: Project) -> None:
    """Ours: U19, `package.module:object`."""
    package = project.folder / "package"
    package.mkdir()
    (package / "inner.py").write_text(SERVER.replace("import helper", "from . import helper"))
    (package / "helper.py").write_text('VERSION = "a"\n')
    with reloading(Path("package.inner:mcp"), *HTTP, cwd=project.folder) as (_, errors):
        port = port_of(errors.line())
        assert ask(port, "version") == "a"
        (package / "helper.py").write_text('VERSION = "b"\n')
        assert errors.line() == "leanmcp: reloaded (package/helper.py changed)"
        assert ask(port, "version") == "b"


def test_beside_a_link_is_watched_what_it_leads_to(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Ours: U19; modules are found there, as Python finds them."""
    link = tmp_path_factory.mktemp("linked") / "link.py"
    link.symlink_to(project.server)
    with reloading(link, *HTTP) as (_, errors):
        port = port_of(errors.line())
        project.save(1)
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        assert ask(port, "version") == "0001"


def test_a_unix_socket_stays_until_the_watcher_ends(project: Project) -> None:
    """Ours: --uds; the file is the watcher's."""
    path = project.folder / "s"
    with reloading(project.server, "--uds", str(path)) as (process, errors):
        assert f"http+unix:{path}:/mcp" in errors.line()
        for number in (1, 2):
            project.save(number)
            assert errors.line() == "leanmcp: reloaded (helper.py changed)"
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(DEADLINE)
                client.connect(str(path))
                client.sendall(http(call("version"), connection="close"))
                assert f'"{number:04}"'.encode() in client.makefile("rb").read()
        process.terminate()
        assert process.wait(DEADLINE) == 0
    assert not path.exists()


# --- stdio --------------------------------------------------------------------------------------------------------


def test_lines_pass_from_server_to_server(project: Project) -> None:
    """Ours: U23; each request is answered once, whatever server it reaches."""
    with reloading(project.server) as (process, errors):
        client = Client(process)
        assert client.ask("version") == "0000"
        received: list[dict[str, object]] = []
        reader = threading.Thread(target=lambda: received.extend(client.receive() for _ in range(600)))
        reader.start()
        for number in range(1, 4):
            project.save(number)
            client.send(*(call("version", {}, number * 1000 + index) for index in range(100)))
            assert errors.line() == "leanmcp: reloaded (helper.py changed)"
            client.send(*(call("version", {}, number * 1000 + 100 + index) for index in range(100)))
        reader.join(DEADLINE)
        assert len({message["id"] for message in received}) == len(received) == 600
        assert all("result" in message for message in received)
        assert client.ask("version") == "0003"


def test_a_call_that_the_old_server_does_not_end_is_answered(project: Project) -> None:
    """Spec: basic/index, "Responses": every request gets one. The client would wait for ever."""
    with reloading(project.server) as (process, errors):
        client = Client(process)
        client.send(call("slow", {"seconds": DEADLINE * 3}, 1), call("slow", {"seconds": 0.5}, 2))
        assert client.ask("version", 3) == "0000"
        project.save(1)
        client.send(call("version", {}, 4))
        answers = {answer["id"]: answer for answer in (client.receive() for _ in range(3))}
        assert answers[2]["result"]["structuredContent"] == {"result": "0000"}
        assert answers[1]["error"] == {
            "code": -32603,
            "message": "The server's code was reloaded while this ran; call again",
        }
        assert "result" in answers[4]
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        assert client.ask("version") == "0001"


def test_a_cancelled_call_holds_nobody_up(project: Project) -> None:
    """Spec: basic/patterns/cancellation; nothing more is sent for its id."""
    with reloading(project.server) as (process, _):
        client = Client(process)
        client.send(call("slow", {"seconds": DEADLINE * 3}, 1))
        assert client.ask("version", 2) == "0000"
        project.save(1)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        versions = set()
        while "0001" not in versions:
            versions.add(client.ask("version", 3))
        assert versions <= {"0000", "0001"}


def test_a_subscription_ends_with_its_server(project: Project) -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"."""
    with reloading(project.server) as (process, errors):
        client = Client(process)
        client.send(request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s"))
        assert client.receive()["method"] == "notifications/subscriptions/acknowledged"
        project.save(1)
        ended = client.receive()
        assert (ended["id"], "result" in ended) == ("s", True)
        assert errors.line() == "leanmcp: reloaded (helper.py changed)"
        assert client.receive()["method"] == "notifications/cancelled"
        assert client.ask("version") == "0001"


def test_requests_wait_for_a_server_that_loads(project: Project) -> None:
    """Ours: a host starts its client once, whatever the code is like at that moment."""
    project.helper.write_text("VERSION =\n")
    with reloading(project.server) as (process, errors):
        client = Client(process)
        client.send(call("version", {}, 1))
        assert errors.until("waiting")[-1] == "leanmcp: no server; waiting for the next save"
        project.save(5)
        assert client.receive()["result"]["structuredContent"] == {"result": "0005"}


def test_what_a_crash_leaves_open_is_answered(project: Project) -> None:
    """Ours: and what comes later waits for the next server."""
    with reloading(project.server) as (process, errors):
        client = Client(process)
        client.send(call("crash", {}, 1))
        answer = client.receive()
        assert answer["error"]["message"] == "The server ended while this ran; it starts again when its code is saved"
        assert "ended by itself (exit code 3)" in errors.line()
        client.send(call("version", {}, 2))
        project.save(2)
        assert client.receive()["result"]["structuredContent"] == {"result": "0002"}


def test_end_of_input_ends_the_watcher_when_all_is_answered(project: Project) -> None:
    """Ours: U8, also through a watcher; a last line needs no line end."""
    with reloading(project.server) as (process, _):
        data = b"".join(http(call("version", {}, number)).partition(b"\r\n\r\n")[2] + b"\n" for number in range(50))
        answers, errors = process.communicate(data.rstrip(), DEADLINE)
        assert len(answers.splitlines()) == 50
        assert (process.returncode, errors) == (0, b"")


def test_a_line_that_is_too_long_is_refused_as_without_a_watcher(project: Project) -> None:
    """Ours: the limit is the server's own, and `run` says the same."""
    limits = 'MCPServer("demo", limits=Limits(max_line_size=1000))'
    text = SERVER.replace("import MCPServer", "import Limits, MCPServer").replace('MCPServer("demo")', limits)
    project.server.write_text(text)
    answers = []
    for command in (["--reload"], []):
        with running(project.server, *command) as (process, _):
            client = Client(process)
            assert client.ask("version") == "0000"
            client.send({"jsonrpc": "2.0", "method": "x" * 1000})
            answers.append(client.receive())
            assert client.ask("version", 2) == "0000"
    assert answers == [{"jsonrpc": "2.0", "error": {"code": -32600, "message": TOO_LONG}}] * 2


def test_a_client_that_reads_no_more_ends_the_watcher(project: Project) -> None:
    """Ours: as it ends a server."""
    with reloading(project.server) as (process, _):
        client = Client(process)
        pid = client.ask("pid")
        assert process.stdout is not None
        process.stdout.close()
        client.send(call("version", {}, 2))
        assert process.wait(DEADLINE) == 0
        _wait_for_end(pid)
        process.stdout = None
