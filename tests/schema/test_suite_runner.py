"""The official JSON Schema test suite by its own runner, one process a file, and through a server's tools."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.processes import META, ROOT, environment, http, http_server, run_stdio
from tests.support.schema_suite import COUNTS, ELSEWHERE, RUNNER, TESTS, ToolCase, tool_cases
from tests.support.wire import Wire

pytestmark = [
    pytest.mark.skipif(not TESTS.is_dir(), reason="the JSON Schema test suite is not beside this project"),
    pytest.mark.skipif(not RUNNER.is_file(), reason="the suite's runner is not beside this project"),
]
ENGINES = ("compiled", "interpreted", "linear")
# The engines are imported once; each file of the suite is judged by a process that is forked from this one.
RUN = f"""
import runpy, sys
import tests.support.schema_engines as engines
engines.compiled({{}})({{}})
sys.argv[0] = {str(RUNNER)!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_the_runner_of_the_suite_finds_nothing_wrong_and_no_connection(tmp_path: Path) -> None:
    """Spec: JSON Schema, five dialects; it closes the network, and refused groups are those that need it."""
    report = tmp_path / "report.json"
    targets = [f"tests.support.schema_engines:{engine}" for engine in ENGINES]
    done = subprocess.run(
        [sys.executable, "-c", RUN, "--json", str(report), "-v", *targets],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={name: value for name, value in environment().items() if not name.startswith("COVERAGE_")},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    for target in targets:
        for draft, (mandatory, remote) in COUNTS.items():
            assert found[target][draft]["total"] == {"pass": mandatory}
            assert found[target][draft]["remote"] == {"cerr": remote}
            assert found[target][draft]["net"] == 0


SERVER = ROOT / "tests" / "fixtures" / "suite_tools.py"
PIPELINED = 50  # requests; no more, so that nobody waits for the other one to read


def calls(cases: Iterable[ToolCase]) -> Iterator[dict[str, Any]]:
    """Yield a call of every test, and the question which tools there are not."""
    for case in cases:
        for number, test in enumerate(case.group.tests):
            params = {"_meta": META, "name": case.tool, "arguments": case.arguments(test["data"])}
            yield {"jsonrpc": "2.0", "id": f"{case.tool}/{number}", "method": "tools/call", "params": params}
    params = {"_meta": META, "name": "refusals", "arguments": {}}
    yield {"jsonrpc": "2.0", "id": "refusals", "method": "tools/call", "params": params}


def _through_stdio(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answers, _, code = run_stdio(SERVER, b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    assert code == 0
    return answers


def _through_http(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    requests = [
        http(json.dumps(message).encode(), mcp_method="tools/call", mcp_name=message["params"]["name"])
        for message in messages
    ]
    answers = []
    with http_server(SERVER) as server, Wire(server.port) as wire:
        for start in range(0, len(requests), PIPELINED):
            some = requests[start : start + PIPELINED]
            wire.send(b"".join(some))
            answers += [msgspec.json.decode(wire.answer().body) for _ in some]
    return answers


@pytest.mark.parametrize("through", [_through_stdio, _through_http])
def test_tools_take_exactly_what_the_suite_takes(
    through: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
) -> None:
    """Spec: JSON Schema 2020-12 as a tool's inputSchema, behind real pipes and a real socket."""
    cases = list(tool_cases())
    answers = {answer["id"]: answer for answer in through(list(calls(cases)))}
    told = answers.pop("refusals")["result"]["structuredContent"]
    assert told["attempts"] == []
    refused = told["refused"]
    count = elsewhere = 0
    wrong = []
    for case in cases:
        if case.tool in refused:
            assert ELSEWHERE in json.dumps(case.schema), refused[case.tool]
            assert "nothing is fetched" in refused[case.tool] or "unsupported dialect" in refused[case.tool]
            elsewhere += len(case.group.tests)
            continue
        for number, test in enumerate(case.group.tests):
            answer = answers[f"{case.tool}/{number}"]
            count += 1
            if answer["result"]["isError"] is test["valid"]:
                wrong.append((case.group.name, test["description"], answer))
    assert not wrong
    assert (count, elsewhere) == COUNTS["draft2020-12"]
    assert sum(not case.wrapped for case in cases) == 13
