"""The pages about calls, served: each one makes its mistake, in a process of its own, and mends it."""

from __future__ import annotations

import asyncio
import os
import re
import select
import shlex
import tempfile
from pathlib import Path
from typing import IO, Any

import pytest

from leanmcp import MCPServer
from leanmcp.explanations import PAGES, Page
from tests.support.in_process import request as in_process
from tests.support.mistakes import codes_of, run_program
from tests.support.processes import DEADLINE, call, encode, request, run_stdio, stdio_server
from tests.support.shell import leanmcp
from tests.support.spec import read

SERVER = "from leanmcp import MCPServer\nmcp = MCPServer('demo')\n"
PAGE_REQUESTS: dict[str, list[dict[str, Any]]] = {
    "LM501": [call("price", {"book": "Emma"})],
    "LM502": [call("warmth", {"city": "Rom"})],
    "LM503": [call("mean", {"values": []})],
    "LM504": [call("count", {"text": "one two"})],
    "LM505": [call("log")],
    "LM506": [call("export")],
    "LM507": [call("add", {"a": 1, "b": 2})],
    "LM508": [call("check", {"path": ""})],
    "LM509": [call("stop")],
    "LM510": [call("rename", {"name": "x"})],
    "LM511": [call("total")],
    "LM512": [call("total")],
    "LM513": [call("wait")],
    "LM514": [call("begin"), call("report", request_id=2)],
    "LM515": [call("order")],
    "LM516": [call("wait")],
    "LM517": [call("build"), call("build", request_id=2)],
    "LM518": [call("find", {"query": "x"})],
    "LM521": [],
    "LM524": [call("total")],
    "LM522": [request("resources/read", {"uri": "note://bread"})],
    "LM523": [call("price", {"book": "Emma"})],
}
"""What makes the mistake of each page that is a program, and does no harm to the mended one."""
ASKS = "LM510"  # its way out, and the client of this test cannot be asked
OUTLASTS = "LM513"  # its mended tool takes longer than calls have when standard input is at its end


@pytest.mark.parametrize("page", [PAGES[code] for code in PAGE_REQUESTS], ids=lambda page: page.code)
def test_a_page_about_calls_makes_its_mistake_and_mends_it(tmp_path: Path, page: Page) -> None:
    """Ours: goal U10: served on stdio, where standard input is at its end for whoever else reads it."""
    assert page.code in _serve_page(tmp_path, page.wrong, PAGE_REQUESTS[page.code])
    if page.code != OUTLASTS:
        told = _serve_page(tmp_path, page.right, PAGE_REQUESTS[page.code])
        assert told == ({"LM515"} if page.code == ASKS else set())


def test_a_page_about_a_name_makes_its_mistake_and_mends_it() -> None:
    """Ours: goal U10: in a client of the same program."""
    page = PAGES["LM519"]
    told = run_program(SERVER + page.wrong)
    assert told is not None
    assert codes_of(told.message) == [page.code]
    assert run_program(SERVER + page.right) is None


def test_a_page_about_arguments_makes_its_mistake_and_mends_it(tmp_path: Path) -> None:
    """Ours: goal U10: on the command line."""
    page = PAGES["LM520"]
    (tmp_path / "server.py").write_text(f"{SERVER}@mcp.tool\ndef add(a: int) -> int:\n    'Add.'\n    return a\n")
    wrong, right = (leanmcp(*shlex.split(code)[2:], cwd=tmp_path) for code in (page.wrong, page.right))
    assert page.code in _codes(wrong.stderr)
    assert (right.returncode, right.stdout, right.stderr) == (0, "1\n", "")


def test_every_page_about_calls_is_tried() -> None:
    """Ours: a page that is added has its calls here."""
    assert {*PAGE_REQUESTS, "LM519", "LM520"} == {code for code in PAGES if code.startswith("LM5")}


def _serve_page(tmp_path: Path, program: str, requests: list[dict[str, Any]]) -> set[str]:
    """Return the codes of what a program tells the model and the log; each tool that is not there is left out."""
    # A file of its own: Python takes the bytecode of one that has changed within a second, and kept its size.
    file = Path(tempfile.mkdtemp(dir=tmp_path)) / "server.py"
    file.write_text(SERVER + program)
    wanted = [message for message in requests if f"def {message['params'].get('name', '')}" in program]
    data = b"".join(encode(message) + b"\n" for message in wanted)
    answers, log, code = run_stdio(file, data)
    assert (len(answers), code) == (len(wanted), 0)
    texts = [answer["error"]["message"] for answer in answers if "error" in answer]
    results = [answer["result"] for answer in answers if "result" in answer]
    texts += [block["text"] for result in results for block in result.get("content", ())]
    return _codes("\n".join([log, *texts]))


def _codes(text: str) -> set[str]:
    return {code for line in set(text.splitlines()) for code in codes_of(re.sub(r"^(WARNING|ERROR) ", "", line))}


def test_a_tool_that_holds_the_loop_is_named_while_it_does(tmp_path: Path) -> None:
    """Ours: goal U12: it is told when it can be seen by nobody else, with its place, and once more at its end."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    body = f"@mcp.tool\nasync def stall() -> str:\n    'Stall.'\n    return open({str(gate)!r}).read()\n"
    (tmp_path / "server.py").write_text(SERVER + body)
    with stdio_server(tmp_path / "server.py") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(encode(call("stall")) + b"\n")
        process.stdin.flush()
        first = _line(process.stderr)
        gate.write_text("through")
        held = _line(process.stderr)
        out, _ = process.communicate(timeout=DEADLINE)
    assert first == (
        f"WARNING tool 'stall' (at {tmp_path}/server.py:6) holds the event loop for more than 1 s, and every other "
        "request with it; make it a plain `def` (it then runs in a thread), or await what it waits for [LM513]"
    )
    assert re.fullmatch(rf"WARNING tool 'stall' \(at {tmp_path}/server\.py:6\) held the event loop for [\d.]+ s", held)
    assert read(out)["result"]["content"] == [{"type": "text", "text": "through"}]


def _line(stream: IO[bytes]) -> str:
    """Return the next line of a process, within the deadline."""
    assert select.select([stream], [], [], DEADLINE)[0]
    return stream.readline().decode().rstrip("\n")


FEATURES = """\
@mcp.resource("data://none")
def none() -> None: ...
@mcp.resource("data://odd")
def odd(): return object()
@mcp.prompt
def number(): return 3
@mcp.prompt
def greet(name: str) -> str: return name
@mcp.completion("greet", "name")
def names(value: str): return [1]
"""
UNSENDABLE = [
    ("resources/read", {"uri": "data://none"}, "LM522"),
    ("resources/read", {"uri": "data://odd"}, "LM503"),
    ("prompts/get", {"name": "number"}, "LM522"),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": ""}},
        "LM522",
    ),
]


@pytest.mark.parametrize(("method", "params", "code"), UNSENDABLE)
def test_the_log_names_the_page_about_other_features_too(
    method: str, params: dict[str, Any], code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: goal U10: the code in the log is the one of the page that knows the text."""
    mcp = MCPServer("demo")
    exec(FEATURES, {"mcp": mcp})
    with caplog.at_level("WARNING", "leanmcp"):
        assert "error" in asyncio.run(in_process(mcp, method, params))
    (message,) = caplog.messages
    assert message.endswith(f"[{code}]")
    assert code in codes_of(message)
