"""What authors are told when their server starts: transports, options, the lifespan, the loop."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from leanmcp import MCPServer
from tests.support.mistakes import (
    FILE,
    FOREIGN,
    MOST_LINES,
    Mistake,
    check,
    codes_of,
    note_of,
    run_file,
)
from tests.support.shell import leanmcp

MOST_LINES_OF_AUTHORS = 25  # where code of theirs ran: the event loop that they started, their lifespan

START = """\
from contextlib import asynccontextmanager, contextmanager
from leanmcp import MCPServer
mcp = MCPServer("demo")
"""

LIFESPANS = [
    Mistake(
        "LM405",
        "async def life(server): yield 1\nMCPServer('demo', lifespan=life)\n",
        "lifespan=life: it yields, but is no context manager; write @asynccontextmanager above it",
    ),
    Mistake(
        "LM405",
        "async def life(server): pass\nMCPServer('demo', lifespan=life)\n",
        "lifespan=life: it does not yield; write @asynccontextmanager above `async def lifespan(server)`, which yields "
        "once",
    ),
    Mistake(
        "LM405",
        "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def life(server): return {'a': 1}\n"
        "MCPServer('demo', lifespan=life)\n",
        "lifespan=life: it does not yield; write `yield value` in place of `return`",
    ),
    Mistake(
        "LM405",
        "def life(server): yield 1\nMCPServer('demo', lifespan=life)\n",
        "lifespan=life: it is no async context manager; write @asynccontextmanager above `async def lifespan(server)`, "
        "which yields once",
    ),
    Mistake(
        "LM405",
        "from contextlib import contextmanager\n@contextmanager\ndef life(server): yield 1\n"
        "MCPServer('demo', lifespan=life)\n",
        "lifespan=life: it is no async context manager; write @asynccontextmanager above `async def lifespan(server)`, "
        "which yields once",
    ),
    Mistake(
        "LM406",
        "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def life(server): yield 1\n"
        "MCPServer('demo', lifespan=life(None))\n",
        "lifespan= is given what the function returns; give the function itself, without calling it",
    ),
    Mistake(
        "LM407",
        "MCPServer('demo', lifespan=5)\n",
        "lifespan=5 is no function; write @asynccontextmanager above `async def lifespan(server)`, which yields once",
    ),
    Mistake(
        "LM408",
        "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def life(): yield 1\n"
        "MCPServer('demo', lifespan=life)\n",
        "lifespan=life: it is called with the server; write life(server)",
    ),
]


@pytest.mark.parametrize("mistake", LIFESPANS, ids=lambda mistake: mistake.message[:60])
def test_a_lifespan_that_cannot_be_is_told_where_it_is_given(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; not only when the server starts."""
    check(mistake)


RAISED = [
    ('mcp.run("htpp")', "LM401", "ValueError: unknown transport 'htpp'; did you mean 'http'?"),
    ('mcp.run("HTTP")', "LM401", "ValueError: unknown transport 'HTTP'; did you mean 'http'?"),
    ('mcp.run("sse")', "LM401", "ValueError: unknown transport 'sse'; HTTP+SSE is not served, its successor is 'http'"),
    (
        'mcp.run("streamablehttp")',
        "LM401",
        "ValueError: unknown transport 'streamablehttp'; did you mean 'streamable-http'?",
    ),
    ("mcp.run(8000)", "LM401", "ValueError: unknown transport 8000; there is 'stdio', 'http', 'streamable-http'"),
    ('mcp.run("http", prot=0)', "LM203", "TypeError: unknown option 'prot'; did you mean 'port'?"),
    (
        'mcp.run("http", reload=True)',
        "LM203",
        "TypeError: unknown option 'reload'; the command reloads: leanmcp run server.py --http --reload",
    ),
    (
        'mcp.run("http", workers=4)',
        "LM203",
        "TypeError: unknown option 'workers'; a server is one process; start several behind a proxy",
    ),
    (
        'mcp.run("http", log_level="DEBUG")',
        "LM203",
        "TypeError: unknown option 'log_level'; set it with logging.getLogger('leanmcp').setLevel(...)",
    ),
    ('mcp.run("http", 8976)', "LM420", "TypeError: run: an option has no name; write port=8976"),
    ('mcp.run("http", "0.0.0.0")', "LM420", "TypeError: run: an option has no name; write host='0.0.0.0'"),
    (
        'mcp.run("sse", "/mcp")',
        "LM401",
        "ValueError: unknown transport 'sse'; HTTP+SSE is not served, its successor is 'http'",
    ),
    ("mcp.run(port=0)", "LM402", 'TypeError: port: an option of HTTP; serve it with run("http", ...)'),
    ('mcp.run("http", port="0")', "LM410", "ValueError: port='0': give a number from 0 to 65535"),
    ('mcp.run("http", port=65536)', "LM410", "ValueError: port=65536: give a number from 0 to 65535"),
    ('mcp.run("http", path="mcp", port=0)', "LM413", None),
    (
        'mcp.run("http", path="/mcp?user=1")',
        "LM413",
        "ValueError: path='/mcp?user=1': '?' is no part of a path; write '/mcp'",
    ),
    (
        'mcp.run("http", path="/{tenant}/mcp")',
        "LM413",
        "ValueError: path='/{tenant}/mcp': '{' is no part of a path; "
        "that is ASCII letters, digits, -._~, and others as %C3%B6",
    ),
    (
        'mcp.run("http", host="")',
        "LM419",
        "ValueError: host '': a host is a name or an address, such as '127.0.0.1', or '0.0.0.0' for all",
    ),
    ('mcp.run("http", json_response="no")', "LM206", "TypeError: json_response='no': give True or False"),
    ('mcp.run("http", uds="a", port=3)', "LM422", "ValueError: uds='a' and port=3: give one of them"),
    ('mcp.run("http", uds="a", fd=3)', "LM422", "ValueError: uds='a' and fd=3: give one of them"),
    (
        'mcp.run("http", show_banner=False)',
        "LM203",
        "TypeError: unknown option 'show_banner'; leave it out; one line is printed",
    ),
    (
        'mcp.run("http", ssl_certfile="a.pem")',
        "LM203",
        "TypeError: unknown option 'ssl_certfile'; give the paths of certificate chain and key, ssl=(chain, key)",
    ),
    (
        'mcp.run("http", mount_path="/x")',
        "LM203",
        "TypeError: unknown option 'mount_path'; there is no HTTP+SSE transport; the path of the endpoint is path=",
    ),
    ('mcp.run("http", path=5)', "LM415", "TypeError: path=5: give a string"),
    ('mcp.run("http", host=None)', "LM415", "TypeError: host=None: give a string"),
    (
        'mcp.run("http", allowed_hosts="a.example")',
        "LM414",
        "TypeError: allowed_hosts='a.example': give a list, ['a.example']",
    ),
    (
        'mcp.run("http", allowed_hosts=["https://mcp.example.com/mcp"])',
        "LM419",
        "ValueError: allowed host 'https://mcp.example.com/mcp': a host is a name alone, 'mcp.example.com'",
    ),
    (
        'mcp.run("http", allowed_origins=["app.example.com"])',
        "LM419",
        "ValueError: allowed origin 'app.example.com': an origin is a scheme and a name, 'https://app.example.com'",
    ),
    (
        'mcp.run("http", cors=["http://app.example.com/page"])',
        "LM419",
        "ValueError: allowed origin 'http://app.example.com/page': an origin is a scheme and a name, "
        "'http://app.example.com'",
    ),
    (
        'mcp.run("http", host="localhost:8941")',
        "LM419",
        "ValueError: host 'localhost:8941': a host is a name alone, 'localhost'; the port is an option of its own",
    ),
    (
        'mcp.run("http", ssl="cert.pem")',
        "LM412",
        "TypeError: ssl='cert.pem': give the paths of certificate chain and key, (chain, key)",
    ),
    ('mcp.run("http", fd="3")', "LM415", "ValueError: fd='3': give a whole number, such as 3"),
    ('mcp.run("http", uds_mode="rw")', "LM415", "ValueError: uds_mode='rw': give a whole number, such as 0o660"),
    (
        'mcp.run("http", uds="")',
        "LM415",
        "ValueError: uds='': give the path of a Unix socket, such as '/run/mcp.sock'",
    ),
    ('mcp.run("http", allowed_hosts=True)', "LM414", "TypeError: allowed_hosts=True: give a list, ['...']"),
    ('mcp.run("http", cors=[5])', "LM414", "TypeError: cors=[5]: give a list of texts"),
    (
        'mcp.run("http", sse_keep_alive="15")',
        "LM205",
        "ValueError: sse_keep_alive='15': give a positive number of seconds",
    ),
    ('mcp.run("http", bind="::")', "LM203", "TypeError: unknown option 'bind'; it is host="),
    (
        'mcp.run("http", threads=4)',
        "LM203",
        "TypeError: unknown option 'threads'; give MCPServer(limits=Limits(threads=...))",
    ),
    (
        'mcp.run(mode="http")',
        "LM203",
        "TypeError: unknown option 'mode'; the transport comes first, run('http')",
    ),
    ("mcp.run(drain=None)", "LM416", "ValueError: drain=None: give a number of seconds, 0 or more"),
    (
        'mcp.run("http", max_request_body_size="4MB")',
        "LM205",
        "ValueError: Limits(max_body_size='4MB'): give a positive number",
    ),
]


@pytest.mark.parametrize(("line", "code", "message"), RAISED, ids=[line for line, _, _ in RAISED])
def test_a_start_that_cannot_be_ends_in_the_line_of_the_author(
    tmp_path: Path, line: str, code: str, message: str | None
) -> None:
    """Ours: goals U10 and U11; one traceback of one frame, the message, and the page about it."""
    done = run_file(tmp_path, START + line)
    assert done.returncode == 1
    *frames, told, note = done.stderr.splitlines()
    if message is not None:
        assert told == message
    assert note == note_of(code)
    assert codes_of(told) == [code]
    assert [frame for frame in frames if frame.startswith("  File")] == [
        f'  File "{tmp_path / FILE}", line 4, in <module>'
    ]
    assert len(frames) + 2 <= MOST_LINES
    assert code == "LM419" or not FOREIGN.search(told)  # which is about what is no URL


PRINTED = [
    (
        'mcp.run("http", uds="/no/such/mcp.sock")',
        "cannot listen on /no/such/mcp.sock: there is no such folder; make it first [LM411]",
    ),
    (
        f'mcp.run("http", uds="{FILE}")',
        f"cannot listen on {FILE}: a file is there, or a server that uses it; remove it, or choose another path "
        "[LM411]",
    ),
    (
        'mcp.run("http", uds="x" * 200)',
        f"cannot listen on {'x' * 200}: the path is too long; the system takes about 100 characters [LM411]",
    ),
    (
        'mcp.run("http", fd=999)',
        "cannot listen on descriptor 999: it is not open; it is for a socket that a supervisor hands over [LM411]",
    ),
    (
        'mcp.run("http", fd=0)',
        "cannot listen on descriptor 0: it is no socket; it is for one that a supervisor hands over [LM411]",
    ),
    (
        'mcp.run("http", host="192.0.2.1", port=0)',
        "cannot listen on 192.0.2.1:0: this machine has no such address; give one of its own, or 0.0.0.0 for all "
        "[LM411]",
    ),
    (
        f'mcp.run("http", ssl=("{FILE}", "{FILE}"))',
        f"cannot use the certificate and key {FILE} and {FILE}: {FILE} holds no CERTIFICATE in PEM form, which begins "
        "with -----BEGIN [LM412]",
    ),
    (
        'mcp.run("http", ssl=("chain.pem", "key.pem"))',
        "cannot use the certificate and key chain.pem and key.pem: chain.pem: No such file or directory [LM412]",
    ),
]


@pytest.mark.parametrize(("line", "message"), PRINTED, ids=[line for line, _ in PRINTED])
def test_an_address_that_cannot_be_bound_is_one_line(tmp_path: Path, line: str, message: str) -> None:
    """Ours: goals U10 and U11; the code is right, the machine is not."""
    done = run_file(tmp_path, START + line)
    assert (done.returncode, done.stderr) == (1, f"leanmcp: {message}\n")


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    """Ours: goals U10 and U11."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run_file(tmp_path, f'{START}mcp.run("http", port={port})')
    assert (done.returncode, done.stderr) == (
        1,
        f"leanmcp: cannot listen on 127.0.0.1:{port}: the port is in use; choose another with port= (--port), or 0 for "
        "a free one [LM403]\n",
    )


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            "    mcp.run()\n",
            "LM404",
            "RuntimeError: mcp.run() starts an event loop, but one is running here already; use "
            "`await mcp.run_async(...)` instead",
        ),
        ('    await mcp.run_async("htpp")\n', "LM401", "ValueError: unknown transport 'htpp'; did you mean 'http'?"),
        ("    await mcp.run_async(drain=-1)\n", "LM416", "ValueError: drain=-1: give a number of seconds, 0 or more"),
    ],
)
def test_a_mistake_in_a_loop_of_the_authors_shows_no_frame_of_ours(
    tmp_path: Path, body: str, code: str, message: str
) -> None:
    """Ours: goal U11; the frames of their event loop are theirs."""
    done = run_file(tmp_path, f"import asyncio\n{START}async def main():\n{body}asyncio.run(main())\n")
    lines = done.stderr.splitlines()
    assert lines[-2:] == [message, note_of(code)]
    files = [line for line in lines if line.startswith("  File")]
    assert files[-1] == f'  File "{tmp_path / FILE}", line 6, in main'
    assert not [line for line in lines if "/leanmcp/" in line]
    assert len(lines) <= MOST_LINES_OF_AUTHORS


LIFESPAN = """\
@asynccontextmanager
async def life(server):
{body}
MCPServer("demo", lifespan=life).run()
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "    if server is None: yield 1",
            "TypeError: lifespan= has ended without yielding; write one `yield` in it",
        ),
        ("    yield 1\n    yield 2", "TypeError: lifespan= yields more than once; write one `yield` in it"),
    ],
)
def test_a_lifespan_that_does_not_yield_once_is_told(tmp_path: Path, body: str, message: str) -> None:
    """Ours: goals U10 and U11."""
    done = run_file(tmp_path, START + LIFESPAN.format(body=body))
    lines = done.stderr.splitlines()
    assert lines[-2:] == [message, note_of("LM409")]
    assert len(lines) <= MOST_LINES


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("    open('/no/such/database')\n    yield 1", "line 6, in life"),
        ("    yield 1\n    open('/no/such/database')", "line 7, in life"),
    ],
)
def test_a_lifespan_that_raises_is_shown_with_the_frames_of_its_author(tmp_path: Path, body: str, place: str) -> None:
    """Ours: goal U11; what went wrong there has no page, and no frame of ours."""
    done = run_file(tmp_path, START + LIFESPAN.format(body=body))
    lines = done.stderr.splitlines()
    assert lines[-1] == "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/database'"
    files = [line.strip() for line in lines if line.startswith("  File")]
    assert len(files) == 2
    assert files[1] == f'File "{tmp_path / FILE}", {place}'
    assert len(lines) <= MOST_LINES


def test_the_command_tells_a_mistake_of_the_start_in_one_line(tmp_path: Path) -> None:
    """Ours: goals U10 and U11; without a traceback, for there is no line of the author's that calls run()."""
    (tmp_path / FILE).write_text(START + LIFESPAN.format(body="    yield 1\n    yield 2").replace(".run()", ""))
    (tmp_path / FILE).write_text(
        (tmp_path / FILE).read_text().replace('MCPServer("demo", l', 'mcp = MCPServer("demo", l')
    )
    done = leanmcp("run", FILE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "leanmcp: lifespan= yields more than once; write one `yield` in it [LM409]\n",
    )


def test_the_command_shows_the_frames_of_a_lifespan_that_raises(tmp_path: Path) -> None:
    """Ours: goal U11."""
    source = START + LIFESPAN.format(body="    open('/no/such/database')\n    yield 1").replace(".run()", "")
    (tmp_path / FILE).write_text(source.replace('MCPServer("demo", l', 'mcp = MCPServer("demo", l'))
    done = leanmcp("run", FILE, cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[-1] == "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/database'"
    assert f'  File "{tmp_path / FILE}", line 6, in life' in lines
    assert not [line for line in lines if "leanmcp/server" in line or "leanmcp/run.py" in line]
    assert len(lines) <= MOST_LINES_OF_AUTHORS


def test_run_at_the_top_level_is_told_by_the_command(tmp_path: Path) -> None:
    """Ours: goals U10 and U11; a missing `if __name__ == "__main__":`."""
    (tmp_path / FILE).write_text(f"{START}mcp.run()\n")
    done = leanmcp("list", FILE, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        f"leanmcp: {tmp_path / FILE}: it calls run() while it is loaded; put that under "
        '`if __name__ == "__main__":` [LM417]\n',
    )


def test_a_second_run_serves_again(tmp_path: Path) -> None:
    """Ours: standard input is at its end, so that it ends at once; nothing is left of the first one that minds."""
    done = run_file(tmp_path, f"{START}mcp.run()\nmcp.run()\nopen('twice', 'x').close()\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "twice").exists()


def test_a_lifespan_that_shows_no_signature_is_taken() -> None:
    """Ours: of a compiled function, it shows when it is called."""
    compiled: Any = min
    assert MCPServer("demo", lifespan=compiled).lifespan is compiled
